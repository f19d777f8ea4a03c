"""Every change has a number, in the order in which changes become visible: what live results are read by, without gaps.

Each row of people, choices and answers carries the number of the change that made it, and a person the number of the last
change to them. On SQLite the one writer counts on from the largest number; rows of people are never removed, so none comes
twice. On PostgreSQL a sequence counts, and transactions may end in another order than they took their numbers: `horizon`
waits until everyone who may have taken a number up to it has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import BigInteger, Connection, MetaData, Sequence, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ColumnElement

SEQUENCE = "change_numbers"
FEED = "feed"
"""The setting that names this run of numbers: restoring a backup goes back, so it begins another."""


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
    # The order matters: whoever takes a number already has a transaction's number, by which `horizon` waits for them.
    return f"(CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('{SEQUENCE}') END)"


_LARGEST = text("SELECT coalesce(max(changed), 0) FROM people")
_TAKEN = text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {SEQUENCE}")
_BEGUN = text("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
_ENDED = text("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")


def horizon(connection: Connection) -> Iterator[int | None]:
    """None as long as changes up to the number that follows are still being made, then that number: all are visible then.

    On PostgreSQL each look must see the present, as in a connection whose transactions are READ COMMITTED.
    """
    if connection.dialect.name == "sqlite":
        yield int(connection.execute(_LARGEST).scalar_one())
        return
    taken = int(connection.execute(_TAKEN).scalar_one())
    # Whoever took a number up to that one had begun, so is among those that the next line counts.
    begun = int(connection.execute(_BEGUN).scalar_one())
    while int(connection.execute(_ENDED).scalar_one()) < begun:
        yield None
    yield taken
