"""Least squares where people are the units: errors of one person may be alike, and of people be unlike.

The variance of the coefficients is the cluster-robust one with Bell and McCaffrey's correction (CR2: unbiased if errors are
in fact independent and alike), intervals use Student's t with their degrees of freedom (Satterthwaite's), so that they hold
with few people and uneven designs too (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018). For one number per person and two
groups, the variance is that of Welch's test; for two numbers of everybody, that of paired differences.

    V = M (sum of X_i' A_i e_i e_i' A_i X_i) M,   M = (X'X)^-1,   A_i = (1 - X_i M X_i')^(-1/2)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from explorelab._support.checks import Floats
from explorelab._support.rounding import spread
from explorelab.regret.clusters import LEVEL
from explorelab.regret.differences import Difference

ALIKE = 1e-8
"""What counts as rounding, relative to the largest."""


class Fitted(NamedTuple):
    """A regression, ready for contrasts of its coefficients."""

    coefficients: Floats
    inverse: Floats
    """M."""
    design: Floats
    starts: np.ndarray
    """The first row of each person; rows are sorted by person."""
    roots: list[Floats]
    """X_i' A_i of each person: coefficient x row."""
    scores: Floats
    """X_i' A_i e_i: person x coefficient."""


def regression(design: Floats, values: Floats, who: np.ndarray) -> Fitted:
    """Least squares of values (one per row) on a design (row x coefficient), rows clustered by person.

    The intercept is not for contrasts: where all values are alike, they are taken for 0.
    """
    if spread(values) == 0:  # all alike: no difference, rather than one of rounding
        values = np.zeros_like(values)
    order = np.argsort(who, kind="stable")
    design, values, who = design[order], values[order], who[order]
    inverse = np.linalg.pinv(design.T @ design, rcond=ALIKE, hermitian=True)
    coefficients = inverse @ design.T @ values
    residuals = values - design @ coefficients
    starts = np.unique(who, return_index=True)[1]
    parts = list(zip(np.split(design, starts[1:]), np.split(residuals, starts[1:]), strict=True))
    roots = [own.T @ _root(np.eye(len(own)) - own @ inverse @ own.T) for own, _ in parts]
    scores = np.array([root @ own for root, (_, own) in zip(roots, parts, strict=True)])
    return Fitted(coefficients, inverse, design, starts, roots, scores)


def _root(matrix: Floats) -> Floats:
    """The inverse of the symmetric square root, in the directions that have one."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.where(values > ALIKE, 1 / np.sqrt(np.maximum(values, ALIKE)), 0.0) @ vectors.T)


def estimable(fitted: Fitted, weights: Floats) -> bool:
    """Whether the data determine this sum of coefficients, whatever the values are."""
    gram = fitted.design.T @ fitted.design
    return bool(np.allclose(gram @ (fitted.inverse @ weights), weights, atol=1e-6))


def contrast(fitted: Fitted, weights: Floats, level: float = LEVEL) -> Difference:
    """A sum of coefficients with its interval."""
    value = float(weights @ fitted.coefficients)
    reach = fitted.inverse @ weights
    variance = float(((fitted.scores @ reach) ** 2).sum())
    # Degrees of freedom: the numbers g_i'g_j of all pairs of people, where e_i' A_i X_i M c = g_i' errors.
    sides = [root.T @ reach for root in fitted.roots]
    own = np.array([side @ side for side in sides])
    seen = np.array([part.T @ side for part, side in zip(np.split(fitted.design, fitted.starts[1:]), sides, strict=True)])
    products = np.diag(own) - seen @ fitted.inverse @ seen.T
    total = float(np.trace(products))
    squares = float((products**2).sum())
    if total <= ALIKE * float(own.sum()) or squares == 0:
        return Difference(value, np.nan, np.nan)
    half = float(stdtrit(total**2 / squares, (1 + level) / 2)) * np.sqrt(variance)
    return Difference(value, value - half, value + half)
