"""True parameters of simulated people, from a fit or from the prior."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.counted import counted
from explorelab.agents import Agent
from explorelab.agents.factors import Argument
from explorelab.agents.registry import agent_named
from explorelab.agents.scales import SCALES
from explorelab.choices.table import Choices
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.bayes.convergence import warn_if_failed, warning_of
from explorelab.fitting.criteria import without_information
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.results import on_natural_scale
from explorelab.fitting.spaces import Changes, Dimension, FieldValue, Space
from explorelab.recovery.simulated_choices import played

FIELDS = ("scale", "centre", "spread", "low", "high")


class Known(NamedTuple):
    """An agent, its free parameters, and everyone's estimates where it has been fitted."""

    agent: Agent
    space: Space
    fit: xr.DataTree | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters."""
        return tuple(dimension.name for dimension in self.space)

    @property
    def changes(self) -> dict[str, dict[str, FieldValue]]:
        """The space in the form in which `fit` and `prepare` take it, so that new data do not change it."""
        return {each.name: {field: getattr(each, field) for field in FIELDS} for each in self.space}

    @property
    def estimates(self) -> xr.Dataset:
        """Everyone's estimates."""
        assert self.fit is not None
        return self.fit["estimates"].to_dataset()

    @property
    def warning(self) -> str:
        """The warning for everything made from the fit; empty if it has converged, or there is no fit."""
        return "" if self.fit is None else warning_of(self.fit)


def known_of(
    choices: Choices,
    agent: str | Agent | None,
    fit: xr.DataTree | None = None,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Argument] | None = None,
    space: Changes | None = None,
) -> Known:
    """What is known of an agent: from its fit, or from the data (made at random where there are none yet)."""
    if not isinstance(choices, Choices):
        raise InputError(f"choices must be the result of read_choices or blank_choices, got {type(choices).__name__}.")
    if fit is None:
        fitted = prepare(played(choices), "stochastic-ucl" if agent is None else agent, free, fixed, space)
        return Known(fitted.agent, fitted.space)
    if free is not None or fixed is not None or space is not None:
        raise InputError("free, fixed and space come from the fit: set them when making it.")
    known = Known(_agent_of(fit, agent), _space_of(fit), fit)
    warn_if_failed(fit)
    return known


def _agent_of(fit: object, agent: str | Agent | None) -> Agent:
    if not isinstance(fit, xr.DataTree) or "estimates" not in fit.children:
        raise InputError(f"fit must be the result of fit or load_fit, got {checks.shown(fit)}.")
    fitted = str(fit.attrs["agent"])
    name = agent.name if isinstance(agent, Agent) else agent
    if name is not None and name != fitted:
        raise InputError(f"the fit is of {fitted}, not of {name}.")
    return agent if isinstance(agent, Agent) else agent_named(fitted, **json.loads(fit.attrs["given"]))


def _space_of(fit: xr.DataTree) -> Space:
    table = fit["space"].to_dataset()
    dimensions = []
    for name in table["parameter"].values:
        scale, *numbers = (table[field].sel(parameter=name).item() for field in FIELDS)
        dimensions.append(Dimension(str(name), str(scale), *map(float, numbers)))
    return tuple(dimensions)


def fitted_of(choices: Choices, known: Known) -> Fitted:
    """The agent made ready for these choices, with the space and the fixed values of its fit."""
    fitted = prepare(choices, known.agent, known.names, space=known.changes)
    if known.fit is None:
        return fitted
    given = json.loads(known.fit.attrs["fixed"])
    with jax.enable_x64(True):
        fixed = {name: jnp.asarray(given.get(name, value), jnp.float64) for name, value in fitted.data.fixed.items()}
    return fitted._replace(data=fitted.data._replace(fixed=fixed))


def same_people(choices: Choices, fit: xr.DataTree) -> None:
    """Raise if the fit is not of these people."""
    people = [str(who) for who in fit["estimates"].to_dataset()["participant"].values]
    if people != list(choices.participants):
        here, there = choices.n_participants, len(people)
        raise InputError(
            f"the fit is of other people: the choices have {counted(here, 'participant')}, and the fit has {there}, not the "
            "same."
        )


