"""A steady clock: changing the computer's clock neither expires people nor makes their choices too early.

From its start the server keeps one time, the same in all its processes. Across a restart, time does not go back, and time
during which no server ran does not count as someone's absence, since nobody could have come.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from sqlalchemy import Connection, select, update

from explorelab.study.database.store import keep
from explorelab.study.database.tables import people, settings
from explorelab.study.session.stages import UNDER_WAY

OFFSET = "EXPLORELAB_CLOCK"
"""Name of the environment variable with the difference between the study's time and the monotonic clock."""
ALIVE = "alive_at"
UNNOTICED_S = 60.0
"""A pause of the server too short to extend people's time to come back."""


def since_boot() -> float:
    """Seconds passed, including those during which the computer slept if the system counts them."""
    asleep_too = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if asleep_too is None else time.clock_gettime(asleep_too)


class SteadyClock:
    """Seconds since 1970 by the computer's clock when the server started, and steady from then on."""

    def __init__(self, offset_s: float | None = None) -> None:
        self._offset_s = time.time() - since_boot() if offset_s is None else offset_s

    def __call__(self) -> float:
        """The time."""
        return self._offset_s + since_boot()


def told_clock() -> SteadyClock:
    """The clock of the server that this process is a worker of."""
    told = os.environ.get(OFFSET)
    return SteadyClock(float(told) if told else None)


def begin(connection: Connection, window_s: float) -> SteadyClock:
    """The clock of a server that starts now, passed on to all its processes.

    People who were within their time to come back (`window_s`) when the last server stopped have as much left now.
    """
    start([last_alive(connection)])
    clock = told_clock()
    resume(connection, window_s, clock())
    return clock


def start(last_alive_at: Iterable[float | None]) -> None:
    """Set the clock of this process and of those it starts: not before any time that was told when a server last ran."""
    now = max([time.time(), *(at for at in last_alive_at if at is not None)])
    os.environ[OFFSET] = repr(now - since_boot())


def last_alive(connection: Connection) -> float | None:
    """When a server of this study last ran."""
    row = connection.execute(select(settings.c.value).where(settings.c.name == ALIVE)).scalar()
    return float(row) if row else None


def resume(connection: Connection, window_s: float, now: float) -> None:
    """Give people back the time during which no server ran."""
    alive_at = last_alive(connection)
    if alive_at is not None and now - alive_at > UNNOTICED_S:
        under_way = people.c.stage.in_(UNDER_WAY) & (people.c.seen_at >= alive_at - window_s)
        connection.execute(update(people).where(under_way).values(seen_at=people.c.seen_at + (now - alive_at)))
    keep(connection, ALIVE, repr(now))
