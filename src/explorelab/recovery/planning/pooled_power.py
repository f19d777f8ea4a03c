"""Power of studies that are made up of people who were fitted once, over the number of people.

The people of a pool are dealt into studies of n, again and again. The mean over all of them has at most the variance of the
mean over P/n studies without anyone in common, P people in the pool (Hoeffding 1963, section 5): an interval for so many
independent studies is honest, if somewhat wide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata

from explorelab._support.checks import Floats
from explorelab.comparison.group import group_selection
from explorelab.regret.clusters import wilson

SIZES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
"""Numbers of people, where none are asked for: those of which a pool makes two studies."""


class PowerAt(NamedTuple):
    """The power at each number of people, with its interval, and how many studies it is worth."""

    people: np.ndarray
    power: Floats
    low: Floats
    high: Floats
    studies: Floats

    def needed(self, target: float) -> tuple[float, float, float]:
        """Where the power reaches the target, with the interval of numbers that are compatible with it; inf if beyond."""
        middle, low, high = (crossing(self.people, each, target) for each in (self.power, self.high, self.low))
        return middle, low, high


def sizes(n_people: int, at: Sequence[int] | None, least: int = 4) -> list[int]:
    """Numbers of people of whom a pool makes studies: those asked for, or usual ones of at least so many."""
    return [n for n in ([n for n in SIZES if n >= least] if at is None else at) if 2 * n <= n_people] or [
        max(2, n_people // 2)
    ]


def power_of(
    pool: Floats, at: Sequence[int], succeeds: Callable[[Floats], np.ndarray], n_studies: int, seed: int
) -> PowerAt:
    """The share of studies that succeed; `succeeds` answers for an array study x person x anything."""
    shares, worth = [], []
    for n in at:
        rng = np.random.default_rng(np.random.SeedSequence([seed, 61, n]))
        shares.append(float(succeeds(pool[_dealt(len(pool), n, n_studies, rng)]).mean()))
        worth.append(len(pool) / n)
    ends = np.array([wilson(*each) for each in zip(shares, worth, strict=True)])
    return PowerAt(np.array(at), np.array(shares), ends[:, 0], ends[:, 1], np.array(worth))


def _dealt(n_people: int, n: int, n_studies: int, rng: np.random.Generator) -> np.ndarray:
    """Study x person: everyone dealt into studies, again and again."""
    each = n_people // n
    dealt = [rng.permutation(n_people)[: each * n].reshape(each, n) for _ in range(-(-n_studies // each))]
    return np.concatenate(dealt)[:n_studies]


def rank_correlations(studies: Floats) -> Floats:
    """Spearman's correlation of the first two columns, study by study; 0 where one of them does not vary."""
    ranks = rankdata(studies[..., :2], axis=1)
    off = ranks - ranks.mean(1, keepdims=True)
    size = np.sqrt((off**2).sum(1).prod(1))
    return np.where(size > 0, off.prod(2).sum(1) / np.where(size > 0, size, 1.0), 0.0)


def found_by_group(evidence: Floats, model: int, at_least: float) -> np.ndarray:
    """Whether group selection names this model, with at least this exceedance probability, study by study."""
    found = []
    for each in evidence:
        group = group_selection(each)
        exceedance = group["protected_exceedance"].values
        found.append(bool(exceedance.argmax() == model and exceedance[model] >= at_least))
    return np.array(found)


def crossing(people: np.ndarray, power: Floats, target: float) -> float:
    """The number of people at which an increasing curve through these powers reaches the target; inf if it does not."""
    rising = np.asarray(isotonic_regression(power).x)
    above = np.flatnonzero(rising >= target - 1e-12)
    if not above.size:
        return float("inf")
    k = int(above[0])
    if k == 0:
        return float(people[0])
    roots = np.sqrt(people[k - 1 : k + 1])
    share = (target - rising[k - 1]) / (rising[k] - rising[k - 1])
    return float((roots[0] + share * (roots[1] - roots[0])) ** 2)
