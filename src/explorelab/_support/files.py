"""Write result files completely or not at all, and read those that hold trees."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from explorelab.errors import InputError

if TYPE_CHECKING:
    import xarray as xr


def read_tree(path: Path, what: str, by: str) -> xr.DataTree:
    """A tree in netCDF, all of it in memory; `what` it is and what it is written `by` are for messages."""
    import xarray as xr

    if not path.is_file():
        raise InputError(f"{path}: expected a {what} written by {by}, but the file does not exist.")
    try:
        return xr.open_datatree(path, engine="h5netcdf").load()
    except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"{path}: cannot be read as a {what}: {why}.") from None


def check_writable(path: Path) -> None:
    """Raise now, before any work, if the file could not be written later."""
    if path.is_dir():
        raise InputError(f"{path}: expected a file to write, but this is a folder.")
    check_folder_of(path)
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise cannot_be_written(path, error) from None


def check_folder_of(path: Path) -> None:
    """Raise if there is no folder for a file or folder of this name."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}.")


def cannot_be_written(path: Path, error: OSError) -> InputError:
    """The error for a file that cannot be written."""
    return InputError(f"{path}: cannot be written: {error.strerror or error}.")


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside the target, then put it in place in one step."""
    check_writable(path)
    with _file_beside(path) as beside:
        write(beside)
        beside.chmod(0o666 & ~umask())
        beside.replace(path)


@contextmanager
def new_private_file(path: Path) -> Iterator[Path]:
    """An empty file to fill; it becomes `path` when the block ends, and vanishes if the block fails.

    Only its owner may read it, and it is on disk by the end of the block: for data that must be neither lost nor seen.
    """
    with _file_beside(path) as beside:
        yield beside
        sync(beside)
        beside.replace(path)
        sync(path.parent)


@contextmanager
def _file_beside(path: Path) -> Iterator[Path]:
    """An empty file in the target's folder with the same extension, removed afterwards unless it was moved."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
    finally:
        beside.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that appears completely or not at all."""
    write_whole(path, lambda beside: beside.write_bytes(content))


def sync(path: Path) -> None:
    """Wait until the file, or the folder's list of files, is on disk."""
    try:
        handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        if not path.is_dir():  # some systems cannot sync folders
            raise


def umask() -> int:
    """The permissions that this process withholds from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
