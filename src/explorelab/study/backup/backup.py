"""Backs up a study's database with everything acknowledged so far, whether or not a server runs or was killed."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from explorelab._support.counted import counted
from explorelab._support.files import check_folder_of, new_private_file
from explorelab.errors import InputError
from explorelab.study.backup import postgresql
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.failures import in_words
from explorelab.study.database.sqlite_file import log_of
from explorelab.study.database.store import engine_for


class Found(NamedTuple):
    """What is in a copy of a database."""

    study: str | None
    form: str
    n_people: int
    n_choices: int

    def __str__(self) -> str:
        return f"{counted(self.n_people, 'person', 'people')}, {counted(self.n_choices, 'choice')}"


def backup(folder: Path, out: Path | None = None) -> str:
    """Write a checked copy of the study's database, readable only by its owner; returns a summary."""
    study = load_study(folder)
    engine = engine_for(study.database, folder)
    try:
        sqlite = engine.dialect.name == "sqlite"
        target = out or folder / "backups" / f"{study.name}-{moment()}.{'db' if sqlite else 'dump'}"
        if target.exists():
            raise InputError(
                f"{target}: this file already exists, and backups never overwrite one; choose another name with --out."
            )
        if out is None:
            target.parent.mkdir(mode=0o700, exist_ok=True)
        check_folder_of(target)
        if not sqlite:
            postgresql.dump(engine.url, target)
            return f"Wrote {target} ({target.stat().st_size / 2**20:.1f} MiB)"
        file = Path(engine.url.database or "")
        with new_file(target) as made:
            copy(file, made)
            found = checked(made)
        return f"Wrote {target}: {found} ({target.stat().st_size / 2**20:.1f} MiB)"
    finally:
        engine.dispose()


def moment() -> str:
    """Now, as part of a file's name."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime())


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """A private file for a copy of a database; it becomes `target` when the block ends, and vanishes if the block fails."""
    try:
        with new_private_file(target) as made:
            try:
                yield made
            finally:
                for end in ("-wal", "-shm", "-journal"):  # what SQLite may leave beside it
                    made.with_name(made.name + end).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {in_words(error)}.") from None


def copy(source: Path, into: Path) -> None:
    """Copy a consistent state of a database, including its log and without deleted data."""
    if not source.is_file():
        raise InputError(f"{source}: no database to back up; nobody has taken part yet, or the file has been moved.")
    try:
        with closing(_reading(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(into),))
    except sqlite3.Error as error:
        raise InputError(f"{source} cannot be copied: {in_words(error)}.") from None


def _reading(file: Path) -> sqlite3.Connection:
    """A connection that changes neither the file nor the log that a server or a crash has left beside it."""
    # Without write access a log cannot be read either: its index must be created first, as after a crash.
    writable = os.access(file, os.W_OK) and os.access(file.resolve().parent, os.W_OK)
    mode = "rw" if writable or log_of(file).exists() else "ro&immutable=1"
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=15)
    connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
    return connection


def checked(file: Path) -> Found:
    """What a copy of a study's database contains, after checking every page."""
    try:
        with closing(_reading(file)) as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                raise InputError(f"{file} is damaged.")
            study = connection.execute("SELECT value FROM settings WHERE name = 'study'").fetchone()
            (form,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("people", "choices")]
    except sqlite3.OperationalError as error:
        raise InputError(f"{file} is not a study database: {in_words(error)}.") from None
    except (sqlite3.DatabaseError, TypeError):
        raise InputError(f"{file} is damaged, or is not a study database.") from None
    return Found(study[0] if study else None, form, *counts)
