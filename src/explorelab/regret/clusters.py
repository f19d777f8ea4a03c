"""Means and shares over rows that are clustered by participant, since a person may have several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from explorelab._support.checks import Floats

LEVEL = 0.95


class Band(NamedTuple):
    """A mean curve and the ends of its pointwise interval."""

    mean: Floats
    low: Floats
    high: Floats


def mean_band(curves: Floats, who: np.ndarray, level: float = LEVEL) -> Band:
    """The mean of curves (one per row) and its pointwise interval; NaN without curves, no interval for a single person.

    The variance of the mean is that of clusters, C/(C - 1) sum over people of (sum of their deviations)^2 / n^2, with C
    people and n curves; for one curve each it is the usual s^2 / n. The interval uses Student's t with C - 1 degrees.
    """
    if not len(curves):
        return Band(*(np.full(curves.shape[1], np.nan) for _ in range(3)))
    mean = curves.mean(0)
    error = np.sqrt(_clustered_variance(curves, who))
    people = np.unique(who).size
    reach = stdtrit(people - 1, (1 + level) / 2) * error if people > 1 else np.full_like(mean, np.nan)
    return Band(mean, mean - reach, mean + reach)


def band_of_known(curves: Floats, who: np.ndarray) -> Band:
    """The same, at each time over the curves that are known there; NaN at times without any."""
    parts = [mean_band(curves[known, t : t + 1], who[known]) for t, known in enumerate(np.isfinite(curves).T)]
    return Band(*(np.array([getattr(part, name)[0] for part in parts]) for name in Band._fields))


def clustered_share(is_one: np.ndarray, who: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """The interval of a share of rows when people contribute several rows, which may be alike.

    This is Wilson's interval for the equivalent number of independent rows, share (1 - share) / variance, with the
    clustered variance, to which a bootstrap over people converges. Unlike that bootstrap's percentiles, it does not shrink
    to a point if all rows or none are of a kind; the number of rows is then taken to be the number of people. It never
    exceeds the actual number of rows.
    """
    share = float(is_one.mean())
    people = np.unique(who).size
    variance = float(_clustered_variance(is_one[:, None].astype(np.float64), who)[0]) if people > 1 else 0.0
    worth = share * (1 - share) / variance if variance > 0 else float(people)
    return wilson(share, min(worth, float(is_one.size)), level)


def wilson(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval of a share of n (which need not be whole)."""
    z = ndtri((1 + level) / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))


def _clustered_variance(values: Floats, who: np.ndarray) -> Floats:
    """The variance of the mean over rows, from the sums of each person's deviations; NaN for one person."""
    people, back = np.unique(who, return_inverse=True)
    if people.size < 2:
        return np.full(values.shape[1], np.nan)
    sums = np.zeros((people.size, values.shape[1]))
    np.add.at(sums, back, values - values.mean(0))
    return people.size / (people.size - 1) * (sums**2).sum(0) / len(values) ** 2
