"""Carrying out a simulation: tiles of replicates on every core, added up in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from explorelab.agents.types import Agent, Rule
from explorelab.errors import InputError
from explorelab.progress import Progress
from explorelab.simulation import chance
from explorelab.simulation.device import Cut, cut, find_device
from explorelab.simulation.engine import Plan, World, play_many, stages
from explorelab.simulation.statistics import UNIT, Running
from explorelab.tasks import Task


@dataclass(frozen=True)
class Request:
    """What the user wants of a simulation, checked."""

    horizon: int
    replicates: int
    seed: int
    times: tuple[int, ...]
    keep: str
    visits_at_times: bool
    dtype: str
    device: str
    memory: int


@dataclass
class Result:
    """What came out for one setting."""

    mean: dict[str, np.ndarray] = field(default_factory=dict)
    se: dict[str, np.ndarray] = field(default_factory=dict)
    curves: dict[str, np.ndarray] = field(default_factory=dict)
    """Each replicate's own, where they are kept."""


def run(agents: list[Agent], task: Task, request: Request, progress: bool | None) -> list[Result]:
    """Results of agents that share a rule and differ in parameters alone."""
    rule, plan = _sized(agents[0].rule, task, request), _plan(task, request)
    device = find_device(request.device)
    division = _divide(cut(rule, plan, len(agents), request.replicates, request.memory, device))
    keep_curves = _keeps_curves(rule, plan, len(agents), request)
    arguments = _arguments(agents, task, request)
    running = {name: Running() for name in ("regret", "observed_regret", "transitions", "cost", "visits")}
    kept: dict[str, list[np.ndarray]] = {}

    def one_tile(begin: int) -> dict[str, np.ndarray]:
        # Precision and device are settings of the calling thread in JAX, so each worker sets its own.
        with jax.enable_x64(request.dtype == "float64"), jax.default_device(device):
            settings, world, keys = _on_device(arguments, plan)
            replicates = jnp.arange(begin, begin + division.tile, dtype=jnp.uint32)
            played = play_many(rule, plan, division.batch, settings, world, keys, replicates)
            return _totals(jax.tree.map(np.asarray, played), rule, plan, task, request.replicates - begin)

    with Progress("simulating", request.replicates, shown=progress) as bar:
        for tile in _in_order(one_tile, range(0, request.replicates, division.tile), division.workers):
            for name, values in tile.items():
                if name in running:
                    running[name].add(values)
                if keep_curves and name != "visits":
                    kept.setdefault(name, []).append(values)
            bar.advance(next(iter(tile.values())).shape[1])
    curves = {name: np.concatenate(parts, axis=1) for name, parts in kept.items()}
    stats = {name: r.result() for name, r in running.items()}
    return [
        Result(
            {name: mean[i] for name, (mean, _) in stats.items()},
            {name: se[i] for name, (_, se) in stats.items()},
            {name: values[i] for name, values in curves.items()},
        )
        for i in range(len(agents))
    ]


def _sized(rule: Rule, task: Task, request: Request) -> Rule:
    choose = rule.learner.for_size
    return rule if choose is None else dataclasses.replace(rule, learner=choose(task.n_arms, request.horizon))


def _plan(task: Task, request: Request) -> Plan:
    return Plan(
        n_arms=task.n_arms,
        horizon=request.horizon,
        times=request.times,
        noise=task.noise.kind,
        cost=None if task.costs is None else task.costs.kind,
        moves=task.moves is not None,
        start=task.start is not None,
        visits_at_times=request.visits_at_times,
        trajectories=request.keep == "trajectories",
        dtype=request.dtype,
    )


def _divide(division: Cut) -> Cut:
    """Tiles that hold whole units of summation, where they hold more than one."""
    if division.tile < UNIT:
        return division
    unit = max(UNIT, division.batch or 1)
    return dataclasses.replace(division, tile=max(unit, division.tile // unit * unit))


def _keeps_curves(rule: Rule, plan: Plan, n_settings: int, request: Request) -> bool:
    number = 8
    needed = n_settings * request.replicates * len(request.times) * number * 4
    needed += n_settings * request.replicates * plan.horizon * (4 + number) if plan.trajectories else 0
    if request.keep == "auto":
        return needed <= request.memory // 4
    if request.keep == "statistics":
        return False
    if needed > request.memory:
        raise InputError(
            f"keeping every replicate needs {needed / 2**30:.1f} GiB, over the {request.memory / 2**30:.1f} GiB of memory: "
            "record fewer times, keep statistics alone, or raise memory."
        )
    return True


def _arguments(agents: list[Agent], task: Task, request: Request) -> dict[str, Any]:
    added = {"noise_var": task.noise.var, "horizon": request.horizon, "n_arms": task.n_arms}
    settings = [{**added, **agent.params} for agent in agents]
    return {
        "settings": {name: np.stack([np.asarray(s[name]) for s in settings]) for name in settings[0]},
        "means": task.means,
        "noise_scale": task.noise.scale,
        "distances": task.distances if "length_scale" in settings[0] else None,
        "next_hop": None if task.moves is None else task.moves.next_hop,
        "mean_costs": None if task.costs is None else task.costs.mean,
        "start": task.start or 0,
        "keys": chance.keys_from(request.seed),
    }


def _on_device(arguments: dict[str, Any], plan: Plan) -> tuple[dict[str, Any], World, Any]:
    def real(value: Any) -> Any:
        return None if value is None else jnp.asarray(value, plan.dtype)

    world = World(
        means=real(arguments["means"]),
        noise_scale=real(arguments["noise_scale"]),
        distances=real(arguments["distances"]),
        next_hop=None if arguments["next_hop"] is None else jnp.asarray(arguments["next_hop"], jnp.int32),
        mean_costs=real(arguments["mean_costs"]),
        start=jnp.int32(arguments["start"]),
    )
    return {n: real(v) for n, v in arguments["settings"].items()}, world, jnp.asarray(arguments["keys"])


def _totals(played: Any, rule: Rule, plan: Plan, task: Task, wanted: int) -> dict[str, np.ndarray]:
    """Running totals in float64 at the recorded times, without those that only fill up the last tile."""
    (((tally, visits_at_cuts), trajectory), final_visits) = played
    cuts = np.concatenate([np.asarray(cuts) for _, cuts in stages(rule, plan)])
    at = np.searchsorted(cuts, plan.times)

    def total(increments: np.ndarray) -> np.ndarray:
        return np.cumsum(increments[:, :wanted], axis=2, dtype=np.float64)[:, :, at]

    result = {
        "regret": total(tally.regret),
        "observed_regret": task.best * np.asarray(plan.times) - total(tally.reward),
        "transitions": total(tally.transitions),
        "cost": total(tally.cost),
        "visits": visits_at_cuts[:, :wanted][:, :, at] if plan.visits_at_times else final_visits[:, :wanted],
    }
    if plan.trajectories:
        result |= {"choice": trajectory.arm[:, :wanted], "reward": trajectory.reward[:, :wanted]}
    return result


def _in_order[Out](work: Callable[[int], Out], items: range, workers: int) -> Iterator[Out]:
    """Results in the order of the items, a few at work at once; an interrupt drops what has not begun."""
    pool = ThreadPoolExecutor(workers)
    under_way: list[Future[Out]] = []
    try:
        for item in items:
            under_way.append(pool.submit(work, item))
            # One more than there are workers, so that none waits while the main thread adds up.
            if len(under_way) > workers:
                yield under_way.pop(0).result()
        while under_way:
            yield under_way.pop(0).result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
