"""The work behind the command plan: read designs and people, call one function, write and print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import xarray as xr

from explorelab._support.files import write_whole
from explorelab._support.name_value import name_and_value
from explorelab.cli.recovery.plan_flags import DesignFlags
from explorelab.cli.run_flags import AgentFlags, RunFlags, TaskFlags, settings_from
from explorelab.cli.tables.plan_tables import show_plan
from explorelab.errors import InputError
from explorelab.fitting.fit_people import load_fit
from explorelab.plots.plan_figure import draw_plan
from explorelab.plots.style import write_figure
from explorelab.recovery.planning.plan import plan
from explorelab.recovery.planning.plan_summary import plan_summary
from explorelab.simulation.run_file import build_task, read_spec
from explorelab.tasks import Task

type Designs = dict[str, Task | Sequence[Task]]


def designs(flags: DesignFlags, task: TaskFlags) -> Designs | Task:
    """The tasks of every design, by name; a single one needs none."""
    if flags.design:
        if flags.config is not None or flags.vary or task != TaskFlags():
            raise InputError("--design names files that have everything about their task: leave other options of tasks out.")
        found = {path.stem: build_task(read_spec(path).task) for path in flags.design}
        if len(found) < len(flags.design):
            raise InputError("--design: two files have the same name, by which designs are called.")
    else:
        found = _varied(flags, task)
    if flags.in_turn:
        return {" and ".join(found): tuple(found.values())}
    return next(iter(found.values())) if len(found) == 1 and not flags.design else {**found}


def _varied(flags: DesignFlags, task: TaskFlags) -> dict[str, Task]:
    """Every combination of the settings that vary."""
    pairs = [name_and_value("--vary", text) for text in flags.vary or []]
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise InputError("--vary must name each setting once.")
    levels = [value if isinstance(value, list) else [value] for _, value in pairs]
    found = {}
    for values in product(*levels):
        settings = settings_from(AgentFlags(config=flags.config), task, RunFlags())
        settings.task.update(zip(names, values, strict=True))
        label = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in zip(names, values, strict=True))
        found[label or "task"] = build_task(settings.task)
    return found


def groups(paths: list[Path], several: bool) -> xr.DataTree | dict[str, xr.DataTree] | None:
    """The fits to draw people from: one, or by agent."""
    if not paths:
        return None
    fits = [load_fit(path) for path in paths]
    if several:
        return {str(fit.attrs["agent"]): fit for fit in fits}
    if len(fits) > 1:
        raise InputError("--group may be repeated only with --agents.")
    return fits[0]


def typical_of(texts: list[str]) -> dict[str, Any] | None:
    """Typical values by parameter, some with the standard deviation of people."""
    pairs = dict(name_and_value("--typical", text) for text in texts)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in pairs.items()} or None


def planned(tasks: Designs | Task, agent: str | None, **how: Any) -> xr.Dataset:
    """The plan."""
    return plan(tasks, agent, **how)


def deliver(found: xr.Dataset, out: Path | None, figure: Path | None, as_json: bool) -> None:
    """Write the requested files and print the result."""
    if out is not None:
        write_whole(out, lambda path: found.to_netcdf(path, engine="h5netcdf"))
    if figure is not None:
        write_figure(lambda: draw_plan(found), figure)
    if as_json:
        print(json.dumps(plan_summary(found), allow_nan=False))
    else:
        show_plan(found)
