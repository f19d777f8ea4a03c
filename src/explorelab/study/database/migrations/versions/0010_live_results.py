"""Live results: a number for every change, and tokens for programs that read them."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add both; what was there before has the number 0."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    for table in ("people", "choices"):
        op.add_column(table, sa.Column("changed", number, nullable=False, server_default="0"))
        op.create_index(f"ix_{table}_changed", table, ["changed"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE SEQUENCE change_numbers OWNED BY people.changed")
    op.execute(sa.text("INSERT INTO settings (name, value) VALUES ('feed', :feed)").bindparams(feed=secrets.token_hex(4)))
    op.create_table(
        "access_tokens",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(64), nullable=False, unique=True),
        sa.Column("use", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("made_at", sa.Float(), nullable=False),
    )


def downgrade() -> None:
    """Forget both."""
    op.drop_table("access_tokens")
    op.execute("DELETE FROM settings WHERE name = 'feed'")
    for table in ("choices", "people"):
        op.drop_index(f"ix_{table}_changed", table)
        op.drop_column(table, "changed")
