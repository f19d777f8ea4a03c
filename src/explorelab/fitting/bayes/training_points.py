"""Where everyone's log-likelihood is computed for the emulator to learn from."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from explorelab.fitting.bayes.beginning import Beginning
from explorelab.fitting.bayes.emulator import Emulator, Training, emulated
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.solve import predicted
from explorelab.fitting.spaces import bounded

TAILS = 6.0
"""Degrees of freedom of the first points, which lie farther out than the posterior."""
WIDER = 1.4
"""How much wider than the first fit says, as a factor of variances, the first points spread."""
FROM_GROUP = 0.25
"""Share of first points that are drawn from the group alone."""
STRETCHED = 1.5
"""Every other point from chains is moved away from its person's mean by this factor, to know what lies beyond."""

TRUSTED = 0.75
"""Draws whose gain (the log-likelihood less what was promised) is below this quantile count the less, the lower it is."""


def n_points(n_parameters: int) -> int:
    """Points of each person in one batch."""
    return 48 * (1 + n_parameters)


class Trainer:
    """The points of everyone, and where the first fit expects them."""

    def __init__(self, fitted: Fitted, begun: Beginning, seed: int) -> None:
        known = begun.known
        self.fitted, self.participant = fitted, np.asarray(known.participant)
        self.low, self.high = np.asarray(known.low), np.asarray(known.high)
        self.bend, self.pull = np.asarray(known.bend), np.asarray(known.pull)
        n, p = self.pull.shape
        self.rng = np.random.default_rng([seed, n, p])
        # The group as seen by a person: its spread, and how uncertain its mean is.
        weights = np.broadcast_to(np.eye(p), (n, p, p)) if known.weights is None else np.asarray(known.weights)
        random = np.ones(p) if known.random is None else np.asarray(known.random)
        mean_se = begun.sd / np.sqrt(n) if begun.mean_se is None else begun.mean_se
        self.mean = weights @ begun.mean
        self.variance = WIDER * ((random * begun.sd) ** 2 + (weights**2) @ mean_se**2 + 1e-3)
        self.training: Training | None = None

    def first(self) -> tuple[np.ndarray, np.ndarray]:
        """Learn from points around the first fit; returns where everyone's posterior should lie."""
        n, p = self.pull.shape
        precision = self.bend + np.einsum("np,pq->npq", 1 / self.variance, np.eye(p))
        spread = np.linalg.inv(precision)
        centre = np.einsum("nij,nj->ni", spread, self.pull + self.mean / self.variance)
        size = n_points(p)
        tails = np.sqrt(TAILS / self.rng.chisquare(TAILS, (n, size, 1)))
        normal = self.rng.standard_normal((n, size, p)) * tails
        around = centre[:, None] + np.einsum("nij,nmj->nmi", np.linalg.cholesky(WIDER * spread), normal)
        group = self.mean[:, None] + np.sqrt(self.variance)[:, None] * normal
        self._learn(np.where(np.arange(size)[:, None] < FROM_GROUP * size, group, around))
        return centre, spread

    def also(self, drawn: np.ndarray, emulator: Emulator) -> tuple[np.ndarray, np.ndarray]:
        """Learn from draws as well (draw x person x parameter); returns where everyone's posterior lies by them.

        Draws where the emulator promised far more than there is have little weight in that.
        """
        z = np.swapaxes(drawn, 0, 1)
        middle, size = np.median(z, axis=1, keepdims=True), min(n_points(z.shape[2]), z.shape[1])
        z = z[:, np.linspace(0, z.shape[1] - 1, size).astype(int)]
        stretched = np.arange(size) % 2 == 1
        more = self._learn(middle + np.where(stretched, STRETCHED, 1.0)[:, None] * (z - middle))
        own, said = more.z[:, ~stretched], more.log_likelihood[:, ~stretched]
        with jax.enable_x64(True):
            promised = np.asarray(jax.vmap(emulated, (None, 1), 1)(emulator, jnp.asarray(own)))
        gain = np.where(np.isfinite(said), said - promised, -np.inf)
        highest = np.quantile(gain, TRUSTED, axis=1, keepdims=True)
        weight = np.exp(np.minimum(gain - np.where(np.isfinite(highest), highest, 0.0), 0.0)) + 1e-12
        weight /= weight.sum(1, keepdims=True)
        centre = np.einsum("nm,nmi->ni", weight, own)
        away = own - centre[:, None]
        return centre, np.einsum("nm,nmi,nmj->nij", weight, away, away)

    def _learn(self, u: np.ndarray) -> Training:
        with jax.enable_x64(True):
            z = np.asarray(bounded(jnp.asarray(u), self.low, self.high))
        rows = predicted(self.fitted, np.arange(len(self.participant)), z[self.participant], False)
        said = np.zeros(z.shape[:2])
        np.add.at(said, self.participant, np.where(np.isnan(rows), -np.inf, rows))
        log_prior = -0.5 * ((z - self.mean[:, None]) ** 2 / self.variance[:, None]).sum(-1)
        more = Training(z, said, log_prior)
        self.training = more if self.training is None else self.training.also(more)
        return more
