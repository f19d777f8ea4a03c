"""Live results as lines of JSON, in small pieces, each from a transaction of its own: nobody at play waits for a reader."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from explorelab._support.written_numbers import Json
from explorelab.study.database.change_numbers import horizon, is_settled
from explorelab.study.database.refusals import Refused
from explorelab.study.export.live.live_rows import KINDS, Place, Reader, Since, cursor, feed_of, since
from explorelab.study.server.context import Context

SETTLED_WITHIN_S, LOOK_S = 5.0, 0.02
"""How long to wait for transactions under way, which take milliseconds, and how often to look."""
log = logging.getLogger("explorelab.study")


class Asked(NamedTuple):
    """A request for results that can be answered."""

    since: Since
    feed: str
    until: int
    """The last change of the answer."""
    pilots: str


async def accept(context: Context, text: str, pilots: str) -> Asked:
    """What to answer; refused for a cursor from before a restore, and if changes do not come to an end."""
    store = context.store
    feed, seen = await store.read(lambda connection: (feed_of(connection), horizon(connection)))
    asked = since(text, feed, seen.number)
    if asked is None:
        raise Refused(
            410, "start-again",
            "The database has been restored from a backup since this cursor was given: forget what you have read, and ask "
            "again without a cursor.",
        )  # fmt: skip
    give_up = time.monotonic() + SETTLED_WITHIN_S
    while not await store.read(lambda connection: is_settled(connection, seen)):
        if time.monotonic() > give_up:
            raise Refused(503, "busy", "Changes are still being made: try again in 5 s.", 5)
        await asyncio.sleep(LOOK_S)
    return Asked(asked, feed, seen.number, pilots)


async def lines(context: Context, asked: Asked) -> AsyncIterator[bytes]:
    """One line for each choice and person, and one with the next cursor; without that one, the answer is not whole."""
    try:
        for read in KINDS:
            place: Place | None = Place(asked.since.number + 1)
            while place is not None:
                began = time.perf_counter()
                text, place = await context.store.read(_reading(context, read, asked, place))
                if text:
                    yield text
                # At most half of the time goes to readers, whoever else needs the processor.
                await asyncio.sleep(time.perf_counter() - began)
    except (Refused, DBAPIError, PoolTimeout) as error:
        log.warning("live results were broken off: %s", type(error).__name__)
        yield _line({"type": "error", "message": "The answer was broken off: ask again with the cursor you had."})
        return
    yield _line({"type": "end", "cursor": cursor(asked.feed, asked.until)})


def _reading(
    context: Context, read: Reader, asked: Asked, place: Place
) -> Callable[[Connection], tuple[bytes, Place | None]]:
    def work(connection: Connection) -> tuple[bytes, Place | None]:
        rows, following = read(connection, context.study, asked.since, place, asked.until, asked.pilots)
        return b"".join(map(_line, rows)), following

    return work


def _line(value: dict[str, Json]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"
