"""The tables of the database. Choices and events are only ever added; see migrations/ for the tables' history.

Times are UTC, in seconds since 1970 by the server's clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)  # fmt: skip

from explorelab.study.database.change_numbers import add_sequence, next_change
from explorelab.study.session.choice_fields import FIELDS

if TYPE_CHECKING:
    from explorelab.study.config.blocks.boards import Dynamic

metadata = MetaData()
add_sequence(metadata)

RowNumber = BigInteger().with_variant(Integer, "sqlite")


type AnyRow = Any
"""A row as SQLAlchemy gives it: which columns it has, only the query knows."""


def _changed() -> Column[int]:
    """The number of the change that made the row, or that last changed a person: see change_numbers.py."""
    return Column(
        "changed", RowNumber, nullable=False, server_default="0", default=next_change(), onupdate=next_change(), index=True
    )


def _person() -> Column[int]:
    return Column("person", RowNumber, ForeignKey("people.id", ondelete="CASCADE"), nullable=False)


settings = Table(
    "settings", metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)  # fmt: skip
"""What the server must remember: `secret`, from which tokens are made."""

people = Table(
    "people", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    Column("code", String(16), nullable=False, unique=True),  # the name in exports: random, says nothing
    Column("identity", String(64), nullable=False, unique=True),  # keyed hash of source and who it says they are
    Column("source", String(16), nullable=False),  # plain, prolific, mturk, pilot
    Column("platform_id", String(128)),  # Prolific's or MTurk's name of the person; for payment only
    Column("platform_session", String(128)),  # Prolific's session or MTurk's assignment
    Column("platform_study", String(128)),  # Prolific's study or MTurk's HIT
    Column("submit_to", String(255)),  # where MTurk wants people to return to
    Column("pilot", Boolean, nullable=False),
    Column("seed", RowNumber, nullable=False),  # of start squares and rewards
    Column("stage", String(16), nullable=False),  # see session/stages.py
    Column("cell", String(64)),  # the condition, from consent on
    Column("block", Integer, nullable=False, default=0),  # the block in play or next to be played, counted from 0
    Column("begun", Boolean, nullable=False, default=False),  # whether that block has been begun
    Column("epoch", Integer, nullable=False),  # page loads so far: only the last page is answered
    Column("page", String(64), nullable=False),  # the last page's own random name
    Column("points", Float, nullable=False, default=0.0),  # of task blocks
    Column("arrived_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("agent", Text),  # of a pilot: which agent played, with its parameters
    Column("bonus", Float),  # in money, as it was shown at the end
    Column("plan", Text),  # JSON: the blocks as promised at consent, whatever study.toml says later
    Column("terms", Text),  # JSON: payment and completion as promised at consent, see terms.py
    Column("browser", String(64)),  # SHA-256 of the key of the browser that came first
    Column("first_session", String(128)),  # the platform's session as first seen: the other proof of being this person
    _changed(),
    Column("language", String(35)),  # in which they saw the study: as they wished until consent, then fixed
    Column("path", Text),  # JSON: the study's own pages as promised at consent; NULL for the usual course
    Column("step", Integer, nullable=False, server_default="0", default=0),  # the page of that path they are at, from 0
    Column("step_at", Float),  # since when
    Index("people_stage", "stage", "pilot"),
)  # fmt: skip


class Person(Protocol):
    """A row of `people`, as far as types go; the comments of the table say what each column holds."""

    id: int
    code: str
    identity: str
    source: str
    platform_id: str | None
    platform_session: str | None
    platform_study: str | None
    submit_to: str | None
    pilot: bool
    seed: int
    stage: str
    cell: str | None
    block: int
    begun: bool
    epoch: int
    page: str
    points: float
    arrived_at: float
    seen_at: float
    finished_at: float | None
    agent: str | None
    bonus: float | None
    plan: str | None
    terms: str | None
    browser: str | None
    first_session: str | None
    language: str | None
    path: str | None
    step: int
    step_at: float | None
    changed: int


consents = Table(
    "consents", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _person(),
    Column("agreed", Boolean, nullable=False),
    Column("at", Float, nullable=False),
    Column("version", String(64), nullable=False),  # SHA-256 of the text
    Column("text", Text, nullable=False),
    UniqueConstraint("person"),
)  # fmt: skip

blocks = Table(
    "blocks", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _person(),
    Column("number", Integer, nullable=False),  # from 0, training first
    Column("kind", String(16), nullable=False),
    Column("dynamic", String(16), nullable=False),
    Column("timing", String(32), nullable=False),
    Column("deadline_ms", Integer, nullable=False),  # 0: no deadline
    Column("landscape", String(64), nullable=False),
    Column("n_trials", Integer, nullable=False),
    Column("start", Integer, nullable=False),  # where both dots are at first
    Column("begun_at", Float, nullable=False),
    Column("advice", String(32), nullable=False, server_default=""),  # the kind of advice; "" if there is no such condition
    Column("page", Integer, nullable=False, server_default="0"),  # on which of the pages of kind blocks, from 0
    Column("name", String(32), nullable=False, server_default=""),  # in study.toml; "" in the paper's design, like the next
    Column("scene", Text, nullable=False, server_default=""),  # what it is played on
    Column("levels", Text, nullable=False, server_default=""),  # JSON: the level of each factor
    UniqueConstraint("person", "number"),
)  # fmt: skip


class Block(Protocol):
    """A row of `blocks`, as far as types go."""

    id: int
    person: int
    number: int
    kind: Literal["training", "task"]
    dynamic: Dynamic
    timing: str
    deadline_ms: int
    landscape: str
    n_trials: int
    start: int
    begun_at: float
    advice: str
    page: int
    name: str
    scene: str
    levels: str


choices = Table(
    "choices", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _person(),
    *(Column(each.name, each.column, nullable=each.nullable) for each in FIELDS if each.column is not None),
    _changed(),
    UniqueConstraint("person", "block", "trial"),
)  # fmt: skip

visits = Table(
    "visits", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _person(),
    Column("step", Integer, nullable=False),  # of the person's path, from 0
    Column("page", String(64), nullable=False),  # the page's name
    Column("kind", String(16), nullable=False),
    Column("attempt", Integer, nullable=False),  # for which time it was shown, from 1
    Column("shown_at", Float),
    Column("left_at", Float, nullable=False),
    Column("elapsed_ms", Float, nullable=False),  # since a page load showed it, by the browser's clock
    Column("passed", Boolean),  # of a quiz: whether all answers were right
    Column("n_wrong", Integer, nullable=False),  # answers that were not the expected ones
    Column("epoch", Integer, nullable=False),
    UniqueConstraint("person", "step", "attempt"),
)  # fmt: skip
"""The study's own pages that people have left."""

