"""A study's files in a form that can be shared: everything needed to run it again, and no secrets."""

from __future__ import annotations

import re
from pathlib import Path

import tomlkit

_LOGIN = re.compile(r"(?<=://)[^\s/\"'@:]*:[^\s/\"']*@")
"""Name and password in an address."""


def files_of(folder: Path, names: tuple[str, ...], beside: tuple[str, ...] = ()) -> dict[str, bytes]:
    """The contents of these study files, and of those beside them that are in the study's folder."""
    inside = [name for name in beside if _is_within(folder, name)]
    files = {name: (folder / name).read_bytes() for name in (*names, *inside)}
    return files | {"study.toml": without_database(files["study.toml"].decode("utf-8-sig")).encode()}


def _is_within(folder: Path, name: str) -> bool:
    """Whether the name means the same file in a copy of the folder."""
    return not Path(name).is_absolute() and ".." not in Path(name).parts and (folder / name).is_file()


def without_database(toml: str) -> str:
    """A study.toml without the address of its database, and without a login anywhere in it, comments included."""
    document = tomlkit.parse(toml)
    document.pop("database", None)
    return _LOGIN.sub("", tomlkit.dumps(document))
