"""People, their consent, blocks and choices."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "settings",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )
    op.create_table(
        "people",
        sa.Column("id", ROW, primary_key=True, autoincrement=True),
        sa.Column("code", sa.String(16), nullable=False, unique=True),
        sa.Column("identity", sa.String(64), nullable=False, unique=True),
        sa.Column("source", sa.String(16), nullable=False),
        sa.Column("platform_id", sa.String(128)),
        sa.Column("platform_session", sa.String(128)),
        sa.Column("platform_study", sa.String(128)),
        sa.Column("submit_to", sa.String(255)),
        sa.Column("pilot", sa.Boolean(), nullable=False),
        sa.Column("seed", ROW, nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("cell", sa.String(64)),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Boolean(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("page", sa.String(64), nullable=False),
        sa.Column("points", sa.Float(), nullable=False),
        sa.Column("arrived_at", sa.Float(), nullable=False),
        sa.Column("seen_at", sa.Float(), nullable=False),
        sa.Column("finished_at", sa.Float()),
        sa.Column("agent", sa.Text()),
    )
    op.create_index("people_stage", "people", ["stage", "pilot"])
    op.create_table(
        "consents",
        sa.Column("id", ROW, primary_key=True, autoincrement=True),
        sa.Column("person", ROW, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("agreed", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.UniqueConstraint("person"),
    )
    op.create_table(
        "blocks",
        sa.Column("id", ROW, primary_key=True, autoincrement=True),
        sa.Column("person", ROW, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("dynamic", sa.String(16), nullable=False),
        sa.Column("timing", sa.String(32), nullable=False),
        sa.Column("deadline_ms", sa.Integer(), nullable=False),
        sa.Column("landscape", sa.String(64), nullable=False),
        sa.Column("n_trials", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=False),
        sa.UniqueConstraint("person", "number"),
    )
    op.create_table(
        "choices",
        sa.Column("id", ROW, primary_key=True, autoincrement=True),
        sa.Column("person", ROW, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("goal", sa.Integer(), nullable=False),
        sa.Column("arm", sa.Integer(), nullable=False),
        sa.Column("reward", sa.Float(), nullable=False),
        sa.Column("missed", sa.Boolean(), nullable=False),
        sa.Column("n_clicks", sa.Integer(), nullable=False),
        sa.Column("first_click_ms", sa.Float()),
        sa.Column("last_click_ms", sa.Float()),
        sa.Column("clicks", sa.Text(), nullable=False),
        sa.Column("elapsed_ms", sa.Float(), nullable=False),
        sa.Column("overrun_ms", sa.Float(), nullable=False),
        sa.Column("pauses", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("received_at", sa.Float(), nullable=False),
        sa.Column("flags", sa.String(255), nullable=False),
        sa.UniqueConstraint("person", "block", "trial"),
    )
    op.create_table(
        "deletions",
        sa.Column("id", ROW, primary_key=True, autoincrement=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("by", sa.String(16), nullable=False),
        sa.Column("n_choices", sa.Integer(), nullable=False),
    )


def downgrade() -> None:
    """Take the tables away, with what is in them."""
    op.drop_table("deletions")
    op.drop_table("choices")
    op.drop_table("blocks")
    op.drop_table("consents")
    op.drop_table("people")
    op.drop_table("settings")
