"""Prepare an agent for fitting to a data set: its free parameters, their search space, and the fixed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from explorelab._support import checks
from explorelab.agents import Agent
from explorelab.agents.agent_names import parsed
from explorelab.agents.factors import Argument, Params
from explorelab.agents.named.ucl import PRIOR
from explorelab.agents.own.compose import suited
from explorelab.agents.parameters import Units, check_range, searchable
from explorelab.agents.registry import agent_named, assumes_noise, parameters_of
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.effects.effect_design import Design
from explorelab.fitting.likelihood import blocks_of, ways_of
from explorelab.fitting.objective import Data, Model, parameters_of_beliefs
from explorelab.fitting.spaces import Axis, Changes, Space, axes_of, origin_of, space_for, units_of


class Fitted(NamedTuple):
    """An agent ready to be fitted to a data set."""

    agent: Agent
    model: Model
    data: Data
    space: Space
    """Search range of each free parameter."""
    design: Design | None = None
    """How parameters depend on conditions; None if they do not."""

    def __reduce__(self) -> tuple[Callable[..., Fitted], tuple[Any, ...]]:
        """To other processes, with the agent alone, which brings its rule, and with NumPy's arrays."""
        data = jax.tree.map(np.asarray, self.data)
        return _sent, (self.agent, self.model.axes, self.model.n_arms, data, self.space, self.design)


def _sent(agent: Agent, axes: tuple[Axis, ...], n_arms: int, data: Data, space: Space, design: Design | None) -> Fitted:
    return Fitted(agent, Model(agent.rule, axes, n_arms), data, space, design)


def prepare(
    choices: Choices,
    agent: str | Agent,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Argument] | None = None,
    space: Changes | None = None,
    seen: np.ndarray | None = None,
) -> Fitted:
    """The agent with its free parameters and the data as arrays.

    The agent's name may give values to parameters, as in "stochastic-ucl:length_scale=0". `free` names those to estimate
    (by default those in which people differ, and the noise variance if the data do not give it); `fixed` gives values to
    others; `space` changes the bounds and priors of free ones, as in `{"temperature": {"low": 0.01, "high": 100}}`.
    Whatever depends on the rewards (search ranges, values that were not given) comes from the blocks in `seen` (rows; by
    default all); rewards in other blocks change nothing here.
    """
    if not isinstance(choices, Choices):
        raise InputError(f"choices must be the result of read_choices, got {type(choices).__name__}.")
    fixed = dict(fixed or {})
    check_range({"rewards": choices.reward[choices.observed]}, "float64")
    known_rows = choices if seen is None else choices.rows(seen)
    if isinstance(agent, str):
        agent, given = parsed(agent)
        fixed = given | fixed
        built = named(known_rows, agent, fixed)
    else:
        built = suited(agent.with_values(**fixed) if fixed else agent, units_of(known_rows)) if agent.own else agent
        if fixed and not agent.own:
            raise InputError("fixed is only for an agent given by name; an agent that is already built has its values.")
    _check_places(built, choices)
    if choices.n_trials < built.least_horizon:
        raise InputError(f"{built.name} needs blocks of at least {built.least_horizon} trials, got {choices.n_trials}.")
    params = _with_data(built, choices, units_of(known_rows))
    check_range(params, "float64")
    names = _free(built, params, choices, free, fixed)
    for name in names:
        if name not in params:
            own = sorted(set(params) - {"horizon", "n_arms"})
            raise InputError(f"{name} cannot be free: the parameters of {built.name} are {', '.join(own)}.")
        if np.ndim(params[name]):
            raise InputError(f"{name} cannot be free: it has a value for each arm.")
    _check_noise(built, choices, names)
    known = {name: np.asarray(value, np.float64) for name, value in params.items() if name not in names}
    sought = space_for(names, known_rows, space, built.own_parameters)
    with jax.enable_x64(True):
        fixed_values = jax.tree.map(jnp.asarray, known)
        data = Data(blocks_of(choices), ways_of(choices.layout), fixed_values, origin_of(sought))
    return Fitted(built, Model(built.rule, axes_of(sought), choices.layout.n_arms), data, sought)


def named(choices: Choices, name: str, fixed: Mapping[str, Argument]) -> Agent:
    """The named agent with values that suit the data, as starting values of its free parameters."""
    units = units_of(choices)
    known = parameters_of(name)
    plain = agent_named(name)
    if plain.own:
        return suited(plain.with_values(**fixed), units)
    given = {key: value for key, value in _typical(units, choices).items() if key in known and key not in fixed}
    if "prior_cov" in fixed or np.any(np.asarray(fixed.get("prior_var", 0.0), dtype=object) == np.inf):
        given = {key: value for key, value in given.items() if key not in ("length_scale", "prior_var")}
    return agent_named(name, **given, **fixed)


def _typical(units: Units, choices: Choices) -> dict[str, float]:
    typical = {name: _centre(name, units) for name in (*PRIOR, "decay_centre")}
    # Arms without places are independent.
    return typical if choices.layout.places is not None else typical | {"length_scale": 0.0}


def _centre(name: str, units: Units) -> float:
    return searchable()[name](units).centre


def _check_places(agent: Agent, choices: Choices) -> None:
    if choices.layout.places is None and ("length_scale" in agent.params or agent.rule.choice.walks):
        raise InputError(
            f"{agent.name} needs the places of the arms, but the task does not give them: "
            "add a grid or coordinates to the task file."
        )


def _check_noise(agent: Agent, choices: Choices, free: Sequence[str]) -> None:
    """Raise if the task is declared free of noise and the agent would assume the same."""
    if choices.layout.noise_var == 0 and not {"noise_var"} & {*agent.params, *free} and assumes_noise(agent):
        raise InputError(
            f"the task has no reward noise (noise_var = 0), but {agent.name} needs some to learn from: give it a noise_var "
            "above 0, or let it be estimated (free)."
        )


def _with_data(agent: Agent, choices: Choices, units: Units) -> Params:
    """The agent's parameters, with the data's noise variance, horizon and number of arms."""
    noise = choices.layout.noise_var
    added = {
        "noise_var": _centre("noise_var", units) if noise is None else noise,
        "horizon": float(choices.n_trials),
        "n_arms": float(choices.layout.n_arms),
    }
    return {**added, **agent.params}


def _free(
    agent: Agent, params: Params, choices: Choices, free: Sequence[str] | None, fixed: Mapping[str, Argument]
) -> tuple[str, ...]:
    if free is not None:
        names = (free,) if isinstance(free, str) else tuple(free)
        both = sorted(set(names) & fixed.keys())
        if both:
            raise InputError(f"{both[0]} cannot be both free and fixed.")
        if len(set(names)) < len(names):
            raise InputError(f"free must name each parameter once, got {checks.shown(names)}.")
        return names
    names = tuple(name for name in agent.free if name not in fixed)
    return (*names, "noise_var") if _seeks_noise(agent, params, choices, names) else names


def _seeks_noise(agent: Agent, params: Params, choices: Choices, free: Sequence[str]) -> bool:
    """Whether the noise is estimated too: it is not given, and the learning parameters being estimated depend on it."""
    if agent.build is None or choices.layout.noise_var is not None or "noise_var" in agent.params:
        return False
    with jax.enable_x64(True):
        block = jax.tree.map(lambda x: x[0], blocks_of(choices))
        learned = parameters_of_beliefs(agent.rule, params, ways_of(choices.layout), choices.layout.n_arms, block)
    return "noise_var" in learned and not learned.isdisjoint(free)
