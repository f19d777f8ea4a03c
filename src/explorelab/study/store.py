"""The database: opened, brought to the newest form, read from many threads, and written so that an answer means "on disk".

SQLite has one writer. Its thread takes every request that waits, does them in one transaction, each in a savepoint of its
own, and answers all of them after the one commit: a disk that syncs 200 times a second can then keep thousands of choices.
PostgreSQL commits each request by itself, in several connections.
"""

from __future__ import annotations

import asyncio
import queue
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, OperationalError

from explorelab.errors import InputError
from explorelab.extras import needs
from explorelab.study.migrating import migrate
from explorelab.study.tables import settings

THREADS = 8
"""Connections that read, and on PostgreSQL write, at once."""
TOGETHER = 500
"""Requests in one transaction, at most."""
RETRIES = 3
"""How often a request that met another of the same person is tried anew."""

type Work[T] = Callable[[Connection], T]


class Store:
    """An open database of a study."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")
        self._writer = GroupWriter(engine) if self.dialect == "sqlite" else None
        with engine.begin() as connection:
            self.secret = bytes.fromhex(remembered(connection, "secret"))

    async def read[T](self, work: Work[T]) -> T:
        """What `work` finds."""
        return await asyncio.wrap_future(self._threads.submit(self._read, work))

    async def write[T](self, work: Work[T]) -> T:
        """What `work` returns, once everything that it wrote is on disk; what it raises, with nothing written."""
        if self._writer is not None:
            return await asyncio.wrap_future(self._writer.submit(work))
        return await asyncio.wrap_future(self._threads.submit(self._write, work))

    def close(self) -> None:
        """Finish what is under way and let go of the database."""
        if self._writer is not None:
            self._writer.close()
        self._threads.shutdown()
        self.engine.dispose()

    def _read[T](self, work: Work[T]) -> T:
        for left in reversed(range(RETRIES)):
            try:
                with self.engine.connect() as connection:
                    return work(connection)
            except OperationalError:
                # The database has been started anew; the pool's other connections are gone with this one.
                if not left:
                    raise
        raise AssertionError("unreachable")

    def _write[T](self, work: Work[T]) -> T:
        for left in reversed(range(RETRIES)):
            try:
                with self.engine.begin() as connection:
                    return work(connection)
            except (IntegrityError, OperationalError):
                # Two first arrivals of one person, a deadlock, or a server that has just come back.
                if not left:
                    raise
        raise AssertionError("unreachable")


class GroupWriter:
    """The one thread that writes to SQLite."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._closed = engine, False
        self._waiting: queue.SimpleQueue[tuple[Work[Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit[T](self, work: Work[T]) -> Future[T]:
        """The result to come."""
        if self._closed:
            raise RuntimeError("the database has been closed")
        future: Future[T] = Future()
        self._waiting.put((work, future))
        return future

    def close(self) -> None:
        """Write what waits, then stop."""
        self._closed = True
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            group, last = [first], False
            while len(group) < TOGETHER and not self._waiting.empty():
                item = self._waiting.get()
                if item is None:
                    last = True
                    break
                group.append(item)
            self._write(group)
            if last:
                return

    def _write(self, group: list[tuple[Work[Any], Future[Any]]]) -> None:
        outcomes: list[tuple[Any, BaseException | None]]
        # Whoever has gone is not waited for, and whoever has not can no longer go.
        group = [(work, future) for work, future in group if future.set_running_or_notify_cancel()]
        try:
            with self._engine.connect().execution_options(immediate=True) as connection, connection.begin():
                outcomes = [self._one(connection, work) for work, _ in group]
        except Exception as error:  # the commit failed: nobody's work is on disk
            outcomes = [(None, error)] * len(group)
        for (_, future), (result, failure) in zip(group, outcomes, strict=True):
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)

    def _one(self, connection: Connection, work: Work[Any]) -> tuple[Any, BaseException | None]:
        try:
            with connection.begin_nested():
                return work(connection), None
        except Exception as error:
            if not connection.connection.dbapi_connection.in_transaction:  # type: ignore[union-attr]
                # SQLite has rolled everything back (the disk is full, say): nobody's work before this one is there.
                raise
            return None, error


def open_store(url: str, folder: Path) -> Store:
    """The database at this address, in its newest form; a relative SQLite file lies in the folder."""
    engine = engine_for(url, folder)
    file = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
    try:
        if file is not None and file.parent.is_dir():
            # The platforms' names of people are in it: nobody else on this computer may read it.
            file.touch(mode=0o600)
        migrate(engine)
        return Store(engine)
    except OperationalError as error:
        engine.dispose()
        place = engine.url.render_as_string(hide_password=True)
        raise InputError(f"cannot open the database {place}: {str(error.orig).strip().splitlines()[0]}.") from None


def engine_for(url: str, folder: Path) -> Engine:
    """Connections to the database at this address."""
    try:
        address = make_url(url)
    except ArgumentError:
        # The address is not shown: there may be a password in it.
        raise InputError("the database must be an address such as sqlite:///study.db, got something else.") from None
    if address.drivername == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() == "sqlite":
        name = address.database or ""
        if name in ("", ":memory:"):
            raise InputError("the database must be kept in a file or on a server: sqlite:///study.db, not in memory.")
        engine = create_engine(address.set(database=str(folder / name)), pool_size=THREADS + 2)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    if address.get_backend_name() != "postgresql":
        raise InputError(f"the database must be sqlite or postgresql, got {address.get_backend_name()!r}.")
    try:
        # An answer means "on disk" whatever the server's own setting, and nobody waits for a lock or a host for ever.
        how = {"connect_timeout": 10, "options": "-c synchronous_commit=on -c lock_timeout=10s -c statement_timeout=60s"}
        return create_engine(address, pool_size=THREADS, max_overflow=4, connect_args=how)
    except (NoSuchModuleError, ModuleNotFoundError):
        needs("postgresql", "PostgreSQL")
        raise


def _prepare_sqlite(connection: Any, _: Any) -> None:
    # The driver's own idea of transactions does not know savepoints; `_begin_sqlite` says when they begin.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=15000"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at once: two that read first and then want to write would wait for each other.
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def remembered(connection: Connection, name: str) -> str:
    """A secret number of this database, made when first asked for."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    made = insert(settings).values(name=name, value=secrets.token_hex(32)).on_conflict_do_nothing()
    connection.execute(made)
    return str(connection.execute(select(settings.c.value).where(settings.c.name == name)).scalar_one())
