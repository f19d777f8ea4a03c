"""The blocks and the bonus that each person was promised, so that a study edited halfway keeps its word."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns for both; people without a promise go by the study file, as before."""
    op.add_column("people", sa.Column("bonus", sa.Float()))
    op.add_column("people", sa.Column("plan", sa.Text()))


def downgrade() -> None:
    """Forget what was promised."""
    op.drop_column("people", "plan")
    op.drop_column("people", "bonus")
