"""The server's clock: the time of day when it started, and then what has passed, whatever the clock on the wall does."""

from __future__ import annotations

import time
from collections.abc import Callable


def steady(wall: Callable[[], float] = time.time, passed: Callable[[], float] | None = None) -> Callable[[], float]:
    """Seconds since 1970 that never jump: people are held to their deadlines by what passes between two choices."""
    since = passed or _since_boot
    began = wall() - since()
    return lambda: began + since()


def _since_boot() -> float:
    """Seconds that have passed, those in which the computer slept included where the system counts them."""
    asleep_too = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if asleep_too is None else time.clock_gettime(asleep_too)
