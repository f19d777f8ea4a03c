"""The people of a plan: how parameters are distributed among them. They are the same in every design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import jax
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Floats
from explorelab.agents import Agent
from explorelab.agents.agent_names import agent_of
from explorelab.agents.scales import SCALES
from explorelab.choices.table import Choices
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.known import known_from_fit
from explorelab.fitting.results import on_natural_scale
from explorelab.fitting.spaces import Space, standard
from explorelab.recovery.truth import known_of

type Given = Mapping[str, float | tuple[float, float]]
"""By parameter: its typical value or, with it, the standard deviation of people on the parameter's own scale."""


class Population(NamedTuple):
    """People whose parameters are normally distributed on their own scales."""

    agent: str | Agent
    space: Space
    mean: Floats
    """In the standard units of the space."""
    covariance: Floats
    source: str
    """Where they come from, in words."""
    own: tuple[Agent, ...] = ()
    """Agents of users' own that a plan depends on: they travel along, so that other processes compare their files."""

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters."""
        return tuple(dimension.name for dimension in self.space)

    def sd(self, name: str) -> float:
        """Standard deviation of people on the parameter's own scale."""
        at = self.names.index(name)
        return float(np.sqrt(self.covariance[at, at])) * self.space[at].spread

    def drawn(self, n: int, seed: int) -> Floats:
        """n people in standard units; the first of them are the same for every n."""
        rng = np.random.default_rng(np.random.SeedSequence([seed, 31]))
        values, vectors = np.linalg.eigh((self.covariance + self.covariance.T) / 2)
        return self.mean + rng.standard_normal((n, len(self.space))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T

    def natural(self, z: Floats) -> dict[str, np.ndarray]:
        """These people's parameters in natural units, within their bounds."""
        with jax.enable_x64(True):
            limits = np.array([dimension.limits for dimension in self.space]).reshape(-1, 2)
        values = on_natural_scale(self.space, np.clip(z, limits[:, 0], limits[:, 1]))
        return {name: values[:, i] for i, name in enumerate(self.names)}

    def told(self) -> dict[str, tuple[float, float]]:
        """Typical value in natural units and standard deviation on its scale, by parameter."""
        typical = self.natural(self.mean[None])
        return {name: (float(typical[name][0]), self.sd(name)) for name in self.names}


def population_of(choices: Choices, agent: str | Agent | None, group: xr.DataTree | None, given: Given | None) -> Population:
    """The people: from a fit's group, or as is plausible for the agent on these blocks; `given` goes before."""
    if group is None:
        known = known_of(choices, agent)
        mean, covariance, source = np.zeros(len(known.space)), np.eye(len(known.space)), "plausible for the agent"
    else:
        known = known_from_fit(group, agent, population=True)
        if "group" not in group.children:
            raise InputError(f"a plan draws people from a fit by em, bayes or nuts, got one by {group.attrs['method']}.")
        table = group["group"].to_dataset().sel(parameter=list(known.names), parameter_2=list(known.names))
        mean, covariance = table["z_mean"].values, table["z_covariance"].values
        source = f"the fit of {group.attrs.get('source') or 'other people'}"
    own = (agent_of(agent),) if isinstance(agent, str) and known.agent.own else ()
    people = Population(known.agent if agent is None else agent, known.space, mean, covariance, source, own)
    return _changed(people, given or {})


def _changed(people: Population, given: Given) -> Population:
    """The same people with other typical values or standard deviations of some parameters."""
    mean, factor, more = people.mean.copy(), np.ones(len(people.space)), np.zeros(len(people.space))
    for name, value in given.items():
        if name not in people.names:
            raise unknown_name("free parameter", name, people.names)
        at = people.names.index(name)
        dimension = people.space[at]
        typical, sd = _pair(name, value)
        if not dimension.low <= typical <= dimension.high:
            raise InputError(f"{name} must be from {dimension.low:g} to {dimension.high:g}, got {typical:g}.")
        mean[at] = float(standard((dimension,), {name: np.array([typical])})[0, 0])
        if sd is not None:
            factor[at] = 0.0 if people.sd(name) == 0 else sd / people.sd(name)
            more[at] = (sd / dimension.spread) ** 2 if people.sd(name) == 0 else 0.0
    source = (
        people.source if not given else "as given" if len(given) == len(people.space) else f"{people.source}, or as given"
    )
    covariance = people.covariance * np.outer(factor, factor) + np.diag(more)
    return people._replace(mean=mean, covariance=covariance, source=source)


def _pair(name: str, value: object) -> tuple[float, float | None]:
    """A typical value, with the standard deviation if it is given."""
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise InputError(f"people's {name} must be a value, or (value, standard deviation), got {checks.shown(value)}.")
        sd = float(checks.scalar(f"standard deviation of {name}", value[1], at_least=0))
        return float(checks.scalar(name, value[0])), sd
    return float(checks.scalar(name, value)), None


def on_scale(scale: str, change: float) -> float:
    """A change in natural units (a difference, a ratio or an odds ratio) on the parameter's own scale."""
    if scale == "real":
        return change
    if change <= 0:
        what = "ratio" if scale == "log" else "odds ratio"
        raise InputError(
            f"a natural size on this scale ({SCALES[scale].words}) is {what} and must be above 0, got {change:g}."
        )
    return float(np.log(change))
