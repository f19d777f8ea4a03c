"""Every change has a number, in the order in which changes become visible: what live results are read by, without gaps.

Each choice carries the number of the change that made it, and a person the number of the last change to them. Whoever adds
rows with a number also changes their person afterwards, so the largest number of a person is the largest of all. On SQLite
the one writer counts on from it; rows of people are never removed, so none comes twice. On PostgreSQL a sequence counts, and
transactions may end in another order than they took their numbers: see `is_settled`.
"""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, MetaData, Sequence, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ColumnElement

SEQUENCE = "change_numbers"
FEED = "feed"
"""The setting that names this run of numbers: restoring a backup goes back, so it begins another."""


def new_feed() -> str:
    """A name for another run of numbers, which tells those who follow that what they have read may be more than there is."""
    return secrets.token_hex(4)


def add_sequence(metadata: MetaData) -> None:
    """Where tables are made from their description, as in tests, the sequence is too; otherwise a migration makes it."""
    Sequence(SEQUENCE, metadata=metadata)


class next_change(ColumnElement[int]):  # noqa: N801 - it reads like SQLAlchemy's func.now
    """The number of the change that is being made."""

    inherit_cache = True
    type = BigInteger()


@compiles(next_change, "sqlite")
def _on_sqlite(element: Any, compiler: Any, **how: Any) -> str:
    return "(SELECT coalesce(max(changed), 0) + 1 FROM people)"


@compiles(next_change, "postgresql")
def _on_postgresql(element: Any, compiler: Any, **how: Any) -> str:
    # The order matters: whoever takes a number already has a transaction's number, by which `is_settled` knows them.
    return f"(CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('{SEQUENCE}') END)"


_LARGEST = text("SELECT coalesce(max(changed), 0) FROM people")
_OWN = text("SELECT pg_current_xact_id()::text::bigint")
_OLDEST = text("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")


class Horizon(NamedTuple):
    """The number up to which changes are visible once it `is_settled`."""

    number: int
    transaction: int | None
    """Every transaction that took a number up to that one began before this one; None where there is one writer."""


def horizon(connection: Connection) -> Horizon:
    """The largest number that can be seen: it is on disk, and never becomes smaller."""
    number = int(connection.execute(_LARGEST).scalar_one())
    if connection.dialect.name == "sqlite":
        return Horizon(number, None)
    # The limits of a snapshot would not do: the newest transactions under way are beyond its upper one.
    return Horizon(number, int(connection.execute(_OWN).scalar_one()))


def is_settled(connection: Connection, seen: Horizon) -> bool:
    """Whether all changes up to the horizon are visible; asked in another transaction than the one that saw it."""
    return seen.transaction is None or int(connection.execute(_OLDEST).scalar_one()) > seen.transaction
