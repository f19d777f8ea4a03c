"""Units of work on an executor: sent as bytes, taken back as they are done, and sent again when a process was lost."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from typing import Any

from explorelab._support.work.payload import opened, payload, perform
from explorelab._support.work.processes import Workers
from explorelab.errors import ExplorelabError, InputError

AHEAD = 1024
"""Units that are with the executor at once."""
MOST_LOST = 3
"""How often processes may be lost in one piece of work."""
PATIENCE_S = 30.0
"""How long a broken pool may take to say which of its units are done."""


class WorkersLostError(ExplorelabError):
    """Processes that did the work ended, again and again."""


def check_executor(executor: object) -> None:
    """Raise unless this is an executor whose processes can do the work."""
    if executor is None:
        return
    if not callable(getattr(executor, "submit", None)):
        raise InputError(
            "executor must have the interface of concurrent.futures.Executor, as xl.workers(4) and a Dask client's "
            f"get_executor() have, got {type(executor).__name__}."
        )
    context = getattr(executor, "_mp_context", None)
    if isinstance(executor, ProcessPoolExecutor) and context is not None and context.get_start_method() == "fork":
        raise InputError(
            "the processes of this executor would be forked, in which JAX may wait for ever: pass xl.workers(4), or "
            "mp_context=multiprocessing.get_context('spawn')."
        )


def distributed(
    function: Callable[..., Any], units: Sequence[tuple[int, tuple[Any, ...]]], executor: Executor
) -> Generator[tuple[int, Any]]:
    """The results of the units with their numbers, as they are done.

    Left early, by an error or an interrupt, it cancels what has not begun.
    """
    waiting = deque(units)
    under_way: dict[Future[bytes], tuple[int, tuple[Any, ...]]] = {}
    lost, spare = 0, None
    try:
        while waiting or under_way:
            broken: BaseException | None = None
            try:
                while waiting and len(under_way) < AHEAD:
                    under_way[executor.submit(perform, payload(function, waiting[0][1]))] = waiting[0]
                    waiting.popleft()
            except BrokenExecutor as error:
                broken = error
            done, _ = wait(under_way, PATIENCE_S if broken else None, FIRST_COMPLETED if not broken else "ALL_COMPLETED")
            for future in done:
                unit = under_way.pop(future)
                try:
                    yield unit[0], opened(_answer(future))
                except BrokenExecutor as error:
                    broken = error
                    waiting.append(unit)
            if broken is not None:
                lost += 1
                waiting.extend(under_way.values())
                under_way.clear()
                executor = spare = _renewed(executor, lost, broken)
    finally:
        for future in under_way:
            future.cancel()
        if isinstance(spare, Workers) and spare.own:
            spare.shutdown(wait=False, cancel_futures=True)


def _answer(future: Future[bytes]) -> bytes:
    try:
        return future.result()
    except CancelledError:
        raise WorkersLostError("the cluster cancelled the work, or its scheduler was lost.") from None
    except ImportError as error:
        raise InputError(f"a worker cannot do the work: {error}; install explorelab there, in the same version.") from None
    except Exception as error:
        # Dask gives up on a unit whose workers ended one after the other, and says so by this name.
        if type(error).__name__ == "KilledWorker":
            raise WorkersLostError(_why(MOST_LOST)) from None
        raise


def _renewed(executor: Executor, lost: int, error: BaseException) -> Executor:
    """An executor to go on with after one broke, which a pool does as a whole when one of its processes ends."""
    if lost > MOST_LOST:
        raise WorkersLostError(_why(lost)) from None
    if isinstance(executor, Workers):
        executor.renew()
        return executor
    if isinstance(executor, ProcessPoolExecutor):
        return Workers(getattr(executor, "_max_workers", None) or multiprocessing.cpu_count(), own=True)
    raise error


def _why(lost: int) -> str:
    return (
        f"processes that did the work ended {lost} times: was there too little memory? A script must start this work under "
        "if __name__ == '__main__':, since every process reads it."
    )
