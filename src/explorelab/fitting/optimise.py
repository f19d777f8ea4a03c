"""Fisher scoring with damping and bounds: the minimiser of one person's objective, from one start.

Written for one problem, as a loop that ends when it has converged; many problems are mapped over, each ending by itself.
No library fits: SciPy minimises one problem at a time from Python, and those that run inside JAX neither keep to bounds nor
use the information matrix that a choice model offers for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from explorelab.fitting.objective import Curvature

MOST_STEPS = 80
LARGEST_STEP = 2.0
"""In standard units, so that one bad step cannot leave what is plausible."""
LARGEST_DAMPING = 1e8
TOLERANCE = 1e-6
"""Stop when the next step promises less than this (in units of log-likelihood)."""


class Minimum(NamedTuple):
    """Where a minimisation ended; JAX arrays inside compiled calls, NumPy arrays outside."""

    z: Any
    value: Any
    n_steps: Any
    converged: Any
    information: Any
    """Expected information there, the prior's included."""


class _State(NamedTuple):
    z: Float[Array, " parameter"]
    at: Curvature
    trial: Float[Array, " parameter"]
    """Where to look next."""
    promise: Float[Array, ""]
    """How much lower it should be there."""
    damping: Float[Array, ""]
    n_steps: Int[Array, ""]


def minimise(
    objective: Callable[[Float[Array, " parameter"]], Curvature],
    start: Float[Array, " parameter"],
    low: Float[Array, " parameter"],
    high: Float[Array, " parameter"],
) -> Minimum:
    """The lowest point that damped Fisher scoring reaches from this start, within the bounds."""

    def step(state: _State) -> _State:
        at = objective(state.trial)
        better = (at.value < state.at.value) & jnp.isfinite(at.gradient).all()
        # How much of the promised gain came: a good model of the objective may be trusted further.
        gain = (state.at.value - at.value) / jnp.maximum(state.promise, 1e-300)
        trust = jnp.where(gain > 0.75, 0.2, jnp.where(gain > 0.25, 0.7, 2.0))
        damping = state.damping * jnp.where(better, trust, 6.0)
        z = jnp.where(better, state.trial, state.z)
        kept = jax.tree.map(lambda new, old: jnp.where(better, new, old), at, state.at)
        move, promise = _move(z, kept, damping, low, high)
        return _State(z, kept, z + move, promise, damping, state.n_steps + 1)

    def going(state: _State) -> Bool[Array, ""]:
        # A bound that cuts a step short can turn it uphill, a promise below zero: no minimum, only in need of more damping.
        open_ = jnp.abs(state.promise) > TOLERANCE
        return (state.n_steps < MOST_STEPS) & open_ & (state.damping < LARGEST_DAMPING)

    # The objective is compiled once: the start is the first point to look at, and anything is better than nothing.
    n = start.shape[0]
    nothing = Curvature(jnp.asarray(jnp.inf), jnp.zeros(n), jnp.zeros((n, n)))
    zero = jnp.int32(0)
    first = _State(start, nothing, jnp.clip(start, low, high), jnp.asarray(jnp.inf), jnp.asarray(1e-2), zero)
    last = lax.while_loop(going, step, first)
    return Minimum(last.z, last.at.value, last.n_steps, last.n_steps < MOST_STEPS, last.at.information)


def _move(
    z: Float[Array, " parameter"],
    at: Curvature,
    damping: Float[Array, ""],
    low: Float[Array, " parameter"],
    high: Float[Array, " parameter"],
) -> tuple[Float[Array, " parameter"], Float[Array, ""]]:
    """The damped step over the parameters that may move, and the decrease that it promises."""
    stuck = ((z <= low) & (at.gradient > 0)) | ((z >= high) & (at.gradient < 0))
    free = ~stuck
    gradient = jnp.where(free, at.gradient, 0.0)
    information = jnp.where(free[:, None] & free[None], at.information, 0.0)
    # A direction in which nothing changes still has to be divided by something.
    ridge = jnp.where(free, damping * jnp.maximum(jnp.diag(at.information), 1e-3) + 1e-9, 1.0)
    move = -jnp.linalg.solve(information + jnp.diag(ridge), gradient)
    move = move * jnp.minimum(1.0, LARGEST_STEP / jnp.maximum(jnp.abs(move).max(), 1e-300))
    move = jnp.clip(z + move, low, high) - z
    promise = -(gradient @ move) - 0.5 * move @ (information @ move)
    return move, jnp.where(jnp.isfinite(promise), promise, 0.0)
