"""Estimates how long a new request will wait, and refuses it if that is too long."""

from __future__ import annotations

import math
import random
import threading
import time

from explorelab.study.database.refusals import Refused
from explorelab.study.database.vitals import Vitals

LONGEST_WAIT_S = 2.0
"""Anyone who would wait longer is asked to try again: silence looks like a broken page."""
SLOW_S = 0.25
"""Longer waits are noticeable, and the researcher is told."""
HANGING_S = 5.0
"""A writer that takes this long has hung (a locked database, a dead disk), whatever the estimated costs."""
LEARN = 0.05
"""How much one request changes the estimated cost."""


class Load:
    """Waiting requests and their cost: `lanes` run at once, and each commit serves `together_s` of work."""

    def __init__(self, vitals: Vitals, lanes: int = 1, together_s: float = math.inf) -> None:
        self._vitals, self._lanes, self._together_s = vitals, lanes, together_s
        self._lock = threading.Lock()
        self._waiting, self._work_s, self.commit_s = 0, 0.001, 0.0
        self._began: float | None = None
        self.lag_s = 0.0
        """How far the event loop lags behind, which adds to the wait."""

    @property
    def waiting(self) -> int:
        """How many requests wait now."""
        return self._waiting

    def expected_s(self) -> float:
        """How long a new request will wait for its answer."""
        work_s = self._waiting * self._work_s / self._lanes
        commits_s = math.ceil(work_s / self._together_s) * self.commit_s if self.commit_s else 0.0
        began = self._began
        hanging_s = time.monotonic() - began if began is not None else 0.0
        return work_s + commits_s + self.lag_s + (hanging_s if hanging_s > HANGING_S else 0.0)

    def enter(self) -> None:
        """Count a request that will wait; refuse it if that would take too long."""
        expected_s = self.expected_s()
        if expected_s > LONGEST_WAIT_S:
            self._vitals.put_off()
            # Not all at the same moment, or they meet again.
            wait_s = random.randint(1, 1 + math.ceil(min(expected_s, 4.0)))
            raise Refused(503, "busy", f"Too many people are taking part right now: try again in {wait_s} s.", wait_s)
        if expected_s > SLOW_S:
            self._vitals.slow(expected_s)
        with self._lock:
            self._waiting += 1

    def begins(self) -> None:
        """Note that work on a group, or a single request, has begun."""
        self._began = time.monotonic()

    def served(self, n: int, work_s: float, commit_s: float = 0.0) -> None:
        """Note that this many requests have been answered, and how long that took."""
        self._began = None
        self.leave(n)
        self.learn(n, work_s, commit_s)

    def leave(self, n: int = 1) -> None:
        """Note that this many no longer wait: they were answered or gave up."""
        with self._lock:
            self._waiting -= n

    def learn(self, n: int, work_s: float, commit_s: float = 0.0) -> None:
        """Update the estimated cost from this many requests."""
        with self._lock:
            share = 1 - (1 - LEARN) ** n
            self._work_s += share * (work_s / n - self._work_s)
            self.commit_s += LEARN * (commit_s - self.commit_s) if self.commit_s else commit_s
