"""Bringing a database to the newest form, whatever earlier one it has."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine, text

from explorelab.errors import InputError

FOLDER = Path(__file__).parent / "migrations"
LOCK = 7_305_201_409
"""Number of the lock on PostgreSQL under which one process migrates and others wait."""


def config() -> Config:
    """Alembic's settings."""
    settings = Config()
    settings.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return settings


def migrate(engine: Engine, to: str = "head") -> None:
    """Apply the migrations that are missing; all of them or, if one fails, none."""
    with engine.connect().execution_options(immediate=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        if to == "head" and form_of(connection) == newest():
            return
        settings = config()
        settings.attributes["connection"] = connection
        try:
            command.upgrade(settings, to)
        except CommandError as error:
            raise InputError(
                f"the database was written by another version of explorelab and cannot be opened by this one: {error}."
            ) from None


def form_of(connection: Connection) -> str | None:
    """The last migration that was applied to a database."""
    return MigrationContext.configure(connection).get_current_revision()


def newest() -> str | None:
    """The last migration that there is."""
    return ScriptDirectory.from_config(config()).get_current_head()


def forms() -> set[str]:
    """Every form of the database that this version can open."""
    return {script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()}
