"""Many problems in compiled calls: a few at a time on each core of a CPU, all at once on a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from threadpoolctl import threadpool_limits

from explorelab.progress import Progress

PER_CALL = 8
"""Problems in one compiled call on a CPU: an interrupt waits for one, and progress shows after each."""

GPU_PER_CALL = 4096


def on_gpu() -> bool:
    """Whether JAX computes on a GPU here."""
    return jax.default_backend() == "gpu"


def mapped(one: Callable[..., Any], arguments: Any) -> Any:
    """`one` for every problem: in turn on a CPU, where each then ends by itself, and together on a GPU."""
    if on_gpu():
        return jax.vmap(one)(arguments)
    return jax.lax.map(one, arguments)


@contextmanager
def single_threaded_algebra() -> Iterator[None]:
    """Linear algebra on the thread that asks for it, while the block lasts.

    Every core already has a problem of its own. OpenBLAS, which XLA calls for triangular systems, would wake its own threads
    for each small one and wait for them: 20 times as much processor time on busy cores.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def in_calls(call: Callable[..., Any], arguments: Any, label: str, progress: bool | None = None) -> Any:
    """`call(arguments)` for all problems (the leading axis of every array), a part at a time; results are NumPy arrays.

    Every part has the same size, so that it is compiled once: the last is filled up with its own first problem.
    """
    leaves = jax.tree.leaves(arguments)
    n = len(leaves[0])
    size = GPU_PER_CALL if on_gpu() else min(PER_CALL, max(1, -(-n // _cores())))
    starts = range(0, n, size)

    def part(start: int) -> Any:
        with jax.enable_x64(True):
            at = np.minimum(np.arange(start, start + size), n - 1)
            result = call(jax.tree.map(lambda x: x[at], arguments))
            kept = min(size, n - start)
            return jax.tree.map(lambda x: np.asarray(x)[:kept], result)

    parts = []
    with single_threaded_algebra(), Progress(label, n, progress) as bar:
        for start, result in zip(starts, _in_order(part, starts, 1 if on_gpu() else _cores()), strict=True):
            parts.append(result)
            bar.advance(min(size, n - start))
    return jax.tree.map(lambda *xs: np.concatenate(xs), *parts)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    finally:
        # An interrupt drops what has not begun; a compiled call that has cannot be stopped, and is not waited for.
        pool.shutdown(wait=False, cancel_futures=True)


def _in_order[Out](work: Callable[[int], Out], items: range, workers: int) -> Iterator[Out]:
    """Results in the order of the items, a few at work at once; the first by itself, so that it is compiled once."""
    if items:
        yield work(items[0])
    with _pool(workers) as pool:
        under_way: list[Future[Out]] = []
        for item in items[1:]:
            under_way.append(pool.submit(work, item))
            if len(under_way) > workers:
                yield under_way.pop(0).result()
        while under_way:
            yield under_way.pop(0).result()
