"""A group in a file: what `explorelab fit` learned from other people, checked against a task before anybody plays it."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from explorelab.companion.scene import scene_on
from explorelab.fitting.fit_people import load_fit
from explorelab.tasks import Task


def read_group(file: Path) -> xr.DataTree:
    """The fit in a file, all of it in memory."""
    return load_fit(file)


def check_companion(agent: str | None, group: xr.DataTree | None, task: Task, horizon: int) -> None:
    """Raise if no companion can be made of these: the agent has no likelihood, or the group is of another agent or task."""
    scene_on(task, agent, group, horizon)
