"""What the server and a process beside it say to each other, each message with its length before it."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

HEAD = struct.Struct("<I")


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


def packed(message: Any) -> bytes:
    """A message with its length before it."""
    data = pickle.dumps(message)
    return HEAD.pack(len(data)) + data


def messages(stream: IO[bytes]) -> Iterator[Any]:
    """Every message until the stream ends."""
    while len(head := stream.read(HEAD.size)) == HEAD.size:
        yield pickle.loads(stream.read(HEAD.unpack(head)[0]))
