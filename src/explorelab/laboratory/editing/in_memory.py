"""A study's database in memory, to try out what would happen: nobody's data are in it, and nothing of it stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy import Connection, create_engine, insert
from sqlalchemy.pool import StaticPool

from explorelab.study.database.tables import metadata, people

type Values = Mapping[str, str | int | float | bool | None]
SOMEBODY: Values = {
    "source": "plain", "pilot": False, "seed": 1, "stage": "consent", "block": 0, "begun": False, "epoch": 1, "page": "page",
    "points": 0.0, "arrived_at": 0.0, "seen_at": 0.0,
}  # fmt: skip


@contextmanager
def database_in_memory() -> Iterator[Connection]:
    """A connection to an empty database with a study's tables."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    try:
        metadata.create_all(engine)
        with engine.connect() as connection, connection.begin():
            yield connection
    finally:
        engine.dispose()


def add_somebody(connection: Connection, number: int, **values: str | int | float | bool | None) -> None:
    """A person with these values."""
    row = {**SOMEBODY, "code": f"person-{number}", "identity": str(number), **values}
    connection.execute(insert(people).values(row))
