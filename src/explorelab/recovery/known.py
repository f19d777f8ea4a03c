"""What a fit, or the data that it would be made of, says beforehand: agent, space of parameters, estimates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.counted import counted
from explorelab.agents import Agent, agent_named
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.bayes.convergence import warn_if_failed, warning_of
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.spaces import Dimension, Space
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
    def changes(self) -> dict[str, dict[str, Any]]:
        """The space in the form in which `fit` and `prepare` take it, so that new data do not change it."""
        return {each.name: {field: getattr(each, field) for field in FIELDS} for each in self.space}

    @property
    def estimates(self) -> xr.Dataset:
        """Everyone's estimates."""
        assert self.fit is not None
        return self.fit["estimates"].to_dataset()

    @property
    def warning(self) -> str:
        """What must be said of everything that is made from the fit; empty if it has converged, or there is none."""
        return "" if self.fit is None else warning_of(self.fit)


def known_of(
    choices: Choices,
    agent: str | Agent | None,
    fit: xr.DataTree | None = None,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    space: Mapping[str, Mapping[str, Any]] | None = None,
) -> Known:
    """What is known of an agent: from its fit, or from the data (made at random where there are none yet)."""
    if not isinstance(choices, Choices):
        raise InputError(f"choices must be what read_choices or design gives, got {type(choices).__name__}.")
    if fit is None:
        fitted = prepare(played(choices), "stochastic-ucl" if agent is None else agent, free, fixed, space)
        return Known(fitted.agent, fitted.space)
    if free is not None or fixed is not None or space is not None:
        raise InputError("free, fixed and space are those of the fit: give them where it is made.")
    known = Known(_agent_of(fit, agent), _space_of(fit), fit)
    warn_if_failed(fit)
    return known


def _agent_of(fit: Any, agent: str | Agent | None) -> Agent:
    if not isinstance(fit, xr.DataTree) or "estimates" not in fit.children:
        raise InputError(f"fit must be what fit or load_fit gives, got {checks.shown(fit)}.")
    fitted = str(fit.attrs["agent"])
    name = agent.name if isinstance(agent, Agent) else agent
    if name is not None and name != fitted:
        raise InputError(f"the fit is of {fitted}, and not of {name}.")
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
