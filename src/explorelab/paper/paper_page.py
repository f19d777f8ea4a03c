"""The page that shows every exhibit: one self-contained file, made from a template."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import NamedTuple

from explorelab.paper.exhibit import Effort, Entry, Exhibit
from explorelab.plots.pages import inside, rendered, width_of
from explorelab.plots.style import SavedFigure

LIBRARIES = ("explorelab", "jax", "numpy", "scipy", "matplotlib", "pandas", "xarray")


class Shown(NamedTuple):
    """An exhibit with its entry in the table and its files."""

    entry: Entry
    exhibit: Exhibit
    files: SavedFigure


def render(shown: list[Shown], effort: Effort, command: str) -> str:
    """The page as HTML, with figures and style embedded; the same exhibits give the same page."""
    versions = {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES}
    exhibits = [
        {
            "number": number,
            "entry": each.entry,
            "exhibit": each.exhibit,
            "width": width_of(each.exhibit.figure),
            "image": inside("svg+xml", each.files.svg.read_bytes()),
            "files": {name.upper(): f"figures/{path.name}" for name, path in each.files._asdict().items()},
        }
        for number, each in enumerate(shown, start=1)
    ]
    return rendered("explorelab.paper", exhibits=exhibits, effort=effort, command=command, versions=versions)
