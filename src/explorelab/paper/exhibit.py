"""What one figure of the reproduction consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from explorelab.agents import Agent
from explorelab.plots.style import GREY, Drawing
from explorelab.simulation.simulate import simulate
from explorelab.tasks import Task

QUICK_REPLICATES = 12


class Effort(NamedTuple):
    """How much to compute, and from which seed."""

    seed: int = 0
    quick: bool = False
    """Few replicates and short horizons: to see that everything works, not to measure anything."""

    def replicates(self, full: int) -> int:
        """So many replicates, or few of them when there is no time."""
        return min(full, QUICK_REPLICATES) if self.quick else full

    def horizon(self, full: int, quick: int) -> int:
        """The full horizon, or the short one when there is no time."""
        return quick if self.quick else full

    def times(self, horizon: int, n_full: int) -> list[int]:
        """About so many times, evenly in log t, up to the horizon; a dozen when there is no time."""
        n = 12 if self.quick else n_full
        return np.unique(np.geomspace(1, horizon, n).round().astype(int)).tolist()

    def simulate(self, agent: Agent, task: Task, horizon: int, replicates: int, **options: Any) -> xr.Dataset:
        """A simulation from this seed, as silent as the progress bar of the whole needs it."""
        return simulate(agent, task, horizon, self.replicates(replicates), self.seed, progress=False, **options)


class Exhibit(NamedTuple):
    """A figure, the data drawn on it and what is to be said about it."""

    figure: Figure
    data: pd.DataFrame
    finding: str
    """What was found, with its numbers."""
    differs: str
    """Where this is not what the paper says or shows."""
    settings: Mapping[str, str]
    """Agent, task, replicates, seed: what is needed to do it again."""
    note: str = ""
    """What a reader must know wherever the figure is shown."""


def exhibit(
    drawing: Drawing, finding: str, differs: str, settings: Mapping[str, str], note: str = "", tasks: tuple[Task, ...] = ()
) -> Exhibit:
    """An exhibit from its drawing; notes, its own and those of its tasks, are written under the figure."""
    said = " ".join(dict.fromkeys([task.note for task in tasks if task.note] + ([note] if note else [])))
    if said:
        drawing.figure.supxlabel(said, x=0.01, ha="left", fontsize=7.5, color=GREY)
    return Exhibit(drawing.figure, drawing.data, finding, differs, settings, said)


class Entry(NamedTuple):
    """One line of the table of exhibits."""

    name: str
    """What its files are called."""
    title: str
    paper: str
    """The figure or passage of the paper that it reproduces or accompanies."""
    make: Callable[[Effort], Exhibit]


def spread(runs: xr.Dataset, name: str) -> xr.DataArray:
    """The standard deviation over replicates (0 where there is a single one), from the standard error."""
    return (runs[f"{name}_se"] * np.sqrt(runs.attrs["replicates"])).fillna(0.0)
