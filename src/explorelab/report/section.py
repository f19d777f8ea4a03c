"""The parts of a report's section (sentences, figures and tables) before they become a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from explorelab.plots.style import Drawing


@dataclass(frozen=True)
class Picture:
    """A figure with its caption and description."""

    name: str
    """Name of its files."""
    drawing: Drawing
    caption: str
    alt: str
    """Alternative text: the result in a sentence."""


@dataclass(frozen=True)
class Table:
    """Rows of text under headings."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)
    """Columns that hold words; the others hold numbers and are right-aligned."""


@dataclass(frozen=True)
class Section:
    """One part of the report."""

    key: str
    """Its anchor on the page."""
    title: str
    lead: Sequence[str]
    """Paragraphs with the findings and their numbers."""
    short: str = ""
    """The findings in one sentence, for the summary at the top of the report."""
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    """What a reader must know to interpret the numbers."""
    files: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Tables too long for the page, by the name of their CSV file."""


def left_out(key: str, title: str, why: str) -> Section:
    """A section that says why it is empty."""
    return Section(key, title, [f"Left out: {why[:1].lower() + why[1:].rstrip('.')}."])
