"""The simulation loop: one replicate, written like the paper's pseudocode, and many of them in one compiled call.

A replicate carries its belief, its position and what it is bound to (`agents.step`). It decides when it is bound to nothing;
the arm pulled is the next hop from its position towards its goal. All four of the paper's algorithms, and every rival, use
this one loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int, UInt32

from explorelab.agents import step as steps
from explorelab.agents.factors import AnyArray, AnyBelief, Chance, Params, Rule, Ways, prepared
from explorelab.simulation import chance
from explorelab.simulation import changing_world as moving
from explorelab.simulation.ordered_sums import Moments, moments
from explorelab.tasks.noise import noise_kind


@dataclass(frozen=True)
class Plan:
    """What is known before the run; static to `jit`."""

    n_arms: int
    horizon: int
    times: tuple[int, ...]
    """Times to record, in increasing order, ending with the horizon."""
    noise: str
    cost: str | None
    """How transition costs vary; None if moves are free."""
    moves: bool
    """Whether moves follow a graph."""
    start: bool
    """Whether the agent stands somewhere before its first choice."""
    visits_at_times: bool
    trajectories: bool
    dtype: str
    change: moving.ChangePlan | None = None
    """None if every trial is like every other: fixed means, all arms on offer, all choices free."""
    points: tuple[float, float] | None = None
    """The lowest and highest reward, where rewards are paid in whole points."""


class World(NamedTuple):
    """The task as arrays: JAX's inside compiled calls, NumPy's outside."""

    means: Float[AnyArray, " arm"]
    """Relative to each setting's `origin` once it is known; until then relative to zero, in float64."""
    gaps: Float[AnyArray, " arm"]
    """In float64, like regret."""
    noise_scale: Float[AnyArray, ""]
    ways: Ways
    next_hop: Int[AnyArray, "arm arm"] | None
    mean_costs: Float[AnyArray, "arm arm"] | None
    start: Int[AnyArray, ""]
    origin: Float[AnyArray, ""] | None = None
    """Of the setting's rewards, in float64; None if nothing needs it."""
    change: moving.ChangeWorld | None = None
    """What changes; then `means` and `gaps` are not used."""


class Step(NamedTuple):
    """One step of a trajectory."""

    arm: Int[Array, ""]
    reward: Float[Array, ""]
    chosen: Bool[Array, ""]
    """Whether the arm was chosen in this step: not passed on the way to another, nor kept because of an earlier choice."""
    means: Float[Array, " arm"] | None = None
    """The mean of every arm, where they change."""


class Tally(NamedTuple):
    """Running totals over the steps, in float64 whatever the agent's precision, so that long sums stay accurate."""

    regret: Float[Array, ""]
    reward: Float[Array, ""]
    """Relative to the origin, as each reward is; where means change, relative to the best one of each moment."""
    cost: Float[Array, ""]
    transitions: Int[Array, ""]
    hindsight_regret: Float[Array, ""] | None = None
    """Against the best fixed arm in hindsight; None where the means are fixed."""


class Records(NamedTuple):
    """The result of one replicate."""

    totals: Tally
    """The totals at each recorded time."""
    visits: Int[Array, "*time arm"]
    steps: Step | None
    """The trajectory, if the plan asks for it."""


class Walk(NamedTuple):
    """The current state of a replicate."""

    belief: AnyBelief
    position: Int[Array, ""]
    bound: steps.Bound
    visits: Int[Array, " arm"] | None
    """None if the belief itself knows how often it has seen each arm."""
    tally: Tally
    now: moving.Now | None = None
    """The means now, where they change."""


type Recorded = tuple[tuple[Tally, Int[Array, " arm"] | None], Step | None]
"""What is recorded at a time: what has added up, the visits, and the step."""


def play(rule: Rule, plan: Plan, params: Params, world: World, keys: chance.Keys, replicate: UInt32[Array, ""]) -> Records:
    """One replicate's totals at each recorded time, its visits, and its trajectory if the plan asks for it."""
    step = partial(_step, rule, plan, params, world, keys, replicate)
    walk = _start(rule, plan, params, world)
    if plan.change is not None:
        walk = walk._replace(now=moving.begun(plan.change, world.change, plan.n_arms, replicate))
    recorded, begin = [], 0
    for end, cuts in stages(rule, plan):
        walk = walk._replace(belief=rule.learner.resize(params, walk.belief, end))
        walk, records = _stage(step, partial(_visits, rule, params), plan, walk, begin, cuts)
        recorded.append(records)
        begin = end
    (totals, visits), steps = jax.tree.map(lambda *parts: jnp.concatenate(parts), *recorded)
    # The ends of stages are recorded too, even if they were not asked for.
    at = np.searchsorted(np.concatenate([cuts for _, cuts in stages(rule, plan)]), plan.times)
    totals, visits = jax.tree.map(lambda values: values[at], (totals, visits))
    return Records(totals, visits if plan.visits_at_times else _visits(rule, params, walk), steps)


