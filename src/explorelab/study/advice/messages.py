"""What the server asks the processes that compute advice, and what they answer."""

from __future__ import annotations

from typing import NamedTuple


class Told(NamedTuple):
    """One stored choice."""

    block: int
    start: int
    arm: int
    reward: float
    missed: bool
    near: tuple[int, ...] | None
    """The squares that could be sampled; None for all."""
    advised: int | None
    """The square to sample in order to follow the suggestion that was on the screen; None if none was."""


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
