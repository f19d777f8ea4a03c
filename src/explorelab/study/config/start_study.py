"""A new study: a folder with the paper's design and texts, ready to edit."""

from __future__ import annotations

import shutil
from pathlib import Path

from explorelab._support.files import cannot_be_written
from explorelab._support.whole_folders import add_files, put_folder, workshop
from explorelab.errors import InputError
from explorelab.study.config.texts import FILES, TEMPLATES

ADVICE = {
    "study.toml": "# A file in this folder, or a PostgreSQL server",
    "consent.md": "## What you will be paid",
    "instructions.md": "## With the keyboard",
}
"""Files to which a study with advice adds something, and the line before which it stands."""


def init_study(folder: Path, *, advice: bool = False) -> list[Path]:
    """Create the folder with all files of a study, with advice or without, or change nothing; returns the files."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected the name of a new folder, but this is a file.")
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder}: expected a new or empty folder, but it is not empty.")
        with workshop(folder, "new-study", within=folder.parent) as made:
            for name in FILES:
                shutil.copyfile(TEMPLATES / name, made / name)
            for name, before in ADVICE.items() if advice else ():
                _add(made / name, (TEMPLATES / "advice" / name).read_text(encoding="utf-8"), before)
            # An existing folder is kept, not replaced: it may be someone's current directory.
            put = add_files if folder.is_dir() else put_folder
            put(made, folder)
    except OSError as error:
        raise cannot_be_written(folder, error) from None
    return [folder / name for name in FILES]


def _add(file: Path, more: str, before: str) -> None:
    """Add to a file before a line of it."""
    start, line, end = file.read_text(encoding="utf-8").partition(before)
    file.write_bytes(f"{start}{more}{line}{end}".encode())
