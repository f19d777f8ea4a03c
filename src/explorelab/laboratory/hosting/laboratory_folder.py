"""A laboratory's folder: laboratory.toml, its database, and a folder for each study."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from explorelab._support.files import cannot_be_written, write_bytes
from explorelab.errors import InputError
from explorelab.study.config.fields import Problems, read_toml

FILE = "laboratory.toml"
STUDIES = "studies"
MOST_TITLE = 100
TEMPLATE = """\
[laboratory]
title = "Our laboratory"    # at the top of the researchers' pages

# A file in this folder, or a PostgreSQL server: postgresql://USER:PASSWORD@HOST/DATABASE.
# On PostgreSQL every study gets a database of its own beside it, so USER must be allowed to create databases.
[database]
url = "sqlite:///laboratory.db"
"""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True)
class LaboratoryFolder:
    """What laboratory.toml says, and where it is."""

    folder: Path
    title: str
    database: str

    def of(self, study: str) -> Path:
        """The folder of a study."""
        return self.folder / STUDIES / study

    def found(self) -> list[str]:
        """The names of all folders with a study."""
        return sorted(file.parent.name for file in (self.folder / STUDIES).glob("*/study.toml") if is_name(file.parent.name))


def is_name(name: str) -> bool:
    """Whether a study may be called this: the name is its folder's, and part of its address."""
    return _NAME.fullmatch(name) is not None


def open_folder(folder: Path) -> LaboratoryFolder:
    """The laboratory in this folder; a new one if the folder is new or empty."""
    folder = Path(folder).resolve()
    if not (folder / FILE).exists():
        _check_empty(folder)
    try:
        (folder / STUDIES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_be_written(folder, error) from None
    if not (folder / FILE).exists():
        write_bytes(folder / FILE, TEMPLATE.encode())
    problems = Problems()
    toml = read_toml(folder / FILE, problems)
    if toml is not None:
        toml.only("table", toml.values, ("laboratory", "database"))
        title = toml.table("laboratory", known=("title",)).text("title", MOST_TITLE)
        url = toml.table("database", known=("url",)).text("url", 1000)
    problems.raise_if_any()
    return LaboratoryFolder(folder, title, url)


def _check_empty(folder: Path) -> None:
    """Refuse a folder that holds something else."""
    if (folder / "study.toml").exists():
        raise InputError(f"{folder}: this is a study, not a laboratory: name the folder that is to hold several studies.")
    if folder.exists() and (not folder.is_dir() or any(each.name != STUDIES for each in folder.iterdir())):
        raise InputError(f"{folder}: expected a laboratory with {FILE}, or a new or empty folder to make one in.")
