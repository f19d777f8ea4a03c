"""The difference of two means when people are the units: each person in one of two arms, in both, or some of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from explorelab._support.checks import Floats
from explorelab.regret.clusters import LEVEL


class Difference(NamedTuple):
    """A difference and its interval; NaN where it cannot be known."""

    value: float
    low: float
    high: float


UNKNOWN = Difference(np.nan, np.nan, np.nan)


def per_person(values: Floats, who: np.ndarray, n_people: int) -> Floats:
    """Each person's mean, so that everyone counts once however many blocks they played; NaN for those without any."""
    counts = np.bincount(who, minlength=n_people)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(who, values, n_people) / counts)


def difference(first: Floats, second: Floats, level: float = LEVEL) -> Difference:
    """The mean over people of `first` minus that of `second`, with Student's interval.

    Both have a number for every person, NaN where they have none. If nobody has both, this is Welch's interval; if everybody
    has both, that of paired differences. In between, the variance is the sum over people of what each contributes to the
    difference, squared, with the usual n / (n - 1) for each mean; degrees of freedom are Satterthwaite's, from the people
    who have the first alone, the second alone, and both.
    """
    has = np.isfinite(first), np.isfinite(second)
    n = [int(each.sum()) for each in has]
    if not all(n):
        return UNKNOWN
    values = (first, second)
    value = float(np.mean(first[has[0]]) - np.mean(second[has[1]]))
    if min(n) < 2:
        return Difference(value, np.nan, np.nan)
    share = [
        np.where(at, each - np.mean(each[at]), 0.0) / np.sqrt(m * (m - 1))
        for each, at, m in zip(values, has, n, strict=True)
    ]
    strata = has[0] & ~has[1], has[1] & ~has[0], has[0] & has[1]
    variances = [float((((share[0] - share[1])[at]) ** 2).sum()) for at in strata]
    degrees = [n[0] - 1, n[1] - 1, max(int(strata[2].sum()) - 1, 1)]
    total = sum(variances)
    if total == 0:
        return Difference(value, value, value)
    df = total**2 / sum(part**2 / m for part, m in zip(variances, degrees, strict=True))
    reach = float(stdtrit(df, (1 + level) / 2)) * np.sqrt(total)
    return Difference(value, value - reach, value + reach)


def mean_of(values: Floats, level: float = LEVEL) -> Difference:
    """The mean over the people who have a number, with Student's interval."""
    known = values[np.isfinite(values)]
    if not known.size:
        return UNKNOWN
    mean = float(known.mean())
    if known.size < 2:
        return Difference(mean, np.nan, np.nan)
    reach = float(stdtrit(known.size - 1, (1 + level) / 2) * known.std(ddof=1) / np.sqrt(known.size))
    return Difference(mean, mean - reach, mean + reach)
