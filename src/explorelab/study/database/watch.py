"""Whether the database is still the one that was opened: files can be deleted, replaced and restored under a running server.

Data written to a deleted file are gone when the server stops, even if they were committed. So the files are checked before
each transaction and again after it, before anyone is answered.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event, text

from explorelab.study.database.vitals import Vitals

HEADER = 100
"""Bytes of the header of a SQLite file, with its type, its number of pages, and the number `user_version`."""
MAGIC = b"SQLite format 3\0"
FULL_LOG = 1000
"""Pages in SQLite's write-ahead log above which it is worth restarting the log."""
MOVE_AFTER, MOVE_EVERY_S = 200, 10.0
"""Commits, and seconds, after which the log is moved into the file: each move costs the disk as much as a few commits."""
LOOK_EVERY_S = 0.25
"""How often a process looks at the tables on PostgreSQL."""


class FileWatch:
    """Recognises a SQLite file by its place on the disk, and its content by a number that every commit increments.

    The number (`user_version`) starts at random with each server and is in the file's first bytes: a file overwritten by
    an older copy, or by that of another study, has a different one.
    """

    def __init__(self, engine: Engine, file: Path, vitals: Vitals) -> None:
        self._engine, self._file, self._vitals = engine, file, vitals
        # One connection stays open: when the last one closes, SQLite itself removes the log and the index beside the file.
        self._anchor = engine.raw_connection()
        self._first = self._now = self._number = 0
        self._counting = False
        """Whether a commit with one of our numbers has succeeded."""
        self._anchor.cursor().execute("SELECT count(*) FROM sqlite_master").close()
        # Kept open until the end: closing any handle of the file would release the locks that SQLite holds on it.
        self._handle = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._known = {name: _place(name) for name in (file, *self.beside(file))}
        self._lock = threading.Lock()
        self._moved = self._now, time.monotonic()
        self._size = self._log_size = self._log_number = 0
        self._format = self._first_bytes()[16:24]
        self._in_file = self._head()[2]
        event.listen(engine, "do_connect", self._before_connecting)

    @staticmethod
    def beside(file: Path) -> tuple[Path, Path]:
        """The log with what was written last, and its index."""
        return file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")

    def close(self) -> None:
        """Release the files; call the engine's own `dispose` afterwards."""
        event.remove(self._engine, "do_connect", self._before_connecting)
        with suppress(Exception):
            self._anchor.close()

    def closed(self) -> None:
        """Finish after the engine's connections have closed."""
        os.close(self._handle)

    def _before_connecting(self, *_: object) -> None:
        # A new connection would create a new file in place of the old one.
        self.check()

    def check(self) -> None:
        """Raise, and stop the study, unless the files are those that were opened."""
        self._vitals.check()
        with self._lock:
            self._check_places()
            self._check_content()

    def _check_places(self) -> None:
        try:
            for name, place in self._known.items():
                if _place(name) != place:
                    raise self._vitals.stop(f"{name.name} has been replaced by another file")
        except FileNotFoundError as error:
            raise self._vitals.stop(f"{Path(error.filename).name} has been deleted or moved") from None

    def _first_bytes(self) -> bytes:
        os.lseek(self._handle, 0, os.SEEK_SET)
        return os.read(self._handle, HEADER)

    def _head(self) -> tuple[int, int, int]:
        """Size on disk, size according to the file itself, and the number; zeros for a file that is not a database."""
        head = self._first_bytes()
        size = os.fstat(self._handle).st_size
        # Copies made by VACUUM have other pages, and are not in the form in which a server keeps its file.
        if len(head) < HEADER or not head.startswith(MAGIC) or head[16:24] != self._format:
            return size, 0, 0
        page = int.from_bytes(head[16:18])
        return size, int.from_bytes(head[28:32]) * (65536 if page == 1 else page), int.from_bytes(head[60:64])

    def _check_content(self) -> None:
        name = self._file.name
        size, told, number = self._head()
        if size < self._size and size < max(told, 1):
            raise self._vitals.stop(f"{name} has been truncated")
        ours = self._first > 0 and max(self._first, self._in_file_of_ours()) <= number <= self._number
        if number != self._in_file and not ours and (self._first or not size or not told):
            raise self._vitals.stop(f"{name} has been overwritten by another program")
        self._size, self._in_file = size, number
        log_size = self.beside(self._file)[0].stat().st_size
        # Others may move the log into the file and empty it then; the file has its number in that case.
        if log_size < self._log_size and number < self._log_number:
            raise self._vitals.stop(f"{name}-wal, which holds the latest choices, has been emptied")
        self._log_size, self._log_number = log_size, self._now

    def _in_file_of_ours(self) -> int:
        """The number last seen in the file, if it was this server's."""
        return self._in_file if self._first <= self._in_file <= self._number else 0

    def check_inside(self, connection: Connection) -> None:
        """Raise unless the transaction begins where the last one ended."""
        if not self._counting:
            # From the first write on: a mere reader (such as an export) leaves the number to the server that may be running.
            self._first = self._now = self._number = secrets.randbelow(2**30) + 1
            connection.exec_driver_sql(f"PRAGMA user_version = {self._number}")
        found = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if found not in (self._now, self._number):
            raise self._vitals.stop(f"the content of {self._file.name} has been replaced by another program")
        self._now = found
        self._changes = self._n_changes(connection)

    def mark(self, connection: Connection) -> None:
        """Count the transaction if it has written anything; a failed commit may or may not have happened."""
        if self._n_changes(connection) != self._changes:
            self._number = self._now + 1
            connection.exec_driver_sql(f"PRAGMA user_version = {self._number}")

    @staticmethod
    def _n_changes(connection: Connection) -> int:
        return int(connection.connection.dbapi_connection.total_changes)  # type: ignore[union-attr]

    def committed(self) -> None:
        """Raise unless the last commit is in the files that will be found after a restart."""
        self._now, self._counting = self._number, True
        self.check()

    def is_due(self) -> bool:
        """Whether enough has been written, or long enough ago, to move it from the log into the file."""
        n, since_s = self._now - self._moved[0], time.monotonic() - self._moved[1]
        return n >= MOVE_AFTER or (n > 0 and since_s > MOVE_EVERY_S)

    def checkpoint(self) -> bool:
        """Move what can be moved from the log into the file; returns whether the log is long and little of it is left."""
        self._moved = self._now, time.monotonic()
        with suppress(Exception), self._engine.connect() as connection:  # a failure does not matter: it is tried again
            driver: Any = connection.connection.dbapi_connection
            _, in_log, moved = driver.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            return bool(in_log > FULL_LOG and in_log - moved < FULL_LOG)
        return False


