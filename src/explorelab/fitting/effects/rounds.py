"""Effects by empirical Bayes: the group around everyone's own mean, learned by expectation-maximisation.

    E: each person's likelihood as a parabola in u around the MAP under the prior N(W_i b, S): information J_i and slope
    M: b and S that are likeliest given the parabolas, b by generalised least squares,

        V = (sum W_i' (S + J_i^-1)^-1 W_i)^-1,    S = mean of (u_i - W_i b)(u_i - W_i b)' + Cov(u_i - W_i b)

where the last covariance counts that b is uncertain too (restricted maximum likelihood), so that S is not too small where
people are few. V is the covariance of b. Nothing needs the inverse of S or J_i: parameters that everyone shares have
variance 0, and choices may say nothing about some direction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab._support import checks
from explorelab.fitting.effects.effect_design import Design
from explorelab.fitting.empirical_bayes import PSEUDO_PEOPLE
from explorelab.fitting.model import Fitted
from explorelab.fitting.objective import Curvature
from explorelab.fitting.search.best import Best, best_of_starts, with_prior
from explorelab.fitting.search.optimise import Status
from explorelab.fitting.search.solve import Ending, Problem, bends, endings, minimised, problems

LEAST_SD = 0.15
"""Spread of the pseudo-people: less than without effects, as too wide a group would make intervals of effects too wide."""
MOST_INSIDE = 1000
INSIDE_ENOUGH = 1e-5
"""An M step ends where the group moves by less than this, in standard units."""
SHARED_SD = 0.02
"""How far from each other people are let go while the value that they share is sought, in standard units."""
SLOWEST = 1 / 8
"""The least share of a step that the group goes where steps lead back and forth."""
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


class EffectsFit(NamedTuple):
    """The group with its effects, and everyone's estimates under it."""

    group: Around
    best: Best
    """`z` holds levels and slopes."""
    ending: Ending
    information: np.ndarray
    gradient: np.ndarray
    """Of the negative log-likelihood alone, where everyone ended."""
    steps: np.ndarray
    settled: bool


def fit_effects(
    fitted: Fitted,
    row_lists: list[np.ndarray],
    starts: int = 4,
    seed: int = 0,
    rounds: int = 30,
    tolerance: float = 0.01,
    progress: bool | None = None,
) -> EffectsFit:
    """The effects and the group, and everyone's posterior."""
    rounds = checks.whole("rounds", rounds, at_least=1, at_most=checks.MANY)
    design = fitted.design
    assert design is not None
    each = with_prior(fitted, row_lists, prior=True)
    best = best_of_starts(fitted, each, starts, seed, "fitting", progress)
    group = Around(np.zeros(design.n_effects), np.eye(design.n_effects), np.diag(design.random.astype(float)))
    z, status, value, n_steps, moved, settled = best.z, best.status, best.value, best.n_steps, [], False
    pace, last = 1.0, np.zeros(design.n_effects)
    for number in range(1, rounds + 1):
        before = group
        group = learned(design, parabolas(fitted, each, z, status, progress), before)
        moved.append(_moved(before, group))
        # A parabola is only what the likelihood looks like nearby: steps that go back and forth are shortened.
        step = group.effects - before.effects
        pace = max(pace / 2, SLOWEST) if step @ last < 0 else pace
        group, last = _part_of_the_way(before, group, pace), step
        prior = problems(row_lists, design.of_person @ group.effects, np.linalg.inv(_loosened(design, group.spread)))
        ended = minimised(fitted, prior, z, f"effects, round {number}", progress)
        usable = np.isfinite(ended.value)
        z = np.where(usable[:, None], ended.z, z)
        value, status, n_steps = ended.value, ended.status, ended.n_steps
        settled = moved[-1] < tolerance and number > 1
        if settled:
            break
    z = np.where(design.random, z, design.of_person @ group.effects)
    bent = bends(fitted, each, z, progress)
    group = learned(design, _parabolas(bent, z, status), group)
    prior = problems(row_lists, design.of_person @ group.effects, np.linalg.inv(_loosened(design, group.spread)))
    lost = best.start_values - best.value[:, None]
    final = Best(z, value, status, n_steps, lost + value[:, None])
    ending = endings(fitted, prior, z, progress)
    return EffectsFit(
        group, final, ending, np.asarray(bent.information), np.asarray(bent.gradient), np.array(moved), settled
    )


