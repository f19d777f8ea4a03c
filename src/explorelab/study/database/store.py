"""The database: opened, migrated, read from many threads, and written so that an answer means "on disk".

SQLite has one writer (group_writer.py). PostgreSQL commits each request separately, over several connections. Both check
that the database is still the one that was opened (watch.py), and refuse requests that would wait too long (waiting.py).
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, OperationalError

from explorelab._support.extras import needs
from explorelab.errors import InputError
from explorelab.study.database.claim import Claim, claimed
from explorelab.study.database.failures import in_words, is_damaged
from explorelab.study.database.group_writer import GroupWriter, Work
from explorelab.study.database.migrating import check_form, migrate
from explorelab.study.database.refusals import Refused
from explorelab.study.database.sqlite_file import check_file, short_of_disk, tidy
from explorelab.study.database.tables import settings
from explorelab.study.database.vitals import Vitals
from explorelab.study.database.waiting import Load
from explorelab.study.database.watch import FileWatch, TableWatch

THREADS = 8
"""Connections that read, and on PostgreSQL write, at once."""
RETRIES = 3
"""How often a request that collided with another of the same person is retried."""
PRAGMAS = (
    "busy_timeout=5000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON",
    "secure_delete=ON",  # deleted data must not remain in the file either
    "wal_autocheckpoint=0",  # `Store.look` does this apart from commits: during one, everybody would wait for it
)  # fmt: skip
PROOF_S, TRY_S = 2.0, 8.0
"""How long a write counts as proof that others will succeed, and how long the health check waits for one."""


class Store:
    """An open database of a study."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self.vitals = Vitals()
        with engine.begin() as connection:
            self.secret = bytes.fromhex(remembered(connection, "secret"))
        self.file = Path(engine.url.database or "") if self.dialect == "sqlite" else None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")
        self._files = FileWatch(engine, self.file, self.vitals) if self.file is not None else None
        self._tables = TableWatch(engine, self.vitals) if self.file is None else None
        self._writer = GroupWriter(engine, self._files, self.vitals) if self._files is not None else None
        self.load = self._writer.load if self._writer is not None else Load(self.vitals, THREADS)
        self._claim: Claim | None = None

    def claim(self) -> None:
        """Be the one server of this study (one of its workers, on PostgreSQL) until the store is closed."""
        self._claim = claimed(self.engine, self.file)
        if self._writer is not None:
            # From the first write on, the file is known by its content too.
            self._writer.submit(_prove).result()

    async def read[T](self, work: Work[T]) -> T:
        """What `work` returns, reading only."""
        self.vitals.check()
        return await asyncio.wrap_future(self._threads.submit(self._read, work))

    async def write[T](self, work: Work[T]) -> T:
        """What `work` returns, once everything it wrote is on disk; if it raises, nothing is written."""
        self.vitals.check()
        if self._writer is not None:
            return await asyncio.wrap_future(self._writer.submit(work))
        self.load.enter()
        future = self._threads.submit(self._timed, work)
        future.add_done_callback(lambda _: self.load.leave())  # also for those who left before it began
        return await asyncio.wrap_future(future)

    async def prove(self) -> None:
        """Raise unless something was stored a moment ago, or can be."""
        self.vitals.check()
        if self.vitals.failing is None and time.monotonic() - self.vitals.stored_at < PROOF_S:
            return
        try:
            async with asyncio.timeout(TRY_S):
                await self.write(_prove)
        except TimeoutError:
            why = self.vitals.trouble() or "the database does not answer"
            raise Refused(503, "busy", f"Nothing can be stored: {why}.", 5) from None

    async def check_ready(self) -> None:
        """Raise unless people can take part: choices are stored, in tables as this version made them, with room for more."""
        await self.prove()
        await self.read(check_form)
        if self.file is not None and (why := short_of_disk(self.file)):
            raise Refused(503, "busy", f"The server is running out of space: {why}.", 30)

    def look(self) -> None:
        """Check the database between requests: that it is there, and that its log does not grow without end."""
        if self._files is not None and self._writer is not None:
            with suppress(Refused):
                self._files.check()
                if self._files.is_due() and self._files.checkpoint():
                    self._writer.checkpoint_soon()
        elif self._tables is not None:
            try:
                with suppress(Refused), self.engine.connect() as connection:
                    self._tables.check_inside(connection, at_once=True)
            except DBAPIError as error:
                self.vitals.failed(error)
            if self._claim is not None:
                self._claim.renew()

    def close(self) -> None:
        """Finish pending work and release the database."""
        if self._writer is not None:
            self._writer.close()
        self._threads.shutdown()
        if self._files is not None:
            with suppress(Refused):
                self._files.check()
            self._files.close()
        self.engine.dispose()
        if self._claim is not None:
            self._claim.release()
        if self._files is not None and self.file is not None:
            if self.vitals.stopped is None:
                tidy(self.file)
            self._files.closed()

    def _read[T](self, work: Work[T]) -> T:
        if self._files is not None:
            self._files.check()
        for left in reversed(range(RETRIES)):
            try:
                with self.engine.connect() as connection:
                    return self._looked(connection, work)
            except OperationalError as error:
                # The database has been restarted; the pool's other connections are gone with this one.
                if not left or is_damaged(error):
                    self._told(error)
                    raise
            except DBAPIError as error:
                self._told(error)
                raise
        raise AssertionError("unreachable")

    def _told(self, error: DBAPIError) -> None:
        if is_damaged(error):
            self.vitals.failed(error)

    def _timed[T](self, work: Work[T]) -> T:
        began = time.perf_counter()
        try:
            return self._write(work)
        finally:
            self.load.learn(1, time.perf_counter() - began)

    def _write[T](self, work: Work[T]) -> T:
        for left in reversed(range(RETRIES)):
            try:
                with self.engine.begin() as connection:
                    if self._tables is not None:
                        self._tables.check_inside(connection)
                    result = self._looked(connection, work)
                self.vitals.stored()
                return result
            except DBAPIError as error:
                # Two first arrivals of one person, a deadlock, or a server that has just come back.
                if not left or not isinstance(error, (IntegrityError, OperationalError)):
                    self.vitals.failed(error)
                    raise
        raise AssertionError("unreachable")

    def _looked[T](self, connection: Connection, work: Work[T]) -> T:
        """What the work returns; before telling someone that they are unknown, check that no people have vanished."""
        try:
            return work(connection)
        except Refused as refused:
            if self._tables is not None and refused.status in (401, 409):
                self._tables.check_inside(connection, at_once=True)
            raise


