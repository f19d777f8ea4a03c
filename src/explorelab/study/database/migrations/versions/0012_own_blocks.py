"""Blocks of one's own: the name and the scene of each, and the levels of factors under which it is played."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns for these; blocks so far are of the paper's design."""
    op.add_column("blocks", sa.Column("name", sa.String(32), nullable=False, server_default=""))
    op.add_column("blocks", sa.Column("scene", sa.Text(), nullable=False, server_default=""))
    op.add_column("blocks", sa.Column("levels", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Forget them."""
    for name in ("levels", "scene", "name"):
        op.drop_column("blocks", name)
