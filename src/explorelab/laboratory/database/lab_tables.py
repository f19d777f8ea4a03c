"""The tables of the laboratory's database. What people do in a study is in the study's own."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()
RowNumber = BigInteger().with_variant(Integer, "sqlite")


def _of(name: str, table: str, nullable: bool = False) -> Column[int]:
    """The row of another table that this belongs to, and with which it goes."""
    return Column(name, RowNumber, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=nullable)


settings = Table(
    "settings", metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)  # fmt: skip
"""What the laboratory must remember: `secret`, by which sessions are signed."""

buckets = Table(
    "buckets", metadata,
    Column("name", String(64), primary_key=True),
    Column("left", Float, nullable=False),
    Column("at", Float, nullable=False),
)  # fmt: skip
"""Limits that all processes count together, as in a study's database."""

accounts = Table(
    "accounts", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    Column("login", String(64), nullable=False, unique=True),  # as typed to log in, in small letters
    Column("name", String(100), nullable=False),  # as colleagues see it
    Column("salt", String(64), nullable=False),
    Column("digest", String(128), nullable=False),  # scrypt of the password
    Column("made_at", Float, nullable=False),
)  # fmt: skip

studies = Table(
    "studies", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    Column("name", String(40), nullable=False, unique=True),  # its folder, and its address
    Column("made_at", Float, nullable=False),
    Column("archived_at", Float),
    Column("generation", Integer, nullable=False, default=1),  # higher with every change that processes must follow
    Column("version", Integer, nullable=False, default=0),  # the last one that was put into the folder
)  # fmt: skip

grants = Table(
    "grants", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _of("account", "accounts"),
    _of("study", "studies", nullable=True),  # none: in the whole laboratory
    Column("role", String(16), nullable=False),
    UniqueConstraint("account", "study"),
)  # fmt: skip

invitations = Table(
    "invitations", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    Column("digest", String(64), nullable=False, unique=True),  # the link itself is known to nobody but whom it was sent
    _of("study", "studies", nullable=True),
    Column("role", String(16), nullable=False),
    Column("for_whom", String(100), nullable=False),  # a note of whoever invites
    Column("made_by", String(100), nullable=False),
    Column("made_at", Float, nullable=False),
    Column("ends_at", Float, nullable=False),
)  # fmt: skip

sessions = Table(
    "sessions", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    Column("digest", String(64), nullable=False, unique=True),  # of the cookie, which is kept by the browser alone
    _of("account", "accounts"),
    Column("browser", String(100), nullable=False),  # as it names itself
    Column("made_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("ends_at", Float, nullable=False),
)  # fmt: skip

deeds = Table(
    "deeds", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _of("study", "studies", nullable=True),
    Column("at", Float, nullable=False),
    Column("by", String(100), nullable=False),  # the name, which stays when the account is gone
    Column("what", Text, nullable=False),  # a sentence
    Index("deeds_study", "study", "id"),
)  # fmt: skip
"""Who did what, and when."""

versions = Table(
    "versions", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _of("study", "studies"),
    Column("number", Integer, nullable=False),  # from 1
    Column("at", Float, nullable=False),
    Column("by", String(100), nullable=False),
    Column("why", String(200), nullable=False),
    UniqueConstraint("study", "number"),
)  # fmt: skip
"""Every version of a study's files."""

version_files = Table(
    "version_files", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _of("version", "versions"),
    Column("name", String(200), nullable=False),
    Column("digest", String(64), ForeignKey("contents.digest"), nullable=False),
    UniqueConstraint("version", "name"),
)  # fmt: skip

contents = Table(
    "contents", metadata,
    Column("digest", String(64), primary_key=True),  # SHA-256
    Column("data", LargeBinary, nullable=False),
)  # fmt: skip
"""What is in the files, each once."""

drafts = Table(
    "drafts", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _of("account", "accounts"),
    _of("study", "studies"),
    Column("base", Integer, nullable=False),  # the version it began from
    Column("at", Float, nullable=False),
    Column("files", Text, nullable=False),  # JSON: the text of each file that differs
    UniqueConstraint("account", "study"),
)  # fmt: skip
"""What somebody has typed and not saved."""
