"""Small hierarchical data sets, and their posterior by numerical integration."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import logsumexp

import explorelab as xl
from explorelab.choices.table import Choices
from explorelab.fitting.bayes import beginning
from explorelab.fitting.bayes.population import Known
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.solve import limits, predicted
from explorelab.fitting.spaces import bounded
from tests.support.simulated import people as simulated_people

MEANS = [0.0, 0.5, 1.0, 1.5, 2.0]


def delta_people(n: int, n_blocks: int, seed: int, **given: Any) -> tuple[Choices, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    rate = 1 / (1 + np.exp(-rng.normal(-0.4, 0.7, n)))
    true = {"learning_rate": rate, "temperature": 0.5 * np.exp(rng.normal(0, 0.4, n))} | given
    rule = xl.agents.delta_rule().rule
    return simulated_people(rule, {"prior_mean": 0.0, **true}, n_blocks, 20, MEANS, 1.0, seed), true


class Exact:
    """The posterior of a model with one parameter, summed over a grid of means and spreads."""

    def __init__(self, choices: Choices, fitted: Fitted) -> None:
        self.participant = choices.participant
        self.mean, self.sd = np.linspace(-3, 3, 81), np.linspace(0.005, 3.0, 80)
        # So many that they lie closer than the width of a likelihood, also where people are spread widely.
        nodes, weights = np.polynomial.hermite_e.hermegauss(181)
        self.log_weight = np.log(weights / weights.sum())
        low, high = limits(fitted.space)
        latent = self.mean[:, None, None] + self.sd[None, :, None] * nodes
        with jax.enable_x64(True):
            self.z = np.asarray(bounded(jnp.asarray(latent)[..., None], low, high))[..., 0]
        points = np.linspace(low[0], high[0], 4001)
        each = predicted(fitted, np.arange(choices.n_rows), np.tile(points[:, None], (choices.n_rows, 1, 1)), False)
        self.blocks = [np.interp(self.z, points, values) for values in each]
        self.log_prior = -0.5 * self.mean[:, None] ** 2 - 0.5 * self.sd[None] ** 2

    def person(self, who: int, without: int | None = None) -> np.ndarray:
        """Log-likelihood of someone's blocks at every mean, spread and node."""
        rows = [row for row in np.nonzero(self.participant == who)[0] if row != without]
        return sum((self.blocks[row] for row in rows), np.zeros_like(self.z))

    def log_joint(self, without: int | None = None) -> np.ndarray:
        """Log of prior times likelihood over the grid, without one row."""
        each = [logsumexp(self.person(who, without) + self.log_weight, axis=-1) for who in np.unique(self.participant)]
        return self.log_prior + sum(each)

    def moments(self, values: np.ndarray) -> tuple[float, float]:
        """Posterior mean and standard deviation of something over the grid."""
        weight = np.exp(self.log_joint() - logsumexp(self.log_joint()))
        mean = (weight * values).sum()
        return mean, np.sqrt((weight * (values - mean) ** 2).sum())

    def moments_of(self, who: int) -> tuple[float, float]:
        """Posterior mean and standard deviation of someone's parameter in standard units."""
        inner = self.person(who) + self.log_weight
        share = np.exp(inner - logsumexp(inner, axis=-1, keepdims=True))
        weight = np.exp(self.log_joint() - logsumexp(self.log_joint()))[..., None] * share
        mean = (weight * self.z).sum()
        return mean, np.sqrt((weight * (self.z - mean) ** 2).sum())

    def elpd(self, row: int) -> float:
        """Log predictive probability of a row given all others."""
        return logsumexp(self.log_joint()) - logsumexp(self.log_joint(without=row))


def begun_quietly(choices: Choices, fitted: Fitted) -> beginning.Beginning:
    """A beginning without a first fit: the sampler's coordinates are those of the model itself."""
    n, p = choices.n_participants, len(fitted.space)
    with jax.enable_x64(True):
        known = Known(
            fitted.data, jnp.asarray(choices.participant), *limits(fitted.space), jnp.zeros((n, p, p)), jnp.zeros((n, p))
        )
    return beginning.Beginning(known, np.zeros(p), np.ones(p))
