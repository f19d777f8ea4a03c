"""What a study's own pages are: entries of [[pages]], and the forms that some of them ask people to fill in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from explorelab._support.written_numbers import Json

type Answer = str | float | int | list[str] | None
"""What someone answered: text, a number, the names of options, or nothing."""
type ShowIf = Mapping[str, Json]
"""What must hold for a page to be shown: by "condition.NAME" or "PAGE.QUESTION", a value, several, or bounds."""


@dataclass(frozen=True)
class Page:
    """One entry of [[pages]]."""

    name: str
    kind: str
    """A name in `page_kinds.KINDS`."""
    file: str = ""
    """The file with its text or its questions; empty if it has none."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    """The settings of its kind."""
    show_if: ShowIf = field(default_factory=dict)
    number: int = 0
    """Which of the pages with blocks it is, from 0."""
    place: int = 0
    """Which entry of the file it is, from 0."""

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of the blocks that are played; empty for all."""
        named = self.settings.get("blocks")
        return tuple(str(name) for name in named) if isinstance(named, list) else ()


class Option(NamedTuple):
    """One possible answer: how it is stored, and what people read."""

    value: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question of a form or a quiz."""

    name: str
    kind: str
    """A name in `question_kinds.QUESTION_KINDS`."""
    text: str
    """In Markdown."""
    required: bool = True
    options: tuple[Option, ...] = ()
    """Of a scale: its steps, from "1"."""
    least: float | None = None
    most: float | None = None
    """Bounds of a number; how many options may be chosen; `most`: how many characters a text may have."""
    whole: bool = False
    lines: int = 1
    expected: tuple[Answer, ...] | None = None
    """The right answers, each of them enough: in a form, this makes the question an attention check."""
    feedback: str = ""
    """What people read if their answer is not right, in Markdown."""
    score: str = ""
    """The sum that the answer counts in; empty if in none."""
    points: Mapping[str, float] = field(default_factory=dict)
    """What each option counts."""
    reverse: bool = False


@dataclass(frozen=True)
class Form:
    """The questions of one page."""

    title: str
    intro: str
    """In Markdown."""
    questions: tuple[Question, ...]


class Step(NamedTuple):
    """One page on a person's path, as promised at consent."""

    page: str
    kind: str
    number: int
    show_if: dict[str, Json]
    settings: dict[str, Json]
