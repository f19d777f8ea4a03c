"""Restores a study's database from a backup. The old database is kept beside it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from explorelab._support.files import check_folder_of, sync
from explorelab.errors import InputError
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.change_numbers import FEED, new_feed
from explorelab.study.database.claim import claimed
from explorelab.study.database.sqlite_file import log_of, tidy
from explorelab.study.database.store import engine_for
from explorelab.study.operation import postgresql
from explorelab.study.operation.backup import checked, copy, new_file, study_of, unused
from explorelab.study.operation.transfer import restore_to_postgresql

SQLITE, POSTGRESQL = b"SQLite format 3\0", b"PGDMP"


def restore(folder: Path, file: Path) -> str:
    """Replace the study's database with the backup if no server is running; returns a summary."""
    study = load_study(folder)
    engine = engine_for(study.database, folder)
    try:
        on_sqlite = engine.dialect.name == "sqlite"
        kind = _kind(file, on_sqlite)
        database = Path(engine.url.database or "") if on_sqlite else None
        if database is not None:
            check_folder_of(database)
        claim = claimed(engine, database, alone=True)
        try:
            if database is None:
                place = _place_for_old(folder, file)
                aside = unused(lambda at: place / f"{study.name}-before-restore-{at}.dump")
                put = restore_to_postgresql if kind == "SQLite" else postgresql.restore
                return put(engine, study.name, file, aside)
            return _restore_file(database, study.name, file)
        finally:
            claim.release()
    finally:
        engine.dispose()


def _place_for_old(folder: Path, file: Path) -> Path:
    """Where the old database is kept: with the study's backups or, if the study's folder is read-only, beside the file."""
    return folder / "backups" if os.access(folder, os.W_OK) else file.parent


def _kind(file: Path, on_sqlite: bool) -> str:
    """The kind of database that a backup is of; raises unless the study can use it."""
    try:
        with file.open("rb") as opened:
            start = opened.read(len(SQLITE))
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from None
    kinds = {SQLITE: "SQLite", POSTGRESQL: "PostgreSQL"}
    kind = next((name for magic, name in kinds.items() if start.startswith(magic)), None)
    if kind is None or (on_sqlite and kind != "SQLite"):
        wanted = "SQLite, which the study uses" if on_sqlite else "PostgreSQL, which the study uses, or of SQLite"
        got = f"one of {kind}" if kind else "a file that is damaged or not a backup"
        raise InputError(f"{file}: expected a backup of {wanted}, got {got}.")
    return kind


def _restore_file(database: Path, name: str, file: Path) -> str:
    if database.exists() and file.samefile(database):
        raise InputError(f"{file} is the study's database itself, not a backup of it.")
    found = study_of(file, name)
    _check_unused(database)
    aside = unused(lambda at: database.with_name(f"{database.name}.before-restore-{at}"))
    with new_file(database) as made:
        copy(file, made)
        _begin_feed(made)
        checked(made)
        _set_aside(database, aside)
    kept = f"\nThe previous database is kept as {aside}." if aside.exists() else ""
    return f"restored {file} to {database}: {found}.{kept}"


def _begin_feed(made: Path) -> None:
    """Tell those who follow live results that what they have read may be more than what is there now."""
    with closing(sqlite3.connect(made)) as connection, connection:
        connection.execute("UPDATE settings SET value = ? WHERE name = ?", (new_feed(), FEED))


def _check_unused(database: Path) -> None:
    """Raise if any program has the database open; a damaged or missing one cannot be in use."""
    if not database.exists():
        return
    with closing(sqlite3.connect(database, timeout=0.5, isolation_level=None)) as connection:
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname in ("SQLITE_BUSY", "SQLITE_LOCKED"):
                raise InputError(f"{database} is in use by another program: stop it first.") from None
        except sqlite3.DatabaseError:
            pass


def _set_aside(database: Path, aside: Path) -> None:
    """Keep the database under a second name; the first stays until the new file takes it, so that it is never missing."""
    tidy(database, alone=True)
    # A log left here belongs to a damaged file; beside the new one it would damage that too.
    for end in ("-wal", "-shm"):
        beside = log_of(database).with_name(database.name + end)
        if beside.exists():
            beside.replace(aside.with_name(aside.name + end))
    if database.exists():
        try:
            os.link(database, aside)
        except OSError:  # a disk without such links
            database.replace(aside)
        sync(database.parent)
