"""How probable a whole person's choices are at each draw of the population: their own parameters are integrated out.

    L_i(mean, sd) = integral of  p(choices of i | z)  p(z | mean, sd)  dz

by importance sampling: points are drawn once, half from a t distribution about the person's posterior, half from the
population, and weighted anew for every draw of the population. Leaving a person out needs this: the likelihood at the
person's own parameters, which were learned from the very choices to be left out, says nothing of somebody new.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from scipy.special import logsumexp
from scipy.stats import multivariate_t

from explorelab.choices.table import Choices
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.solve import limits, predicted
from explorelab.fitting.spaces import bounded, standard

POPULATIONS = 64
"""Draws of the population from which half of the points come."""
FREEDOM = 5
"""Degrees of freedom of the t distribution, whose tails are heavier than those of the person's posterior."""
WIDER = 1.3
"""Its scale in posterior sds."""
LEAST_SPREAD = 0.05
"""Its least scale in standard units, where draws lie at a bound."""


class Population(NamedTuple):
    """The population at each draw: mean and a root of the covariance, in standard units."""

    mean: np.ndarray
    root: np.ndarray

    def log_density(self, points: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Log density of every point (last axis: parameter) at each of these draws: draw x point."""
        inverse = np.linalg.inv(self.root[draws])
        away = np.einsum("spq,smq->smp", inverse, points[None] - self.mean[draws][:, None])
        log_volume = np.log(np.diagonal(self.root[draws], axis1=1, axis2=2)).sum(1)
        return -0.5 * (away**2).sum(-1) - log_volume[:, None] - 0.5 * points.shape[-1] * np.log(2 * np.pi)


class Integrated(NamedTuple):
    """For every draw and person: the log-likelihood of all their choices, and how many points it rests on."""

    log_likelihood: np.ndarray
    effective: np.ndarray


def population_of(posterior: xr.Dataset) -> Population:
    """The population at every draw of a posterior, draws in one axis."""
    flat = posterior.stack(sample=("chain", "draw"), create_index=False).transpose("sample", ...)
    mean, sd = flat["group_mean"].values, np.maximum(flat["group_sd"].values, 1e-6)
    root = sd[:, :, None] * np.eye(mean.shape[1])
    if "group_correlation" in flat:
        root = sd[:, :, None] * np.linalg.cholesky(flat["group_correlation"].values)
    return Population(mean, root)


def integrated(
    choices: Choices, fitted: Fitted, posterior: xr.Dataset, n_points: int, seed: int, progress: bool | None
) -> Integrated:
    """The log-likelihood of every person's choices at every draw of the population (draw x person)."""
    population = population_of(posterior)
    names = [dimension.name for dimension in fitted.space]
    own = {name: posterior[name].transpose("chain", "draw", "participant").values for name in names}
    z = standard(fitted.space, {name: values.reshape(-1, values.shape[-1]) for name, values in own.items()})
    rng = np.random.default_rng(seed)
    drawn = [_points(z[:, who], population, n_points, rng) for who in range(choices.n_participants)]
    points = np.stack([each[0] for each in drawn])
    with jax.enable_x64(True):
        within = np.asarray(bounded(jnp.asarray(points), *limits(fitted.space)))
    rows = predicted(fitted, np.arange(choices.n_rows), within[choices.participant], progress)
    log_likelihood, effective = [], []
    for who, (at, log_proposal) in enumerate(drawn):
        choices_of = rows[choices.participant == who].sum(0) - log_proposal
        log_weight = population.log_density(at, np.arange(len(population.mean))) + choices_of
        log_likelihood.append(logsumexp(log_weight, axis=1) - np.log(n_points))
        effective.append(np.exp(2 * logsumexp(log_weight, axis=1) - logsumexp(2 * log_weight, axis=1)))
    return Integrated(np.stack(log_likelihood, axis=1), np.stack(effective, axis=1))


def _points(z: np.ndarray, population: Population, n_points: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points for one person, and the log density that they were drawn with."""
    n_own, n_parameters = n_points // 2, z.shape[1]
    scale = WIDER**2 * np.cov(z, rowvar=False).reshape(n_parameters, n_parameters) + LEAST_SPREAD**2 * np.eye(n_parameters)
    about = multivariate_t(z.mean(0), scale, df=FREEDOM, seed=rng)
    among = rng.choice(len(population.mean), min(POPULATIONS, len(population.mean)), replace=False)
    which = rng.choice(among, n_points - n_own)
    noise = rng.standard_normal((n_points - n_own, n_parameters))
    others = population.mean[which] + np.einsum("mpq,mq->mp", population.root[which], noise)
    points = np.concatenate([about.rvs(n_own).reshape(n_own, n_parameters), others])
    of_population = logsumexp(population.log_density(points, among), axis=0) - np.log(len(among))
    share = n_own / n_points
    return points, np.logaddexp(np.log(share) + about.logpdf(points), np.log1p(-share) + of_population)
