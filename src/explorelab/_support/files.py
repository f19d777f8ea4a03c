"""Writing results: the whole file or none of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from explorelab.errors import InputError


def check_writable(path: Path) -> None:
    """Raise now, before any work, if a file could not be written there later."""
    if path.is_dir():
        raise InputError(f"{path}: expected a file to write, but this is a folder.")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {folder}.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}.") from None


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside the target, then put it in place in one step."""
    check_writable(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
