"""The files of a study as they may be given away: everything that someone needs to run it again, and no secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit

_LOGIN = re.compile(r"(?<=://)[^\s/\"'@]*:[^\s/\"']*@")
"""Name and password in an address."""


def files_of(folder: Path, names: tuple[str, ...], landscapes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The text of these files of a study, and of those in its folder that landscapes are read from."""
    beside = [means for landscape in landscapes.values() if isinstance(means := landscape.get("means"), str)]
    inside = [name for name in beside if (folder / name).resolve().is_relative_to(folder.resolve())]
    texts = {name: (folder / name).read_text(encoding="utf-8-sig") for name in (*names, *inside)}
    return texts | {"study.toml": without_database(texts["study.toml"])}


def without_database(toml: str) -> str:
    """A study.toml without the address of its database, and without a login anywhere in it, comments included."""
    document = tomlkit.parse(toml)
    document.pop("database", None)
    return _LOGIN.sub("", tomlkit.dumps(document))
