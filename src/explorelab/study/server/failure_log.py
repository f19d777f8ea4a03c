"""Log lines about a failing database: when it starts, how much was refused now and then, and when it is over."""

from __future__ import annotations

import logging
import threading
import time

from explorelab._support.counted import counted

EVERY_S = 60.0
"""At most one line about a failing database in this time: the disk may be full because of the log."""
log = logging.getLogger("explorelab.study")


class FailureLog:
    """One line when nothing can be stored, one per minute while that lasts, one when it is over.

    If some writes fail and others do not, trouble begins and ends all the time: within a minute of a line about it, it is
    only counted, and reported with the next line.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told_at = -EVERY_S
        self._is_told = False
        """Whether the last line said that nothing can be stored."""
        self._n_refused = 0

    def failed(self, why: str, n_refused: int = 0) -> None:
        """Note that the database failed and that this many requests were refused because of it."""
        with self._lock:
            self._n_refused += n_refused
            now = time.monotonic()
            if now - self._told_at < EVERY_S:
                return
            still = "still nothing" if self._is_told else "nothing"
            log.error("%s can be stored: %s%s", still, why, self._refused("so far"))
            self._told_at, self._is_told = now, True

    def over(self) -> None:
        """Note that something was stored."""
        with self._lock:
            if self._is_told:
                log.warning("choices are stored again%s", self._refused("meanwhile"))
                self._is_told, self._n_refused = False, 0

    def _refused(self, when: str) -> str:
        return f" ({counted(self._n_refused, 'request')} refused {when})" if self._n_refused else ""
