"""How blocks that have begun may go on: many continuations of each agent's own state, to the end of the block.

The same agents, noise and randomness as in `simulate`, from the middle of a block. The times at which it begins and
ends are arguments of the compiled program, not part of it: one program serves all trials, and costs as much as is left.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int, UInt32

from explorelab.agents import playing
from explorelab.agents.factors import Params, Rule
from explorelab.agents.playing import Playing, Seen
from explorelab.simulation import chance
from explorelab.tasks.noise import noise_kind
from explorelab.tasks.task import Task


class World(NamedTuple):
    """What answers an agent: JAX arrays inside compiled calls, NumPy arrays outside."""

    means: Any
    """Of each arm."""
    scale: Any
    """Of the noise."""
    allowed: Any
    """from arm x to arm: which arms may follow which; None if any may."""


class Future(NamedTuple):
    """What happens on each trial of a block; arm -1 on those that were not played."""

    arm: Int[Array, " trial"]
    reward: Float[Array, " trial"]


def world_of(task: Task) -> World:
    """The world of a task."""
    allowed = None if task.moves is None else task.moves.allowed
    return World(np.asarray(task.means, np.float64), np.float64(task.noise.scale), allowed)


@partial(jax.jit, static_argnames=("rule", "noise", "length", "shared"))
def futures(
    rule: Rule,
    noise: str,
    length: int,
    shared: bool,
    ready: Params,
    now: Playing,
    world: World,
    keys: chance.Keys,
    number: UInt32[Array, " future"],
    t: Int[Array, ""],
    position: Int[Array, ""],
    horizon: Int[Array, ""],
) -> Future:
    """Arm and reward of every trial from time t to the horizon, future x trial, in arrays of this length.

    `ready` and `now` have one entry for each future or, if they are `shared`, one for all. Beliefs must have room until the
    horizon. Futures of the same number have the same luck.
    """

    def one(given: Any) -> Future:
        own_ready, own_now, own_number = (ready, now, given) if shared else given
        return _future(rule, noise, length, own_ready, own_now, world, keys, own_number, t, position, horizon)

    # One by one, so that a belief stays in a CPU's cache; a GPU has room for all of them.
    each = number if shared else (ready, now, number)
    return jax.vmap(one)(each) if jax.default_backend() == "gpu" else lax.map(one, each)


def _future(
    rule: Rule,
    noise: str,
    length: int,
    ready: Params,
    now: Playing,
    world: World,
    keys: chance.Keys,
    number: UInt32[Array, ""],
    t: Int[Array, ""],
    position: Int[Array, ""],
    horizon: Int[Array, ""],
) -> Future:
    def step(time: Any, state: tuple[Playing, Any, Future]) -> tuple[Playing, Any, Future]:
        before, at, future = state
        luck = chance.of_step(keys, number, time, jnp.dtype("float64"))
        available = _available(world, at)
        arm = playing.drawn(rule, ready, before, time, at, available, luck.decision).astype(jnp.int32)
        reward = world.means[arm] + noise_kind(noise).quantile(world.scale, luck.reward)
        after = playing.learned(rule, ready, before, available, Seen(arm, arm, reward, jnp.bool_(True)))
        return after, arm, Future(future.arm.at[time - 1].set(arm), future.reward.at[time - 1].set(reward))

    nothing = Future(jnp.full(length, -1, jnp.int32), jnp.zeros(length, jnp.float64))
    return lax.fori_loop(t, horizon + 1, step, (now, position, nothing))[2]


def _available(world: World, at: Int[Array, ""]) -> Bool[Array, " arm"] | None:
    if world.allowed is None:
        return None
    return jnp.where(at < 0, True, world.allowed[jnp.maximum(at, 0)])