def _start(rule: Rule, plan: Plan, params: Params, world: World) -> Walk:
    zero, nothing = jnp.int32(0), jnp.float64(0)
    return Walk(
        belief=rule.learner.init(params, plan.n_arms),
        position=world.start,
        bound=steps.unbound(),
        visits=None if rule.learner.seen is not None else jnp.zeros(plan.n_arms, jnp.int32),
        tally=Tally(nothing, nothing, nothing, zero),
    )


def _visits(rule: Rule, params: Params, walk: Walk) -> Int[Array, " arm"]:
    if rule.learner.seen is not None:
        return rule.learner.seen(params, walk.belief).astype(jnp.int32)
    assert walk.visits is not None
    return walk.visits


def stages(rule: Rule, plan: Plan) -> list[tuple[int, tuple[int, ...]]]:
    """The learner's stages, each with the times to record within it, which always include its end."""
    result, begin = [], 0
    for end in rule.learner.stages(plan.n_arms, plan.horizon):
        inside = sorted({t for t in plan.times if begin < t <= end} | {end})
        result.append((end, tuple(inside)))
        begin = end
    return result


def _stage(
    step: Callable[[Walk, Int[Array, ""]], tuple[Walk, Step]],
    visits: Callable[[Walk], Int[Array, " arm"]],
    plan: Plan,
    walk: Walk,
    begin: int,
    cuts: tuple[int, ...],
) -> tuple[Walk, Recorded]:
    """Play from `begin` to the last cut and record at every cut."""

    def record(walk: Walk) -> tuple[Tally, Int[Array, " arm"] | None]:
        tally = walk.tally
        if walk.now is not None:
            tally = tally._replace(hindsight_regret=moving.hindsight_regret(tally.regret, walk.now))
        return tally, visits(walk) if plan.visits_at_times else None

    def one_step(walk: Walk, t: Int[Array, ""]) -> tuple[Walk, Recorded]:
        walk, taken = step(walk, t)
        return walk, (record(walk), taken if plan.trajectories else None)

    def many_steps(walk: Walk, between: Int[Array, " 2"]) -> tuple[Walk, Recorded]:
        walk = lax.fori_loop(between[0], between[1], lambda t, walk: step(walk, t)[0], walk)
        return walk, (record(walk), None)

    ends = np.asarray(cuts, np.int32)
    starts = np.concatenate([[begin], ends[:-1]]).astype(np.int32)
    if (ends - starts == 1).all():
        return lax.scan(one_step, walk, jnp.arange(begin + 1, cuts[-1] + 1, dtype=jnp.int32))
    return lax.scan(many_steps, walk, jnp.stack([starts + 1, ends + 1], axis=1))


def _step(
    rule: Rule,
    plan: Plan,
    params: Params,
    world: World,
    keys: chance.Keys,
    replicate: UInt32[Array, ""],
    walk: Walk,
    t: Int[Array, ""],
) -> tuple[Walk, Step]:
    dtype = jnp.dtype(plan.dtype)
    luck = chance.of_step(keys, replicate, t, dtype)
    walk, arm, chosen = _move(rule, plan, params, world, walk, t, luck.decision)
    noise = noise_kind(plan.noise).quantile(world.noise_scale, luck.reward)
    reward = _mean(plan, world, walk, arm) + noise
    if plan.points is not None:
        reward = moving.in_points(plan.points, reward, world.origin)
    moved = arm != walk.position
    if not plan.start:
        moved &= t > 1
    lost, counted = _worth(plan, world, walk, t, arm, reward)
    tally = Tally(
        regret=walk.tally.regret + lost,
        reward=walk.tally.reward + counted,
        cost=walk.tally.cost + _cost(plan, world, keys, replicate, t, walk.position, arm, moved, dtype).astype(jnp.float64),
        transitions=walk.tally.transitions + moved,
    )
    after = walk._replace(
        belief=rule.learner.update(params, walk.belief, arm, reward),
        position=arm,
        visits=None if walk.visits is None else walk.visits.at[arm].add(1),
        tally=tally,
    )
    if plan.change is None:
        return after, Step(arm, reward, chosen)
    assert walk.now is not None
    now = moving.stepped(plan.change, world.change, walk.now, t, plan.n_arms)
    return after._replace(now=now), Step(arm, reward, chosen, walk.now.means if plan.trajectories else None)


def _mean(plan: Plan, world: World, walk: Walk, arm: Int[Array, ""]) -> Float[Array, ""]:
    """The mean of an arm now, from the origin, in the plan's precision."""
    if walk.now is None:
        return world.means[arm]
    assert world.origin is not None
    return (walk.now.means[arm] - world.origin).astype(plan.dtype)


