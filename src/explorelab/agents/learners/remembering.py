"""Any learner that also remembers its way: where it was, how far it moved, and where its best reward was.

A belief says what the arms are worth; where someone goes next depends on the way there too. What is remembered does not
depend on any parameter, so that the derivatives of a fit cost no more than those of the learner alone.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from explorelab.agents.factors import Learner, Params, Told, Value
from explorelab.agents.learners.geometry import geometry_of

FADING = 0.6
"""What is left of a remembered walk after each further one."""

USUAL_PACE = math.log(3.0)
"""The pace before anything is remembered, log(1 + walk) for a walk of 2; it counts as much as one walk."""

NOWHERE = -1.0


class Memory(NamedTuple):
    """What is remembered of the way. Arms are whole numbers kept as reals, which may stand beside derivatives; -1: none."""

    last: Float[Array, ""]
    """The arm sampled last."""
    before: Float[Array, ""]
    """The arm sampled before it."""
    best: Float[Array, ""]
    """The arm of the highest reward so far, the first of equals."""
    best_reward: Float[Array, ""]
    repeated: Float[Array, ""]
    """1 if the last arm had been sampled before that."""
    fruitless: Float[Array, ""]
    """Number of rewards since the highest."""
    walked: Float[Array, ""]
    """Sum of log(1 + walk) over the steps made, each fading."""
    steps: Float[Array, ""]
    """Number of those steps, each fading."""
    room: Value
    """Log(1 + distance) of each arm from the nearest one that was sampled; infinite before the first."""
    crowd: Value
    """How many of the arms next to each one were sampled, itself counted in."""

    @property
    def pace(self) -> Float[Array, ""]:
        """The typical log(1 + walk) of the last steps, measured from the usual one."""
        return (self.walked - USUAL_PACE * self.steps) / (self.steps + 1)


class RememberingBelief(NamedTuple):
    """What is believed, and what is remembered."""

    inner: Any
    memory: Memory

    @property
    def mean(self) -> Value:
        """Expected reward of each arm."""
        return self.inner.mean

    @property
    def sd(self) -> Value:
        """Standard deviation of each arm."""
        return self.inner.sd

    @property
    def plays(self) -> Value:
        """How often each arm has been seen."""
        return self.inner.plays


def at(arm: Float[Array, ""]) -> Int[Array, ""]:
    """A remembered arm as an index; 0 where there is none."""
    return jnp.maximum(arm, 0).astype(jnp.int32)


def nothing_yet(params: Params, n_arms: int) -> Memory:
    """The memory before the first reward."""
    dtype = params["distances"].dtype
    zero, none = jnp.zeros((), dtype), jnp.asarray(NOWHERE, dtype)
    return Memory(
        last=none,
        before=none,
        best=none,
        best_reward=jnp.asarray(-jnp.inf, dtype),
        repeated=zero,
        fruitless=zero,
        walked=zero,
        steps=zero,
        room=jnp.full(n_arms, jnp.inf, dtype),
        crowd=jnp.zeros(n_arms, dtype),
    )


def remember(params: Params, memory: Memory, arm: Int[Array, ""], reward: Float[Array, ""]) -> Memory:
    """The memory after one more reward."""
    started = memory.last >= 0
    here = arm.astype(memory.last.dtype)
    reward = reward.astype(memory.last.dtype)
    better = reward > memory.best_reward
    new = memory.room[arm] > 0
    walk = jnp.log1p(params["walks"][at(memory.last), arm])
    return Memory(
        last=here,
        before=memory.last,
        best=jnp.where(better, here, memory.best),
        best_reward=jnp.where(better, reward, memory.best_reward),
        repeated=(~new).astype(here.dtype),
        fruitless=jnp.where(better, 0.0, memory.fruitless + 1),
        walked=FADING * memory.walked + jnp.where(started, walk, 0.0),
        steps=FADING * memory.steps + started,
        room=jnp.minimum(memory.room, params["geometry"].log_distances[arm]),
        crowd=memory.crowd + jnp.where(new, params["geometry"].near[arm], 0.0),
    )


def memories(params: Params, n_arms: int, told: Told) -> Memory:
    """The memory before every trial of a block whose choices are known."""
    return _remembered(params, n_arms, told)[1]


def _remembered(params: Params, n_arms: int, told: Told) -> tuple[Memory, Memory]:
    """The memory after a block, and before each of its trials."""

    def trial(memory: Memory, seen: Told) -> tuple[Memory, Memory]:
        after = remember(params, memory, jnp.maximum(seen.arm, 0), seen.reward)
        return Memory(*(jnp.where(seen.observed, new, old) for new, old in zip(after, memory, strict=True))), memory

    return lax.scan(trial, nothing_yet(params, n_arms), told)


@cache
def remembering(learner: Learner) -> Learner:
    """The learner with a memory; cached, so that agents built twice are the same constant to `jit`."""
    replay_inner, after_inner = learner.replay, learner.after

    def prepare(params: Params, distances: Float[Array, "arm arm"] | None) -> Params:
        assert distances is not None  # checked at the door, where the error can name the task
        return {**learner.prepare(params, distances), "distances": distances, "geometry": geometry_of(distances)}

    def init(params: Params, n_arms: int) -> RememberingBelief:
        return RememberingBelief(learner.init(params, n_arms), nothing_yet(params, n_arms))

    def update(
        params: Params, belief: RememberingBelief, arm: Int[Array, ""], reward: Float[Array, ""]
    ) -> RememberingBelief:
        return RememberingBelief(
            learner.update(params, belief.inner, arm, reward), remember(params, belief.memory, arm, reward)
        )

    def resize(params: Params, belief: RememberingBelief, until: int) -> RememberingBelief:
        return belief._replace(inner=learner.resize(params, belief.inner, until))

    def seen(params: Params, belief: RememberingBelief) -> Value:
        return belief.plays

    def replay(params: Params, n_arms: int, told: Told) -> RememberingBelief:
        assert replay_inner is not None
        return RememberingBelief(replay_inner(params, n_arms, told), memories(params, n_arms, told))

    def after(params: Params, n_arms: int, told: Told, until: int) -> RememberingBelief:
        assert after_inner is not None
        return RememberingBelief(after_inner(params, n_arms, told, until), _remembered(params, n_arms, told)[0])

    return Learner(
        name=f"remembering-{learner.name}",
        prepare=prepare,
        init=init,
        update=update,
        stages=learner.stages,
        resize=resize,
        seen=seen,
        replay=None if replay_inner is None else replay,
        after=None if after_inner is None else after,
        places=True,
    )
