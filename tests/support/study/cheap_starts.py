"""Studies that start cheaply: tests make hundreds of databases and logins, all alike."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

from sqlalchemy import Engine

from explorelab.study.admin.entry import passwords
from explorelab.study.database import store
from explorelab.study.database.migrating import migrate

LEAST_COST = 2


@contextmanager
def cheap_starts() -> Iterator[None]:
    """In the process of the tests; servers that they start do what they do for users."""
    with patch.object(store, "migrate", _migrated_once), patch.object(passwords, "HASHING_COST", LEAST_COST):
        yield


def _migrated_once(engine: Engine) -> None:
    """Every new SQLite database begins as a copy of one that was brought up to date once."""
    file = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
    if file is not None and file.is_file() and not file.stat().st_size:
        file.write_bytes(_new_database())
    migrate(engine)


@cache
def _new_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.db"
        engine = store.engine_for(f"sqlite:///{file}", Path(folder))
        migrate(engine)
        engine.dispose()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return file.read_bytes()
