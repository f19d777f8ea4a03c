"""The laboratory's database: opened, migrated, read and written in threads."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from anyio import to_thread
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from explorelab.errors import InputError
from explorelab.laboratory.database.lab_tables import metadata
from explorelab.study.database.claim import Claim
from explorelab.study.database.failures import in_words
from explorelab.study.database.migrating import Schema, migrate
from explorelab.study.database.store import engine_for, remembered
from explorelab.study.database.vitals import Vitals

LABORATORY = Schema(Path(__file__).parent / "forms", metadata)


class LabDatabase:
    """An open database of a laboratory. Few people use it, so each request is a transaction of its own."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.vitals = Vitals()
        self.claim: Claim | None = None
        """That of the laboratory's one server, while it is held."""
        with engine.begin() as connection:
            self.secret = bytes.fromhex(remembered(connection, "secret"))

    def look[T](self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, reading only."""
        with self.engine.connect() as connection:
            return work(connection)

    def change[T](self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, once everything it wrote is on disk; if it raises, nothing is written."""
        with self.engine.connect().execution_options(immediate=True) as connection, connection.begin():
            return work(connection)

    async def read[T](self, work: Callable[[Connection], T]) -> T:
        """Look, in a thread."""
        return await to_thread.run_sync(self.look, work)

    async def write[T](self, work: Callable[[Connection], T]) -> T:
        """Change, in a thread."""
        return await to_thread.run_sync(self.change, work)

    def close(self) -> None:
        """Let go of it."""
        if self.claim is not None:
            self.claim.release()
        self.engine.dispose()


def open_lab_database(url: str, folder: Path) -> LabDatabase:
    """The laboratory's database at this address, up to date; a relative SQLite file is in the folder."""
    engine = engine_for(url, folder)
    try:
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _keep_log_short)
            # It holds who the researchers are: nobody else on this computer may read it.
            Path(engine.url.database or "").touch(mode=0o600)
        migrate(engine, schema=LABORATORY)
        return LabDatabase(engine)
    except (DBAPIError, OSError) as error:
        engine.dispose()
        place = engine.url.render_as_string(hide_password=True)
        raise InputError(f"cannot open the laboratory's database {place}: {in_words(error)}.") from None
    except BaseException:
        engine.dispose()
        raise


def _keep_log_short(connection: sqlite3.Connection, _: object) -> None:
    """A study's server moves its log by itself, between requests; nobody waits for this one."""
    connection.execute("PRAGMA wal_autocheckpoint=1000")
