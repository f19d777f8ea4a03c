"""Solve many problems in compiled calls: a few at a time on each core of a CPU, all at once on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from explorelab._support.parallel import cores, in_order
from explorelab._support.progress import Progress
from explorelab._support.work.algebra import on_one_thread

PER_CALL = 8
"""Problems in one compiled call on a CPU: an interrupt waits for the current call, and progress is shown after each."""

GPU_PER_CALL = 4096

AHEAD = 4
"""Calls that each core may be ahead of the oldest one under way: problems take very different times."""


def on_gpu() -> bool:
    """Whether JAX computes on a GPU here."""
    return jax.default_backend() == "gpu"


def mapped[Given, Result](one: Callable[[Given], Result], arguments: Given, count: Int[Array, ""] | None = None) -> Result:
    """The results of `one` for every problem: one by one on a CPU, where each stops when it is done; together on a GPU.

    With `count`, only the first `count` problems need an answer; on a CPU the others cost nothing.
    """
    if on_gpu():
        return jax.vmap(one)(arguments)
    if count is None:
        return jax.lax.map(one, arguments)
    once = jax.jit(one)  # traced only once, although its shapes are needed first

    def at(i: int | Int[Array, ""]) -> Result:
        return once(jax.tree.map(lambda x: x[i], arguments))

    size = len(jax.tree.leaves(arguments)[0])
    empty = jax.tree.map(lambda x: jnp.zeros((size, *x.shape), x.dtype), jax.eval_shape(at, 0))
    return jax.lax.fori_loop(0, count, lambda i, done: jax.tree.map(lambda all_, x: all_.at[i].set(x), done, at(i)), empty)


@contextmanager
def single_threaded_algebra() -> Iterator[None]:
    """Run linear algebra on the calling thread within this context.

    Every core already has a problem of its own. OpenBLAS, which XLA calls for triangular systems, would wake its own threads
    for each small system and wait for them, which takes 20 times as much processor time on busy cores.
    """
    with on_one_thread():
        yield


def shares(n: int, workers: int) -> list[range]:
    """The problems of each call on a CPU: one in the first, during which the others wait, then many, and ever fewer.

    So the workers end at nearly the same time, however few problems there are and however long each takes.
    """
    result = [range(min(n, 1))] if n else []
    while (begun := result[-1].stop if result else 0) < n:
        result.append(range(begun, begun + min(PER_CALL, -(-(n - begun) // (2 * workers)))))
    return result


def in_calls[Given, Result](
    call: Callable[[Given, np.int32], Result], arguments: Given, label: str, progress: bool | None = None
) -> Result:
    """The results of `call(part, count)` for all problems (the leading axis), part by part, as NumPy arrays.

    All parts have the same size, whatever the number of problems, so that a program is compiled once for all data. A short
    part is padded with its last problem; only the first `count` results of each part matter.
    """
    n = len(jax.tree.leaves(arguments)[0])
    size = GPU_PER_CALL if on_gpu() else PER_CALL
    parts_of = [range(at, min(at + size, n)) for at in range(0, n, size)] if on_gpu() else shares(n, cores())

    def part(own: range) -> Result:
        with jax.enable_x64(True):
            kept = len(own)
            at = own.start + np.minimum(np.arange(size), kept - 1)
            result = call(jax.tree.map(lambda x: x[at], arguments), np.int32(kept))
            return jax.tree.map(lambda x: np.asarray(x)[:kept], result)

    parts = []
    results = in_order(part, parts_of, 1 if on_gpu() else cores(), first_alone=True, ahead=AHEAD)
    with single_threaded_algebra(), Progress(label, n, progress) as bar:
        for own, result in zip(parts_of, results, strict=True):
            parts.append(result)
            bar.advance(len(own))
    return jax.tree.map(lambda *xs: np.concatenate(xs), *parts)
