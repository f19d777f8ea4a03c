"""The page that shows every exhibit: one file that needs no other, made from a template."""

from __future__ import annotations

import base64
import platform
import re
from importlib.metadata import version
from typing import NamedTuple

import jinja2

from explorelab.figures import SavedFigure
from explorelab.reproduce.exhibit import Effort, Entry, Exhibit

LIBRARIES = ("explorelab", "jax", "numpy", "scipy", "matplotlib", "pandas", "xarray")

REM_PER_INCH = 6.4
"""How large figures are shown, so that letters are of one size in all of them."""


class Shown(NamedTuple):
    """An exhibit with its line in the table and its files."""

    entry: Entry
    exhibit: Exhibit
    files: SavedFigure


def tight(words: str) -> str:
    """The words with every sum, share and error kept on one line."""
    return re.sub(r" (?=[=±≥<≤%])|(?<=[=±≥<≤]) ", "\u00a0", words)


def render(shown: list[Shown], effort: Effort, command: str) -> str:
    """The page as HTML, figures and style inside; the same exhibits give the same page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("explorelab.reproduce", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tight"] = tight
    versions = {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES}
    exhibits = [
        {
            "number": number,
            "entry": each.entry,
            "exhibit": each.exhibit,
            "width": round(REM_PER_INCH * each.exhibit.figure.get_figwidth(), 1),
            "image": base64.b64encode(each.files.svg.read_bytes()).decode(),
            "files": {name.upper(): f"figures/{path.name}" for name, path in each.files._asdict().items()},
        }
        for number, each in enumerate(shown, start=1)
    ]
    template = environment.get_template("page.html.jinja")
    return template.render(exhibits=exhibits, effort=effort, command=command, versions=versions)
