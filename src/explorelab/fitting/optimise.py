"""Fisher scoring with damping and bounds: the minimiser of one person's objective, from one start.

Written for one problem, as a loop that ends when it has converged; many problems are mapped over, each ending by itself.
No library fits: SciPy minimises one problem at a time from Python, and those that run inside JAX neither keep to bounds nor
use the information matrix that a choice model offers for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from explorelab.fitting.objective import Curvature

MOST_STEPS = 80
LARGEST_STEP = 2.0
"""In standard units, so that one bad step cannot leave what is plausible."""
TOLERANCE = 1e-5
"""Stop when the next step promises less than this (in units of log-likelihood)."""


class Minimum(NamedTuple):
    """Where a minimisation ended; JAX arrays inside compiled calls, NumPy arrays outside."""

    z: Any
    value: Any
    n_steps: Any
    converged: Any


class _State(NamedTuple):
    z: Float[Array, " parameter"]
    at: Curvature
    damping: Float[Array, ""]
    n_steps: Int[Array, ""]
    promise: Float[Array, ""]


def minimise(
    objective: Callable[[Float[Array, " parameter"]], Curvature],
    start: Float[Array, " parameter"],
    low: Float[Array, " parameter"],
    high: Float[Array, " parameter"],
) -> Minimum:
    """The lowest point that damped Fisher scoring reaches from this start, within the bounds."""

    def step(state: _State) -> _State:
        move, promise = _move(state, low, high)
        z = jnp.clip(state.z + move, low, high)
        at = objective(z)
        better = (at.value < state.at.value) & jnp.isfinite(at.gradient).all()
        # How much of the promised gain came: a good model of the objective may be trusted further.
        gain = (state.at.value - at.value) / jnp.maximum(promise, 1e-300)
        trust = jnp.where(gain > 0.75, 0.2, jnp.where(gain > 0.25, 0.7, 2.0))
        damping = state.damping * jnp.where(better, trust, 6.0)
        kept = _State(z, at, damping, state.n_steps + 1, promise)
        stayed = state._replace(damping=damping, n_steps=state.n_steps + 1, promise=promise)
        return lax.cond(better, lambda: kept, lambda: stayed)

    def going(state: _State) -> Bool[Array, ""]:
        return (state.n_steps < MOST_STEPS) & (state.promise > TOLERANCE) & (state.damping < 1e8)

    first = _State(start, objective(start), jnp.asarray(1e-2), jnp.int32(0), jnp.asarray(jnp.inf))
    last = lax.while_loop(going, step, first)
    return Minimum(last.z, last.at.value, last.n_steps, (last.promise <= TOLERANCE) | (last.damping >= 1e8))


def _move(
    state: _State, low: Float[Array, " parameter"], high: Float[Array, " parameter"]
) -> tuple[Float[Array, " parameter"], Float[Array, ""]]:
    """The damped step over the parameters that may move, and the decrease that it promises."""
    gradient, information = state.at.gradient, state.at.information
    stuck = ((state.z <= low) & (gradient > 0)) | ((state.z >= high) & (gradient < 0))
    free = ~stuck
    gradient = jnp.where(free, gradient, 0.0)
    both = free[:, None] & free[None]
    diagonal = jnp.diag(information)
    # A direction in which nothing changes still has to be divided by something.
    damped = jnp.where(both, information, 0.0) + jnp.diag(
        jnp.where(free, state.damping * jnp.maximum(diagonal, 1e-3) + 1e-9, 1.0)
    )
    move = -jnp.linalg.solve(damped, gradient)
    move = move * jnp.minimum(1.0, LARGEST_STEP / jnp.maximum(jnp.abs(move).max(), 1e-300))
    move = jnp.clip(state.z + move, low, high) - state.z
    promise = -(gradient @ move) - 0.5 * move @ (jnp.where(both, information, 0.0) @ move)
    return move, jnp.where(jnp.isfinite(promise), promise, 0.0)
