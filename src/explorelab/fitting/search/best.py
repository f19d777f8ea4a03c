"""The best of many starts for every problem, which for maximum likelihood and MAP means for every participant."""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np

from explorelab.choices.table import Choices
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.optimise import CLOSE, Minimum, Status
from explorelab.fitting.search.shares import in_shares
from explorelab.fitting.search.solve import (
    Ending,
    Problem,
    endings,
    minimised,
    problems,
    screened,
    searched,
    starting_points,
)

SCREENED = 4
"""Points screened for each start that is followed."""


class Best(NamedTuple):
    """The lowest minimum of every problem, and where all starts ended."""

    z: np.ndarray
    value: np.ndarray
    status: np.ndarray
    """A `Status` for each problem."""
    n_steps: np.ndarray
    start_values: np.ndarray
    """The objective where each start ended (problem x start); NaN if it ended nowhere."""
    information: np.ndarray
    """Expected information at the minimum, including the prior's (problem x parameter x parameter)."""


@in_shares(1, most=128)
def best_of_starts(fitted: Fitted, each: Problem, starts: int, seed: int, label: str, progress: bool | None = None) -> Best:
    """The best minimum of every problem from several starts.

    Half of the starts are the best of the screened points (four for each start), half simply the first points, so that no
    region is skipped because it looked bad from afar.
    """
    low, high = searched(fitted)
    n = len(each.rows)
    points = starting_points(max(SCREENED * starts, 2), low, high, seed)
    if not len(low):
        points = points[:1]
        values = screened(fitted, each, points, progress)
        status = np.where(np.isfinite(values[:, 0]), Status.CONVERGED, Status.NOT_FINITE)
        return Best(np.zeros((n, 0)), values[:, 0], status, np.zeros(n, int), values, np.zeros((n, 0, 0)))
    first = np.tile(np.arange(-(-starts // 2)), (n, 1))
    if starts > 1:
        values = screened(fitted, each, points, progress)
        values = np.where(np.isfinite(values), values, np.inf)
        values[:, : first.shape[1]] = np.inf
        first = np.hstack([first, np.argsort(values, axis=1, kind="stable")[:, : starts - first.shape[1]]])
    many: Problem = jax.tree.map(lambda x: np.repeat(x, starts, axis=0), each)
    ended = minimised(fitted, many, points[first].reshape(n * starts, -1), label, progress)
    return _lowest(ended, n, starts)


def _lowest(ended: Minimum, n: int, starts: int) -> Best:
    value = np.where(np.isfinite(ended.value), ended.value, np.nan).reshape(n, starts)
    # Of two starts that ended equally low, prefer one that converged.
    unsettled = (ended.status != Status.CONVERGED).reshape(n, starts)
    at = np.where(np.isnan(value), np.inf, value + CLOSE * unsettled).argmin(1)
    rows = np.arange(n)

    def taken(array: np.ndarray) -> np.ndarray:
        return array.reshape(n, starts, *array.shape[1:])[rows, at]

    information = taken(ended.information)
    return Best(taken(ended.z), value[rows, at], taken(ended.status), taken(ended.n_steps), value, information)


def rows_of_each(choices: Choices) -> list[np.ndarray]:
    """The rows (blocks) of every participant."""
    order = np.argsort(choices.participant, kind="stable")
    cuts = np.searchsorted(choices.participant[order], np.arange(1, choices.n_participants))
    return np.split(order, cuts)


def with_prior(fitted: Fitted, row_lists: list[np.ndarray], prior: bool) -> Problem:
    """A problem for each list of rows: with the standard prior (MAP) or without any (maximum likelihood)."""
    n_estimated = len(searched(fitted)[0])
    return problems(row_lists, np.zeros(n_estimated), np.eye(n_estimated) * float(prior))


def fit_each(
    fitted: Fitted, row_lists: list[np.ndarray], prior: bool, starts: int, seed: int, progress: bool | None = None
) -> tuple[Problem, Best, Ending]:
    """The best estimates for each list of rows, and the curvature there."""
    each = with_prior(fitted, row_lists, prior)
    return each, *_best_and_ending(fitted, each, starts, seed, progress)


@in_shares(1, most=128)
def _best_and_ending(
    fitted: Fitted, each: Problem, starts: int, seed: int, progress: bool | None = None
) -> tuple[Best, Ending]:
    """The best estimates for each problem, and the curvature there."""
    best = best_of_starts(fitted, each, starts, seed, "fitting", progress)
    return best, endings(fitted, each, best.z, progress)
