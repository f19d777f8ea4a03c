"""Tables on agents, simulations and bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from rich.console import Console

from explorelab._support.counted import counted
from explorelab.cli.tables.terminal_table import print_table
from explorelab.plots.words import joined
from explorelab.simulation.summary import each_setting, in_words

if TYPE_CHECKING:  # the rest of this module does without JAX
    from explorelab.agents.catalogue import Described


def show_agents(agents: list[Described]) -> None:
    """Print agents with their parameters."""
    console = Console()
    for agent in agents:
        console.print(f"[bold]{agent['name']}[/bold]", highlight=False)
        console.print(f"  {agent['about']}", highlight=False)
        shown = ", ".join(f"{name}={_short(value)}" for name, value in agent["parameters"].items())
        console.print(f"  [dim]{shown}[/dim]\n", highlight=False)


def _short(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


SMALLEST_NUMBER, LARGEST_NUMBER = 0.005, 1e8
"""Numbers in this range have two decimals, others an exponent: a table must fit on a terminal."""


def show_runs(runs: xr.Dataset, n_rows: int = 8) -> None:
    """Print regret, transitions and cost at a few times, and the most visited arms, for each setting.

    Of several agents, one table has them all at the end.
    """
    console = Console()
    if "agent" in runs.dims:
        _show_agents_together(console, runs)
        return
    console.print(f"{runs.attrs['agent']} on {runs.attrs['task']}", highlight=False, markup=False)
    console.print(f"{counted(runs.attrs['replicates'], 'replicate')}, seed {runs.attrs['seed']}", highlight=False)
    for note in ("note", "precision_note"):
        if note in runs.attrs:
            console.print(runs.attrs[note], highlight=False)
    changing = "hindsight_regret_mean" in runs
    for setting, one in each_setting(runs):
        rows = []
        for i in _spread(one.sizes["time"], n_rows):
            now = one.isel(time=i)
            numbers = [now.regret_mean, now.regret_se, now.observed_regret_mean, now.transitions_mean, now.cost_mean]
            numbers += [now.hindsight_regret_mean] if changing else []
            rows.append([str(now.time.item()), *(_number(float(v)) for v in numbers)])
        headings: tuple[str, ...] = ("time", "regret", "se", "observed regret", "transitions", "cost")
        headings += ("against best fixed arm",) if changing else ()
        print_table(console, headings, rows, title=in_words(setting), caption=_most_visited(one), words=())


def _show_agents_together(console: Console, runs: xr.Dataset) -> None:
    """Print every agent at the end, with its difference from the first on the same random numbers."""
    console.print(f"{counted(runs.sizes['agent'], 'agent')} on {runs.attrs['task']}", highlight=False, markup=False)
    console.print(f"{counted(runs.attrs['replicates'], 'replicate')}, seed {runs.attrs['seed']}", highlight=False)
    for note in ("note", "precision_note"):
        if note in runs.attrs:
            console.print(runs.attrs[note], highlight=False)
    names = ("regret", "regret_difference", "observed_regret", "transitions", "cost")
    rows = []
    for setting, one in each_setting(runs.isel(time=[-1])):
        now = one.isel(time=0)
        numbers = [v for name in names for v in (now[f"{name}_mean"], now[f"{name}_se"])]
        shown = [_number(float(v)) for v in (*numbers[:4], numbers[4], numbers[6], numbers[8])]
        rows.append([in_words(setting), *shown])
    headings = ("agent", "regret", "se", "difference", "se", "observed regret", "transitions", "cost")
    caption = (
        f"at time {runs.time.values[-1]}; difference: regret minus that of {runs.attrs['first']}, replicate by replicate on "
        "the same random numbers"
    )
    print_table(console, headings, rows, caption=caption, words=(0,))


def _number(value: float) -> str:
    """Two decimals, or an exponent for very large and very small numbers."""
    if math.isnan(value):
        return "-"
    return f"{value:,.2f}" if value == 0 or SMALLEST_NUMBER <= abs(value) < LARGEST_NUMBER else f"{value:.2e}"


def _spread(n: int, wanted: int) -> list[int]:
    """A few of n positions, evenly spaced in their logarithm, always with the last."""
    return sorted({round(x) - 1 for x in np.geomspace(1, n, min(n, wanted)).tolist()})


def _most_visited(one: xr.Dataset, n: int = 5) -> str:
    visits = one.visits_mean.isel(time=-1) if "time" in one.visits_mean.dims else one.visits_mean
    top = np.argsort(-visits.values, kind="stable")[:n]
    return "most visited: " + ", ".join(f"arm {i} ({visits.values[i]:,.1f})" for i in top)


HEADINGS = {"lai_robbins_regret": "Lai-Robbins regret"}


def show_bounds(table: xr.Dataset) -> None:
    """Print the bounds on regret, transitions and cost over time, and why some do not apply."""
    console = Console()
    console.print(f"{table.attrs['agent']} on {table.attrs['task']}", highlight=False, markup=False)
    console.print(f"algorithm: {table.attrs['algorithm']}; prior quality (zeta): {table.attrs['prior_quality']:.3g}")
    names = [f"{source}_{what}" for what in ("regret", "cost") for source in ("published", "corrected")]
    names = ["lai_robbins_regret", *(n for n in names if np.isfinite(table[n].values).any())]
    headings = ("time", *(HEADINGS.get(name, name.replace("_", " ")) for name in names))
    rows = [
        [str(time), *(_number(float(table[name].sel(time=time))) for name in names)] for time in table.time.values.tolist()
    ]
    print_table(console, headings, rows, words=())
    console.print(f"Lai-Robbins: {table.lai_robbins_regret.attrs['valid_when']}", highlight=False)
    for sentence, about in _reasons(table).items():
        console.print(f"{joined(about)}: {sentence}", highlight=False)


def _reasons(table: xr.Dataset) -> dict[str, list[str]]:
    """The reasons why bounds are missing, each with its bounds; a whole group of bounds goes by one name."""
    reasons: dict[str, list[str]] = {}
    for name, variable in table.items():
        if "does_not_apply" in variable.attrs:
            reasons.setdefault(variable.attrs["does_not_apply"], []).append(str(name))
    return {sentence: _in_short(about, [str(name) for name in table]) for sentence, about in reasons.items()}


def _in_short(names: list[str], of: list[str]) -> list[str]:
    left, short = list(names), []
    for source in ("lai_robbins", "published", "corrected"):
        of_it = [name for name in names if name.startswith(source)]
        if of_it and of_it == [name for name in of if name.startswith(source)]:
            short.append({"lai_robbins": "Lai-Robbins"}.get(source, f"{source} bounds"))
            left = [name for name in left if name not in of_it]
    return [*short, *(name.replace("_", " ") for name in left)]
