"""Migrates a database to the newest schema from any earlier one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine, MetaData, inspect, text

from explorelab.errors import InputError
from explorelab.study.database.refusals import Refused
from explorelab.study.database.sqlite_file import RESTORE
from explorelab.study.database.tables import metadata


class Schema(NamedTuple):
    """What a database should look like."""

    versions: Path
    """The migrations that lead there."""
    tables: MetaData


FOLDER = Path(__file__).parent / "migrations"
STUDY = Schema(FOLDER / "versions", metadata)
LOCK = 7_305_201_409
"""Number of the PostgreSQL lock under which one process migrates while others wait."""


def config(schema: Schema = STUDY) -> Config:
    """Alembic's settings."""
    settings = Config()
    settings.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    settings.set_main_option("version_locations", str(schema.versions).replace("%", "%%"))
    settings.set_main_option("path_separator", "newline")  # names of folders may have everything else in them
    return settings


def migrate(engine: Engine, to: str = "head", schema: Schema = STUDY) -> None:
    """Apply the migrations that are missing; all of them or, if one fails, none."""
    with engine.connect().execution_options(immediate=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        if to == "head" and form_of(connection) == newest(schema):
            _check_tables(connection, schema)
            return
        upgrade(connection, to, schema)


def upgrade(connection: Connection, to: str = "head", schema: Schema = STUDY) -> None:
    """Apply the migrations that are missing, in the transaction of this connection."""
    settings = config(schema)
    settings.attributes["connection"] = connection
    try:
        command.upgrade(settings, to)
    except CommandError as error:
        raise InputError(
            f"the database was written by another version of explorelab and cannot be opened by this one: {error}."
        ) from None


def _check_tables(connection: Connection, schema: Schema) -> None:
    """Raise if a table or column is missing from an up-to-date database: only some requests would notice."""
    found = {
        name: {column["name"] for column in columns}
        for (_, name), columns in inspect(connection).get_multi_columns().items()
    }
    for table in schema.tables.sorted_tables:
        missing = [table.name] if table.name not in found else sorted(set(table.columns.keys()) - found[table.name])
        if missing:
            kind = "table" if table.name not in found else f"column of the table {table.name!r}"
            raise InputError(f"the {kind} {missing[0]!r} is missing from the database: {RESTORE}.")


def form_of(connection: Connection) -> str | None:
    """The last migration that was applied to a database."""
    return MigrationContext.configure(connection).get_current_revision()


def check_form(connection: Connection) -> None:
    """Raise if another version of explorelab has changed the tables since they were opened."""
    if form_of(connection) != newest():
        raise Refused(503, "busy", "The database was changed by another version of explorelab: restart the server.", 30)


@cache
def newest(schema: Schema = STUDY) -> str | None:
    """The newest migration."""
    return ScriptDirectory.from_config(config(schema)).get_current_head()


def forms() -> set[str]:
    """Every schema version that this release can open."""
    return {script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()}
