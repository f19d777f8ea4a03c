"""What Laplace's approximation misses of everyone's posterior, by weighing points.

A posterior under the prior N(W_i b, S) is not normal: a learning rate may be small in many ways, but hardly larger than 1.
With the mode and the curvature there in place of mean and covariance, the group comes out too narrow and effects too small.
Points u_q are drawn for each person from a t distribution that is a little wider than the posterior, and weighed by
likelihood times prior over the density that they were drawn from (importance sampling, with Sobol points). The same points
with the parabola's likelihood, whose moments are known exactly, give the error of the points, so that only the difference

    dm_i = mean - mean of the parabola's,      dC_i = covariance - covariance of the parabola's

is taken from them. As weights follow the group, the points serve until they are too few for it (`Excess.effective`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import chi2, norm, qmc

from explorelab.fitting.model import Fitted
from explorelab.fitting.search.solve import predicted, searched

POINTS = 512
"""For each person; a power of two, as Sobol points are balanced then."""
WIDER, TAILS = 1.1, 5.0
"""Points come from a t distribution that is so much wider than the posterior, with so many degrees of freedom, as its tails
must have some."""


class Normals(NamedTuple):
    """A normal distribution for each person."""

    mean: np.ndarray
    covariance: np.ndarray


class Points(NamedTuple):
    """Points for each person, with logarithms of likelihoods over the density that they were drawn from (person x point)."""

    at: np.ndarray
    """person x point x latent."""
    likelihood: np.ndarray
    density: np.ndarray
    """Minus its logarithm, but for a constant."""


class Excess(NamedTuple):
    """By how much the posteriors' means and covariances differ from those of the parabolas."""

    mean: np.ndarray
    covariance: np.ndarray
    effective: np.ndarray
    """The share of each person's points that count."""


def points_around(
    fitted: Fitted, around: Normals, participant: np.ndarray, known: np.ndarray, seed: int, progress: bool | None
) -> Points:
    """Points around these distributions, and the likelihoods there; people who are not `known` have a constant one."""
    n, d = around.mean.shape
    sobol = qmc.Sobol(d + 1, seed=seed).random(2 ** int(np.ceil(np.log2(n * POINTS))))[: n * POINTS]
    sobol = np.clip(sobol, 1e-6, 1 - 1e-6).reshape(n, POINTS, d + 1)
    spread = norm.ppf(sobol[..., 1:]) * np.sqrt(TAILS / chi2.ppf(sobol[..., :1], TAILS))
    root = np.linalg.cholesky(around.covariance)
    at = around.mean[:, None] + WIDER * np.einsum("nij,nqj->nqi", root, spread)
    rows = np.clip(at, *searched(fitted))[participant]
    each = predicted(fitted, np.arange(len(participant)), rows, progress)
    likelihood = np.zeros((n, POINTS))
    np.add.at(likelihood, participant, np.where(np.isnan(each), -np.inf, each))
    usable = known & np.isfinite(likelihood).any(1)
    density = (TAILS + d) / 2 * np.log1p((spread**2).sum(-1) / TAILS)
    return Points(at, np.where(usable[:, None], likelihood, 0.0), density)


def excess(points: Points, information: np.ndarray, pull: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> Excess:
    """How the posteriors under the prior N(mean of the person, spread) differ from those of the parabolas."""
    away = (points.at - mean[:, None]) @ np.linalg.cholesky(np.linalg.inv(spread))
    prior = points.density - 0.5 * (away**2).sum(-1)
    bent = np.einsum("nqi,nij->nqj", points.at, information)
    parabola = ((pull[:, None] - 0.5 * bent) * points.at).sum(-1)
    own, effective = _moments(points.at, points.likelihood + prior)
    plain, _ = _moments(points.at, parabola + prior)
    return Excess(own.mean - plain.mean, own.covariance - plain.covariance, effective)


def _moments(at: np.ndarray, log_weight: np.ndarray) -> tuple[Normals, np.ndarray]:
    weight = np.exp(log_weight - logsumexp(log_weight, axis=1, keepdims=True))
    weighed = at * weight[..., None]
    mean = weighed.sum(1)
    covariance = np.swapaxes(weighed, 1, 2) @ at - mean[:, :, None] * mean[:, None]
    return Normals(mean, covariance), 1 / ((weight**2).sum(1) * at.shape[1])
