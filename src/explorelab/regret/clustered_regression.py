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


class Alike(NamedTuple):
    """People with equally many rows."""

    design: Floats
    """X_i: person x row x coefficient."""
    root: Floats
    """A_i: person x row x row."""


class Fitted(NamedTuple):
    """A regression, ready for contrasts of its coefficients."""

    coefficients: Floats
    inverse: Floats
    """M."""
    design: Floats
    people: list[Alike]
    scores: Floats
    """X_i' A_i e_i: person x coefficient, in the order of `people`."""


def regression(design: Floats, values: Floats, who: np.ndarray) -> Fitted:
    """Least squares of values (one per row) on a design (row x coefficient), rows clustered by person.

    The intercept is not for contrasts: where all values are alike, they are taken for 0.
    """
    if spread(values) == 0:  # all alike: no difference, rather than one of rounding
        values = np.zeros_like(values)
    order = np.argsort(who, kind="stable")
    design, values = design[order], values[order]
    inverse = np.linalg.pinv(design.T @ design, rcond=ALIKE, hermitian=True)
    coefficients = inverse @ design.T @ values
    residuals = values - design @ coefficients
    _, starts, counts = np.unique(who[order], return_index=True, return_counts=True)
    people, scores = [], []
    for n in np.unique(counts):
        rows = starts[counts == n][:, None] + np.arange(n)
        own = design[rows]
        root = _root(np.eye(n) - own @ inverse @ np.swapaxes(own, 1, 2))
        people.append(Alike(own, root))
        scores.append(np.einsum("nrc,nrs,ns->nc", own, root, residuals[rows]))
    return Fitted(coefficients, inverse, design, people, np.concatenate(scores))


def _root(matrix: Floats) -> Floats:
    """The inverse of the symmetric square root of each matrix, in the directions that have one."""
    values, vectors = np.linalg.eigh(matrix)
    scaled = vectors * np.where(values > ALIKE, 1 / np.sqrt(np.maximum(values, ALIKE)), 0.0)[:, None, :]
    return np.asarray(scaled @ np.swapaxes(vectors, 1, 2))


def estimable(fitted: Fitted, weights: Floats) -> bool:
    """Whether the data determine this sum of coefficients, whatever the values are."""
    gram = fitted.design.T @ fitted.design
    return bool(np.allclose(gram @ (fitted.inverse @ weights), weights, atol=1e-6))


def contrast(fitted: Fitted, weights: Floats, level: float = LEVEL) -> Difference:
    """A sum of coefficients with its interval."""
    value = float(weights @ fitted.coefficients)
    reach = fitted.inverse @ weights
    variance = float(((fitted.scores @ reach) ** 2).sum())
    # Degrees of freedom: with e_i' A_i X_i M c = g_i' errors, the squared sum of g_i'g_i over the sum of all (g_i'g_j)^2,
    # where g_i'g_j is -s_i' M s_j, and own_i more for i = j.
    own, seen = [], []
    for each in fitted.people:
        side = np.einsum("nrs,nsc,c->nr", each.root, each.design, reach)
        own.append((side**2).sum(1))
        seen.append(np.einsum("nrc,nr->nc", each.design, side))
    alone, s = np.concatenate(own), np.concatenate(seen)
    less = np.einsum("nc,cd,nd->n", s, fitted.inverse, s)
    total = float((alone - less).sum())
    gram = s.T @ s @ fitted.inverse
    squares = float((alone**2 - 2 * alone * less).sum() + np.trace(gram @ gram))
    if total <= ALIKE * float(alone.sum()) or squares <= 0:
        return Difference(value, np.nan, np.nan)
    half = float(stdtrit(total**2 / squares, (1 + level) / 2)) * np.sqrt(variance)
    return Difference(value, value - half, value + half)
