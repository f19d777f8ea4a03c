"""Backs up a study's database with everything acknowledged so far, whether or not a server runs or was killed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from explorelab._support.counted import counted
from explorelab._support.files import check_folder_of, new_private_file
from explorelab.errors import InputError
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.claim import other_study
from explorelab.study.database.failures import in_words
from explorelab.study.database.migrating import forms
from explorelab.study.database.sqlite_file import log_of
from explorelab.study.database.store import engine_for
from explorelab.study.operation import postgresql
from explorelab.study.operation.rotation import clear_unfinished, keep_newest

RESERVE = 64 * 2**20
"""Bytes that a backup leaves free where the database itself is, which needs them for what people do meanwhile."""


class Found(NamedTuple):
    """What is in a copy of a database."""

    study: str | None
    form: str
    n_people: int
    n_choices: int

    def __str__(self) -> str:
        return f"{counted(self.n_people, 'person', 'people')}, {counted(self.n_choices, 'choice')}"


def backup(folder: Path, out: Path | None = None, keep: int | None = None) -> str:
    """Write a checked copy of the study's database, readable only by its owner; returns a summary.

    `out` is a file or a folder; in a folder the copy has a name of its own, and with `keep` only so many of these stay.
    """
    study = load_study(folder)
    engine = engine_for(study.database, folder)
    try:
        sqlite = engine.dialect.name == "sqlite"
        target = _target(folder, out, f"{study.name}-{moment()}.{'db' if sqlite else 'dump'}", keep)
        if sqlite:
            file = Path(engine.url.database or "")
            _check_room(file, target)
            with new_file(target) as made:
                copy(file, made)
                found = f": {checked(made)}"
        else:
            postgresql.dump(engine.url, target)
            found = ""
    finally:
        engine.dispose()
    summary = f"Wrote {target}{found} ({target.stat().st_size / 2**20:.1f} MiB)"
    if keep is None:
        return summary
    clear_unfinished(target.parent, study.name)
    n = keep_newest(target, study.name, keep)
    return f"{summary}; deleted {counted(n, 'older backup')}" if n else summary


def _target(folder: Path, out: Path | None, name: str, keep: int | None) -> Path:
    """The file to write; a folder of our own is made if need be."""
    if keep is not None and out is not None and not out.is_dir():
        raise InputError(f"{out}: --keep needs a folder, in which it counts the backups of the study, and there is none.")
    target = folder / "backups" / name if out is None else out / name if out.is_dir() else out
    if target.exists():
        raise InputError(
            f"{target}: this file already exists, and backups never overwrite one; choose another name with --out."
        )
    if out is None:
        target.parent.mkdir(mode=0o700, exist_ok=True)
    check_folder_of(target)
    return target


def _check_room(database: Path, target: Path) -> None:
    """Raise if the copy would fill the disk on which people's choices are stored."""
    if not database.is_file() or database.stat().st_dev != target.parent.stat().st_dev:
        return
    size = sum(file.stat().st_size for file in (database, log_of(database)) if file.exists())
    free = shutil.disk_usage(target.parent).free
    if free - size < RESERVE:
        raise InputError(
            f"{target} cannot be written: it may take {size / 2**20:.0f} MiB; of the {free / 2**20:.0f} MiB that are free "
            f"on this disk the study itself needs {RESERVE / 2**20:.0f}; delete something, or use another disk (--out)."
        )


def moment() -> str:
    """Now, as part of a file's name."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime())


def unused(named: Callable[[str], Path]) -> Path:
    """The file with this moment in its name or, if it exists, with a number too: nothing is ever replaced."""
    now = moment()
    names = chain([now], (f"{now}-{number}" for number in count(2)))
    return next(file for file in map(named, names) if not file.exists())


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


def study_of(file: Path, name: str) -> Found:
    """What a backup of SQLite contains; raises unless it is one of this study that can be opened."""
    found = checked(file)
    if found.study is not None and found.study != name:
        raise InputError(other_study(found.study, name, f"{file} is a backup of the study {found.study!r}"))
    if found.form not in forms():
        raise InputError(f"{file} was written by another version of explorelab and cannot be opened by this one.")
    return found
