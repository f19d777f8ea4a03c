"""The blocks and the bonus that each person was promised, so that a study edited half-way keeps its word."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Room for both; who has none goes by the study file, as before."""
    op.add_column("people", sa.Column("bonus", sa.Float()))
    op.add_column("people", sa.Column("plan", sa.Text()))


def downgrade() -> None:
    """Forget what was promised."""
    op.drop_column("people", "plan")
    op.drop_column("people", "bonus")
