"""Effects by empirical Bayes: the group around everyone's own mean, learned by expectation-maximisation.

    E: each person's likelihood as a parabola in u around the MAP under the prior N(W_i b, S): information J_i and slope
    M: b and S that are likeliest given the parabolas (`group_step`)

No step needs the inverse of S or J_i: parameters that everyone shares have variance 0, and choices may say nothing about
some direction. `weighed_group` then mends what Laplace's approximation gets wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab._support import checks
from explorelab.fitting.effects.freedom import Sensitivity
from explorelab.fitting.effects.group_step import Around, Parabolas, learned, loosened, moved_by
from explorelab.fitting.effects.weighed_group import weighed_group
from explorelab.fitting.model import Fitted
from explorelab.fitting.objective import Curvature
from explorelab.fitting.search.best import Best, best_of_starts, with_prior
from explorelab.fitting.search.optimise import Status
from explorelab.fitting.search.solve import Ending, Problem, bends, endings, minimised, problems

SLOWEST = 1 / 8
"""The least share of a step that the group goes where steps lead back and forth."""


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
    sensitivity: Sensitivity | None = None
    """For degrees of freedom; None by Laplace's approximation alone."""


def fit_effects(
    fitted: Fitted,
    row_lists: list[np.ndarray],
    starts: int = 4,
    seed: int = 0,
    rounds: int = 30,
    tolerance: float = 0.01,
    progress: bool | None = None,
    weighed: bool = True,
) -> EffectsFit:
    """The effects and the group, and everyone's posterior; by Laplace's approximation alone unless `weighed`."""
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
        moved.append(moved_by(before, group))
        # A parabola is only what the likelihood looks like nearby: steps that go back and forth are shortened.
        step = group.effects - before.effects
        pace = max(pace / 2, SLOWEST) if step @ last < 0 else pace
        group, last = _part_of_the_way(before, group, pace), step
        prior = problems(row_lists, design.of_person @ group.effects, np.linalg.inv(loosened(design, group.spread)))
        ended = minimised(fitted, prior, z, f"effects, round {number}", progress)
        usable = np.isfinite(ended.value)
        z = np.where(usable[:, None], ended.z, z)
        value, status, n_steps = ended.value, ended.status, ended.n_steps
        settled = moved[-1] < tolerance and number > 1
        if settled:
            break
    z = np.where(design.random, z, design.of_person @ group.effects)
    bent = bends(fitted, each, z, progress)
    at = _parabolas(bent, z, status)
    group, sensitivity = learned(design, at, group), None
    if weighed:
        group, sensitivity, calm = weighed_group(fitted, at, group, row_lists, seed, progress)
        settled = settled and calm
    prior = problems(row_lists, design.of_person @ group.effects, np.linalg.inv(loosened(design, group.spread)))
    if weighed:
        ended = minimised(fitted, prior, z, "effects, everyone", progress)
        usable = np.isfinite(ended.value)
        z = np.where(design.random & usable[:, None], ended.z, np.where(design.random, z, design.of_person @ group.effects))
        value, status, n_steps = ended.value, ended.status, ended.n_steps
        bent = bends(fitted, each, z, progress)
    lost = best.start_values - best.value[:, None]
    information = np.asarray(bent.information) + prior.precision
    final = Best(z, value, status, n_steps, lost + value[:, None], information)
    ending = endings(fitted, prior, z, progress)
    return EffectsFit(
        group, final, ending, np.asarray(bent.information), np.asarray(bent.gradient), np.array(moved), settled, sensitivity
    )


def parabolas(fitted: Fitted, each: Problem, z: np.ndarray, status: np.ndarray, progress: bool | None) -> Parabolas:
    """Everyone's likelihood near these points; nothing is learned from someone whose likelihood is not finite."""
    return _parabolas(bends(fitted, each, z, progress), z, status)


def _parabolas(at: Curvature, z: np.ndarray, status: np.ndarray) -> Parabolas:
    known = (status != Status.NOT_FINITE) & np.isfinite(at.gradient).all(1) & np.isfinite(at.information).all((1, 2))
    information = np.where(known[:, None, None], at.information, 0.0)
    information = (information + np.swapaxes(information, 1, 2)) / 2
    pull = np.einsum("nij,nj->ni", information, z) - np.where(known[:, None], at.gradient, 0.0)
    return Parabolas(information, pull)


def _part_of_the_way(before: Around, after: Around, share: float) -> Around:
    effects, spread = ((1 - share) * old + share * new for old, new in ((before[0], after[0]), (before[2], after[2])))
    return after._replace(effects=effects, spread=spread)