def _prove(connection: Connection) -> None:
    """Write something, to show that writing works."""
    keep(connection, "proved", secrets.token_hex(8))


def open_store(url: str, folder: Path) -> Store:
    """The database at this address, up to date; a relative SQLite file is in the folder."""
    engine = engine_for(url, folder)
    file = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
    try:
        if file is not None and file.parent.is_dir():
            check_file(file)
            # It contains platform IDs: nobody else on this computer may read it.
            file.touch(mode=0o600)
        migrate(engine)
        return Store(engine)
    except (DBAPIError, OSError) as error:
        engine.dispose()
        place = engine.url.render_as_string(hide_password=True)
        advice = " Restore a backup: explorelab study restore." if is_damaged(error) else ""
        raise InputError(f"cannot open the database {place}: {in_words(error)}.{advice}") from None
    except BaseException:
        engine.dispose()
        raise


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
        # An answer means "on disk" whatever the server's own setting, and nobody waits forever for a lock or a host.
        how = {"connect_timeout": 10, "options": "-c synchronous_commit=on -c lock_timeout=10s -c statement_timeout=60s"}
        return create_engine(address, pool_size=THREADS, max_overflow=4, connect_args=how)
    except (NoSuchModuleError, ModuleNotFoundError):
        needs("postgresql", "PostgreSQL")
        raise


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # The driver's own transactions do not support savepoints; `_begin_sqlite` begins them instead.
    connection.isolation_level = None
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    # The last connection to close would remove the log by name, which may belong to another file by then: see `tidy`.
    connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at once: two that first read and then want to write would wait for each other.
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def keep(connection: Connection, name: str, value: str) -> None:
    """Store a setting, replacing its old value."""
    made = _insert(connection).values(name=name, value=value)
    connection.execute(made.on_conflict_do_update(index_elements=[settings.c.name], set_={"value": value}))


def keep_first(connection: Connection, name: str, value: str) -> None:
    """Store a setting unless it has a value."""
    connection.execute(_insert(connection).values(name=name, value=value).on_conflict_do_nothing())


def remembered(connection: Connection, name: str) -> str:
    """A secret of this database, created on first use."""
    keep_first(connection, name, secrets.token_hex(32))
    return str(connection.execute(select(settings.c.value).where(settings.c.name == name)).scalar_one())


def _insert(connection: Connection) -> sqlite.Insert | postgresql.Insert:
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(settings)
