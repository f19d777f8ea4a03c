"""Pages of a study's own: each person's way through them, and what they answered."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add them; whoever came before had the usual course."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("people", sa.Column("path", sa.Text()))
    op.add_column("people", sa.Column("step", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("people", sa.Column("step_at", sa.Float()))
    op.add_column("blocks", sa.Column("page", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "visits",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("person", number, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("page", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("shown_at", sa.Float()),
        sa.Column("left_at", sa.Float(), nullable=False),
        sa.Column("elapsed_ms", sa.Float(), nullable=False),
        sa.Column("passed", sa.Boolean()),
        sa.Column("n_wrong", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.UniqueConstraint("person", "step", "attempt"),
    )
    op.create_table(
        "answers",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("person", number, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("page", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("passed", sa.Boolean()),
        sa.Column("score", sa.String(64), nullable=False),
        sa.Column("points", sa.Float()),
        sa.Column("answered_ms", sa.Float()),
        sa.Column("received_at", sa.Float(), nullable=False),
        sa.Column("changed", number, nullable=False, server_default="0"),
        sa.UniqueConstraint("person", "step", "attempt", "question"),
    )
    op.create_index("ix_answers_changed", "answers", ["changed"])


def downgrade() -> None:
    """Forget them."""
    op.drop_table("answers")
    op.drop_table("visits")
    op.drop_column("blocks", "page")
    for column in ("step_at", "step", "path"):
        op.drop_column("people", column)
