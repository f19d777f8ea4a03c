"""Processes on this machine that do units of work: spawned, never forked, and gone when their owner is."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from types import FrameType, TracebackType
from typing import Any

from explorelab._support import checks
from explorelab._support.door import door
from explorelab._support.parallel import cores


class Workers(Executor):
    """Processes on this machine, as an executor that can be renewed when one of them ends.

    Leaving its context with an error, as Ctrl-C does, ends them at once.
    """

    def __init__(self, n: int, own: bool = False) -> None:
        self.n, self.own = n, own
        """`own`: made by the work itself, which also ends it."""
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        # When this end is closed, by us or because this process ended in whatever way, the others end too.
        theirs, self._ours = context.Pipe(duplex=False)
        self._theirs = theirs
        self._pool = ProcessPoolExecutor(self.n, context, _begin_worker, (theirs,))

    def submit[**P, R](self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have a process call the function."""
        with _without_interrupts():
            return self._pool.submit(function, *args, **kwargs)

    def renew(self) -> None:
        """Go on with new processes."""
        self.end()
        self._begin()

    def end(self) -> None:
        """End the processes at once, whatever they do."""
        self._ours.close()
        # That is quick, as they all end now; what the pool holds of the system is given back with it.
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._theirs.close()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, as an executor does."""
        if wait and not cancel_futures:
            self._pool.shutdown(wait=True)
        self.end()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.shutdown(wait=kind is None, cancel_futures=kind is not None)


@door
def workers(n_processes: int | None = None) -> Workers:
    """Processes on this machine, for the argument `executor` of functions that take long.

    They start when there is work, take a few seconds for that, and are used until the end of the block:

        with xl.workers(4) as executor:
            fit = xl.fit(choices, "situated-ucl", executor=executor)

    Each works on one core. A process that dies, for want of memory perhaps, costs the work that it was doing, which another
    one does again. In a script, this belongs under `if __name__ == "__main__":`, since every process reads the script.

    Parameters
    ----------
    n_processes
        Number of processes; by default one for each core.
    """
    return Workers(cores() if n_processes is None else checks.whole("n_processes", n_processes, at_least=1, at_most=1024))


def _begin_worker(owner: Connection) -> None:
    """What a process does first: leave interrupts to its owner, and see to it that it ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(owner,), daemon=True).start()


def _end_with(owner: Connection) -> None:
    with suppress(OSError, EOFError):
        owner.recv_bytes()  # nothing is ever sent: it returns when the other end is closed
    os._exit(1)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Within this context, processes start that do not heed Ctrl-C, which reaches everybody in front of a terminal.

    One that comes meanwhile is not lost: it is heeded here at the end.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would lift the mask
    came: list[FrameType | None] = []
    before: Any = signal.signal(signal.SIGINT, lambda _, frame: came.append(frame))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which processes inherit
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
        if came and before is not signal.SIG_IGN:
            signal.raise_signal(signal.SIGINT)
