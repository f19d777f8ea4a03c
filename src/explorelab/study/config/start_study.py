"""A new study: a folder with the paper's design and texts, ready to edit."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from explorelab.errors import InputError
from explorelab.study.config.texts import FILES, TEMPLATES


def init_study(folder: Path) -> list[Path]:
    """Make the folder with all files of a study, or leave everything as it was; the files that are there now."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected the name of a new folder, but this is a file.")
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder}: expected a new or empty folder, but there is something in it.")
        # Files are gathered beside the folder first, so that it is never there with only some of them.
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-study-") as beside:
            gathered = Path(beside) / "study"
            gathered.mkdir()
            for name in FILES:
                shutil.copyfile(TEMPLATES / name, gathered / name)
            _put_in_place(gathered, folder)
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be made: {error.strerror or error}.") from None
    return [folder / name for name in FILES]


def _put_in_place(gathered: Path, folder: Path) -> None:
    """Move all files, or none. A folder that was there stays the same one: someone may stand in it."""
    if not folder.is_dir():
        gathered.rename(folder)
        return
    moved: list[Path] = []
    try:
        for name in FILES:
            moved.append(folder / name)
            shutil.move(gathered / name, folder / name)
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise
