"""`simulate`: runs any agent on any task, over many replicates and settings, and returns one labelled data set."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Variables
from explorelab._support.counted import counted
from explorelab._support.door import door
from explorelab._support.work.units import long_work
from explorelab.agents.agent_names import agent_of, check_together, labelled
from explorelab.agents.factors import Agent, AnyArray, Argument
from explorelab.agents.own.trial import check_chosen
from explorelab.agents.parameters import about, check_range
from explorelab.agents.registry import assumes_noise
from explorelab.errors import InputError, PrecisionWarning
from explorelab.simulation.precision import means_of, why_not
from explorelab.simulation.tiles import DEFAULT_MEMORY, Request, Result, run
from explorelab.simulation.together import together
from explorelab.tasks import Task
from explorelab.tasks.changing import check_length
from explorelab.tasks.recording import recording_times

LONGEST_SINGLE = 2**24
"""Beyond this, adding 1 to a float32 count changes nothing."""

PRECISIONS = {"auto": "auto", "single": "float32", "double": "float64"}

type Keep = Literal["auto", "statistics", "replicates", "trajectories"]


@door
@long_work
def simulate(
    agent: str | Agent | Sequence[str | Agent],
    task: Task,
    horizon: int,
    n_replicates: int = 1000,
    seed: int = 0,
    *,
    times: Sequence[int] | None = None,
    sweep: Mapping[str, Sequence[Argument]] | None = None,
    keep: Keep = "auto",
    visits: Literal["final", "times"] = "final",
    precision: Literal["auto", "single", "double"] = "auto",
    device: str = "auto",
    memory: int | None = None,
    progress: bool | None = None,
    executor: Executor | None = None,
) -> xr.Dataset:
    """Simulate agents on a task: regret, reward, transitions, transition cost and visits over independent replicates.

    The result has the mean and standard error over replicates (`regret_mean`, `regret_se`, ...) at `times`, and visits of
    each arm. `regret` is expected regret, the sum of Delta_i over choices; `observed_regret` is m* t minus the rewards
    received. The same seed gives the same result whatever the memory and the number of cores.

    Where means change or arms are blocked, both are against the best arm on offer at each moment, and `hindsight_regret` is
    expected regret against the one arm with the highest sum of means (of those that were always on offer). The trajectories
    then have the `means` of each moment too.

    A list of agents gives one data set with the dimension `agent`, on the same random numbers. Each agent's numbers are as
    it has them alone; `regret_difference_mean`, `regret_difference_se` and the like compare it with the first agent,
    replicate by replicate.

    Parameters
    ----------
    agent
        Agent to simulate, or its name, such as "delta-rule:learning_rate=0.5" or "my_model.py:two_rates"; or a list of them.
    task
        Task that it plays.
    horizon
        Number of choices.
    n_replicates
        Number of independent runs.
    seed
        Same seed, same result.
    times
        Times to record; by default every step up to 250, thinned beyond.
    sweep
        Values to try, as in `{"temperature": [1, 2, 4]}`: the agent runs with every value (and every combination, given
        several parameters) in one compiled call on the same random numbers; each parameter becomes a dimension.
    keep
        "statistics" keeps means and standard errors only. "replicates" adds each replicate's own curve (`regret`, ...).
        "trajectories" also adds every arm and reward, and which arms were `chosen` (not just passed on the way to another,
        or kept because of an earlier choice). "auto" keeps replicates if they fit in a quarter of the memory.
    visits
        Whether to record visits at the end only ("final") or at all `times` ("times").
    precision
        "auto" is single wherever that can represent the numbers, and double elsewhere; the attribute `precision` says which
        was used, and `precision_note` why. A precision that cannot be trusted with the numbers gives a `PrecisionWarning`.
    device
        "auto", "cpu" or "gpu".
    memory
        Memory limit in bytes; by default 1 GiB, or for the computation itself half of a GPU's memory.
    progress
        Whether to show a progress bar; by default only on a terminal.
    executor
        Where the work is done: any object with the interface of `concurrent.futures`, such as `xl.workers(4)` or a Dask
        client's `get_executor()`; by default here. The result does not depend on it.
    """
    request = _checked(horizon, n_replicates, seed, times, keep, visits, precision, device, memory)
    sweep = {} if sweep is None else sweep
    if isinstance(agent, str | Agent):
        return _alone(agent_of(agent), task, request, sweep, progress)
    if not len(agent):
        raise InputError("agent must be an agent or a list of agents, got an empty list.")
    named = {label: agent_of(each) for label, each in labelled(agent).items()}
    check_together(named.values())
    kept = _what_fits(request, task, sum(len(_settings(each, sweep)[2]) for each in named.values()))
    for each in named.values():
        _check_fit(each, task, request.horizon)
    # Differences between agents are taken run by run, so that every run's curve is needed meanwhile.
    apart = dataclasses.replace(request, keep="trajectories" if kept == "trajectories" else "replicates")
    return together(
        {label: partial(_alone, each, task, apart, sweep, progress) for label, each in named.items()}, kept != "statistics"
    )


def _alone(
    agent: Agent, task: Task, request: Request, sweep: Mapping[str, Sequence[Argument]], progress: bool | None
) -> xr.Dataset:
    """The runs of one agent."""
    names, grid, agents = _settings(agent, sweep)
    request = dataclasses.replace(request, keep=_what_fits(request, task, len(agents)))
    for each in agents:
        _check_fit(each, task, request.horizon)
    dtype, note = _precision(agents, task, request)
    request = dataclasses.replace(request, dtype=dtype)
    for each in agents:
        check_range({"means": means_of(task, request.horizon), "the task's noise": task.noise.scale, **each.params}, dtype)
    if note.warns:
        warnings.warn(note.text, PrecisionWarning, stacklevel=5)  # the caller of `simulate`, beyond its two doors
    results = _in_groups(agents, task, request, progress)
    for each, result in zip(agents, results, strict=True):
        made = np.asarray(result.mean["visits"]).reshape(-1, task.n_arms)[-1].sum()
        check_chosen(each.name, bool(made > request.horizon * (1 - 1e-9)))
    return _dataset(agent, task, request, note.text, names, grid, results)


class _Note(NamedTuple):
    """A note on the precision."""

    text: str
    warns: bool


def _precision(agents: list[Agent], task: Task, request: Request) -> tuple[str, _Note]:
    """The precision for all settings, and a note on it if there is something to say."""

    def doubts(dtype: str) -> str | None:
        return next((why for each in agents if (why := why_not(dtype, each, task, request.horizon)) is not None), None)

    asked = request.dtype
    single = doubts("float32") if asked != "float64" else None
    dtype = "float64" if asked == "float64" or (asked == "auto" and single) else "float32"
    reason = doubts("float64") if dtype == "float64" else single
    if reason is not None:
        return dtype, _Note(
            f"{'Double' if dtype == 'float64' else 'Single'} precision may not be enough here: {reason}.", True
        )
    return dtype, _Note(f"Double precision, because {single}." if single else "", False)


def _checked(
    horizon: int,
    replicates: int,
    seed: int,
    times: Sequence[int] | None,
    keep: str,
    visits: str,
    precision: str,
    device: str,
    memory: int | None,
) -> Request:
    horizon = checks.whole("horizon", horizon, at_least=1)
    if horizon >= 2**31 - 1:
        raise InputError(f"horizon must be below 2 147 483 647, got {horizon}.")
    checks.one_of("keep", keep, dict.fromkeys(["auto", "statistics", "replicates", "trajectories"], 0))
    checks.one_of("visits", visits, dict.fromkeys(["final", "times"], 0))
    checks.one_of("precision", precision, PRECISIONS)
    if precision == "single" and horizon > LONGEST_SINGLE:
        raise InputError(
            f"horizon must be at most {LONGEST_SINGLE} in single precision, which counts no further, got {horizon}: "
            'use precision="double".'
        )
    return Request(
        horizon=horizon,
        replicates=checks.whole("n_replicates", replicates, at_least=1),
        seed=checks.whole("seed", seed, at_least=0),
        times=_times(horizon, times, keep == "trajectories"),
        keep=keep,
        visits_at_times=visits == "times",
        dtype=PRECISIONS[precision],
        device=device,
        memory=None if memory is None else checks.whole("memory", memory, at_least=1 << 20),
    )


def _times(horizon: int, times: Sequence[int] | None, trajectories: bool) -> tuple[int, ...]:
    if not trajectories:
        return recording_times(horizon, times)
    if times is not None:
        raise InputError("a trajectory holds every step: omit times, or keep something else.")
    return tuple(range(1, horizon + 1))


def _settings(agent: Agent, sweep: Mapping[str, Sequence[Argument]]) -> tuple[list[str], list[list[Argument]], list[Agent]]:
    if not isinstance(sweep, Mapping):
        raise InputError(
            f"sweep must give the values of each parameter, as in {{'temperature': [1, 2]}}, got {checks.shown(sweep)}."
        )
    for name, values in sweep.items():
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
            raise InputError(f"sweep needs a list of values for {name}, got {checks.shown(values)}.")
        if len({repr(np.ravel(np.array(value, object)).tolist()) for value in values}) < len(values):
            raise InputError(f"sweep must have each value of {name} once, got {checks.shown(list(values))}.")
    names, grid = list(sweep), [list(values) for values in sweep.values()]
    if not names:
        return [], [], [agent]
    if agent.build is None:
        raise InputError(f"only named agents can be swept; {agent.name} was composed by hand.")
    combinations = itertools.product(*grid)
    agents = [agent.build(**{**agent.given, **dict(zip(names, c, strict=True))}) for c in combinations]
    return names, grid, agents


def _what_fits(request: Request, task: Task, n_settings: int) -> str:
    """What to keep: as requested, or by default each replicate's curves if they fit; an error if a request does not fit."""
    allowed = DEFAULT_MEMORY if request.memory is None else request.memory
    per_step = 4 + 8 + 1 + (0 if task.is_steady else 8 * task.n_arms)
    per_replicate = len(request.times) * 4 * 8 + (request.horizon * per_step if request.keep == "trajectories" else 0)
    needed = n_settings * request.replicates * per_replicate
    if request.keep == "auto":
        return "replicates" if needed <= allowed // 4 else "statistics"
    if request.keep != "statistics" and needed > allowed:
        raise InputError(
            f"keeping every replicate needs {needed / 2**30:.1f} GiB, but the memory limit is {allowed / 2**30:.1f} GiB: "
            "record fewer times, keep only statistics, or increase memory."
        )
    return request.keep


