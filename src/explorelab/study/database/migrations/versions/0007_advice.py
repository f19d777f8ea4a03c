"""Advice: its kind with each block; with each choice what was suggested, why not if it was not, and when it was drawn."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns for these; blocks and choices so far had no advice."""
    op.add_column("blocks", sa.Column("advice", sa.String(32), nullable=False, server_default=""))
    op.add_column("choices", sa.Column("advised", sa.Integer()))
    op.add_column("choices", sa.Column("advice", sa.String(32)))
    op.add_column("choices", sa.Column("advice_shown_ms", sa.Float()))


def downgrade() -> None:
    """Forget all advice."""
    op.drop_column("choices", "advice_shown_ms")
    op.drop_column("choices", "advice")
    op.drop_column("choices", "advised")
    op.drop_column("blocks", "advice")
