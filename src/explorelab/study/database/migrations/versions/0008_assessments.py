"""Assessments: the companion's last one of each person, for the researcher's page."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add their table."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "assessments",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("person", number, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("maker", sa.String(32), nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.Column("found", sa.Text(), nullable=False),
        sa.UniqueConstraint("person"),
    )


def downgrade() -> None:
    """Forget all assessments."""
    op.drop_table("assessments")
