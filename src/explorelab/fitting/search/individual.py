"""Maximum likelihood and MAP: every participant at once, each from many starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorelab.choices.table import Choices
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.best import Best, best_of_starts
from explorelab.fitting.search.solve import Ending, Problem, endings, problems


def rows_of_each(choices: Choices) -> list[np.ndarray]:
    """The rows (blocks) of every participant."""
    order = np.argsort(choices.participant, kind="stable")
    cuts = np.searchsorted(choices.participant[order], np.arange(1, choices.n_participants))
    return np.split(order, cuts)


def with_prior(fitted: Fitted, row_lists: list[np.ndarray], prior: bool) -> Problem:
    """A problem for each list of rows: with the standard prior (MAP) or without any (maximum likelihood)."""
    n_parameters = len(fitted.space)
    return problems(row_lists, np.zeros(n_parameters), np.eye(n_parameters) * float(prior))


def fit_each(
    fitted: Fitted, row_lists: list[np.ndarray], prior: bool, starts: int, seed: int, progress: Any = None
) -> tuple[Problem, Best, Ending]:
    """The best estimates for each list of rows, and the curvature there."""
    each = with_prior(fitted, row_lists, prior)
    best = best_of_starts(fitted, each, starts, seed, "fitting", progress)
    return each, best, endings(fitted, each, best.z, progress)
