"""What the server and the processes that compute advice say to each other."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

HEAD = struct.Struct("<I")


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


class Job(NamedTuple):
    """A person to advise."""

    number: int
    moment: Moment


class Answer(NamedTuple):
    """What came of a job."""

    number: int
    arm: int | None
    reason: str
    again: bool = False
    """Whether the choices before the news are not known there, so that all of them must be told."""


READY = Answer(-1, None, "compiled")
"""Sent once, when everything is compiled."""


def packed(message: Any) -> bytes:
    """A message with its length before it."""
    data = pickle.dumps(message)
    return HEAD.pack(len(data)) + data


def messages(stream: IO[bytes]) -> Iterator[Any]:
    """Every message until the stream ends."""
    while len(head := stream.read(HEAD.size)) == HEAD.size:
        yield pickle.loads(stream.read(HEAD.unpack(head)[0]))
