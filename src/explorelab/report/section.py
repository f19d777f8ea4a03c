"""What a section of the report consists of: sentences, figures and tables, before any of it is a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from explorelab.plots.style import Drawing


@dataclass(frozen=True)
class Picture:
    """A figure with what must stand beside it."""

    name: str
    """What its files are called."""
    drawing: Drawing
    caption: str
    alt: str
    """What it shows, for those who cannot see it: the result, in a sentence."""


@dataclass(frozen=True)
class Table:
    """Rows under headings, all of them text by now."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)
    """Which columns hold words; the others hold numbers, and are set to the right."""


@dataclass(frozen=True)
class Section:
    """One part of the report."""

    key: str
    """Its anchor on the page."""
    title: str
    lead: Sequence[str]
    """Paragraphs that say what was found, with the numbers."""
    short: str = ""
    """The same in one sentence, for the beginning of the report."""
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    """What a reader must know to read the numbers right."""
    files: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Tables too long for a page, by the name of the CSV file that holds each."""


def left_out(key: str, title: str, why: str) -> Section:
    """A section that says why there is nothing in it."""
    return Section(key, title, [f"Left out: {why[:1].lower() + why[1:].rstrip('.')}."])
