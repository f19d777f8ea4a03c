"""A folder that is there whole or not at all, and that replaces nothing but an earlier one of its kind."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from hashlib import file_digest
from pathlib import Path

from explorelab.errors import InputError

CHECKSUMS = "checksums.sha256"
"""What makes a folder an export: the checksum of every file in it, as `sha256sum --check` reads them."""
LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")
"""Files that desktops leave behind."""
BEFORE = "-before"


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to fill; it becomes `out` when the block ends, and vanishes if the block fails."""
    target = out.resolve()
    if not target.parent.is_dir():
        raise InputError(f"{out}: cannot be written: there is no folder {out.parent}.")
    _sweep(target)
    check_replaceable(target)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}.") from None
    try:
        with _held(folder):
            yield folder
            _write_checksums(folder)
            check_replaceable(target)
            folder.chmod(0o777 & ~_umask())
            _put(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_replaceable(target: Path) -> None:
    """Raise unless there is nothing, an empty folder, or an earlier export as it was written."""
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"{target}: expected a folder to write to, got a file.")
    found = {path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir() or path.is_symlink()}
    found = {name for name in found if Path(name).name not in LITTER}
    if not found:
        return
    known = _read_checksums(target / CHECKSUMS)
    if not known:
        raise InputError(f"{target}: expected a new folder or an earlier export, got a folder with other files.")
    others = sorted(found - set(known) - {CHECKSUMS})
    changed = sorted(name for name in found & set(known) if _digest(target / name) != known[name])
    for names, what in ((others, "files that no export wrote"), (changed, "files that were changed since the export")):
        if names:
            shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
            raise InputError(f"{target}: there are {what} ({shown}): move them away, or export to another folder.")


def _prefix(target: Path) -> str:
    return f".{target.name}-export-"


def _put(folder: Path, target: Path) -> None:
    """The new folder in the place of the old one; if that fails, the old one again."""
    if not target.exists():
        folder.rename(target)
        return
    before = folder.with_name(folder.name + BEFORE)
    target.rename(before)
    try:
        folder.rename(target)
    except BaseException:
        before.rename(target)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _sweep(target: Path) -> None:
    """Clear away what exports left that were killed; one that still runs holds its folder."""
    if sys.platform == "win32":  # where nothing tells the two apart
        return
    for left in sorted(target.parent.glob(f"{escape(_prefix(target))}*")):
        with suppress(OSError), _held(left, alone=True):
            if left.name.endswith(BEFORE) and not target.exists():
                left.rename(target)
            else:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _held(folder: Path, alone: bool = False) -> Iterator[None]:
    """Hold the folder against `_sweep` of another process; with `alone`, an OSError if someone else holds it."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # held, or on a disk that knows no locks
            if alone:
                raise
        yield
    finally:
        os.close(handle)


def _digest(path: Path) -> str:
    if path.is_symlink():
        return ""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _write_checksums(folder: Path) -> None:
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [f"{_digest(folder / name)}  {name}\n" for name in names]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def _read_checksums(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines) if name}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
