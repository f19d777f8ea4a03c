"""What a process beside the server has been told of a person, so that it is told only what is new."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from explorelab.study.computing.pipe import Reply
from explorelab.study.computing.process_link import ProcessLink


class Asked(Protocol):
    """What is asked about a person."""

    @property
    def known(self) -> int:
        """Choices before the news, which should be known there already."""

    @property
    def news(self) -> tuple[object, ...]:
        """The choices after them."""


class Acquaintance:
    """How far a process knows a person."""

    def __init__(self) -> None:
        self._n = 0
        """Choices that it has been told."""
        self._life = 0
        """Of the process that was told them."""

    async def ask[A: Asked](
        self, link: ProcessLink, read: Callable[[int], Awaitable[A | None]]
    ) -> tuple[A, Reply] | None:  # fmt: skip
        """What was asked and the reply; None if there is nothing to ask.

        `read` gives what is asked of somebody whose first so many choices are known.
        """
        if self._life != link.life:
            self._n, self._life = 0, link.life
        asked = await read(self._n)
        if asked is None:
            return None
        reply = await link.ask(asked)
        if reply.again:
            asked = await read(0)
            if asked is None:
                return None
            reply = await link.ask(asked)
        self._n = asked.known + len(asked.news)
        return asked, reply
