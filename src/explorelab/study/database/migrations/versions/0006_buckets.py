"""How much of each limit is used up, for all processes together."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A bucket for each limit and caller."""
    op.create_table(
        "buckets",
        sa.Column("name", sa.String(96), primary_key=True),
        sa.Column("left", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
    )


def downgrade() -> None:
    """Forget what was used up."""
    op.drop_table("buckets")
