"""The one place that decides whether numbers differ by more than rounding."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from explorelab._support.checks import Floats

NEGLIGIBLE = 1e-10
"""Differences below this share of the numbers themselves are rounding: sums of a million terms stay well below it."""


def spread(values: npt.ArrayLike) -> float:
    """The standard deviation of the finite numbers; exactly 0 if they differ only by rounding, or there are none."""
    known = np.asarray(values, np.float64).ravel()
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0
    size = float(np.abs(known).max())
    # In units of the largest, so that squares of huge numbers do not overflow and those of tiny ones do not vanish.
    sd = float((known / size).std()) if size else 0.0
    return sd * size if sd > NEGLIGIBLE else 0.0


def flat(curves: Floats) -> np.ndarray:
    """Whether each curve (the last axis) is constant, up to rounding."""
    reach = np.ptp(curves, axis=-1)
    return np.asarray(reach <= NEGLIGIBLE * np.abs(curves).max(axis=-1))


def without_rounding(difference: Floats, *terms: npt.ArrayLike) -> Floats:
    """A difference of these terms; exactly 0 if it is no more than their rounding."""
    size = np.max(np.abs(np.broadcast_arrays(*terms)), axis=0)
    return np.where(np.abs(difference) <= NEGLIGIBLE * size, 0.0, difference)
