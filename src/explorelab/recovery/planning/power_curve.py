"""Power as a function of the number of people, learned from simulated studies; and how many people are needed.

A two-sided test whose statistic grows with the square root of the number of people n has about the power

    P(n) = Phi(d sqrt(n) - c) + Phi(-d sqrt(n) - c),    c near the normal quantile of the test's level,

which is alpha at n = 0. The curve is told by c and by the number of people n* at which it reaches the target; a grid over
both, with a narrow prior on c and hardly any on n*, gives the posterior of n* and of the whole curve. It is also defined
where no study succeeds, or all do, and its intervals cover: tests/recovery/planning/test_power_curve.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from explorelab._support.checks import Floats

CRITICAL_SD = 0.15
"""How far the test's critical value may be from the normal one: few degrees of freedom, or a test that is not exact."""
N_CRITICAL = 15
N_NEEDED = 400
FEWEST, MOST = 2.0, 1e6
"""People among whom n* is sought."""
ENDS = (0.025, 0.5, 0.975)


class Tried(NamedTuple):
    """Simulated studies of so many people, and how many of them succeeded."""

    people: int
    hits: int
    studies: int


class Curve(NamedTuple):
    """A grid over curves, and how probable each is."""

    needed: Floats
    """n* of each curve of the grid, flat."""
    steepness: Floats
    critical: Floats
    weight: Floats

    def required(self, ends: npt.ArrayLike = ENDS) -> Floats:
        """Quantiles of n*."""
        return _quantiles(self.needed, self.weight, np.atleast_1d(ends))

    def power(self, people: npt.ArrayLike, ends: npt.ArrayLike = ENDS) -> Floats:
        """Quantiles of the power at these numbers of people: number x quantile."""
        each = np.atleast_1d(np.asarray(people, float))
        at = [_power(n, self.steepness, self.critical) for n in each]
        return np.stack([_quantiles(values, self.weight, np.atleast_1d(ends)) for values in at])


def learned_curve(tried: list[Tried], alpha: float, target: float) -> Curve:
    """The posterior over curves, given studies."""
    usual = -ndtri(alpha / 2)
    critical = usual + CRITICAL_SD * ndtri((np.arange(N_CRITICAL) + 0.5) / N_CRITICAL)
    needed = np.exp(np.linspace(np.log(FEWEST), np.log(MOST), N_NEEDED))
    needed, critical = (each.ravel() for each in np.meshgrid(needed, critical, indexing="ij"))
    steepness = (ndtri(target) + critical) / np.sqrt(needed)
    log_weight = np.zeros(needed.size)
    for people, hits, studies in tried:
        p = np.clip(_power(people, steepness, critical), 1e-9, 1 - 1e-9)
        log_weight += hits * np.log(p) + (studies - hits) * np.log1p(-p)
    weight = np.exp(log_weight - log_weight.max())
    return Curve(needed, steepness, critical, weight / weight.sum())


def _power(people: float, steepness: Floats, critical: Floats) -> Floats:
    way = steepness * np.sqrt(people)
    return ndtr(way - critical) + ndtr(-way - critical)


def _quantiles(values: Floats, weight: Floats, ends: Floats) -> Floats:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order]) - weight[order] / 2
    return np.interp(ends, below, values[order])