def _check_fit(agent: Agent, task: Task, horizon: int) -> None:
    if horizon < agent.least_horizon:
        raise InputError(f"{agent.name} needs a horizon of at least {agent.least_horizon}, got {horizon}.")
    check_length(task, horizon)
    if task.moves is not None and (task.available is not None or task.forced is not None):
        raise InputError(f"{task.name} has a graph of moves, on which arms cannot be blocked or forced.")
    if "length_scale" in agent.params and task.places is None:
        raise InputError(f"a length scale needs arms with places, but {task.name} has none: use line or grid.")
    if agent.rule.choice.walks and task.places is None:
        raise InputError(f"a travel cost needs arms with places, but {task.name} has none: use line or grid.")
    if "noise_var" not in agent.params and task.noise.var == 0 and assumes_noise(agent):
        raise InputError("the task has no reward noise; give the agent a noise_var above 0.")
    for name, value in agent.params.items():
        shape = np.shape(value)
        if about(name).shape != "one number" and any(size != task.n_arms for size in shape):
            raise InputError(f"{name} must fit the task's {counted(task.n_arms, 'arm')}, got shape {shape}.")
    if np.ndim(agent.params.get("noise_var", 0.0)):
        raise InputError("noise_var must be one number: all arms have the same noise.")


def _in_groups(agents: list[Agent], task: Task, request: Request, progress: bool | None) -> list[Result]:
    """Results in the order of the agents; those that share a rule (and shapes) go through one compiled call together."""
    groups: dict[Hashable, list[int]] = {}
    for i, agent in enumerate(agents):
        shapes = tuple((name, np.shape(value)) for name, value in agent.params.items())
        groups.setdefault((agent.rule, shapes), []).append(i)
    results: list[Result | None] = [None] * len(agents)
    for members in groups.values():
        done = run([agents[i] for i in members], task, request, progress)
        for i, result in zip(members, done, strict=True):
            results[i] = result
    return [result for result in results if result is not None]


