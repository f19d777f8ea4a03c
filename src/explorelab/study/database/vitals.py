"""The server's health: whether choices can be stored, how many requests were put off, whether the clock was changed."""

from __future__ import annotations

import logging
import threading
import time
from typing import TypedDict

from explorelab._support.counted import counted
from explorelab.study.database.failures import in_words, is_damaged
from explorelab.study.database.refusals import Refused
from explorelab.study.server.failure_log import FailureLog

SHOWN_S = 600.0
"""How long requests that were put off stay in the notices."""
LOG_EVERY_S = 10.0
CLOCK_S = 60.0
"""Clocks that differ by less than this have not been changed."""
TRY_STOPPED_S = 15
log = logging.getLogger("explorelab.study")


class StoppedError(Refused):
    """The database is no longer the one that was opened: nothing may be acknowledged until the server is restarted."""

    def __init__(self, why: str) -> None:
        super().__init__(
            503, "stopped", f"The study has stopped: {why}. Your last choice is kept on this page; please leave it open.",
            TRY_STOPPED_S,
        )  # fmt: skip
        self.to_researcher = (
            f"The study has stopped: {why}. No choices are accepted, so none are lost. Stop the server, put the database "
            "back or restore a backup (explorelab study restore), and start the server again."
        )


class Told(TypedDict):
    """What the processes of a study tell each other of themselves; times as the server's clock has them."""

    n_put_off: int
    put_off_at: float
    longest_wait_s: float
    slow_at: float


class Vitals:
    """What is currently wrong: set by the writing threads, read by the health check and the researcher's page."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.stopped: str | None = None
        """Why the database may not be used again; None if it may."""
        self.failing: str | None = None
        """Why the last write failed; None if it did not."""
        self.stored_at = -1e9
        """When something was last stored, by the monotonic clock."""
        self.clock_moved_s = 0.0
        self.n_put_off, self.put_off_at = 0, -1e9
        self.longest_wait_s, self.slow_at = 0.0, -1e9
        self._logged_at, self._n_logged = -1e9, 0
        self._failures = FailureLog()

    def check(self) -> None:
        """Raise if the database may no longer be used."""
        if self.stopped is not None:
            raise StoppedError(self.stopped)

    def stop(self, why: str) -> StoppedError:
        """Store and read nothing from now on; only the first reason is reported."""
        with self._lock:
            if self.stopped is None:
                self.stopped = why
                log.error("the study has stopped: %s. No choices are accepted until the server is restarted.", why)
        return StoppedError(self.stopped)

    def failed(self, error: BaseException) -> None:
        """Note that something could not be stored."""
        if isinstance(error, Refused):
            return
        why = in_words(error)
        if is_damaged(error):
            self.stop(f"{why}; stop the server and restore a backup")  # which also writes to the log
        else:
            self._failures.failed(why)
        self.failing = why

    def refused(self, error: BaseException) -> str:
        """Note a request refused because the database failed; returns the reason in words."""
        why = in_words(error)
        if self.stopped is None:
            self._failures.failed(why, n_refused=1)
        return why

    def stored(self) -> None:
        """Note that something was stored."""
        self._failures.over()
        self.failing, self.stored_at = None, time.monotonic()

    def put_off(self) -> None:
        """Note a request that was turned away because too many others were waiting."""
        now = time.monotonic()
        with self._lock:
            if now - self.put_off_at > SHOWN_S:
                self.n_put_off = self._n_logged = 0
            self.n_put_off, self.put_off_at = self.n_put_off + 1, now
            if now - self._logged_at > LOG_EVERY_S:
                n = self.n_put_off - self._n_logged
                log.warning("too many people at once: %s asked to try again", counted(n, "request"))
                self._logged_at, self._n_logged = now, self.n_put_off

    def slow(self, wait_s: float) -> None:
        """Note a wait long enough for people to notice."""
        now = time.monotonic()
        with self._lock:
            if now - self.slow_at > SHOWN_S:
                self.longest_wait_s = 0.0
                log.warning("many people at once: answers take %.1f s", wait_s)
            self.longest_wait_s, self.slow_at = max(wait_s, self.longest_wait_s), now

    def clock(self, moved_s: float) -> None:
        """Note how far the computer's clock has moved from the server's own."""
        if abs(moved_s - self.clock_moved_s) > CLOCK_S and abs(moved_s) > CLOCK_S:
            log.warning("the computer's clock was set %s; the server keeps its own time", _moved(moved_s))
        self.clock_moved_s = moved_s

    def trouble(self) -> str | None:
        """Why nothing can be stored; None if all is well."""
        return self.stopped or self.failing

    def told(self, now: float) -> Told:
        """What the server's other processes should know: requests put off, the longest wait, and when each last happened."""
        ago_s, slow_ago_s = time.monotonic() - self.put_off_at, time.monotonic() - self.slow_at
        return {
            "n_put_off": self.n_put_off if ago_s < SHOWN_S else 0, "put_off_at": now - ago_s,
            "longest_wait_s": self.longest_wait_s if slow_ago_s < SHOWN_S else 0.0, "slow_at": now - slow_ago_s,
        }  # fmt: skip


def notices(own: Vitals, others: list[Told], now: float) -> list[str]:
    """What the researcher should know about the server, one sentence each; empty if all is well."""
    lines = []
    if why := own.trouble():
        lines.append(f"Nothing can be stored: {why}.")
    everyone = [own.told(now), *others]
    put_off = [one for one in everyone if one["n_put_off"] and now - one["put_off_at"] < SHOWN_S]
    slow = [one for one in everyone if one["longest_wait_s"] and now - one["slow_at"] < SHOWN_S]
    if put_off:
        n, last = sum(one["n_put_off"] for one in put_off), max(one["put_off_at"] for one in put_off)
        lines.append(
            f"Too many people at once: {counted(n, 'request')} put off in the last {SHOWN_S / 60:.0f} minutes, the latest "
            f"{_clock(last)}. Their pages retry by themselves and nothing is lost, but people have to wait; let fewer in."
        )
    elif slow:
        longest, last = max(one["longest_wait_s"] for one in slow), max(one["slow_at"] for one in slow)
        lines.append(
            f"Many people at once: in the last {SHOWN_S / 60:.0f} minutes people waited up to {longest:.1f} s for an answer "
            f"(most recently {_clock(last)}). Nothing is lost."
        )
    if abs(own.clock_moved_s) > CLOCK_S:
        lines.append(
            f"The computer's clock was set {_moved(own.clock_moved_s)}. The server still goes by its own clock; "
            "restart it to use the new time."
        )
    return lines


def _clock(at: float) -> str:
    return f"at {time.strftime('%H:%M:%S', time.gmtime(at))} UTC"


def _moved(seconds: float) -> str:
    minutes = round(abs(seconds) / 60)
    return f"{'forward' if seconds > 0 else 'back'} by {minutes // 60} h {minutes % 60} min"
