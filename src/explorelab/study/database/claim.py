"""Ensures one server per study, that nobody replaces its database while it runs, and that it is this study's database."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy.exc import DBAPIError

from explorelab._support.counted import counted
from explorelab.errors import InputError
from explorelab.study.database.sqlite_file import SERVING
from explorelab.study.database.tables import people, settings

STUDY = "study"
"""The setting with the name of the study that the database was made for."""
LOCK = 7_305_201_411
"""Number of the PostgreSQL lock that all workers of a server share."""
ENDING_S = 10.0
"""How long workers whose server was killed, and their connections, may take to end."""


class Claim(NamedTuple):
    """A claim that is held until it is released, or the process ends."""

    release: Callable[[], None]
    renew: Callable[[], None] = lambda: None
    """Take it again after a restart of PostgreSQL has released it."""


def claimed(engine: Engine, file: Path | None, alone: bool = False) -> Claim:
    """The claim of a server or, with `alone`, of a command that replaces the database. Raises if another claim is held."""
    return _of_file(file) if file is not None else _of_postgresql(engine, alone)


def check_unserved(engine: Engine, file: Path | None) -> None:
    """Raise if another server is running on PostgreSQL; the remains of a killed server are given time to end.

    On SQLite, which has a single process, the claim itself shows this.
    """
    if file is not None:
        return
    deadline = time.monotonic() + ENDING_S
    while True:
        try:
            claimed(engine, None, alone=True).release()
            return
        except InputError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _of_file(file: Path) -> Claim:
    if sys.platform == "win32":  # where a file that is open cannot be replaced
        return Claim(lambda: None)
    import fcntl

    handle = os.open(file.with_name(file.name + SERVING), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InputError(
            f"a server of this study is already using {file}: stop it first (or pass its address to the robots with --url)."
        ) from None
    except OSError:  # a disk without locks
        pass
    return Claim(lambda: os.close(handle))


def _of_postgresql(engine: Engine, alone: bool) -> Claim:
    held: list[Connection] = []

    def take() -> None:
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        shared = "" if alone else "_shared"
        if not connection.execute(text(f"SELECT pg_try_advisory_lock{shared}({LOCK})")).scalar_one():
            connection.close()
            if alone:
                raise InputError("a server of this study is already using the database: stop it first.")
            raise InputError("the database is being restored: start the server afterwards.")
        held.append(connection)

    def release() -> None:
        while held:
            with suppress(Exception):
                held.pop().invalidate()

    def renew() -> None:
        try:
            held[-1].execute(text("SELECT 1"))
        except (DBAPIError, IndexError):
            release()
            with suppress(DBAPIError, InputError):
                take()

    take()
    return Claim(release, renew)


# Whose database it is --------------------------------------------------------------------------------------------------


def origin(connection: Connection) -> str | None:
    """The name of the study this database was made for; None if not yet recorded."""
    return connection.execute(select(settings.c.value).where(settings.c.name == STUDY)).scalar()


def check_origin(connection: Connection, name: str) -> None:
    """Raise if the database holds people of another study; otherwise record which study it belongs to."""
    known = origin(connection)
    if known is not None and known != name:
        n = int(connection.execute(select(func.count()).select_from(people)).scalar_one())
        if n:
            raise InputError(
                other_study(known, name, f"the database holds {counted(n, 'person', 'people')} of the study {known!r}")
            )
    if known != name:
        # Imported here because the store claims its database.
        from explorelab.study.database.store import keep

        keep(connection, STUDY, name)


def other_study(known: str, name: str, found: str) -> str:
    """What to say about data of another study."""
    return (
        f"study.toml calls the study {name!r}, but {found}: is it the file of another study? "
        f"(If you have renamed the study, set name = {known!r} under [study] again.)"
    )