def _dataset(
    agent: Agent,
    task: Task,
    request: Request,
    precision_note: str,
    names: list[str],
    grid: list[list[Argument]],
    results: list[Result],
) -> xr.Dataset:
    shape = [len(values) for values in grid]

    # Variables, not data arrays: they have no labels that must be compared, which takes longer than a short simulation.
    def variable(parts: list[np.ndarray], *dims: str, **attrs: str) -> xr.Variable:
        stacked = np.stack(parts)
        return xr.Variable((*names, *dims), stacked.reshape(*shape, *stacked.shape[1:]), attrs)

    variables = dict(_variables(request, results, variable))
    coords: Variables = {"time": np.asarray(request.times), "arm": np.arange(task.n_arms)}
    coords |= {name: _labels(values) for name, values in zip(names, grid, strict=True)}
    if any("replicate" in v.dims for v in variables.values()):
        coords["replicate"] = np.arange(request.replicates)
    attrs = {
        "agent": repr(agent),
        "task": repr(task),
        "horizon": request.horizon,
        "replicates": request.replicates,
        "seed": request.seed,
        "precision": request.dtype,
        **({"precision_note": precision_note} if precision_note else {}),
        **({"note": task.note} if task.note else {}),
    }
    return xr.Dataset(variables, coords=coords, attrs=attrs)


