"""A fit with effects by NUTS: where its chains start, and what they say, as the groups of a tree."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab._support.checks import Variables
from explorelab.choices.table import Choices
from explorelab.fitting.bayes.beginning import (
    AWAY,
    EM_ROUNDS,
    EM_TOLERANCE,
    Beginning,
    check_finite,
    positive,
)
from explorelab.fitting.bayes.convergence import Report
from explorelab.fitting.bayes.nuts import Draw
from explorelab.fitting.bayes.population import Known
from explorelab.fitting.bayes.posterior_groups import over_draws, posterior_estimates
from explorelab.fitting.effects.effect_parts import conditions_dataset, posterior_effects
from explorelab.fitting.effects.group_step import Around
from explorelab.fitting.effects.people import blocks_table, group_table, person_points, row_points, within_sd
from explorelab.fitting.effects.rounds import fit_effects
from explorelab.fitting.model import Fitted
from explorelab.fitting.results import on_natural_scale, space_table
from explorelab.fitting.search.best import rows_of_each

SMALLEST_SD = 0.05
"""Where chains start for the spread of what everyone shares, which nothing depends on."""


def begin_with_effects(choices: Choices, fitted: Fitted, starts: int, seed: int, progress: bool | None = None) -> Beginning:
    """A first fit by empirical Bayes, and the sampler's coordinates that follow from it."""
    design = fitted.design
    assert design is not None
    first = fit_effects(fitted, rows_of_each(choices), starts, seed, EM_ROUNDS, EM_TOLERANCE, progress, weighed=False)
    check_finite(choices, first.best)
    z, low, high = first.best.z, design.low, design.high
    inside = (z > low + AWAY) & (z < high - AWAY)
    information = np.where(np.isfinite(first.information), first.information, 0.0)
    bend = positive(information * inside[:, :, None] * inside[:, None, :])
    pull = np.einsum("nij,nj->ni", bend, z) - first.gradient * inside
    sd = np.sqrt(np.diagonal(first.group.spread))
    with jax.enable_x64(True):
        data = jax.tree.map(jnp.asarray, fitted.data)
        arrays = map(jnp.asarray, (low, high, bend, pull, design.of_person, design.random.astype(float)))
        known = Known(data, jnp.asarray(choices.participant), *arrays)
    se = np.minimum(np.sqrt(np.diagonal(first.group.covariance)), 1.0)
    return Beginning(known, first.group.effects, np.where(design.random, np.maximum(sd, SMALLEST_SD), 1.0), se)


def _spreads(fitted: Fitted, drawn: Draw) -> np.ndarray:
    """The covariance of people around their conditions, for every draw."""
    design = fitted.design
    assert design is not None
    sd = drawn.sd * design.random
    return sd[..., :, None] * drawn.correlation * sd[..., None, :]


def sampled_table(choices: Choices, fitted: Fitted, drawn: Draw) -> xr.Dataset:
    """What was sampled, for diagnostics: effects, spreads, and everyone's levels and slopes."""
    design = fitted.design
    assert design is not None
    random = np.flatnonzero(design.random)
    names = [design.latents[i] for i in random]
    over = ("chain", "draw")
    variables: Variables = {
        "effects": ((*over, "effect"), drawn.mean @ design.back.T, {"long_name": "effects, standard units"}),
        "group_sd": ((*over, "latent"), drawn.sd[..., random]),
    }
    variables |= {name: ((*over, "participant"), drawn.z[..., i]) for i, name in zip(random, names, strict=True)}
    coords = {
        **over_draws(drawn),
        "participant": list(choices.participants),
        "latent": names,
        "effect": effect_labels(fitted),
    }
    return xr.Dataset(variables, coords)


def effect_labels(fitted: Fitted) -> list[str]:
    """A name for each effect: its parameter and its column."""
    design = fitted.design
    assert design is not None
    return [f"{fitted.space[p].name}: {name}" for p, name in zip(design.parameter, design.names, strict=True)]


def posterior_groups(
    choices: Choices, fitted: Fitted, drawn: Draw, report: Report, progress: bool | None
) -> dict[str, xr.Dataset]:
    """Estimates of people, the group, the effects, their conditions and the draws."""
    design, person = fitted.design, choices.participant
    assert design is not None
    z, spreads = person_points(fitted, drawn.z, person), _spreads(fitted, drawn)
    sd = within_sd(design, spreads, person)
    latents = np.median(drawn.z.reshape(-1, *drawn.z.shape[2:]), axis=0)
    effects = drawn.mean @ design.back.T
    sampled = sampled_table(choices, fitted, drawn)
    natural = on_natural_scale(fitted.space, z)
    for i, dimension in enumerate(fitted.space):
        sampled[dimension.name] = (("chain", "draw", "participant"), natural[..., i], {"long_name": "natural units"})
    flat = drawn.mean.reshape(-1, drawn.mean.shape[-1])
    spread = spreads.reshape(-1, *spreads.shape[2:]).mean(0)
    around = Around(flat.mean(0), np.atleast_2d(np.cov(flat.T)), spread)
    prior_sd = np.where(sd > 0, sd, np.inf)
    groups = {
        "estimates": posterior_estimates(choices, fitted, z, prior_sd, report, progress, latents),
        "group": group_table(fitted, around, person),
        "space": space_table(fitted.space),
        "posterior": sampled,
        "effects": posterior_effects(fitted, effects.reshape(len(flat), -1), sd.reshape(len(flat), -1)),
        "conditions": conditions_dataset(choices, design),
    }
    if design.moving:
        groups["blocks"] = blocks_table(fitted, row_points(fitted, latents, person), choices)
    return groups
