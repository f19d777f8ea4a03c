"""True parameters of simulated people, from a fit or from the prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab.agents import Agent
from explorelab.agents.factors import Argument
from explorelab.agents.scales import SCALES
from explorelab.choices.table import Choices
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.criteria import without_information
from explorelab.fitting.known import Known, estimated, known_from_fit
from explorelab.fitting.model import prepare
from explorelab.fitting.results import on_natural_scale
from explorelab.fitting.spaces import Changes, Dimension, FieldValue
from explorelab.recovery.simulated_choices import played


def known_of(
    choices: Choices,
    agent: str | Agent | None,
    fit: xr.DataTree | None = None,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Argument] | None = None,
    space: Changes | None = None,
) -> Known:
    """What is known about an agent from its fit, or from the data (made at random if there are none yet)."""
    if not isinstance(choices, Choices):
        raise InputError(f"choices must be the result of read_choices or blank_choices, got {type(choices).__name__}.")
    if fit is None:
        fitted = prepare(played(choices), "stochastic-ucl" if agent is None else agent, free, fixed, space)
        return Known(fitted.agent, fitted.space)
    if free is not None or fixed is not None or space is not None:
        raise InputError("free, fixed and space come from the fit: set them when making it.")
    return known_from_fit(fit, agent)


type Within = Mapping[str, Sequence[FieldValue]]
"""Ranges of some parameters: (low, high), or (low, high, scale) to spread values evenly over that scale instead."""


class Truth(NamedTuple):
    """Who plays, and with which parameters."""

    who: np.ndarray
    """Index of the person whose blocks each simulated person plays."""
    params: dict[str, np.ndarray]


def true_parameters(known: Known, choices: Choices, n: int, seed: int, within: Within | None = None) -> Truth:
    """Parameters of n simulated people: everyone's estimates in turn, in random order; without a fit, draws from the prior.

    Ranges in `within` take precedence. People keep their own blocks, so that a habit stays with the task it was found on;
    nobody plays blocks without any choice, from which nothing can be recovered.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    within = _checked(known, within or {})
    told = np.flatnonzero(~np.isin(choices.participants, without_information(choices)))
    if not told.size:
        raise InputError(f"recovery needs blocks with choices among several arms, got none in {choices.n_rows}.")
    who = _in_turn(rng, told, n)
    if known.fit is not None and set(known.names) - within.keys():
        people = [str(each) for each in known.estimates["participant"].values]
        # Other people's fit has no blocks here: use everyone's estimates in turn, on anyone's blocks.
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
