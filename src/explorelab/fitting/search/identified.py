"""Which parameters a person's choices identify, and why the others are not.

Under a prior an estimate has a standard error even if the choices say nothing. So the measure is the share of the prior
variance that is left once the choices are seen. The prior sd is the standard unit of the parameter's space or, where the
group's distribution was learned, the group's spread; an estimate shrunk entirely to the group keeps all of its variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab._support.checks import Variables
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.solve import limits

NEAR_BOUND = 0.02
"""A parameter within this many standard units of a bound counts as at the bound."""
MOST_LEFT = 0.5
"""If more than this share of the variance is left, the choices say too little."""
TIED = 0.95
"""Two estimates this strongly correlated trade off: the choices determine their combination, not each one."""


SILENT = "no choice among several arms"
"""The remark for someone who never had a choice, or never made one."""


class Identified(NamedTuple):
    """How well everyone's estimates are identified, each participant x parameter."""

    at_bound: np.ndarray
    remark: np.ndarray
    """Why an estimate is not identified; empty if it is."""
    variance_left: np.ndarray
    """Share of the prior variance that remains."""

    def without(self, silent: np.ndarray) -> Identified:
        """The same, with these people (a mask) marked as having made no informative choice."""
        remark = np.where(silent[:, None], SILENT, self.remark) if silent.any() else self.remark
        return self._replace(remark=remark)

    def table(self) -> Variables:
        """The same as variables of a table of estimates."""
        told = {**self._asdict(), "identified": self.remark == ""}
        return {name: (("participant", "parameter"), values) for name, values in told.items()}


def identified(fitted: Fitted, z: np.ndarray, covariance: np.ndarray, prior_sd: np.ndarray | float = 1.0) -> Identified:
    """How well estimates (in standard units) are identified, judged by their covariance and the prior."""
    space = fitted.space
    low, high = limits(fitted.space)
    at_low, at_high = z <= low + NEAR_BOUND, z >= high - NEAR_BOUND
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    left = variance / np.broadcast_to(prior_sd, len(space)) ** 2
    tie = correlations(covariance)
    tie[:, np.arange(len(space)), np.arange(len(space))] = 0.0
    text = np.full(z.shape, "", dtype=object)
    for i, dimension in enumerate(space):
        other = np.abs(tie[:, i]).argmax(1)
        strength = tie[np.arange(len(tie)), i, other]
        tied = np.abs(strength) > TIED
        for who in np.nonzero(tied)[0]:
            text[who, i] = f"trades off with {space[other[who]].name} (correlation {strength[who]:+.2f})"
        text[(left[:, i] > MOST_LEFT) & ~tied, i] = "the choices say little about it"
        text[at_low[:, i], i] = f"at its lower bound, {dimension.low:g}"
        text[at_high[:, i], i] = f"at its upper bound, {dimension.high:g}"
    return Identified(at_low | at_high, text.astype(str), left)


def correlations(covariance: np.ndarray) -> np.ndarray:
    """The correlations between each person's estimates, from their covariances."""
    se = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return covariance / np.maximum(se[:, :, None] * se[:, None, :], 1e-300)
