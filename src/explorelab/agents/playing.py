"""An agent in the middle of a block, one choice at a time: for robots, and for companions that think along with a person.

    playing = begun(rule, ready, n_arms)                             before the first choice
    log_probs(rule, ready, playing, moment, available)               how likely each arm is chosen next
    drawn(rule, ready, playing, moment, available, decision)         a choice
    playing = learned(rule, ready, playing, available, seen)         after the choice

`ready` are the parameters from `factors.prepared`. The numbers are those that the likelihood gives a whole block at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int

from explorelab.agents import step as steps
from explorelab.agents.factors import Available, Chance, Learner, Params, Rule, Told, Value

ENDLESS = 2**30
"""A horizon that no block reaches: how much room a belief needs at a time does not depend on the horizon."""


class Playing(NamedTuple):
    """What an agent believes, and what it is bound to."""

    belief: Any
    bound: steps.Bound


class Seen(NamedTuple):
    """What happened on a trial. JAX arrays inside compiled calls, NumPy numbers outside."""

    arm: Any
    goal: Any
    """The arm aimed at: the arm itself, unless it lies on the way to another."""
    reward: Any
    observed: Any
    """Whether an arm was sampled and its reward seen; otherwise the trial teaches nothing."""


def begun(rule: Rule, ready: Params, n_arms: int) -> Playing:
    """The state before the first choice, with room for it."""
    playing = Playing(rule.learner.init(ready, n_arms), steps.unbound())
    return with_room(rule, ready, playing, room_for(rule.learner, n_arms, 1))


def room_for(learner: Learner, n_arms: int, t: int) -> int:
    """The time until which a belief has room that has room for time t."""
    return next(until for until in learner.stages(n_arms, ENDLESS) if until >= t)


def with_room(rule: Rule, ready: Params, playing: Playing, until: int) -> Playing:
    """The same state with room until that time."""
    return playing._replace(belief=rule.learner.resize(ready, playing.belief, until))


def log_probs(
    rule: Rule, ready: Params, playing: Playing, t: Int[Array, ""], position: Int[Array, ""], available: Available
) -> Value:
    """Log-probability of choosing each arm at time t (from 1) from this position."""
    moment = steps.moment_of(rule.commitment, playing.bound, t, position)
    value = rule.limit(ready, playing.belief, moment)
    decision = rule.choice.log_probs(ready, playing.belief, value, moment, available)
    if not steps.binds(rule.commitment):
        return decision
    return steps.kept_to(playing.bound.goal, steps.decides(playing.bound, available), decision)


def drawn(
    rule: Rule,
    ready: Params,
    playing: Playing,
    t: Int[Array, ""],
    position: Int[Array, ""],
    available: Available,
    decision: Chance,
) -> Int[Array, ""]:
    """An arm drawn with these probabilities."""
    moment = steps.moment_of(rule.commitment, playing.bound, t, position)
    value = rule.limit(ready, playing.belief, moment)
    arm = rule.choice.draw(ready, playing.belief, value, moment, available, decision)
    if not steps.binds(rule.commitment):
        return arm
    return jnp.where(steps.decides(playing.bound, available), arm, playing.bound.goal)


def learned(rule: Rule, ready: Params, playing: Playing, available: Available, seen: Seen) -> Playing:
    """The state after the trial."""
    after = rule.learner.update(ready, playing.belief, jnp.maximum(seen.arm, 0), seen.reward)
    belief = jax.tree.map(lambda new, old: jnp.where(seen.observed, new, old), after, playing.belief)
    if not steps.binds(rule.commitment):
        return Playing(belief, playing.bound)
    decided = steps.decides(playing.bound, available) & seen.observed
    bound = steps.bound_to(rule.commitment, ready, playing.belief, playing.bound, decided, seen.goal)
    return Playing(belief, steps.counted(bound, decided, seen.observed & (seen.arm == seen.goal)))


def after(rule: Rule, ready: Params, n_arms: int, available: Available, seen: Seen, until: int) -> Playing:
    """The state after the trials of a block (their leading axis), with room until that time."""
    if rule.learner.after is not None and not steps.binds(rule.commitment):
        told = Told(jnp.maximum(seen.arm, 0), seen.reward, seen.observed)
        return Playing(rule.learner.after(ready, n_arms, told, until), steps.unbound())

    def trial(playing: Playing, now: tuple[Available, Seen]) -> tuple[Playing, None]:
        return learned(rule, ready, playing, *now), None

    first = with_room(rule, ready, begun(rule, ready, n_arms), until)
    return lax.scan(trial, first, (available, seen))[0]
