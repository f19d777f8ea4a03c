"""The payment that each person agreed to, and by what they prove to be the person who came first."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Room for all; of people who are known already, the platform's session is what there is to go by."""
    op.add_column("people", sa.Column("terms", sa.Text()))
    op.add_column("people", sa.Column("browser", sa.String(64)))
    op.add_column("people", sa.Column("first_session", sa.String(128)))
    op.execute("UPDATE people SET first_session = platform_session")


def downgrade() -> None:
    """Forget them."""
    op.drop_column("people", "first_session")
    op.drop_column("people", "browser")
    op.drop_column("people", "terms")