def _worth(
    plan: Plan, world: World, walk: Walk, t: Int[Array, ""], arm: Int[Array, ""], reward: Float[Array, ""]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """What this arm adds to regret and to the rewards, in float64."""
    if walk.now is None:
        return world.gaps[arm], reward.astype(jnp.float64)
    assert world.origin is not None
    best = moving.best(plan.change, world.change, walk.now, t)
    return best - walk.now.means[arm], reward.astype(jnp.float64) - (best - world.origin)


def _move(
    rule: Rule, plan: Plan, params: Params, world: World, walk: Walk, t: Int[Array, ""], decision: Chance
) -> tuple[Walk, Int[Array, ""], Bool[Array, ""]]:
    """The arm pulled now, one hop towards the goal, which is decided afresh if no goal selection is left.

    Also whether the arm was chosen, that is, decided upon now and reached at once.
    """
    position = walk.position if plan.start else jnp.where(t > 1, walk.position, -1)
    moment = steps.moment_of(rule.commitment, walk.bound, t, position, plan.moves)
    value = rule.limit(params, walk.belief, moment)
    available, forced = (None, None) if plan.change is None else moving.offered(plan.change, world.change, t)
    chosen = rule.choice.draw(params, walk.belief, value, moment, available, decision)
    if forced is not None:
        return _forced(rule, params, walk, chosen, available, forced)
    if not steps.binds(rule.commitment, plan.moves):
        return walk, chosen, jnp.asarray(True)
    deciding = steps.decides(walk.bound, available)
    bound = steps.bound_to(rule.commitment, params, walk.belief, walk.bound, deciding, chosen)
    arm = steps.hop(world.next_hop, walk.position, bound.goal)
    reached = arm == bound.goal
    return walk._replace(bound=steps.counted(bound, deciding, reached)), arm, deciding & reached


def _forced(
    rule: Rule,
    params: Params,
    walk: Walk,
    chosen: Int[Array, ""],
    available: Bool[Array, " arm"] | None,
    forced: Int[Array, ""],
) -> tuple[Walk, Int[Array, ""], Bool[Array, ""]]:
    """The same where the arm may be forced (-1: it is not): a forced arm counts as decided upon, but not as chosen."""
    free = forced < 0
    if not steps.binds(rule.commitment):
        return walk, jnp.where(free, chosen, forced), free
    deciding = steps.decides(walk.bound, available)
    arm = jnp.where(free, jnp.where(deciding, chosen, walk.bound.goal), forced)
    bound = steps.bound_to(rule.commitment, params, walk.belief, walk.bound, deciding, arm)
    return walk._replace(bound=steps.counted(bound, deciding, jnp.asarray(True))), arm, deciding & free


def _cost(
    plan: Plan,
    world: World,
    keys: chance.Keys,
    replicate: UInt32[Array, ""],
    t: Int[Array, ""],
    origin: Int[Array, ""],
    arm: Int[Array, ""],
    moved: Bool[Array, ""],
    dtype: np.dtype[np.floating],
) -> Float[Array, ""]:
    if plan.cost is None:
        return jnp.zeros((), dtype)
    assert world.mean_costs is not None
    mean = jnp.where(moved, world.mean_costs[origin, arm], 0)
    if plan.cost == "fixed":
        return mean
    u = chance.uniform(chance.bits_at(keys, chance.COST_AND_MORE, replicate, t)[0], dtype)
    return mean * (-jnp.log(u) if plan.cost == "exponential" else 2 * u)


@partial(jax.jit, static_argnames=("rule", "plan", "batch", "unit", "keep"))
def play_many(
    rule: Rule,
    plan: Plan,
    batch: int | None,
    unit: int,
    keep: bool,
    settings: Params,
    world: World,
    keys: chance.Keys,
    replicates: UInt32[Array, " replicate"],
    n_wanted: Int[Array, ""],
) -> tuple[dict[str, Moments], Records | None]:
    """`play` for every setting and replicate: `batch` replicates at a time on a CPU, all at once (None) on a GPU.

    Returns sums over every `unit` replicates (only those below `n_wanted` count), and each replicate's own records if they
    are to be kept.
    """

    def one_setting(params: Params) -> tuple[dict[str, Moments], Records | None]:
        ready = prepared(rule, {name: value for name, value in params.items() if name != "origin"}, world.ways)
        # In float64, so that differences between large means are exact.
        here = world._replace(means=(world.means - params["origin"]).astype(plan.dtype))
        if plan.change is not None or plan.points is not None:
            here = here._replace(origin=params["origin"])

        def one_replicate(replicate: UInt32[Array, ""]) -> Records:
            return play(rule, plan, ready, here, keys, replicate)

        if batch is None:
            records = jax.vmap(one_replicate)(replicates)
        else:
            records = lax.map(one_replicate, replicates, batch_size=batch)
        totals = {name: values for name, values in records.totals._asdict().items() if values is not None}
        quantities = {**totals, "visits": records.visits}
        return moments(quantities, replicates < n_wanted, unit), records if keep else None

    return lax.map(one_setting, settings)
