"""What a companion knows before it meets a person: the agent, the arms, and how people's parameters are distributed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr

from explorelab._support.checks import shown
from explorelab._support.counted import counted
from explorelab.agents import Agent
from explorelab.agents.factors import Params, Ways
from explorelab.choices.table import NOWHERE, Choices, Layout
from explorelab.errors import InputError
from explorelab.fitting.fit_people import load_fit
from explorelab.fitting.known import fitted_of, known_from_fit
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.objective import Model
from explorelab.fitting.search.likelihood_checks import check_likelihood
from explorelab.fitting.search.solve import limits
from explorelab.fitting.spaces import Axis, Origin, Space
from explorelab.tasks import Task

LEAST_VAR = 1e-12
"""The least variance of a group in any direction, in standard units, as a share of its largest."""


class Group(NamedTuple):
    """People's parameters: normal in standard units. JAX arrays inside compiled calls, NumPy arrays outside."""

    mean: Any
    covariance: Any


class Numbers(NamedTuple):
    """Everything that compiled programs need to know besides the person; no program depends on the values."""

    ways: Ways
    fixed: Params
    """Parameters that are not free, in natural units."""
    origin: Origin
    low: Any
    high: Any
    """Bounds of the parameters, in standard units."""
    group: Group


class Scene(NamedTuple):
    """The agent, the arms and the group."""

    agent: Agent
    model: Model
    space: Space
    layout: Layout
    numbers: Numbers

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters."""
        return tuple(dimension.name for dimension in self.space)

    def __reduce__(self) -> tuple[Callable[..., Scene], tuple[Any, ...]]:
        """To other processes, with the agent alone, which brings its rule, and with NumPy's arrays."""
        numbers = jax.tree.map(np.asarray, self.numbers)
        return _sent, (self.agent, self.model.axes, self.model.n_arms, self.space, self.layout, numbers)


def _sent(agent: Agent, axes: tuple[Axis, ...], n_arms: int, space: Space, layout: Layout, numbers: Numbers) -> Scene:
    return Scene(agent, Model(agent.rule, axes, n_arms), space, layout, numbers)


def scene_of(choices: Choices, agent: str | Agent | None, group: xr.DataTree | None) -> Scene:
    """The scene for people who play these blocks; without a group, the weak prior of a fit in the units of their rewards."""
    if group is None:
        fitted = prepare(choices, "stochastic-ucl" if agent is None else agent)
        return scene_from(choices, fitted, _weak_prior(len(fitted.space)))
    known = known_from_fit(group, agent, population=True)
    _check_group(choices.layout, group)
    fitted = fitted_of(choices, known)
    return scene_from(choices, fitted, _group_of(group["group"].to_dataset()))


def scene_from(choices: Choices, fitted: Fitted, group: Group) -> Scene:
    """The scene of an agent that is ready to be fitted, with a group in its units."""
    check_likelihood(choices, fitted)
    numbers = Numbers(fitted.data.ways, fitted.data.fixed, fitted.data.origin, *limits(fitted.space), group)
    return Scene(fitted.agent, fitted.model, fitted.space, choices.layout, numbers)


def scene_on(task: Task, agent: str | Agent | None, group: xr.DataTree | None, horizon: int) -> Scene:
    """The scene on a task, for blocks of this many choices; the task's means tell the units of rewards."""
    scene = scene_of(_each_arm_once(task, horizon), agent, group)
    fixed = {**scene.numbers.fixed, "horizon": np.float64(horizon)}
    return scene._replace(numbers=scene.numbers._replace(fixed=fixed))


def check_companion(agent: str | None, group: xr.DataTree | None, task: Task, horizon: int) -> None:
    """Raise if no companion can be made of these: the agent has no likelihood, or the group is of another agent or task."""
    scene_on(task, agent, group, horizon)


def check_same_arms(layout: Layout, task: Task) -> None:
    """Raise if the task of another block has other arms than these, or if they lie elsewhere."""
    if not isinstance(task, Task):
        raise InputError(f"task must be a task, got {shown(task)}.")
    here, there = layout.n_arms, task.n_arms
    if there != here:
        raise InputError(f"the companion is for a task of {counted(here, 'arm')}, but the next block's has {there}.")
    places = {layout.digest, Layout(there, task.places).digest} - {""}
    if len(places) > 1:
        raise InputError("the arms of the next block's task lie elsewhere: begin a companion for people who play that one.")


def read_group(file: Path) -> xr.DataTree:
    """A fit of other people from a file, all of it in memory."""
    return load_fit(file)


def _weak_prior(n_parameters: int) -> Group:
    return Group(np.zeros(n_parameters), np.eye(n_parameters))


def _group_of(table: xr.Dataset) -> Group:
    """The group of a fit. Where it has no spread in some direction, to rounding, it gets so little that nobody sees it."""
    mean, covariance = (np.asarray(table[name].values, np.float64) for name in ("z_mean", "z_covariance"))
    if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
        raise InputError("the group has means or covariances that are not numbers: fit it again, to more people or choices.")
    variances, directions = np.linalg.eigh((covariance + covariance.T) / 2)
    least = LEAST_VAR * max(1.0, float(variances.max(initial=0.0)))
    if variances.min(initial=np.inf) < -1e6 * least:
        raise InputError("the group's z_covariance is no covariance: it has a negative variance in some direction.")
    if variances.min(initial=np.inf) >= least:
        return Group(mean, covariance)
    return Group(mean, (directions * np.maximum(variances, least)) @ directions.T)


def _each_arm_once(task: Task, horizon: int) -> Choices:
    """A block in which every arm was seen once and nothing was chosen, followed by trials still to come."""
    n_trials = max(task.n_arms, horizon)
    trial = np.arange(n_trials)
    seen = trial < task.n_arms
    layout = Layout(task.n_arms, task.places, float(task.noise.var), name=task.name)
    return Choices(
        layout=layout,
        participants=("somebody",),
        participant=np.zeros(1, int),
        block=np.array(["1"]),
        arm=np.where(seen, trial, NOWHERE).astype(np.int32)[None],
        reward=np.where(seen, np.resize(task.means, n_trials), 0.0)[None],
        observed=seen[None],
        scored=np.zeros((1, n_trials), bool),
        present=np.ones((1, n_trials), bool),
        start=None if task.start is None else np.array([task.start]),
    )


def _check_group(layout: Layout, group: xr.DataTree) -> None:
    if "group" not in group.children:
        method = group.attrs.get("method", "another method")
        raise InputError(f"group must be a fit by em, bayes or nuts, which learn what people are like, got one by {method}.")
    there = int(group.attrs["n_arms"])
    if there != layout.n_arms:
        raise InputError(f"the group was fitted to a task of {counted(there, 'arm')}, but this one has {layout.n_arms}.")
    if group.attrs.get("places", layout.digest) != layout.digest:
        raise InputError("the group was fitted to a task whose arms lie elsewhere: fit it to people who played this one.")
