"""The payment that each person agreed to, and how they prove to be the same person as before."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns for these; for people already known, the platform's session is the only proof there is."""
    op.add_column("people", sa.Column("terms", sa.Text()))
    op.add_column("people", sa.Column("browser", sa.String(64)))
    op.add_column("people", sa.Column("first_session", sa.String(128)))
    op.execute("UPDATE people SET first_session = platform_session")


def downgrade() -> None:
    """Forget them."""
    op.drop_column("people", "first_session")
    op.drop_column("people", "browser")
    op.drop_column("people", "terms")
