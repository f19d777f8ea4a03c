"""The group that is likeliest given everyone's parabola: the M step of rounds of expectation and maximisation.

    V = (sum W_i' (S + J_i^-1)^-1 W_i)^-1,    S = mean of (u_i - W_i b)(u_i - W_i b)' + Cov(u_i - W_i b)

where the last covariance counts that b is uncertain too (restricted maximum likelihood), so that S is not too small where
people are few. V is the covariance of b.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab.fitting.effects.effect_design import Design
from explorelab.fitting.empirical_bayes import PSEUDO_PEOPLE

LEAST_SD = 0.15
"""Spread of the pseudo-people, who keep the group from vanishing while it is sought by Laplace's approximation. What `em`
says does not depend on it: `weighed_group` has none."""
MOST_INSIDE = 1000
INSIDE_ENOUGH = 1e-5
"""An M step ends where the group moves by less than this, in standard units."""
SHARED_SD = 0.02
"""How far from each other people are let go while the value that they share is sought, in standard units."""
MOST_SD = 5.0
"""The widest spread of people, in standard units: few choices of few people may not bound it."""
UNSEEN = 1e-8
"""Precision of an effect about which the choices say nothing."""


class Parabolas(NamedTuple):
    """Everyone's log-likelihood near their estimate: -u' J u / 2 + pull' u and a constant."""

    information: np.ndarray
    """J: person x latent x latent."""
    pull: np.ndarray


class Around(NamedTuple):
    """The group: effects, their covariance, and how people spread around what their conditions tell."""

    effects: np.ndarray
    covariance: np.ndarray
    """V."""
    spread: np.ndarray
    """S: latent x latent; 0 where people share a value."""


class Beyond(NamedTuple):
    """What the parabolas miss: added to the equation for the effects, and to the sum of people's squared distances."""

    pull: np.ndarray
    squares: np.ndarray


def loosened(design: Design, spread: np.ndarray) -> np.ndarray:
    """The spread with a little room for values that everyone shares, so that it has an inverse."""
    return spread + np.diag(np.where(design.random, 0.0, SHARED_SD**2))


def no_more(spread: np.ndarray) -> np.ndarray:
    """The spread, no wider than it may be."""
    # With few points of few people, what they miss may leave a variance below 0 for a moment.
    sd = np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    if not (sd > MOST_SD).any():
        return spread
    share = np.minimum(1.0, MOST_SD / np.maximum(sd, 1e-300))
    return spread * np.outer(share, share)


def learned(design: Design, at: Parabolas, group: Around) -> Around:
    """The likeliest group given everyone's parabola (restricted maximum likelihood, by expectation-maximisation)."""
    weights, n = design.of_person, len(at.pull)
    spread = group.spread
    pseudo = PSEUDO_PEOPLE * LEAST_SD**2 * np.diag(design.random.astype(float))
    for _ in range(MOST_INSIDE):
        last, spread = spread, (squares(weights, at, spread)[1] + pseudo) / (n + PSEUDO_PEOPLE)
        spread = no_more((spread + spread.T) / 2)
        if sd_moved(last, spread) < INSIDE_ENOUGH:
            break
    effects, covariance, _ = effects_at(weights, at, spread)
    return Around(effects, covariance, spread)


def squares(
    weights: np.ndarray, at: Parabolas, spread: np.ndarray, beyond: Beyond | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The effects at this spread, and the sum over people of the squared distances from them that are to be expected."""
    effects, covariance, reach = effects_at(weights, at, spread, beyond)
    away = distances(weights @ effects, at, spread, reach)
    seen = reach @ at.information
    lever = np.einsum("ij,njk,nkl->nil", spread, seen, weights)
    own = spread - spread @ seen @ spread + lever @ covariance @ np.swapaxes(lever, 1, 2)
    total = away.T @ away + own.sum(0)
    return effects, total if beyond is None else total + beyond.squares


def distances(mean: np.ndarray, at: Parabolas, spread: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """How far from their mean people are under the parabolas: person x latent."""
    return np.einsum("ij,njk,nk->ni", spread, reach, at.pull - np.einsum("nij,nj->ni", at.information, mean))


def effects_at(
    weights: np.ndarray, at: Parabolas, spread: np.ndarray, beyond: Beyond | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Effects by generalised least squares, their covariance, and (1 + J S)^-1 for everyone."""
    reach = np.linalg.inv(np.eye(len(spread)) + at.information @ spread)
    precision = np.einsum("nik,nij,njl->kl", weights, reach @ at.information, weights)
    precision = (precision + precision.T) / 2 + UNSEEN * np.eye(len(precision))
    covariance = np.linalg.inv(precision)
    pull = np.einsum("nik,nij,nj->k", weights, reach, at.pull)
    return covariance @ (pull if beyond is None else pull + beyond.pull), covariance, reach


def moved_by(before: Around, after: Around) -> float:
    """How far the effects or the spread moved, in standard units."""
    return float(max(np.abs(after.effects - before.effects).max(initial=0), sd_moved(before.spread, after.spread)))


def sd_moved(before: np.ndarray, after: np.ndarray) -> float:
    """The largest change in the sd of any latent."""
    return float(np.abs(np.sqrt(np.diagonal(after)) - np.sqrt(np.diagonal(before))).max(initial=0))
