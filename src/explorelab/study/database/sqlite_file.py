"""Checks of a SQLite file before and after use: whether it can be a study's database, and leaving it tidy."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

from explorelab.errors import InputError

OURS = ("alembic_version", "settings", "people")
SERVING = "-serving"
"""Suffix of the file beside the database that a running server locks."""
RESTORE = "restore a backup: explorelab study restore"
SPARE = 100 * 2**20
"""Bytes that must be free on the disk: with less, choices may soon not be stored."""


def log_of(file: Path) -> Path:
    """The log beside the file, which holds the latest data."""
    return file.with_name(file.name + "-wal")


def check_file(file: Path) -> None:
    """Raise unless a study's database can be opened or made here."""
    if file.is_dir():
        raise InputError(f"{file}: expected the study's database, got a folder.")
    log = log_of(file)
    left_over = log.exists() and log.stat().st_size > 0
    if not file.exists() or file.stat().st_size == 0:
        if left_over:
            # SQLite would discard the log as leftover, and with it all the data that remain.
            raise InputError(
                f"{file} is gone or empty, but {log.name} beside it holds data: put the file back, or {RESTORE}."
            )
        if file.exists():
            raise InputError(f"{file} is empty (0 bytes): {RESTORE}, or delete the file to start over.")
        return
    with (
        suppress(sqlite3.OperationalError),
        closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as open_,
    ):
        try:
            names = {row[0] for row in open_.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise InputError(f"{file} is damaged, or is not a SQLite database: {RESTORE}.") from None
        if names and not names.issuperset(OURS):
            raise InputError(
                f"{file} is another program's database, not a study's: {sorted(names)[0]!r} is one of its tables."
            )


def free_bytes(file: Path) -> int:
    """How much is free on the disk of the database."""
    return shutil.disk_usage(file.parent).free


def short_of_disk(file: Path) -> str | None:
    """What to say if the disk is nearly full."""
    try:
        free = free_bytes(file)
    except OSError:  # the disk is gone or broken, which is noticed elsewhere
        return None
    return (
        None if free >= SPARE else f"only {free // 2**20} MiB are left on the disk; with none left, no choice can be stored"
    )


def is_served(file: Path) -> bool:
    """Whether a server runs on the database."""
    held = file.with_name(file.name + SERVING)
    if sys.platform == "win32" or not held.exists():
        return False
    import fcntl

    with held.open() as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def check_whole(file: Path) -> None:
    """Raise unless all pages of the database are intact; otherwise only some people would run into the damage."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as open_:
        try:
            found = [str(row[0]) for row in open_.execute("PRAGMA quick_check(1)")]
        except sqlite3.DatabaseError:
            found = ["damaged"]
    if found != ["ok"]:
        raise InputError(f"{file} is damaged: {RESTORE}.")


def tidy(file: Path, alone: bool = False) -> None:
    """Move the whole log into the file if nobody else uses it (`alone`: known to the caller)."""
    if not alone and is_served(file):
        return  # its writer would wait for us
    with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=rw", uri=True)) as open_:
        open_.execute("PRAGMA synchronous=FULL")
        open_.execute("PRAGMA secure_delete=ON")
        open_.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
