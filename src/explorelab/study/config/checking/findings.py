"""Something in a study's folder that is wrong or doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from explorelab._support.counted import counted

type Level = Literal["wrong", "to fill in", "doubtful"]
"""wrong: cannot be served. to fill in: is not served to the public. doubtful: is served, and may be meant."""

type About = Literal[
    "settings", "language", "placeholder", "markdown", "picture", "link", "label", "contact", "form", "payment"
]


class Finding(NamedTuple):
    """One thing to look at, and where it is."""

    file: str
    """Its name in the study's folder."""
    line: int | None
    level: Level
    about: About
    sentence: str

    def __str__(self) -> str:
        """The place and the sentence, in one line."""
        return f"{self.file}, line {self.line}: {self.sentence}" if self.line else f"{self.file}: {self.sentence}"


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By file and line, those that come first in the study's folder first."""
    return sorted(set(findings), key=lambda each: (each.file.count("/"), each.file, each.line or 0, each.sentence))


def in_short(findings: Sequence[Finding], folder: object, most: int = 12) -> list[str]:
    """The findings in few lines, those that keep a study from being served first; the rest is counted."""
    first = sorted(findings, key=lambda each: each.level == "doubtful")
    rest = len(first) - most
    more = [f"{counted(rest, 'more line')}: explorelab study check {folder}"] if rest > 0 else []
    return [*map(str, first[:most]), *more]
