"""Where chains start: a first fit by empirical Bayes, and the coordinates in which they move."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.bayes.nuts import Settings, Starts
from explorelab.fitting.bayes.population import Known
from explorelab.fitting.empirical_bayes import fit_group
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.best import Best, best_of_starts, rows_of_each, with_prior
from explorelab.fitting.search.optimise import Status
from explorelab.fitting.search.solve import limits

EM_ROUNDS = 12
EM_TOLERANCE = 0.03
"""The first fit need not be exact: it only sets where chains start and the coordinates in which they move."""
AWAY = 0.2
"""Estimates closer to a bound than this, in standard units, do not inform the sampler's coordinates."""


class Beginning(NamedTuple):
    """Where chains start: a first fit by empirical Bayes, and the model's inputs, which include its results."""

    known: Known
    mean: np.ndarray
    sd: np.ndarray
    mean_se: np.ndarray | None = None
    """How uncertain the mean is; None if that follows from the sd."""


def begin(choices: Choices, fitted: Fitted, starts: int = 4, seed: int = 0, progress: bool | None = None) -> Beginning:
    """A first fit by empirical Bayes (MAP for a single person), and the sampler's coordinates that follow from it."""
    rows, n_parameters = rows_of_each(choices), len(fitted.space)
    if fitted.design is not None:
        from explorelab.fitting.effects.by_nuts import begin_with_effects

        return begin_with_effects(choices, fitted, starts, seed, progress)
    if len(rows) > 1:
        first = fit_group(fitted, rows, None, starts, seed, EM_ROUNDS, EM_TOLERANCE, progress)
        mean, covariance, best = first.mean[0], first.covariance[0], first.best
    else:
        best = best_of_starts(fitted, with_prior(fitted, rows, prior=True), starts, seed, "fitting", progress)
        mean, covariance = np.zeros(n_parameters), np.eye(n_parameters)
    check_finite(choices, best)
    precision = np.linalg.inv(covariance)
    low, high = limits(fitted.space)
    # Beyond a bound the likelihood is flat, so its curvature at the bound tells the sampler nothing.
    inside = (best.z > low + AWAY) & (best.z < high - AWAY)
    bend = positive((best.information - precision) * inside[:, :, None] * inside[:, None, :])
    # At the posterior mode the slopes of likelihood and prior cancel.
    slope = (mean - best.z) @ precision * inside
    pull = np.einsum("nij,nj->ni", bend, best.z) - slope
    with jax.enable_x64(True):
        data = jax.tree.map(jnp.asarray, fitted.data)
        known = Known(data, jnp.asarray(choices.participant), *map(jnp.asarray, (low, high, bend, pull)))
    return Beginning(known, mean, np.sqrt(np.diagonal(covariance)))


def check_finite(choices: Choices, best: Best) -> None:
    """Raise if someone's likelihood or its slope is not finite: the sampler needs everyone's slope to move at all."""
    bad = [choices.participants[i] for i in np.nonzero(best.status == Status.NOT_FINITE)[0]]
    if bad:
        named = ", ".join(bad[:3]) + (f" and {len(bad) - 3} more" if len(bad) > 3 else "")
        raise InputError(
            f"the likelihood of {named}, or its slope, is not finite at any point tried, so no chain "
            "can move: exclude them, or let the agent lapse (+lapse) if it makes some choice impossible."
        )


def positive(matrices: np.ndarray) -> np.ndarray:
    """The nearest symmetric positive semidefinite matrices; zero for a matrix with a non-finite entry."""
    finite = np.where(np.isfinite(matrices).all((1, 2), keepdims=True), matrices, 0.0)
    values, vectors = np.linalg.eigh((finite + np.swapaxes(finite, 1, 2)) / 2)
    return np.einsum("nij,nj,nkj->nik", vectors, np.maximum(values, 0.0), vectors)


def starting(begun: Beginning, settings: Settings, chains: int, seed: int) -> Starts:
    """A start for each chain on the sampler's own scales, drawn around the first fit with twice its uncertainty."""
    rng = np.random.default_rng(seed)
    n_people, n_parameters = begun.known.pull.shape
    scale = {
        "mean": begun.sd / np.sqrt(n_people) if begun.mean_se is None else begun.mean_se,
        "sd": np.full(n_parameters, 1 / np.sqrt(2 * n_people)),
    }
    if settings.correlated:
        scale["correlation_root"] = np.full(n_parameters * (n_parameters - 1) // 2, 1 / np.sqrt(n_people))
    centre = {"mean": begun.mean, "sd": np.log(begun.sd)}
    points = {
        name: centre.get(name, 0.0) + 2 * width * rng.standard_normal((chains, len(width))) for name, width in scale.items()
    }
    points["x"] = rng.standard_normal((chains, n_people, n_parameters))
    return Starts(points, scale)
