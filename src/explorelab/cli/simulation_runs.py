"""The work behind the commands simulate and bounds: build agent and task, call one function, write and print."""

from __future__ import annotations

import json
import warnings
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import xarray as xr

from explorelab._support import checks
from explorelab._support.files import write_whole
from explorelab._support.written_numbers import DIGITS
from explorelab.agents import Agent
from explorelab.cli.tables.run_tables import show_runs
from explorelab.errors import PrecisionWarning
from explorelab.simulation.run_file import RunSettings, build_agent, build_agents, build_task, check_run
from explorelab.simulation.simulate import simulate
from explorelab.simulation.summary import summary, tidy
from explorelab.tasks import Task
from explorelab.theory.agent_bounds import regret_bounds


class Played(NamedTuple):
    """A simulation with its agent (or agents) and task."""

    agent: Agent | list[str | Agent]
    task: Task
    runs: xr.Dataset
    swept: bool


def play(settings: RunSettings, *, few_times: bool, statistics: bool, executor: Executor | None = None) -> Played:
    """Simulate; by default `few_times` reports at only a few times, and `statistics` keeps no replicates."""
    agent, task, how = build_agents(settings.agent), build_task(settings.task), check_run(settings.run)
    if few_times:
        how = {"times": _few_times(how["horizon"]), "visits": "times"} | how
    if statistics:
        how = {"keep": "statistics"} | how
    how = {**how, "executor": executor}
    with warnings.catch_warnings(), settings.told_where():
        # The result carries the note on precision, and it is printed with it.
        warnings.simplefilter("ignore", PrecisionWarning)
        return Played(agent, task, simulate(agent, task, sweep=dict(settings.sweep), **how), bool(settings.sweep))


def deliver(played: Played, csv: Path | None, figure: Path | None, save: Path | None, as_json: bool) -> None:
    """Write the requested files and print the result."""
    runs = played.runs
    if save is not None:
        write_whole(save, lambda path: runs.to_netcdf(path, engine="h5netcdf"))
    if csv is not None:
        write_whole(csv, lambda path: tidy(runs).to_csv(path, index=False, float_format=DIGITS))
    if figure is not None:
        _draw(played, figure)
    if as_json:
        print(json.dumps(summary(runs), allow_nan=False))
    else:
        show_runs(runs)


def _draw(played: Played, figure: Path) -> None:
    """Draw the figure, with bounds unless it shows a sweep or several agents, where each has its own."""
    from explorelab.plots.regret_figure import regret_figure
    from explorelab.plots.style import write_figure

    agent, task, runs, swept = played
    beside = None
    if isinstance(agent, Agent) and not swept:
        beside = regret_bounds(agent, task, runs.attrs["horizon"], times=runs.time.values.tolist())
    write_figure(lambda: regret_figure(runs, beside), figure, dpi=150)


def promised(settings: RunSettings, epsilon: float | None) -> xr.Dataset:
    """The bounds for the settings, at a few times unless they name their own."""
    how = check_run(settings.run)
    times = how.get("times") or _few_times(how["horizon"])
    agent, task = build_agent(settings.agent), build_task(settings.task)
    with settings.told_where():
        return regret_bounds(agent, task, how["horizon"], times=times, epsilon=epsilon)


def _few_times(horizon: object) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... and the horizon."""
    end = checks.whole("horizon", horizon, at_least=1)
    steps = (digit * 10**power for power in range(len(str(end))) for digit in (1, 2, 5))
    return [*(t for t in steps if t < end), end]
