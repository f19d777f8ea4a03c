"""Write folders of results: they are built aside and moved into place at the end, so a run leaves everything or nothing."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from explorelab._support.files import cannot_be_written, umask
from explorelab.errors import InputError

BEFORE = "-before"
"""Suffix of a folder that makes way for a new one."""


def check_folder_writable(folder: Path) -> None:
    """Raise now, before any work, if files could not be written into this folder later."""
    nearest = nearest_folder(folder)
    if not nearest.is_dir():
        raise InputError(f"{folder}: cannot be written: expected a folder, but {nearest} is a file.")
    if not os.access(nearest, os.W_OK):
        raise InputError(f"{folder}: cannot be written: no permission in {nearest}.")


def nearest_folder(path: Path) -> Path:
    """The folder itself if it exists, or its closest existing parent."""
    return next(each for each in (path, *path.parents) if each.exists())


@contextmanager
def workshop(target: Path, kind: str, within: Path) -> Iterator[Path]:
    """A hidden folder for what will become `target`, removed afterwards whatever happens.

    It lies in `within`, on the same disk as the target, so that moving files is one step. Leftovers of earlier runs of the
    same kind that were killed are cleared away first.
    """
    prefix = f".{target.name}-{kind}-"
    _sweep(within, prefix, target)
    try:
        made = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    except OSError as error:
        raise cannot_be_written(target, error) from None
    try:
        with held(made):
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def put_files(made: Path, target: Path) -> None:
    """Move every file into the folder, replacing those of the same name; other files there are left alone."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        for path in sorted(path for path in made.iterdir() if path.is_file()):
            path.replace(target / path.name)
    except OSError as error:
        raise cannot_be_written(target, error) from None


def add_files(made: Path, target: Path) -> None:
    """Move every file and folder into a folder that has none of the same name: all of them or, if that fails, none."""
    moved: list[Path] = []
    try:
        for path in sorted(made.iterdir()):
            moved.append(target / path.name)
            shutil.move(path, target / path.name)
    except BaseException:
        for path in moved:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        raise


def put_folder(made: Path, target: Path) -> None:
    """Put the new folder in place of the old one, if there is one; if that fails, restore the old one."""
    made.chmod(0o777 & ~umask())
    if not target.exists():
        made.rename(target)
        return
    before = made.with_name(made.name + BEFORE)
    target.rename(before)
    try:
        made.rename(target)
    except BaseException:
        before.rename(target)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _sweep(within: Path, prefix: str, target: Path) -> None:
    """Clear away leftovers of runs that were killed; a run still under way holds its folder."""
    if sys.platform == "win32":  # where the two cannot be told apart
        return
    for left in sorted(within.glob(f"{escape(prefix)}*")):
        with suppress(OSError), held(left, alone=True):
            if left.name.endswith(BEFORE) and not target.exists():
                left.rename(target)
            else:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def held(folder: Path, alone: bool = False) -> Iterator[None]:
    """Hold the folder against `_sweep` of another process; with `alone`, an OSError if someone else holds it."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # held, or on a disk without locks
            if alone:
                raise
        yield
    finally:
        os.close(handle)
