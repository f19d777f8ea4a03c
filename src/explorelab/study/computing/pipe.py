"""What the server and a process beside it say to each other, each message with its length before it."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np

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


class Job(NamedTuple):
    """Something to compute about a person."""

    number: int
    asked: Any


class Reply(NamedTuple):
    """What came of a job."""

    number: int
    answer: Any = None
    again: bool = False
    """Whether the choices before the news are not known there, so that all of them must be told."""
    trouble: str = ""
    """Why there is no answer, in a sentence."""


READY = Reply(-1)
"""Sent once, when everything is compiled."""


def mask_of(near: tuple[int, ...] | None, n_arms: int) -> np.ndarray | None:
    """A truth value for each square: whether it is among these; None for all."""
    return None if near is None else np.isin(np.arange(n_arms), near)


def packed(message: Any) -> bytes:
    """A message with its length before it."""
    data = pickle.dumps(message)
    return HEAD.pack(len(data)) + data


def messages(stream: IO[bytes]) -> Iterator[Any]:
    """Every message until the stream ends."""
    while len(head := stream.read(HEAD.size)) == HEAD.size:
        yield pickle.loads(stream.read(HEAD.unpack(head)[0]))
