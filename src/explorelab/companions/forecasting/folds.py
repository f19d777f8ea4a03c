"""Folds of people, and what is expected of those in each: the group learned from everyone outside it.

What anybody's likelihood looks like is found once, from their own choices alone and in units of their own rewards; every
group begins there. So nothing of a fold enters its group, and the same search is not made again for every fold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab._support.parallel import cores, in_order
from explorelab._support.progress import Progress
from explorelab.agents import Agent
from explorelab.choices.table import Choices
from explorelab.companions.scene import Group, Scene, scene_from
from explorelab.fitting.empirical_bayes import group_from
from explorelab.fitting.fit_people import check_likelihood, check_possible
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.results import on_natural_scale
from explorelab.fitting.search.batches import single_threaded_algebra
from explorelab.fitting.search.best import best_of_starts, rows_of_each, with_prior
from explorelab.fitting.search.solve import limits
from explorelab.fitting.spaces import Changes, standard


class Request(NamedTuple):
    """What is fitted to whom, and from how many starts."""

    choices: Choices
    agent: str | Agent
    free: tuple[str, ...] | None
    fixed: dict[str, object] | None
    space: Changes | None
    n_starts: int
    seed: int

    def prepared(self, seen: np.ndarray) -> Fitted:
        """The agent in units of the rewards in these rows."""
        return prepare(self.choices, self.agent, self.free, self.fixed, self.space, seen=seen)  # type: ignore[arg-type]


class Minima(NamedTuple):
    """Where everyone's own search ended."""

    natural: dict[str, np.ndarray]
    """Parameters in natural units, for everyone."""
    value: np.ndarray
    """The objective there; NaN if it is finite nowhere."""


def folds_of_people(n_people: int, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each person: folds are as large as each other to within one."""
    order = np.random.default_rng(np.random.SeedSequence([seed, 3])).permutation(n_people)
    fold = np.empty(n_people, int)
    fold[order] = np.arange(n_people) % n_folds
    return fold


def scenes_of_folds(request: Request, fold: np.ndarray, progress: bool | None) -> tuple[list[Scene], bool]:
    """For each fold, what is expected of the people in it; and whether every group settled."""
    check_likelihood(request.choices, request.prepared(np.arange(request.choices.n_rows)))
    minima = own_minima(request, progress)
    scenes, settled = [], True
    for number in range(fold.max() + 1):
        scene, done = scene_of_fold(request, minima, fold != number, f"fold {number + 1} of {fold.max() + 1}", progress)
        scenes.append(scene)
        settled = settled and done
    return scenes, settled


def own_minima(request: Request, progress: bool | None) -> Minima:
    """Everyone's most probable parameters under the weak prior, each from their own choices alone."""
    each = rows_of_each(request.choices)
    most = max(len(rows) for rows in each)

    def one(rows: np.ndarray) -> tuple[np.ndarray, float]:
        fitted = request.prepared(rows)
        # As many rows for everyone, so that one program serves all.
        problem = with_prior(fitted, [np.pad(rows, (0, most - len(rows)), mode="edge")], prior=True)
        problem = problem._replace(weight=(np.arange(most) < len(rows)).astype(float)[None])
        best = best_of_starts(fitted, problem, request.n_starts, request.seed, "", progress=False)
        return on_natural_scale(fitted.space, best.z)[0], float(best.value[0])

    found = []
    with single_threaded_algebra(), Progress("everyone alone", len(each), progress) as bar:
        for result in in_order(one, each, cores(), first_alone=True):
            found.append(result)
            bar.advance()
    fitted = request.prepared(each[0])
    value = np.array([value for _, value in found])
    check_possible(request.choices, fitted, np.arange(len(each)), value)
    at = np.stack([natural for natural, _ in found])
    return Minima({dimension.name: at[:, i] for i, dimension in enumerate(fitted.space)}, value)


def scene_of_fold(
    request: Request, minima: Minima, others: np.ndarray, label: str = "group", progress: bool | None = None
) -> tuple[Scene, bool]:
    """What the others (a mask over people) let one expect of anybody else; and whether their group settled."""
    fitted = request.prepared(np.flatnonzero(others[request.choices.participant]))
    p = len(fitted.space)
    if not p:
        return scene_from(request.choices, fitted, Group(np.zeros(0), np.zeros((0, 0)))), True
    rows = [own for own, other in zip(rows_of_each(request.choices), others, strict=True) if other]
    start = standard(fitted.space, {name: values[others] for name, values in minima.natural.items()})
    start = np.clip(np.where(np.isfinite(start), start, 0.0), *limits(fitted.space))
    mean, covariance, settled = group_from(fitted, rows, start, label=label, progress=progress)
    return scene_from(request.choices, fitted, Group(mean, covariance)), settled
