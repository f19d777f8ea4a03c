"""What operators do to a running study: databases moved, replaced, written over and cut; backups taken and put back.

Each is done to the real server with people at play, who must not be told of a choice that will be lost, and all go on to the
end once things are put right.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from sqlalchemy import text

from explorelab.study.database.store import engine_for, open_store
from tests.support.study.interrupted import elsewhere, kill_backup, kill_restore, restore_too_early
from tests.support.study.ledger import Ledger, Name, identity_of
from tests.support.study.server import COMMAND, Served

FILES = ("study.db", "study.db-wal", "study.db-shm")
NOTICED_S = 30.0


class LockedError(Exception):
    """The server was in the middle of a transaction when it was made to stand still."""


def over(file: Path, data: bytes) -> None:
    """Write over a file in its place, as `cp` does."""
    with file.open("wb") as opened:
        opened.write(data)


def through_sqlite(db: Path, older: Path, _: Path) -> None:
    """As `sqlite3 study.db '.restore older.db'` does."""

    def progress(status: int, *_: int) -> None:
        # Left to itself SQLite tries again for ever, and a server that stands still never gives its lock back.
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise LockedError

    with closing(sqlite3.connect(older)) as source, closing(sqlite3.connect(db)) as target:
        source.backup(target, progress=progress)


def vacuumed(db: Path, older: Path, _: Path) -> None:
    """A copy of now, whose pages are in another order."""
    copy = older.with_name("vacuumed.db")
    copy.unlink(missing_ok=True)
    with closing(sqlite3.connect(db)) as source:
        source.execute("VACUUM INTO ?", (str(copy),))
    over(db, copy.read_bytes())


ATTACKS: dict[str, Callable[[Path, Path, Path], Any]] = {
    "deleted": lambda db, older, other: db.unlink(),
    "moved away": lambda db, older, other: db.rename(db.with_name("elsewhere.db")),
    "replaced by another study's": lambda db, older, other: (
        shutil.copy(other, db.with_name("x")) and db.with_name("x").replace(db)
    ),
    "replaced by an older copy": lambda db, older, other: (
        shutil.copy(older, db.with_name("x")) and db.with_name("x").replace(db)
    ),
    "written over by an older copy": lambda db, older, other: over(db, older.read_bytes()),
    "written over by another study's": lambda db, older, other: over(db, other.read_bytes()),
    "written over by a copy with other pages": vacuumed,
    "written over by rubbish": lambda db, older, other: over(db, os.urandom(8192)),
    "emptied": lambda db, older, other: os.truncate(db, 0),
    "cut short": lambda db, older, other: os.truncate(db, 8192),
    "without its log": lambda db, older, other: db.with_name("study.db-wal").unlink(),
    "with its log emptied": lambda db, older, other: os.truncate(f"{db}-wal", 0),
    "without its index": lambda db, older, other: db.with_name("study.db-shm").unlink(),
    "restored by SQLite's own means": through_sqlite,
    "with its folder moved": lambda db, older, other: db.parent.rename(db.parent.with_name("moved")),
    "with its folder removed": lambda db, older, other: shutil.rmtree(db.parent),
}
"""Done to a database, given an older copy of it and the database of another study."""
WIPES = ("TRUNCATE people CASCADE", "TRUNCATE choices", "DROP TABLE choices")
"""The same on PostgreSQL."""


class Operator:
    """Whoever has access to the server's folder and database, and no patience."""

    def __init__(self, served: Served, ledger: Ledger, database: str) -> None:
        self.served, self._ledger, self._url = served, ledger, database
        self.folder = served.folder
        self.sqlite = database.startswith("sqlite")
        self._kept = self.folder.with_name("kept")
        self.done: Counter[str] = Counter()
        self.faults: list[str] = []

    async def command(self, *words: str) -> str:
        """What a command of ours prints."""
        process = await asyncio.create_subprocess_exec(*COMMAND, "study", *words, stdout=-1, stderr=-2)
        said, _ = await process.communicate()
        if process.returncode:
            self.faults.append(f"study {words[0]}: {said.decode()[-300:]}")
        return said.decode()

    async def back_up(self, what: str) -> Path:
        """A backup, in which everything must be that was acknowledged before it was asked for."""
        self.done[f"backups {what}"] += 1
        before = dict(self._ledger.shown)
        target = self.folder.with_name(f"backup-{self.done.total()}-{time.monotonic_ns()}")
        await self.command("backup", str(self.folder), "--out", str(target))
        if target.exists() and target.stat().st_mode & 0o777 != 0o600:
            self.faults.append(f"a backup can be read by others: {target.stat().st_mode:o}")
        if target.exists():
            await self.look_into(target, before, what)
        return target

    async def look_into(self, saved: Path, before: Iterable[Name], what: str) -> None:
        """Note what was acknowledged before a backup and is not in it, or why it cannot be read."""
        try:
            kept = held(saved) if self.sqlite else Held(**await elsewhere(saved, self.folder, self._url))
        except (RuntimeError, sqlite3.Error) as error:
            self.faults.append(f"a backup ({what}) cannot be used: {error}")
            return
        self.faults += [f"acknowledged, but not in the backup ({what}): {name[1:]}" for name in kept.missing(before)]

    async def attack(self, what: str) -> None:
        """Break the database under the server; see that it stops; put things right and start it again."""
        self.done["attacks"] += 1
        older = await self.back_up("under load")
        other = self.folder.with_name("other.db")
        if not other.exists():
            open_store("sqlite:///other.db", other.parent).close()
        await asyncio.sleep(0.3)
        while (before := self._broken(what, older, other)) is None:
            await asyncio.sleep(0.02)
        await self._stopped(what, *before)
        self.served.kill_all()
        for folder in (self.folder, self.folder.with_name("moved")):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._kept, self.folder)
        self.served.reopen_log()
        await self.served.start()

    def _broken(self, what: str, older: Path, other: Path) -> tuple[str, set[Any]] | None:
        """Break the database while nobody writes; what the log said until then, and who had been told what.

        None if the database was locked: nothing has been done yet.
        """
        with _Still(self.served.pids):
            shutil.rmtree(self._kept, ignore_errors=True)
            shutil.copytree(self.folder, self._kept)
            told = set(self._ledger.shown)
            try:
                ATTACKS[what](self.folder / "study.db", older, other)
            except LockedError:
                return None
            return self.served.log() if self.folder.exists() else "", told

    async def _stopped(self, what: str, shown: str, told: set[Any]) -> None:
        """Wait until the server says that it has stopped; nothing may have been acknowledged after the attack."""
        until = time.monotonic() + NOTICED_S
        while (status := await self._health()) != 503:
            if time.monotonic() > until:
                self.faults.append(f"{what}: not noticed in {NOTICED_S:.0f} s, health says {status}")
                return
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.2)  # for answers that were under way
        lost = held(self._kept / "study.db").missing(self._ledger.shown.keys() - told)
        self.faults += [f"{what}: acknowledged after the attack: {name[1:]}" for name in lost]
        if self.folder.exists() and "the study has stopped" not in self.served.log()[len(shown) :]:
            self.faults.append(f"{what}: nothing in the log")

    async def _health(self) -> int:
        async with httpx.AsyncClient() as client:
            try:
                return (await client.get(f"http://127.0.0.1:{self.served.port}/api/health", timeout=10)).status_code
            except httpx.TransportError:
                return 0

    async def refuse_writes(self) -> None:
        """A disk that takes no more: nothing is acknowledged, health says so, and all goes on once there is room."""
        self.done["full disks"] += 1
        pids = self.served.pids
        before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY)) for pid in pids}
        until = time.monotonic() + NOTICED_S
        while (status := await self._health()) != 503 and time.monotonic() < until:
            await asyncio.sleep(0.05)
        if status != 503:
            self.faults.append(f"nothing can be written, and health says {status}")
        for pid, limits in before.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        while (status := await self._health()) != 200 and time.monotonic() < until:
            await asyncio.sleep(0.05)
        if status != 200:
            self.faults.append(f"everything can be written again, and health says {status}")

    async def restore(self) -> None:
        """The server is killed, its database backed up, broken and restored: nothing is missing."""
        self.done["restores"] += 1
        self.served.kill_all()
        saved = await self.back_up("after a kill")
        if self.sqlite:
            over(self.folder / "study.db", os.urandom(4096))
        else:
            engine = engine_for(self._url, self.folder)
            with engine.begin() as connection:
                connection.execute(text(WIPES[self.done["restores"] % len(WIPES)]))
            engine.dispose()
        await self.command("restore", str(self.folder), str(saved))
        await self.served.start()

    async def act(self, number: int) -> None:
        """The next thing that operators do."""
        others = [self.refuse_writes] if self.sqlite else []
        interrupted = (partial(each, self) for each in (kill_restore, kill_backup, restore_too_early))
        acts = [self._first, self.restore, *interrupted, *others]
        await acts[number % len(acts)]()

    async def _first(self) -> None:
        if self.sqlite:
            # In steps that reach each of them, but not those alike one after another.
            await self.attack(list(ATTACKS)[5 * self.done["attacks"] % len(ATTACKS)])
        else:
            await self.back_up("under load")


class _Still:
    """Processes stand still while the block lasts."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids

    def __enter__(self) -> None:
        for pid in self._pids:
            os.kill(pid, signal.SIGSTOP)

    def __exit__(self, *_: object) -> None:
        for pid in self._pids:
            os.kill(pid, signal.SIGCONT)


def held(file: Path) -> Held:
    """The choices in a copy of a database, log included."""
    with closing(sqlite3.connect(file)) as connection:
        secret = bytes.fromhex(connection.execute("SELECT value FROM settings WHERE name = 'secret'").fetchone()[0])
        rows = connection.execute("SELECT identity, c.block, trial FROM choices c JOIN people p ON p.id = person")
        return Held(set(rows), secret)


class Held(NamedTuple):
    """Choices by the names that the database has for them."""

    rows: set[Any]
    secret: bytes

    def missing(self, names: Iterable[Name]) -> list[Name]:
        """Those of the ledger's names that are not there."""
        return [name for name in names if (identity_of(name[0], self.secret), *name[1:]) not in self.rows]
