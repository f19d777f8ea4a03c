"""Run a simulation: tiles of replicates on every core, summed in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import numpy as np
import numpy.typing as npt

from explorelab._support.progress import Progress
from explorelab._support.work import units
from explorelab.agents.factors import Agent, AnyArray, Params, Pytree, Ways
from explorelab.simulation import chance, changing_world
from explorelab.simulation.device import Cut, cut, find_device, numbers_in_belief, working_memory
from explorelab.simulation.engine import Plan, Records, World, play_many
from explorelab.simulation.ordered_sums import Moments, Running
from explorelab.simulation.precision import counted_from, origin_of
from explorelab.tasks import Task

DEFAULT_MEMORY = 1 << 30


@dataclass(frozen=True)
class Request:
    """A checked request for a simulation."""

    horizon: int
    replicates: int
    seed: int
    times: tuple[int, ...]
    keep: str
    """"statistics", "replicates" or "trajectories"."""
    visits_at_times: bool
    dtype: str
    """"auto" until the agents are known."""
    device: str
    memory: int | None
    """Memory limit in bytes; None for the device's default."""


@dataclass
class Result:
    """The result for one setting."""

    mean: dict[str, np.ndarray] = field(default_factory=dict)
    se: dict[str, np.ndarray] = field(default_factory=dict)
    curves: dict[str, np.ndarray] = field(default_factory=dict)
    """Each replicate's own curves, if kept."""


def run(agents: list[Agent], task: Task, request: Request, progress: bool | None) -> list[Result]:
    """Results of agents that share a rule and differ only in parameters."""
    rule, plan = agents[0].rule, _plan(task, request)
    device = find_device(request.device)
    budget = request.memory or working_memory(device, DEFAULT_MEMORY)
    arguments = _arguments(agents, task, request)
    first = {name: value[0] for name, value in arguments["settings"].items()}
    belief_numbers = numbers_in_belief(rule, plan, first, Ways(arguments["distances"], arguments["walks"]))
    division = cut(rule, plan, belief_numbers, len(agents), request.replicates, budget, device, units.is_elsewhere())
    how = _How(agents[0], plan, division, request.keep != "statistics", request.replicates, request.device)
    running: dict[str, Running] = {}
    kept: list[Records] = []
    with Progress("simulating", request.replicates, shown=progress) as bar:
        tiles = [(how, arguments, begin) for begin in range(0, request.replicates, division.tile)]
        for sums, records in units.results(_one_tile, tiles, progress=False, threads=division.workers):
            for name, new in sums.items():
                running.setdefault(name, Running()).add(new)
            if records is not None:
                kept.append(records)
            bar.advance(min(division.tile, request.replicates - bar.done))
    return _results(arguments["settings"]["origin"], task, plan, request.replicates, running, kept)


class _How(NamedTuple):
    """How every tile is played."""

    agent: Agent
    """An agent with the rule of all of them."""
    plan: Plan
    division: Cut
    each: bool
    """Whether each replicate's curves are kept."""
    replicates: int
    device: str


def _one_tile(how: _How, arguments: Pytree, begin: int) -> tuple[dict[str, Moments], Records | None]:
    """The replicates of one tile, from the number `begin`."""
    # In JAX, precision and device are settings of the calling thread, so each worker sets its own. 64 bits are enabled
    # throughout for the totals; agents compute in the plan's precision.
    with jax.enable_x64(True), jax.default_device(find_device(how.device)):
        settings, world, keys = _world(arguments, how.plan)
        replicates = np.arange(begin, begin + how.division.tile, dtype=np.uint32)
        fixed = (how.agent.rule, how.plan, how.division.batch, how.division.unit, how.each)
        played = play_many(*fixed, settings, world, keys, replicates, np.uint32(how.replicates))
        return jax.tree.map(np.asarray, played)


def _results(
    origins: np.ndarray, task: Task, plan: Plan, replicates: int, running: dict[str, Running], kept: list[Records]
) -> list[Result]:
    could_have = _could_have(origins, task, plan)
    stats = {name: r.result() for name, r in running.items()}
    reward_mean, reward_se = stats.pop("reward")
    stats["observed_regret"] = (could_have - reward_mean, reward_se)
    curves: dict[str, np.ndarray] = {}
    if kept:
        # The last tile may hold more replicates than were asked for.
        whole = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1)[:, :replicates], *kept)
        totals = {name: values for name, values in whole.totals._asdict().items() if values is not None}
        curves = {**totals, "observed_regret": could_have[:, None] - whole.totals.reward}
        if whole.steps is not None:
            reward = whole.steps.reward + origins[:, None, None] if origins.any() else whole.steps.reward
            curves |= {"choice": whole.steps.arm, "reward": reward, "chosen": whole.steps.chosen}
            curves |= {} if whole.steps.means is None else {"means": whole.steps.means}
    return [
        Result(
            {name: mean[i] for name, (mean, _) in stats.items()},
            {name: se[i] for name, (_, se) in stats.items()},
            {name: values[i] for name, values in curves.items()},
        )
        for i in range(len(origins))
    ]


def _could_have(origins: np.ndarray, task: Task, plan: Plan) -> np.ndarray:
    """The best possible rewards up to each time, measured as rewards are.

    That is from the origin or, where means change, from the best mean of each moment.
    """
    if plan.change is not None:
        return np.zeros((len(origins), len(plan.times)))
    return (task.best - origins)[:, None] * np.asarray(plan.times)


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
        change=changing_world.plan_of(task),
        points=task.points,
    )


def _arguments(agents: list[Agent], task: Task, request: Request) -> Pytree:
    added = {"noise_var": task.noise.var, "horizon": request.horizon, "n_arms": task.n_arms}
    settings = []
    for agent in agents:
        origin = origin_of(agent, task)
        settings.append({**counted_from(origin, {**added, **agent.params}), "origin": origin})
    return {
        "settings": {name: np.stack([np.asarray(s[name]) for s in settings]) for name in settings[0]},
        "means": task.means,
        "gaps": task.gaps if task.is_steady else np.zeros(task.n_arms),
        "noise_scale": task.noise.scale,
        "distances": task.distances if "length_scale" in settings[0] or agents[0].rule.learner.places else None,
        "walks": task.walks if agents[0].rule.choice.walks else None,
        "next_hop": None if task.moves is None else task.moves.next_hop,
        "mean_costs": None if task.costs is None else task.costs.mean,
        "start": task.start or 0,
        "keys": chance.keys_from(request.seed),
        "change": changing_world.world_of(task, request.seed),
    }


def _world(arguments: Pytree, plan: Plan) -> tuple[Params, World, chance.Keys]:
    """The arguments of the engine, still as NumPy arrays: a compiled call puts them all on the device at once."""

    def real(value: npt.ArrayLike | None) -> AnyArray:
        return None if value is None else np.asarray(value, plan.dtype)

    world = World(
        means=np.asarray(arguments["means"], np.float64),
        gaps=np.asarray(arguments["gaps"], np.float64),
        noise_scale=real(arguments["noise_scale"]),
        ways=Ways(real(arguments["distances"]), real(arguments["walks"])),
        next_hop=None if arguments["next_hop"] is None else np.asarray(arguments["next_hop"], np.int32),
        mean_costs=real(arguments["mean_costs"]),
        start=np.int32(arguments["start"]),
        change=jax.tree.map(np.asarray, arguments["change"]),
    )
    settings = {n: real(v) for n, v in arguments["settings"].items()}
    settings["origin"] = np.asarray(arguments["settings"]["origin"], np.float64)
    return settings, world, np.asarray(arguments["keys"])
