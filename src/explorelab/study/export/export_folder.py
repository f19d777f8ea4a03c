"""The export folder: written completely or not at all, and replacing nothing but an earlier export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path

from explorelab._support.files import check_folder_of
from explorelab._support.whole_folders import put_folder, workshop
from explorelab.errors import InputError

CHECKSUMS = "checksums.sha256"
"""The file that marks a folder as an export: checksums of all its files, as `sha256sum --check` reads them."""
LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")
"""Files that desktops leave behind."""


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to fill; it becomes `out` when the block ends, and vanishes if the block fails."""
    check_folder_of(out)
    target = out.resolve()
    with workshop(target, "export", within=target.parent) as folder:
        check_replaceable(target)
        yield folder
        _write_checksums(folder)
        check_replaceable(target)
        put_folder(folder, target)


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
    for names, what in (
        (others, "files that are not from an export"),
        (changed, "files that were changed after the export"),
    ):
        if names:
            shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
            raise InputError(f"{target}: it contains {what} ({shown}): move them, or export to another folder.")


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
