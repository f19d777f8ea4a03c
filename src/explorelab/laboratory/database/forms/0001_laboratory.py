"""The first form: accounts, studies, and who changed what."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    "drafts", "version_files", "versions", "contents", "deeds", "sessions", "invitations", "grants", "studies", "accounts",
    "buckets", "settings",
)  # fmt: skip


def _number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _row() -> sa.Column[int]:
    return sa.Column("id", _number(), primary_key=True, autoincrement=True)


def _of(name: str, table: str, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, _number(), sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=nullable)


def _text(name: str, length: int) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=False)


def _moment(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), nullable=False)


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "settings", sa.Column("name", sa.String(64), primary_key=True), sa.Column("value", sa.Text, nullable=False)
    )
    op.create_table("buckets", sa.Column("name", sa.String(64), primary_key=True), _moment("left"), _moment("at"))
    _people()
    _changes()


def _people() -> None:
    """Accounts, studies, and who may do what in which."""
    op.create_table(
        "accounts", _row(), sa.Column("login", sa.String(64), nullable=False, unique=True), _text("name", 100),
        _text("salt", 64), _text("digest", 128), _moment("made_at"),
    )  # fmt: skip
    op.create_table(
        "studies", _row(), sa.Column("name", sa.String(40), nullable=False, unique=True), _moment("made_at"),
        sa.Column("archived_at", sa.Float()), sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
    )  # fmt: skip
    op.create_table(
        "grants", _row(), _of("account", "accounts"), _of("study", "studies", nullable=True), _text("role", 16),
        sa.UniqueConstraint("account", "study"),
    )  # fmt: skip
    op.create_table(
        "invitations", _row(), sa.Column("digest", sa.String(64), nullable=False, unique=True),
        _of("study", "studies", nullable=True), _text("role", 16), _text("for_whom", 100), _text("made_by", 100),
        _moment("made_at"), _moment("ends_at"),
    )  # fmt: skip
    op.create_table(
        "sessions", _row(), sa.Column("digest", sa.String(64), nullable=False, unique=True), _of("account", "accounts"),
        _text("browser", 100), _moment("made_at"), _moment("seen_at"), _moment("ends_at"),
    )  # fmt: skip


def _changes() -> None:
    """Who did what, the versions of studies' files, and what is not saved yet."""
    op.create_table(
        "deeds", _row(), _of("study", "studies", nullable=True), _moment("at"), _text("by", 100),
        sa.Column("what", sa.Text, nullable=False),
    )  # fmt: skip
    op.create_index("deeds_study", "deeds", ["study", "id"])
    op.create_table(
        "contents", sa.Column("digest", sa.String(64), primary_key=True), sa.Column("data", sa.LargeBinary, nullable=False)
    )
    op.create_table(
        "versions", _row(), _of("study", "studies"), sa.Column("number", sa.Integer, nullable=False), _moment("at"),
        _text("by", 100), _text("why", 200), sa.UniqueConstraint("study", "number"),
    )  # fmt: skip
    op.create_table(
        "version_files", _row(), _of("version", "versions"), _text("name", 200),
        sa.Column("digest", sa.String(64), sa.ForeignKey("contents.digest"), nullable=False),
        sa.UniqueConstraint("version", "name"),
    )  # fmt: skip
    op.create_table(
        "drafts", _row(), _of("account", "accounts"), _of("study", "studies"), sa.Column("base", sa.Integer, nullable=False),
        _moment("at"), sa.Column("files", sa.Text, nullable=False), sa.UniqueConstraint("account", "study"),
    )  # fmt: skip


def downgrade() -> None:
    """Remove all of it."""
    for table in TABLES:
        op.drop_table(table)
