"""Restores a backup of SQLite to PostgreSQL, for a study that has grown."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy import Connection, Engine, func, inspect, select, text
from sqlalchemy.exc import DBAPIError

from explorelab.errors import InputError
from explorelab.study.database.change_numbers import FEED, SEQUENCE, new_feed
from explorelab.study.database.failures import in_words
from explorelab.study.database.migrating import migrate, upgrade
from explorelab.study.database.store import engine_for, keep
from explorelab.study.database.tables import metadata, people
from explorelab.study.operation import postgresql
from explorelab.study.operation.backup import copy, study_of

AT_ONCE = 2000
"""Rows that are sent together."""


def restore_to_postgresql(engine: Engine, name: str, file: Path, aside: Path) -> str:
    """Replace the study's tables with those of a backup of SQLite, in one transaction; the old ones are kept in a file."""
    found = study_of(file, name)
    kept = postgresql.set_aside(engine, aside) if inspect(engine).has_table("people") else ""
    with tempfile.TemporaryDirectory() as folder:
        # A copy, because bringing a backup up to date would change it.
        copy(file, Path(folder) / "study.db")
        source = engine_for("sqlite:///study.db", Path(folder))
        try:
            migrate(source)
            with source.connect() as reading, engine.begin() as writing:
                _fill(reading, writing)
        except DBAPIError as error:
            raise InputError(f"{file} cannot be restored to PostgreSQL: {in_words(error)}. Nothing was changed.") from None
        finally:
            source.dispose()
    return f"restored {file} to the database: {found}.{kept}"


def _fill(reading: Connection, writing: Connection) -> None:
    """Make the tables anew and copy every row."""
    for name in (*metadata.tables, "alembic_version"):
        writing.execute(text(f"DROP TABLE IF EXISTS {name} CASCADE"))
    upgrade(writing)
    for table in metadata.sorted_tables:
        writing.execute(table.delete())  # what the migrations have written
        for rows in reading.execute(select(table).order_by(*table.primary_key)).mappings().partitions(AT_ONCE):
            writing.execute(table.insert(), [dict(row) for row in rows])
        if "id" in table.c:
            _go_on_counting(writing, f"pg_get_serial_sequence('{table.name}', 'id')", table.c.id)
    _go_on_counting(writing, f"'{SEQUENCE}'", people.c.changed)
    keep(writing, FEED, new_feed())


def _go_on_counting(writing: Connection, sequence: str, column: object) -> None:
    """Let a sequence go on after the largest number that there is."""
    largest = writing.execute(select(func.coalesce(func.max(column), 0))).scalar_one()
    if largest:
        writing.execute(text(f"SELECT setval({sequence}, :largest)"), {"largest": largest})
