"""The means, the arms on offer and the forced arms of each moment, where these change in the course of a simulation.

Everything here is in float64, whatever precision the agent computes in, so that precision does not change a path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from explorelab.tasks.changes import CHANGES, draws_at, own_key, path_key
from explorelab.tasks.changing import change_of
from explorelab.tasks.task import Task


@dataclass(frozen=True)
class ChangePlan:
    """What is known before the run; static to `jit`."""

    kind: str
    """The name of the kind of change."""
    own_paths: bool
    """Whether each replicate draws its own path."""
    blocked: bool
    """Whether some arms are not on offer on some trials."""
    forced: bool


class ChangeWorld(NamedTuple):
    """What changes, as arrays: of NumPy outside compiled calls, of JAX inside."""

    numbers: Mapping[str, Any]
    """What the kind of change needs to know."""
    key: Any
    """The key of all paths."""
    available: Any
    """trial x arm: the arms on offer, with a last row for all later trials; None if all are."""
    forced: Any
    """The forced arm of each trial, -1 if it is free, with a last one for all later trials; None if all are free."""


class Now(NamedTuple):
    """The current means, and what a fixed arm would have earned."""

    means: Float[Array, " arm"]
    earned: Float[Array, " arm"]
    """The sum of each arm's means on the trials so far; -inf once it was not on offer."""
    best: Float[Array, ""]
    """The sum of the best means of each moment so far."""
    key: UInt32[Array, " 2"]
    """The key of the replicate's path."""


def plan_of(task: Task) -> ChangePlan | None:
    """What is known before the run; None if every trial is like every other."""
    if task.is_steady:
        return None
    change = change_of(task)
    return ChangePlan(change.kind, change.own_paths, task.available is not None, task.forced is not None)


def world_of(task: Task, seed: int) -> ChangeWorld | None:
    """What changes on this task in a run with this seed."""
    if task.is_steady:
        return None
    change = change_of(task)
    later = np.ones((1, task.n_arms), bool)
    return ChangeWorld(
        numbers={name: np.asarray(value, np.float64) for name, value in change.numbers.items()},
        key=path_key(seed if change.seed is None else change.seed),
        available=None if task.available is None else np.concatenate([task.available, later]),
        forced=None if task.forced is None else np.append(task.forced, -1).astype(np.int32),
    )


def begun(plan: ChangePlan, world: ChangeWorld | None, n_arms: int, replicate: UInt32[Array, ""]) -> Now:
    """The means before the first choice."""
    assert world is not None
    key = own_key(world.key, replicate if plan.own_paths else jnp.zeros_like(replicate))
    means = CHANGES[plan.kind].begin(world.numbers, draws_at(key, jnp.int32(1), n_arms))
    return Now(means, jnp.zeros(n_arms, jnp.float64), jnp.float64(0), key)


def offered(
    plan: ChangePlan, world: ChangeWorld | None, t: Int[Array, ""]
) -> tuple[Bool[Array, " arm"] | None, Int[Array, ""] | None]:
    """The arms on offer at time t (None: all), and the forced one, -1 if it is free (None: all are)."""
    assert world is not None
    available = world.available[jnp.minimum(t, world.available.shape[0]) - 1] if plan.blocked else None
    return available, world.forced[jnp.minimum(t, world.forced.shape[0]) - 1] if plan.forced else None


def best(plan: ChangePlan | None, world: ChangeWorld | None, now: Now, t: Int[Array, ""]) -> Float[Array, ""]:
    """The highest mean among the arms on offer at time t."""
    assert plan is not None
    available, _ = offered(plan, world, t)
    return now.means.max() if available is None else jnp.where(available, now.means, -jnp.inf).max()


def stepped(plan: ChangePlan, world: ChangeWorld | None, now: Now, t: Int[Array, ""], n_arms: int) -> Now:
    """The state after the choice at time t."""
    assert world is not None
    available, _ = offered(plan, world, t)
    earned = now.earned + now.means
    return now._replace(
        means=CHANGES[plan.kind].step(world.numbers, now.means, t + 1, draws_at(now.key, t + 1, n_arms)),
        earned=earned if available is None else jnp.where(available, earned, -jnp.inf),
        best=now.best + best(plan, world, now, t),
    )


def hindsight_regret(regret: Float[Array, ""], now: Now) -> Float[Array, ""]:
    """Regret against the one arm that would have earned most so far; NaN if none was always on offer.

    It follows from the regret so far against the best arm of each moment, and is below 0 for who does better than any arm.
    """
    most = now.earned.max()
    return jnp.where(jnp.isinf(most), jnp.nan, most - (now.best - regret))


def in_points(points: tuple[float, float], reward: Float[Array, ""], origin: Float[Array, ""] | None) -> Float[Array, ""]:
    """The reward, counted from the origin, as it is paid: a whole number between the lowest and the highest."""
    assert origin is not None
    paid = jnp.clip(jnp.round(reward.astype(jnp.float64) + origin), *points)
    return (paid - origin).astype(reward.dtype)
