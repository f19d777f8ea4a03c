"""Worker processes: replaced when they die, and ended with the process that started them."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.process import BaseProcess

from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

LONGEST_PAUSE_S = 30.0
SETTLED_S = 60.0
"""After this long without a failure, the next one counts as the first."""
PATIENCE_S = 15.0
"""Time for a worker to end by itself."""

log = logging.getLogger("explorelab.study")


class Supervisor(Multiprocess):
    """Starts the workers and replaces those that die: at once or, if they keep failing, after longer and longer pauses."""

    _pause_s, _last, _not_before = 0.0, 0.0, 0.0

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have died."""
        if time.monotonic() < self._not_before:
            return
        before = list(self.processes)
        super().keep_subprocess_alive()
        dead = [old for old, new in zip(before, self.processes, strict=True) if new is not old]
        if dead:
            self._replaced(dead)

    def _replaced(self, dead: list[Process]) -> None:
        now = time.monotonic()
        if any((process.exitcode or 0) > 0 for process in dead):  # it failed; one that was killed may well work
            again = now - self._last < SETTLED_S
            self._pause_s = min(LONGEST_PAUSE_S, max(1.0, 2 * self._pause_s)) if again else 0.0
            self._last, self._not_before = now, now + self._pause_s
        codes = ", ".join(str(process.exitcode) for process in dead)
        rest = f" If it fails again, the next one starts in {self._pause_s:g} s." if now < self._not_before else ""
        log.error("A worker process ended (exit code %s) and is being replaced.%s", codes, rest)


def end_with_supervisor() -> None:
    """In a worker process: end when the process that started it has been killed, so that the address is free again."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), name="supervisor", daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    log.error("The process that started this worker is gone, so the worker ends too.")
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE_S)
    os._exit(1)
