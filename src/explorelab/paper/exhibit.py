"""The parts of one figure of the reproduction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from explorelab.agents import Agent
from explorelab.agents.factors import Argument
from explorelab.plots.style import GREY, Drawing
from explorelab.simulation.simulate import Keep, simulate
from explorelab.tasks import Task

QUICK_REPLICATES = 12
CHANGEABLE = ("horizon", "replicates")
"""What can be changed of a figure that simulates something."""
SHORTEST = {"horizon": 8, "replicates": 2}


class Options(TypedDict, total=False):
    """Arguments that go on to `simulate`."""

    times: Sequence[int]
    keep: Keep
    sweep: Mapping[str, Sequence[Argument]]


class Effort(NamedTuple):
    """How much to compute, and the seed."""

    seed: int = 0
    quick: bool = False
    """Few replicates and short horizons: to see that everything works, not to measure anything."""
    given: Mapping[str, int] = MappingProxyType({})
    """Horizon and replicates that were asked for instead of a figure's own: some of `CHANGEABLE`."""

    def replicates(self, full: int) -> int:
        """The full number of replicates, few for a quick run, or the number asked for."""
        return self.given.get("replicates", min(full, QUICK_REPLICATES) if self.quick else full)

    def horizon(self, full: int, quick: int) -> int:
        """The full horizon, the short one for a quick run, or the one asked for."""
        return self.given.get("horizon", quick if self.quick else full)

    def times(self, horizon: int, n_full: int) -> list[int]:
        """About `n_full` times (a dozen for a quick run) up to the horizon, evenly spaced in log t."""
        n = 12 if self.quick else n_full
        return np.unique(np.geomspace(1, horizon, n).round().astype(int)).tolist()

    def simulate(self, agent: Agent, task: Task, horizon: int, replicates: int, **options: Unpack[Options]) -> xr.Dataset:
        """A simulation with this seed, without a progress bar of its own."""
        return simulate(agent, task, horizon, self.replicates(replicates), self.seed, progress=False, **options)


class Exhibit(NamedTuple):
    """A figure, its data and its text."""

    figure: Figure
    data: pd.DataFrame
    finding: str
    """The finding, with its numbers."""
    differs: str
    """Where this differs from what the paper says or shows."""
    settings: Mapping[str, str]
    """Agent, task, replicates, seed: what is needed to reproduce it."""
    note: str = ""
    """A note shown wherever the figure is."""


def exhibit(
    drawing: Drawing, finding: str, differs: str, settings: Mapping[str, str], note: str = "", tasks: tuple[Task, ...] = ()
) -> Exhibit:
    """An exhibit from its drawing, with its own notes and those of its tasks under the figure."""
    said = " ".join(dict.fromkeys([task.note for task in tasks if task.note] + ([note] if note else [])))
    if said:
        drawing.figure.supxlabel(said, x=0.01, ha="left", fontsize=7.5, color=GREY)
    return Exhibit(drawing.figure, drawing.data, finding, differs, settings, said)


class Entry(NamedTuple):
    """One line of the table of exhibits."""

    name: str
    """Name of its files."""
    title: str
    paper: str
    """The figure or passage of the paper that it reproduces or accompanies."""
    make: Callable[[Effort], Exhibit]
    figures: tuple[int, ...] = ()
    """Numbers of the paper's figures that it reproduces."""
    simulates: bool = True
    """Whether it has a horizon and replicates."""

    @property
    def short(self) -> str:
        """Its name without the number."""
        return self.name.partition("-")[2]


def spread(runs: xr.Dataset, name: str) -> xr.DataArray:
    """The standard deviation over replicates (0 if there is only one), from the standard error."""
    return (runs[f"{name}_se"] * np.sqrt(runs.attrs["replicates"])).fillna(0.0)