def _place(file: Path) -> tuple[int, int]:
    """The file's place on the disk."""
    found = file.stat()
    return found.st_dev, found.st_ino


class TableWatch:
    """Recognises a PostgreSQL database by its tables, and by counts that never decrease."""

    MARKS = text(
        "SELECT 'choices'::regclass::oid::bigint, 'people'::regclass::oid::bigint, "
        "(SELECT value FROM settings WHERE name = 'secret'), coalesce((SELECT max(id) FROM people), 0), "
        "coalesce((SELECT max(id) FROM deletions), 0), coalesce((SELECT max(id) FROM choices), 0)"
    )

    def __init__(self, engine: Engine, vitals: Vitals) -> None:
        self._vitals, self._lock, self._looked = vitals, threading.Lock(), time.monotonic()
        with engine.connect() as connection:
            self._marks = self._read(connection)

    def _read(self, connection: Connection) -> tuple[Any, ...]:
        return tuple(connection.execute(self.MARKS).one())

    def check_inside(self, connection: Connection, at_once: bool = False) -> None:
        """Raise, and stop the study, unless the tables are those that were opened; checked now and then."""
        self._vitals.check()
        if not at_once and time.monotonic() - self._looked < LOOK_EVERY_S:
            return
        if not self._lock.acquire(blocking=at_once):
            return  # another thread looks
        try:
            self._looked = time.monotonic()
            *same, people, deletions, choices = self._read(connection)
            *was, n_people, n_deletions, n_choices = self._marks
            if same != was:
                raise self._vitals.stop("the tables of the database have been replaced")
            # People are never removed, and choices only together with a line about it.
            if people < n_people or deletions < n_deletions or (choices < n_choices and deletions == n_deletions):
                raise self._vitals.stop("rows have been removed from the database, or an older version of it was restored")
            self._marks = (*same, people, deletions, choices)
        finally:
            self._lock.release()
