"""Events on the page, and bonuses that were paid out."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ROW = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "events",
        sa.Column("id", ROW, primary_key=True, autoincrement=True),
        sa.Column("person", ROW, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("block", sa.Integer()),
        sa.Column("trial", sa.Integer()),
        sa.Column("page_ms", sa.Float(), nullable=False),
        sa.Column("value", sa.Float()),
        sa.Column("received_at", sa.Float(), nullable=False),
        sa.UniqueConstraint("person", "epoch", "number"),
    )
    op.create_table(
        "payments",
        sa.Column("id", ROW, primary_key=True, autoincrement=True),
        sa.Column("person", ROW, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("batch", sa.String(32), nullable=False),
        sa.Column("bonus", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.UniqueConstraint("person"),
    )


def downgrade() -> None:
    """Take the tables away, with what is in them."""
    op.drop_table("payments")
    op.drop_table("events")
