"""Mean and standard error over replicates, added up in an order that does not depend on how the work was divided."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float

from explorelab.agents.factors import AnyArray

UNIT = 64
"""Replicates summed together first; work is divided only at multiples of this, so every division sums alike."""


class Moments(NamedTuple):
    """Count, mean and sum of squared deviations of each unit of replicates: on the device, then as NumPy arrays."""

    n: Float[AnyArray, " unit"]
    mean: Float[AnyArray, "unit ..."]
    spread: Float[AnyArray, "unit ..."]


def moments(
    quantities: dict[str, Float[Array, "replicate ..."]], counted: Bool[Array, " replicate"], unit: int
) -> dict[str, Moments]:
    """The moments of each quantity over every `unit` replicates, in float64; only replicates in `counted` count."""

    def one_unit(now: tuple[Array, dict[str, Array]]) -> dict[str, Moments]:
        return {name: _weighted_moments(now[0].astype(jnp.float64), values) for name, values in now[1].items()}

    # One unit after another: with all at once, the order of XLA's sums would depend on the number of units. One loop for all
    # quantities compiles faster than a loop for each.
    return lax.map(one_unit, jax.tree.map(lambda values: values.reshape(-1, unit, *values.shape[1:]), (counted, quantities)))


def _weighted_moments(weight: Float[Array, " replicate"], values: Float[Array, "replicate ..."]) -> Moments:
    n, group = weight.sum(), values.astype(jnp.float64)
    weight = weight.reshape(-1, *(1 for _ in group.shape[1:]))
    mean = (weight * group).sum(axis=0) / jnp.maximum(n, 1)
    return Moments(n, mean, (weight * (group - mean) ** 2).sum(axis=0))


class Running:
    """Mean and standard error of values whose moments arrive unit by unit, in order, with the setting as first axis."""

    def __init__(self) -> None:
        self._origin: np.ndarray | None = None
        self._n: np.ndarray = np.zeros(0)
        self._sum: np.ndarray = np.zeros(0)
        self._squares: np.ndarray = np.zeros(0)

    def add(self, new: Moments) -> None:
        """Take in the moments of more units."""
        if self._origin is None:
            # Deviations are taken from the first unit's mean: close to the final one, so squares lose no digits.
            self._origin = np.asarray(new.mean[:, 0])
            self._n = np.zeros(new.n.shape[0])
            self._sum, self._squares = np.zeros_like(self._origin), np.zeros_like(self._origin)
        n = new.n.reshape(*new.n.shape, *(1 for _ in new.mean.shape[2:]))
        away = new.mean - self._origin[:, None]
        self._n = _one_after_the_other(self._n, new.n)
        self._sum = _one_after_the_other(self._sum, n * away)
        self._squares = _one_after_the_other(self._squares, new.spread + n * away**2)

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and its standard error (NaN for a single replicate, which has no spread)."""
        assert self._origin is not None
        n = float(self._n.flat[0])
        mean = self._sum / n
        if n < 2:
            return self._origin + mean, np.full_like(mean, np.nan)
        var = np.maximum(self._squares - n * mean**2, 0) / (n - 1)
        return self._origin + mean, np.sqrt(var / n)


def _one_after_the_other(total: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Add along the axis of units strictly in order: a grouped sum would depend on how many units arrive together."""
    return np.cumsum(np.concatenate([total[:, None], more], axis=1), axis=1)[:, -1]
