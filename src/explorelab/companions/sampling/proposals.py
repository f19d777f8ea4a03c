"""Where to draw points from, and how densely: Student's t around a centre, the group itself, and mixtures of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import chi2, norm, qmc

from explorelab.companions.scene import Group

TAILS = 16
"""Degrees of freedom of the proposals."""
FROM_GROUP = 0.15
"""Share of new points drawn from the group itself."""


class Component(NamedTuple):
    """A proposal: Student's t around a centre."""

    centre: np.ndarray
    root: np.ndarray

    @staticmethod
    def around(centre: np.ndarray, covariance: np.ndarray) -> Component:
        """The proposal with this covariance."""
        return Component(centre, np.linalg.cholesky((covariance + covariance.T) / 2))

    def drawn(self, normals: np.ndarray) -> np.ndarray:
        """Points made of normal numbers, the last of which stretches the others into tails."""
        stretch = np.sqrt(TAILS / chi2.ppf(norm.cdf(normals[:, -1:]), TAILS))
        return self.centre + (normals[:, :-1] * stretch) @ self.root.T


def log_mixture(group: Group, components: Sequence[Component], z: np.ndarray, from_group: float = FROM_GROUP) -> np.ndarray:
    """Log-density of the group and of proposals, each with as many points as the others."""
    share = np.log((1 - from_group) / max(len(components), 1))
    each = [_log_t(*component, z) + share for component in components]
    return logsumexp([*each, log_normal(group, z) + np.log(from_group)], axis=0)


def moments(z: np.ndarray, weight: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of weighted points.

    Few points say little about a covariance: as far as they are too few, it is the given one.
    """
    mean = weight @ z
    away = z - mean
    trust = min(1.0, 1 / (weight**2).sum() / (4 * len(mean)))
    return mean, trust * (away.T * weight) @ away + (1 - trust) * covariance


def from_group(group: Group, normals: np.ndarray) -> np.ndarray:
    """People of the group, made of normal numbers."""
    return np.asarray(group.mean) + normals @ np.linalg.cholesky(group.covariance).T


def log_normal(group: Group, z: np.ndarray) -> np.ndarray:
    """Log-density of the group."""
    root = np.linalg.cholesky(group.covariance)
    constant = np.log(np.diag(root)).sum() + 0.5 * len(root) * np.log(2 * np.pi)
    return -0.5 * _squares(np.asarray(group.mean), root, z) - constant


@lru_cache(maxsize=256)
def normals(n: int, p: int, seed: int, number: int) -> np.ndarray:
    """Normal numbers (and one more for the tails) spread evenly: a scrambled Sobol sequence, another for each number."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1, number]))
    uniform = qmc.Sobol(p + 1, rng=rng).random_base2(int(np.ceil(np.log2(n))))[:n]
    return norm.ppf(np.clip(uniform, 1e-9, 1 - 1e-9))


def _squares(centre: np.ndarray, root: np.ndarray, z: np.ndarray) -> np.ndarray:
    return (np.linalg.solve(root, (z - centre).T) ** 2).sum(0)


def _log_t(centre: np.ndarray, root: np.ndarray, z: np.ndarray) -> np.ndarray:
    p = len(root)
    constant = gammaln((TAILS + p) / 2) - gammaln(TAILS / 2) - 0.5 * p * np.log(TAILS * np.pi) - np.log(np.diag(root)).sum()
    return constant - 0.5 * (TAILS + p) * np.log1p(_squares(centre, root, z) / TAILS)
