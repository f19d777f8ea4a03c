"""Fisher scoring with damping and bounds: minimises one person's objective from one start.

It is written for one problem, as a loop that ends at convergence, and mapped over many problems, each with its own end. No
library does this: SciPy minimises one problem at a time from Python, and minimisers inside JAX neither respect bounds nor
use the information matrix that a choice model provides for free.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from explorelab.agents.factors import AnyArray
from explorelab.fitting.objective import Curvature

MOST_STEPS = 80
LARGEST_STEP = 2.0
"""In standard units, so that one bad step cannot leave the plausible range."""
LARGEST_DAMPING = 1e8
TOLERANCE = 1e-6
"""Stop when the next step promises less than this (in units of log-likelihood)."""
CLOSE = 1e-4
"""Converged where a nearly undamped step promises no more than this; with enough damping, any step promises little."""
LIGHT_DAMPING = 1e-2


class Status(IntEnum):
    """How a minimisation ended; `REASONS` says it in words."""

    CONVERGED = 0
    FLAT = 1
    OUT_OF_STEPS = 2
    STUCK = 3
    NOT_FINITE = 4
    NOT_LOWEST = 5


REASONS = {
    Status.CONVERGED: "converged",
    Status.FLAT: "nothing to estimate: the choices say nothing about any free parameter",
    Status.OUT_OF_STEPS: f"not converged: still moving after {MOST_STEPS} steps",
    Status.STUCK: "not converged: no step downhill, though the slope is not zero",
    Status.NOT_FINITE: "not converged: the likelihood, its slope or its curvature is not a finite number",
    Status.NOT_LOWEST: "not converged: the likelihood is higher close by",
}
"""How a minimisation ended, in words. Converged means that the objective and its derivatives are finite, the next step
promises next to nothing (which may be so at the start already), and no nearby point is lower (`solve.endings`)."""


class Minimum(NamedTuple):
    """Where a minimisation ended; JAX arrays inside compiled calls, NumPy arrays outside."""

    z: Float[AnyArray, " parameter"]
    value: Float[AnyArray, ""]
    n_steps: Int[AnyArray, ""]
    status: Int[AnyArray, ""]
    information: Float[AnyArray, "parameter parameter"]
    """Expected information there, including the prior's."""

    @property
    def converged(self) -> Bool[AnyArray, ""]:
        """Whether it ended at a minimum."""
        return self.status == Status.CONVERGED


class _State(NamedTuple):
    z: Float[Array, " parameter"]
    at: Curvature
    trial: Float[Array, " parameter"]
    """Where to look next."""
    promise: Float[Array, ""]
    """How much lower the objective should be there."""
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
        better = (at.value < state.at.value) & _usable(at)
        # The share of the promised gain that was realised: a good model of the objective may be trusted further.
        gain = (state.at.value - at.value) / jnp.maximum(state.promise, 1e-300)
        trust = jnp.where(gain > 0.75, 0.2, jnp.where(gain > 0.25, 0.7, 2.0))
        damping = state.damping * jnp.where(better, trust, 6.0)
        z = jnp.where(better, state.trial, state.z)
        kept = jax.tree.map(lambda new, old: jnp.where(better, new, old), at, state.at)
        move, promise = _move(z, kept, damping, low, high)
        return _State(z, kept, z + move, promise, damping, state.n_steps + 1)

    def going(state: _State) -> Bool[Array, ""]:
        # A bound that cuts a step short can turn it uphill (a negative promise): not a minimum, but a need for more damping.
        # A promise that is NaN ends the loop too, and is reported as not finite.
        open_ = jnp.abs(state.promise) > TOLERANCE
        return (state.n_steps < MOST_STEPS) & open_ & (state.damping < LARGEST_DAMPING)

    # The objective is compiled once: the start is the first trial point, and any value beats the initial infinity.
    n = start.shape[0]
    nothing = Curvature(jnp.asarray(jnp.inf), jnp.zeros(n), jnp.zeros((n, n)))
    zero = jnp.int32(0)
    first = _State(start, nothing, jnp.clip(start, low, high), jnp.asarray(jnp.inf), jnp.asarray(LIGHT_DAMPING), zero)
    last = lax.while_loop(going, step, first)
    moved = (last.z != first.trial).any()
    status = _status(last, moved, _free(last.z, last.at, low, high))
    return Minimum(last.z, last.at.value, last.n_steps, status, last.at.information)


def _usable(at: Curvature) -> Bool[Array, ""]:
    return jnp.isfinite(at.value) & jnp.isfinite(at.gradient).all() & jnp.isfinite(at.information).all()


def _status(last: _State, moved: Bool[Array, ""], free: Bool[Array, " parameter"]) -> Int[Array, ""]:
    """How the loop ended: the first condition that holds."""
    nothing_said = (last.at.gradient == 0).all() & (last.at.information == 0).all() & (last.z.shape[0] > 0)
    gradient, step = _newton(last.at, jnp.asarray(LIGHT_DAMPING), free)
    still_promised = 0.5 * gradient @ -step
    ends = [
        (~_usable(last.at) | ~jnp.isfinite(still_promised), Status.NOT_FINITE),
        (nothing_said & ~moved, Status.FLAT),
        (still_promised <= CLOSE, Status.CONVERGED),
        (last.n_steps >= MOST_STEPS, Status.OUT_OF_STEPS),
    ]
    return jnp.select([holds for holds, _ in ends], [jnp.int32(end) for _, end in ends], jnp.int32(Status.STUCK))


def _free(
    z: Float[Array, " parameter"], at: Curvature, low: Float[Array, " parameter"], high: Float[Array, " parameter"]
) -> Bool[Array, " parameter"]:
    """The parameters that are not held at a bound."""
    return ~(((z <= low) & (at.gradient > 0)) | ((z >= high) & (at.gradient < 0)))


def _newton(
    at: Curvature, damping: Float[Array, ""], free: Bool[Array, " parameter"]
) -> tuple[Float[Array, " parameter"], Float[Array, " parameter"]]:
    """Gradient and damped step over the free parameters."""
    gradient = jnp.where(free, at.gradient, 0.0)
    information = jnp.where(free[:, None] & free[None], at.information, 0.0)
    # Keeps the system solvable in a direction in which nothing changes.
    ridge = jnp.where(free, damping * jnp.maximum(jnp.diag(at.information), 1e-3) + 1e-9, 1.0)
    return gradient, -jnp.linalg.solve(information + jnp.diag(ridge), gradient)


def _move(
    z: Float[Array, " parameter"],
    at: Curvature,
    damping: Float[Array, ""],
    low: Float[Array, " parameter"],
    high: Float[Array, " parameter"],
) -> tuple[Float[Array, " parameter"], Float[Array, ""]]:
    """The damped step over the parameters that may move, and the decrease that it promises."""
    free = _free(z, at, low, high)
    gradient, move = _newton(at, damping, free)
    information = jnp.where(free[:, None] & free[None], at.information, 0.0)
    move = move * jnp.minimum(1.0, LARGEST_STEP / jnp.maximum(jnp.abs(move).max(), 1e-300))
    move = jnp.clip(z + move, low, high) - z
    promise = -(gradient @ move) - 0.5 * move @ (information @ move)
    return move, promise
