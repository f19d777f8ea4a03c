"""What the server asks the processes that compute advice, and what they answer."""

from __future__ import annotations

from typing import NamedTuple

from explorelab.study.computing.pipe import Told


class Moment(NamedTuple):
    """The choice that a person is about to make."""

    person: int
    policy: str
    block: int
    trial: int
    start: int
    near: tuple[int, ...] | None
    """The squares that may be suggested; None for all."""
    known: int
    """Advised choices before the news, which the adviser should know already."""
    news: tuple[Told, ...]


class Answer(NamedTuple):
    """What an adviser says."""

    arm: int | None
    reason: str
