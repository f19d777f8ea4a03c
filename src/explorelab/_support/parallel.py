"""Run work on several cores: results in order, a few items at a time, and interruptible."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context

_HELD_TO: ContextVar[int | None] = ContextVar("held_to", default=None)


def cores() -> int:
    """Number of cores that this process may use, which can be fewer than the machine has; fewer yet where it is held to."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(own, _HELD_TO.get() or own)


@contextmanager
def held_to(n: int) -> Iterator[None]:
    """Within this context, work takes no more than so many cores: others work beside it."""
    before = _HELD_TO.set(n)
    try:
        yield
    finally:
        _HELD_TO.reset(before)


def in_order[Item, Out](
    work: Callable[[Item], Out], items: Sequence[Item], workers: int, *, first_alone: bool = False, ahead: int = 1
) -> Iterator[Out]:
    """The results of `work` for every item, in the order of the items, on this many threads.

    With `first_alone` the calling thread does the first item before the others start, so that a program that all of them
    need is compiled only once. While the next result in order is awaited, workers go `ahead` by so many items each: more
    than one keeps them busy where items take very different times, and holds more results.
    """
    if first_alone and items:
        yield work(items[0])
        items = items[1:]
    pool = ThreadPoolExecutor(workers)
    under_way: list[Future[Out]] = []
    try:
        for item in items:
            # What is true in this context (cores that may be used, the unit that is worked on) is true in the thread.
            under_way.append(pool.submit(copy_context().run, work, item))
            # One more than the number of workers, so that none waits while the caller takes a result.
            if len(under_way) > ahead * workers:
                yield under_way.pop(0).result()
        while under_way:
            yield under_way.pop(0).result()
    finally:
        # An interrupt drops work that has not begun; a compiled call under way cannot be stopped, and is not waited for.
        pool.shutdown(wait=False, cancel_futures=True)
