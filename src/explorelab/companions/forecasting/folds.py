"""Folds of people, and what is expected of those in each: the group learned from everyone outside it.

What anybody's likelihood looks like is found once, from their own choices alone and in units of their own rewards; every
group begins there. So nothing of a fold enters its group, and the same search is not made again for every fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from explorelab._support.work import units
from explorelab.agents import Agent
from explorelab.agents.agent_names import parsed
from explorelab.agents.registry import agent_named
from explorelab.choices.table import Choices
from explorelab.companions.scene import Group, Scene, scene_from
from explorelab.fitting.empirical_bayes import group_from
from explorelab.fitting.fit_people import check_possible
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.results import on_natural_scale
from explorelab.fitting.search.batches import single_threaded_algebra
from explorelab.fitting.search.best import best_of_starts, rows_of_each, with_prior
from explorelab.fitting.search.likelihood_checks import check_likelihood
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

    def of(self, rows: np.ndarray) -> Request:
        """The same for these rows alone."""
        return self._replace(choices=cut_out(self.choices, rows))

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


def request_for(
    choices: Choices,
    agent: str | Agent,
    free: Sequence[str] | None,
    fixed: Mapping[str, object] | None,
    space: Changes | None,
    n_starts: int,
    seed: int,
) -> Request:
    """The request, with a user's own agent as it is here: other processes may not find it by what it was called."""
    names = None if free is None else (free,) if isinstance(free, str) else tuple(free)
    values = None if fixed is None else dict(fixed)
    if isinstance(agent, str):
        name, given = parsed(agent)
        if (made := agent_named(name)).own:
            agent, values = made, {**given, **(values or {})}
    return Request(choices, agent, names, values, space, n_starts, seed)


def cut_out(choices: Choices, rows: np.ndarray) -> Choices:
    """These rows of the choices, with all their trials, so that programs for everyone serve."""
    of_row = ("block", "arm", "reward", "observed", "scored", "present", "available", "means", "start", "missed")
    arrays: dict[str, Any] = {name: None if (array := getattr(choices, name)) is None else array[rows] for name in of_row}
    who, renumbered = np.unique(choices.participant[rows], return_inverse=True)
    people = tuple(choices.participants[i] for i in who)
    nothing: dict[str, Any] = {"conditions": {}, "exclusions": (), "table": None, "advice": None}
    return replace(choices, participants=people, participant=renumbered, **arrays, **nothing)


def scenes_of_folds(request: Request, fold: np.ndarray, progress: bool | None) -> tuple[list[Scene], bool]:
    """For each fold, what is expected of the people in it; and whether every group settled."""
    check_likelihood(request.choices, request.prepared(np.arange(request.choices.n_rows)))
    minima = own_minima(request, progress)
    everyone = request.of(np.arange(request.choices.n_rows))
    folds = [(everyone, minima, fold != number) for number in range(fold.max() + 1)]
    if units.is_divided():
        found = list(units.results(scene_of_fold, folds, "groups", progress))
    else:  # one after the other, each on all cores
        found = [scene_of_fold(*each, f"fold {i + 1} of {len(folds)}", progress) for i, each in enumerate(folds)]
    return [scene for scene, _ in found], all(settled for _, settled in found)


def own_minima(request: Request, progress: bool | None) -> Minima:
    """Everyone's most probable parameters under the weak prior, each from their own choices alone."""
    each = rows_of_each(request.choices)
    most = max(len(rows) for rows in each)
    alone = [(request.of(rows), most) for rows in each]
    with single_threaded_algebra():
        found = list(units.results(own_minimum, alone, "everyone alone", progress, first_alone=True))
    fitted = request.prepared(each[0])
    value = np.array([value for _, value in found])
    check_possible(request.choices, fitted, np.arange(len(each)), value)
    at = np.stack([natural for natural, _ in found])
    return Minima({dimension.name: at[:, i] for i, dimension in enumerate(fitted.space)}, value)


def own_minimum(request: Request, most: int) -> tuple[np.ndarray, float]:
    """The most probable parameters of the one person there is, and the objective there."""
    rows = np.arange(request.choices.n_rows)
    fitted = request.prepared(rows)
    # As many rows for everyone, so that one program serves all.
    problem = with_prior(fitted, [np.pad(rows, (0, most - len(rows)), mode="edge")], prior=True)
    problem = problem._replace(weight=(np.arange(most) < len(rows)).astype(float)[None])
    best = best_of_starts(fitted, problem, request.n_starts, request.seed, "", progress=False)
    return on_natural_scale(fitted.space, best.z)[0], float(best.value[0])


def scene_of_fold(
    request: Request, minima: Minima, others: np.ndarray, label: str = "group", progress: bool | None = False
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