answers = Table(
    "answers", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _person(),
    Column("step", Integer, nullable=False),
    Column("page", String(64), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("number", Integer, nullable=False),  # of the question on its page, from 0
    Column("question", String(64), nullable=False),  # its name
    Column("kind", String(16), nullable=False),
    Column("text", Text, nullable=False),  # as it was shown
    Column("answer", Text, nullable=False),  # JSON
    Column("passed", Boolean),  # whether it was the expected one; NULL where any will do
    Column("score", String(64), nullable=False),  # the sum that it counts in
    Column("points", Float),  # what it counts there
    Column("answered_ms", Float),  # when it was last changed, since a page load showed it
    Column("received_at", Float, nullable=False),
    _changed(),
    UniqueConstraint("person", "step", "attempt", "question"),
)  # fmt: skip
"""What people answered to the questions of a page, one row for each, from when they left it."""

events = Table(
    "events", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _person(),
    Column("epoch", Integer, nullable=False),
    Column("number", Integer, nullable=False),  # of the event in its page, from 0
    Column("kind", String(32), nullable=False),  # hidden, visible, blur, focus, offline, online, slow, pause, resume, ...
    Column("block", Integer),
    Column("trial", Integer),
    Column("page_ms", Float, nullable=False),  # since the page was loaded
    Column("value", Float),
    Column("received_at", Float, nullable=False),
    UniqueConstraint("person", "epoch", "number"),
)  # fmt: skip

payments = Table(
    "payments", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _person(),
    Column("batch", String(32), nullable=False),  # the file that the payment was written to, by its time
    Column("bonus", Float, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("person"),
)  # fmt: skip
"""Bonuses written to a payment file: nobody is in two files."""

assessments = Table(
    "assessments", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    _person(),
    Column("block", Integer, nullable=False),  # the last block that was known
    Column("n", Integer, nullable=False),  # choices in task blocks that were known
    Column("maker", String(32), nullable=False),  # which agent and group, as a word
    Column("made_at", Float, nullable=False),
    Column("found", Text, nullable=False),  # JSON, see assessment/assessors.py
    UniqueConstraint("person"),
)  # fmt: skip
"""The companion's last assessment of each person, for the researcher's page; the choices suffice to make it again."""

access_tokens = Table(
    "access_tokens", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    Column("name", String(64), nullable=False, unique=True),  # as the researcher calls it
    Column("use", String(16), nullable=False),  # what it opens: results or metrics
    Column("digest", String(64), nullable=False, unique=True),  # of the token, keyed with this database's secret
    Column("made_at", Float, nullable=False),
)  # fmt: skip
"""Tokens for programs that read live results or metrics; they themselves are stored nowhere."""

deletions = Table(
    "deletions", metadata,
    Column("id", RowNumber, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("by", String(16), nullable=False),  # participant or researcher
    Column("n_choices", Integer, nullable=False),
)  # fmt: skip
"""A record that something was deleted, and how much, but not whose."""

buckets = Table(
    "buckets", metadata,
    Column("name", String(96), primary_key=True),  # of the limit, with a keyed hash of the caller
    Column("left", Float, nullable=False),
    Column("at", Float, nullable=False),  # when so much was left
)  # fmt: skip
"""How much of each limit is used up, for all processes together."""