def estimated(known: Known) -> dict[str, np.ndarray]:
    """Everyone's estimates in natural units, by name."""
    table = known.estimates["estimate"]
    return {name: table.sel(parameter=name).values for name in known.names}


type Within = Mapping[str, Sequence[FieldValue]]
"""For some parameters a range, (low, high), or (low, high, scale) to be spread evenly over that scale instead."""


class Truth(NamedTuple):
    """Who plays, and with which parameters."""

    who: np.ndarray
    """Index of the person whose blocks each simulated person plays."""
    params: dict[str, np.ndarray]


def true_parameters(known: Known, choices: Choices, n: int, seed: int, within: Within | None = None) -> Truth:
    """Parameters of n simulated people: everyone's estimates in turn, in random order; without a fit, the prior's.

    Ranges in `within` go before both. People keep their own blocks, so that a habit stays with the task it was found on;
    nobody plays blocks that leave nothing to choose, of which nothing can be recovered.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    within = _checked(known, within or {})
    told = np.flatnonzero(~np.isin(choices.participants, without_information(choices)))
    if not told.size:
        raise InputError(f"recovery needs blocks with choices among several arms, got none in {choices.n_rows}.")
    who = _in_turn(rng, told, n)
    if known.fit is not None and set(known.names) - within.keys():
        people = [str(each) for each in known.estimates["participant"].values]
        # A fit of other people has no blocks here: everyone's estimates in turn, on anyone's blocks.
        whose = who if people == list(choices.participants) else _in_turn(rng, np.arange(len(people)), n)
        params = {name: values[whose] for name, values in estimated(known).items()}
    else:
        params = _from_prior(known, n, rng)
    for name, (low, high, scale) in within.items():
        params[name] = _even(rng, n, low, high, scale)
    return Truth(who, params)


def _in_turn(rng: np.random.Generator, each: np.ndarray, n: int) -> np.ndarray:
    """All of them in random order, again and again, until there are n."""
    return np.concatenate([rng.permutation(each) for _ in range(-(-n // each.size))])[:n]


def _checked(known: Known, within: Within) -> dict[str, tuple[float, float, str]]:
    ranges = {}
    by_name = {dimension.name: dimension for dimension in known.space}
    for name, given in within.items():
        if name not in by_name:
            raise unknown_name("free parameter", name, by_name)
        ranges[name] = _range(by_name[name], given)
    return ranges


def _range(dimension: Dimension, given: object) -> tuple[float, float, str]:
    name = dimension.name
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) not in (2, 3):
        raise InputError(f"the range of {name} must be (low, high) or (low, high, scale), got {checks.shown(given)}.")
    low, high = (float(checks.scalar(f"range of {name}", end)) for end in given[:2])
    scale = dimension.scale if len(given) == 2 else given[2]
    checks.one_of("scale", scale, SCALES)
    if not dimension.low <= low <= high <= dimension.high:
        raise InputError(
            f"{name} is searched from {dimension.low:g} to {dimension.high:g}, which does not contain {low:g} to {high:g}: "
            "change the range, or the bounds with space."
        )
    return low, high, scale


def _from_prior(known: Known, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    with jax.enable_x64(True):
        limits = np.array([dimension.limits for dimension in known.space]).reshape(-1, 2)
    z = np.clip(rng.standard_normal((n, len(known.space))), limits[:, 0], limits[:, 1])
    natural = on_natural_scale(known.space, z)
    return {name: natural[:, i] for i, name in enumerate(known.names)}


def _even(rng: np.random.Generator, n: int, low: float, high: float, scale: str) -> np.ndarray:
    with jax.enable_x64(True):
        first, last = (float(SCALES[scale].to_line(end)) for end in (low, high))
        return np.clip(np.asarray(SCALES[scale].from_line(rng.uniform(first, last, n))), low, high)
