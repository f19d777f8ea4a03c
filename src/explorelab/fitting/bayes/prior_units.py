"""The population's prior in units of fewer rewards: standard units follow the rewards, also those to be left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorelab.choices.table import Choices
from explorelab.fitting.model import Fitted
from explorelab.fitting.spaces import Changes, Dimension, Origin, origin_of, space_for

_FIELDS = ("scale", "centre", "spread", "low", "high")


def change_of_prior(here: Origin, there: Origin, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """The change in the log prior of the population's mean and sd (last axis: parameter) if units were those of `there`."""
    mean_there, sd_there = (here.middle + here.spread * mean - there.middle) / there.spread, here.spread * sd / there.spread
    squares: np.ndarray = (mean**2 - mean_there**2 + sd**2 - sd_there**2).sum(-1) / 2
    return squares + 2 * np.log(here.spread / there.spread).sum()


def change_without(choices: Choices, fitted: Fitted, mean: np.ndarray, sd: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The same if units came from these rows alone; what a user has set stays."""
    if not len(kept):
        return np.zeros(mean.shape[:-1])
    names = [dimension.name for dimension in fitted.space]
    there = space_for(names, choices.rows(kept), _set_by_user(fitted, choices))
    return change_of_prior(Origin(*fitted.data.origin), origin_of(there), mean, sd)


def _set_by_user(fitted: Fitted, choices: Choices) -> Changes:
    """Where the fit's space differs from the one that would follow from all rewards."""
    default = space_for([dimension.name for dimension in fitted.space], choices)
    return {own.name: _differing(own, other) for own, other in zip(fitted.space, default, strict=True)}


def _differing(own: Dimension, other: Dimension) -> dict[str, Any]:
    return {field: getattr(own, field) for field in _FIELDS if getattr(own, field) != getattr(other, field)}
