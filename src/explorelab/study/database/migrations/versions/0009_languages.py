"""The language in which each person saw the study."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column for it; whoever came before saw the study's only language."""
    op.add_column("people", sa.Column("language", sa.String(35)))


def downgrade() -> None:
    """Forget all languages."""
    op.drop_column("people", "language")
