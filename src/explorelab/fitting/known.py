"""A fit used again: its agent, search space and estimates, for other choices or the same."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.counted import counted
from explorelab.agents import Agent
from explorelab.agents.own.saved import from_attributes
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.bayes.convergence import warn_if_failed, warning_of
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.spaces import Dimension, Space

FIELDS = ("scale", "centre", "spread", "low", "high")


class Known(NamedTuple):
    """An agent, its free parameters and, if it has been fitted, everyone's estimates."""

    agent: Agent
    space: Space
    fit: xr.DataTree | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters."""
        return tuple(dimension.name for dimension in self.space)

    @property
    def changes(self) -> dict[str, dict[str, Any]]:
        """The search space in the form that `fit` and `prepare` take, so that new data do not change it."""
        return {each.name: {field: getattr(each, field) for field in FIELDS} for each in self.space}

    @property
    def estimates(self) -> xr.Dataset:
        """Everyone's estimates."""
        assert self.fit is not None
        return self.fit["estimates"].to_dataset()

    @property
    def warning(self) -> str:
        """The warning to attach to results from the fit; empty if it has converged or there is no fit."""
        return "" if self.fit is None else warning_of(self.fit)


def known_from_fit(fit: xr.DataTree, agent: str | Agent | None = None, population: bool = False) -> Known:
    """The agent and space of a fit; an error if it is of another agent. A fit that has not converged warns.

    If parameters change between the blocks of a person, only the `population` of the fit can be used.
    """
    known = Known(_agent_of(fit, agent), _space_of(fit), fit)
    if fit.attrs.get("changes_within_people") and not population:
        raise InputError(
            "in this fit people's parameters change between their blocks (effects within people), so it cannot be used for "
            "this: fit the conditions one by one, or without effects."
        )
    warn_if_failed(fit)
    return known


def _agent_of(fit: object, agent: str | Agent | None) -> Agent:
    if not isinstance(fit, xr.DataTree) or "estimates" not in fit.children:
        raise InputError(f"fit must be the result of fit or load_fit, got {checks.shown(fit)}.")
    return from_attributes(fit.attrs, "the fit", agent)


def _space_of(fit: xr.DataTree) -> Space:
    table = fit["space"].to_dataset()
    dimensions = []
    for name in table["parameter"].values:
        scale, *numbers = (table[field].sel(parameter=name).item() for field in FIELDS)
        dimensions.append(Dimension(str(name), str(scale), *map(float, numbers)))
    return tuple(dimensions)


def fitted_of(choices: Choices, known: Known) -> Fitted:
    """The agent prepared for these choices, with the space and the fixed values of its fit."""
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