def _loosened(design: Design, spread: np.ndarray) -> np.ndarray:
    """The spread with a little room for values that everyone shares, so that it has an inverse."""
    return spread + np.diag(np.where(design.random, 0.0, SHARED_SD**2))


def parabolas(fitted: Fitted, each: Problem, z: np.ndarray, status: np.ndarray, progress: bool | None) -> Parabolas:
    """Everyone's likelihood near these points; nothing is learned from someone whose likelihood is not finite."""
    return _parabolas(bends(fitted, each, z, progress), z, status)


def _parabolas(at: Curvature, z: np.ndarray, status: np.ndarray) -> Parabolas:
    known = (status != Status.NOT_FINITE) & np.isfinite(at.gradient).all(1) & np.isfinite(at.information).all((1, 2))
    information = np.where(known[:, None, None], at.information, 0.0)
    information = (information + np.swapaxes(information, 1, 2)) / 2
    pull = np.einsum("nij,nj->ni", information, z) - np.where(known[:, None], at.gradient, 0.0)
    return Parabolas(information, pull)


def learned(design: Design, at: Parabolas, group: Around) -> Around:
    """The likeliest group given everyone's parabola (restricted maximum likelihood, by expectation-maximisation)."""
    weights, n = design.of_person, len(at.pull)
    spread = group.spread
    pseudo = PSEUDO_PEOPLE * LEAST_SD**2 * np.diag(design.random.astype(float))
    for _ in range(MOST_INSIDE):
        effects, covariance, reach = _effects(weights, at, spread)
        mean = weights @ effects
        seen = reach @ at.information
        away = np.einsum("ij,njk,nk->ni", spread, reach, at.pull - np.einsum("nij,nj->ni", at.information, mean))
        lever = np.einsum("ij,njk,nkl->nil", spread, seen, weights)
        own = spread - spread @ seen @ spread + lever @ covariance @ np.swapaxes(lever, 1, 2)
        last, spread = spread, (away.T @ away + own.sum(0) + pseudo) / (n + PSEUDO_PEOPLE)
        spread = (spread + spread.T) / 2
        if np.abs(np.sqrt(np.diagonal(spread)) - np.sqrt(np.diagonal(last))).max(initial=0) < INSIDE_ENOUGH:
            break
    effects, covariance, _ = _effects(weights, at, spread)
    return Around(effects, covariance, spread)


def _effects(weights: np.ndarray, at: Parabolas, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Effects by generalised least squares, their covariance, and (1 + J S)^-1 for everyone."""
    reach = np.linalg.inv(np.eye(len(spread)) + at.information @ spread)
    precision = np.einsum("nik,nij,njl->kl", weights, reach @ at.information, weights)
    precision = (precision + precision.T) / 2 + UNSEEN * np.eye(len(precision))
    covariance = np.linalg.inv(precision)
    return covariance @ np.einsum("nik,nij,nj->k", weights, reach, at.pull), covariance, reach


def _part_of_the_way(before: Around, after: Around, share: float) -> Around:
    effects, spread = ((1 - share) * old + share * new for old, new in ((before[0], after[0]), (before[2], after[2])))
    return after._replace(effects=effects, spread=spread)


def _moved(before: Around, after: Around) -> float:
    sd_before, sd_after = (np.sqrt(np.diagonal(group.spread)) for group in (before, after))
    return float(max(np.abs(after.effects - before.effects).max(initial=0), np.abs(sd_after - sd_before).max(initial=0)))
