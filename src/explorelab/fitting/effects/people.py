"""From what is estimated for people (levels and slopes) to their parameters, and to the group that they come from."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab.choices.table import Choices
from explorelab.fitting.effects.effect_design import Design
from explorelab.fitting.effects.group_step import Around
from explorelab.fitting.model import Fitted
from explorelab.fitting.results import on_natural_scale
from explorelab.fitting.search.solve import limits
from explorelab.fitting.spaces import bounded


def own_means(design: Design, person: np.ndarray) -> np.ndarray:
    """person x parameter x latent: the mean map from latents to parameters over the blocks where they are not held."""
    n, free = int(person.max()) + 1, np.isnan(design.held)
    total = np.zeros((n, *design.slope.shape[1:]))
    np.add.at(total, person, design.slope * free[..., None])
    count = np.zeros((n, free.shape[1]))
    np.add.at(count, person, free)
    return total / np.maximum(count, 1)[..., None]


def row_points(fitted: Fitted, u: np.ndarray, person: np.ndarray) -> np.ndarray:
    """Every block's parameters in standard units, from people's levels and slopes (... x person x latent)."""
    design = fitted.design
    assert design is not None
    if not design.moving:
        return u[..., person, :]
    low, high = limits(fitted.space)
    with jax.enable_x64(True):
        free = np.asarray(bounded(jnp.asarray(np.einsum("rpl,...rl->...rp", design.slope, u[..., person, :])), low, high))
    return np.where(np.isnan(design.held), free, design.held)


def person_points(fitted: Fitted, u: np.ndarray, person: np.ndarray) -> np.ndarray:
    """Everyone's parameters in standard units: means over their blocks, or over those where a parameter is not held."""
    design = fitted.design
    assert design is not None
    if not design.moving:
        return u
    rows, free, n = row_points(fitted, u, person), np.isnan(design.held), u.shape[-2]
    for p in range(free.shape[1]):
        free[:, p] |= (np.bincount(person, free[:, p], n) == 0)[person]
    sums, count = np.zeros((n, *u.shape[:-2], rows.shape[-1])), np.zeros((n, rows.shape[-1]))
    np.add.at(sums, person, np.moveaxis(np.where(free, rows, 0.0), -2, 0))
    np.add.at(count, person, free)
    return np.moveaxis(sums, 0, -2) / count


def within_sd(design: Design, spread: np.ndarray, person: np.ndarray) -> np.ndarray:
    """The sd of people in each parameter given their conditions (... x parameter), over the blocks where it is not held."""
    free = np.isnan(design.held)
    variance = np.einsum("rpi,...ij,rpj->...rp", design.slope, spread, design.slope)
    return np.sqrt(np.where(free, variance, 0.0).sum(-2) / np.maximum(free.sum(0), 1))


def group_table(fitted: Fitted, group: Around, person: np.ndarray) -> xr.Dataset:
    """The group over all conditions as they occur: the prior for somebody whose conditions are unknown."""
    design = fitted.design
    assert design is not None
    names = [dimension.name for dimension in fitted.space]
    mean, covariance = over_conditions(design, group, person)
    sd = np.sqrt(np.diagonal(covariance))
    low, high = (on_natural_scale(fitted.space, mean + sign * 1.96 * sd) for sign in (-1, 1))
    return xr.Dataset(
        {
            "mean": ("parameter", on_natural_scale(fitted.space, mean)),
            "low": ("parameter", low, {"long_name": "95 % of people, lower end"}),
            "high": ("parameter", high, {"long_name": "95 % of people, upper end"}),
            "z_mean": ("parameter", mean),
            "z_sd": ("parameter", sd),
            "z_covariance": (("parameter", "parameter_2"), covariance),
        },
        coords={"parameter": names, "parameter_2": names},
        attrs={"conditions": "all, as they occur in the choices"},
    )


SMALLEST_SD = 0.01
"""The spread, in standard units, that a parameter keeps in the group where everyone shares its value."""


def over_conditions(design: Design, group: Around, person: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of parameters over everyone's blocks, whatever their conditions."""
    free = np.isnan(design.held)
    means = np.einsum("rpl,rl->rp", design.slope, (design.of_person @ group.effects)[person])
    known = np.where(np.isinf(design.held), np.nan, design.held)
    means = np.where(free, means, np.nan_to_num(known))
    slope = design.slope * free[..., None]
    spread = np.einsum("rpi,ij,rqj->pq", slope, group.spread, slope) / len(person)
    mean = means.mean(0)
    covariance = spread + (means - mean).T @ (means - mean) / len(person)
    smallest = np.maximum(SMALLEST_SD**2 - np.diagonal(covariance), 0.0)
    return mean, covariance + np.diag(smallest)


def blocks_table(fitted: Fitted, z: np.ndarray, choices: Choices) -> xr.Dataset:
    """Every block's parameters, from points in standard units (row x parameter)."""
    return xr.Dataset(
        {
            "estimate": (("row", "parameter"), on_natural_scale(fitted.space, z), {"long_name": "estimate, natural units"}),
            "z": (("row", "parameter"), z, {"long_name": "estimate, standard units"}),
        },
        coords={
            "parameter": [dimension.name for dimension in fitted.space],
            "row_participant": ("row", np.array(choices.participants)[choices.participant]),
            "row_block": ("row", choices.block.astype(str)),
        },
    )
