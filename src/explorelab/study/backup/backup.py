"""Backing up a study's database: everything that was acknowledged before, whether a server runs, was killed, or neither."""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from explorelab._support.counted import counted
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
    """Write a copy of the study's database, readable by its owner alone and checked; what was written, in words."""
    study = load_study(folder)
    engine = engine_for(study.database, folder)
    try:
        sqlite = engine.dialect.name == "sqlite"
        target = out or folder / "backups" / f"{study.name}-{moment()}.{'db' if sqlite else 'dump'}"
        if target.exists():
            raise InputError(f"{target}: there is a file already, and backups replace none; give another name with --out.")
        if out is None:
            target.parent.mkdir(mode=0o700, exist_ok=True)
        if not target.parent.is_dir():
            raise InputError(f"{target}: cannot be written: there is no folder {target.parent}.")
        if not sqlite:
            postgresql.dump(engine.url, target)
            return f"wrote {target} ({target.stat().st_size / 2**20:.1f} MiB)"
        file = Path(engine.url.database or "")
        with new_file(target) as made:
            copy(file, made)
            found = checked(made)
        return f"wrote {target}: {found} ({target.stat().st_size / 2**20:.1f} MiB)"
    finally:
        engine.dispose()


def moment() -> str:
    """Now, as part of a file's name."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime())


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """An empty file to fill; it becomes `target` when the block ends, on disk and whole, and vanishes if the block fails."""
    made = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    try:
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield made
        sync(made)
        made.replace(target)
        sync(target.parent)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {in_words(error)}.") from None
    finally:
        for left in (made, *(made.with_name(made.name + end) for end in ("-wal", "-shm", "-journal"))):
            left.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until the disk has the file, or the folder's list of files."""
    try:
        handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        if not path.is_dir():  # of folders, some systems cannot be asked for that
            raise


def copy(source: Path, into: Path) -> None:
    """Copy one state of a database, with what is in its log and without what was deleted from it."""
    if not source.is_file():
        raise InputError(f"{source}: there is no database to copy: nobody has taken part yet, or the file has been moved.")
    try:
        with closing(_reading(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(into),))
    except sqlite3.Error as error:
        raise InputError(f"{source} cannot be copied: {in_words(error)}.") from None


def _reading(file: Path) -> sqlite3.Connection:
    """A connection that leaves the file, and the log that a server or a crash has left beside it, as they are."""
    # Who may not write cannot read a log either: its index must be made first, as after a crash.
    writable = os.access(file, os.W_OK) and os.access(file.resolve().parent, os.W_OK)
    mode = "rw" if writable or log_of(file).exists() else "ro&immutable=1"
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=15)
    connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
    return connection


def checked(file: Path) -> Found:
    """What is in a copy of a study's database, of which every page is in order."""
    try:
        with closing(_reading(file)) as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                raise InputError(f"{file} is damaged.")
            study = connection.execute("SELECT value FROM settings WHERE name = 'study'").fetchone()
            (form,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("people", "choices")]
    except sqlite3.OperationalError as error:
        raise InputError(f"{file} is not the database of a study: {in_words(error)}.") from None
    except (sqlite3.DatabaseError, TypeError):
        raise InputError(f"{file} is damaged, or is not the database of a study.") from None
    return Found(study[0] if study else None, form, *counts)
