"""The likelihood of a person's choices under an agent, computed by replaying the agent on what the person chose and saw.

Nothing is written twice: the same learner, limit and choice rule simulate and score. A trial that was missed or forced is
not scored, but the agent learns from it if its reward was seen. Time counts every trial of a block, scored or not.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from explorelab.agents import step as steps
from explorelab.agents.factors import (
    AnyArray,
    AnyBelief,
    Available,
    Commitment,
    Moment,
    Params,
    Pytree,
    Rule,
    Told,
    Value,
    Ways,
    prepared,
)
from explorelab.choices.table import NOWHERE, Choices, Layout


class Block(NamedTuple):
    """One block that a person played, as arrays over its trials; several blocks have a leading axis."""

    arm: Int[Array, " trial"]
    reward: Float[Array, " trial"]
    observed: Bool[Array, " trial"]
    scored: Bool[Array, " trial"]
    position: Int[Array, " trial"]
    """The person's position before each trial: the arm sampled last; -1 for nowhere yet."""
    available: Bool[Array, "trial arm"] | None


def blocks_of(choices: Choices) -> Block:
    """Every row of the choices as a block, in NumPy arrays; compiled calls are given only the rows they need."""
    arrays: dict[str, AnyArray] = {
        "arm": np.asarray(choices.arm, np.int32),
        "reward": np.asarray(choices.reward, np.float64),
        "observed": np.asarray(choices.observed),
        "scored": np.asarray(choices.scored),
        "position": positions(choices),
        "available": None if choices.available is None else np.asarray(choices.available),
    }
    return Block(**arrays)


def ways_of(layout: Layout) -> Ways:
    """Distances between the arms."""
    if layout.places is None:
        return Ways()
    return Ways(jnp.asarray(layout.distances, jnp.float64), jnp.asarray(layout.walks, jnp.float64))


def positions(choices: Choices) -> np.ndarray:
    """Where each person was before each trial: on the arm sampled last, or where they started."""
    start = np.full(choices.n_rows, NOWHERE) if choices.start is None else choices.start
    arms = np.concatenate([start[:, None], choices.arm[:, :-1]], axis=1)
    known = np.where(arms != NOWHERE, np.arange(arms.shape[1]), 0)
    return np.take_along_axis(arms, np.maximum.accumulate(known, axis=1), axis=1).astype(np.int32)


def beliefs(rule: Rule, params: Params, n_arms: int, block: Block) -> AnyBelief:
    """What the agent believes before each trial, given what the person chose and saw; arrays have a leading trial axis."""
    told = Told(block.arm, block.reward, block.observed)
    if rule.learner.replay is not None:
        return rule.learner.replay(params, n_arms, told)

    def trial(belief: AnyBelief, seen: Told) -> tuple[AnyBelief, AnyBelief]:
        after = rule.learner.update(params, belief, seen.arm, seen.reward)
        return jax.tree.map(lambda new, old: jnp.where(seen.observed, new, old), after, belief), belief

    return lax.scan(trial, rule.learner.init(params, n_arms), told)[1]


class Replay(NamedTuple):
    """What an agent would have thought on each trial of a block."""

    belief: AnyBelief
    value: Float[Array, "trial arm"]
    log_probs: Float[Array, "trial arm"]


def replay(rule: Rule, params: Params, ways: Ways, n_arms: int, block: Block) -> Replay:
    """Belief, value and log-probability of every arm before each trial of a block, given everything before it."""
    return decide(rule, params, ways, n_arms, block, beliefs(rule, prepared(rule, params, ways), n_arms, block))


def decide(
    rule: Rule, params: Params, ways: Ways, n_arms: int, block: Block, believed: AnyBelief, scoring: bool = False
) -> Replay:
    """Value and log-probability of every arm before each trial of a block, from the belief at that time.

    If only to score choices, logarithms need be exact for the arms chosen; some rules then cost far less.
    """
    ready = prepared(rule, params, ways)
    t = jnp.arange(1, block.arm.shape[0] + 1, dtype=jnp.int32)
    bound, deciding = _bounds(rule.commitment, ready, believed, block)

    def trial(belief: AnyBelief, moment: Moment, available: Available, arm: Int[Array, ""]) -> tuple[Value, Value]:
        value = rule.limit(ready, belief, moment)
        if scoring and rule.choice.scores is not None:
            return value, rule.choice.scores(ready, belief, value, moment, available, jnp.maximum(arm, 0))
        return value, rule.choice.log_probs(ready, belief, value, moment, available)

    axes = (0, 0, None if block.available is None else 0, 0)
    moments = steps.moment_of(rule.commitment, bound, t, block.position)
    value, log_probs = jax.vmap(trial, axes)(believed, moments, block.available, block.arm)
    if steps.binds(rule.commitment):
        log_probs = steps.kept_to(bound.goal, deciding, log_probs)
    return Replay(believed, value, log_probs)


def _bounds(
    commitment: Commitment, params: Params, believed: AnyBelief, block: Block
) -> tuple[steps.Bound, Bool[Array, " trial"]]:
    """What the agent is bound to before each trial, and whether it decides there."""
    if not steps.binds(commitment):
        return steps.unbound(), jnp.ones(block.arm.shape, bool)

    def trial(before: steps.Bound, now: Pytree) -> tuple[steps.Bound, tuple[steps.Bound, Bool[Array, ""]]]:
        belief, arm, observed, available = now
        deciding = steps.decides(before, available)
        decided = deciding & observed
        bound = steps.bound_to(commitment, params, belief, before, decided, arm)
        return steps.counted(bound, decided, observed), (before, deciding)

    return lax.scan(trial, steps.unbound(), (believed, block.arm, block.observed, block.available))[1]


def log_likelihoods(rule: Rule, params: Params, ways: Ways, n_arms: int, block: Block) -> Float[Array, " trial"]:
    """Log-probability of each choice of a block, given everything before it; 0 for trials that are not scored."""
    believed = beliefs(rule, prepared(rule, params, ways), n_arms, block)
    log_probs = decide(rule, params, ways, n_arms, block, believed, scoring=True).log_probs
    chosen = jnp.take_along_axis(log_probs, jnp.maximum(block.arm, 0)[:, None], axis=1)[:, 0]
    return jnp.where(block.scored, chosen, 0.0)
