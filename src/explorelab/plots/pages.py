"""Shared by pages of results: one self-contained file, made from a template."""

from __future__ import annotations

import base64
import re

import jinja2
from matplotlib.figure import Figure

REM_PER_INCH = 6.4
"""Scale of figures, so that text has the same size in all of them."""


def rendered(package: str, **values: object) -> str:
    """The template `page.html.jinja` of a package, filled in."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tight"] = tight
    return environment.get_template("page.html.jinja").render(values)


def tight(words: str) -> str:
    """The text with non-breaking spaces in sums, shares and errors."""
    return re.sub(r" (?=[=±≥<≤>%])|(?<=[=±≥<≤>]) ", "\u00a0", words)


def width_of(figure: Figure) -> float:
    """Width of the figure on the page, in rem."""
    return round(REM_PER_INCH * figure.get_figwidth(), 1)


def inside(kind: str, data: bytes) -> str:
    """A picture as a data URL."""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
