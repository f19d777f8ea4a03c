"""How an agent carries out a decision: its goal, the block of goal selections, and the next hop.

Everything that plays or replays an agent (the simulator, the likelihood, simulated people, robots) does this at each step:

    deciding = decides(bound, available)                             is the last block over, or its goal not on offer?
    bound    = bound_to(commitment, ..., bound, decided, goal)       if so: a new goal, and how often it is selected
    arm      = hop(next_hop, position, bound.goal)                   the goal itself, or the next arm on the way to it
    bound    = counted(bound, decided, reached)                      a goal that is reached has been selected once more

A rule that decides at every step, with every arm within reach, `binds` to nothing and needs none of this.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from explorelab.agents.factors import AnyBelief, Available, Commitment, Moment, Params


class Bound(NamedTuple):
    """The decision that an agent is carrying out."""

    goal: Int[Array, ""]
    left: Int[Array, ""]
    """Goal selections left before the next decision."""
    n_goals: Int[Array, ""]
    """Goal selections made."""
    n_decisions: Int[Array, ""]


def unbound() -> Bound:
    """The state before any decision."""
    zero = jnp.int32(0)
    return Bound(zero, zero, zero, zero)


def binds(commitment: Commitment, walks: bool = False) -> bool:
    """Whether a decision may last for several steps, because of a commitment or of a walk to the goal."""
    return commitment.length is not None or walks


def moment_of(
    commitment: Commitment, bound: Bound, t: Int[Array, ""], position: Int[Array, ""], walks: bool = False
) -> Moment:
    """The time and position of the next decision."""
    return Moment(t, bound.n_decisions if binds(commitment, walks) else t - 1, position)


def decides(bound: Bound, available: Available = None) -> Bool[Array, ""]:
    """Whether the agent decides now: no goal selection is left, or the goal is not on offer."""
    over = bound.left == 0
    return over if available is None else over | ~available[bound.goal]


def bound_to(
    commitment: Commitment, params: Params, belief: AnyBelief, bound: Bound, decided: Bool[Array, ""], goal: Int[Array, ""]
) -> Bound:
    """What the agent is bound to once it has chosen this goal; unchanged if it has not `decided`.

    Nothing is decided on a trial without a sample; the decision is made on the next one.
    """
    length = commitment.length
    block = jnp.int32(1) if length is None else length(params, belief, goal, bound.n_goals)
    return bound._replace(goal=jnp.where(decided, goal, bound.goal), left=jnp.where(decided, block, bound.left))


def hop(next_hop: Int[Array, "arm arm"] | None, position: Int[Array, ""], goal: Int[Array, ""]) -> Int[Array, ""]:
    """The arm sampled next on the way from this position to the goal; without a graph, the goal itself."""
    return goal if next_hop is None else next_hop[position, goal]


def counted(bound: Bound, decided: Bool[Array, ""], reached: Bool[Array, ""]) -> Bound:
    """The bound after the step; `reached` says that the goal itself was sampled, not an arm on the way to it or nothing."""
    done = reached.astype(jnp.int32)
    return bound._replace(left=bound.left - done, n_goals=bound.n_goals + done, n_decisions=bound.n_decisions + decided)


def kept_to(
    goal: Int[Array, "*trial"], deciding: Bool[Array, "*trial"], log_probs: Float[Array, "*trial arm"]
) -> Float[Array, "*trial arm"]:
    """Log-probabilities of actions, from those of a decision: where none is made, the goal is certain."""
    certain = jnp.where(jnp.arange(log_probs.shape[-1]) == goal[..., None], 0.0, -jnp.inf)
    return jnp.where(deciding[..., None], log_probs, certain)