LONG_NAMES = {
    "regret": "cumulative expected regret",
    "observed_regret": "cumulative observed regret",
    "transitions": "transitions between arms",
    "cost": "cumulative transition cost",
    "hindsight_regret": "cumulative expected regret against the best fixed arm in hindsight",
}
"""Every quantity over time; some are only there if the means change."""


def _variables(
    request: Request, results: list[Result], variable: Callable[..., xr.Variable]
) -> Iterator[tuple[str, xr.Variable]]:
    for name, long_name in LONG_NAMES.items():
        if name not in results[0].mean:
            continue
        yield f"{name}_mean", variable([r.mean[name] for r in results], "time", long_name=f"{long_name}, mean")
        yield f"{name}_se", variable([r.se[name] for r in results], "time", long_name=f"{long_name}, standard error")
        if results[0].curves:
            yield name, variable([r.curves[name] for r in results], "replicate", "time", long_name=long_name)
    dims = ("time", "arm") if request.visits_at_times else ("arm",)
    yield "visits_mean", variable([r.mean["visits"] for r in results], *dims, long_name="visits of each arm, mean")
    yield (
        "visits_se",
        variable([r.se["visits"] for r in results], *dims, long_name="visits of each arm, standard error"),
    )
    if request.keep == "trajectories":
        yield "choice", variable([r.curves["choice"] for r in results], "replicate", "time", long_name="arm chosen")
        yield (
            "reward",
            variable([r.curves["reward"] for r in results], "replicate", "time", long_name="reward received"),
        )
        # An arm passed on the way to another, or kept because of an earlier choice, was not chosen.
        chosen = [r.curves["chosen"] for r in results]
        yield "chosen", variable(chosen, "replicate", "time", long_name="whether the arm was decided upon in this step")
        if "means" in results[0].curves:
            of_each = [r.curves["means"] for r in results]
            yield "means", variable(of_each, "replicate", "time", "arm", long_name="mean reward of each arm")


def _labels(values: Sequence[AnyArray]) -> list[AnyArray]:
    return [v if np.ndim(v) == 0 else str(i) for i, v in enumerate(values)]
