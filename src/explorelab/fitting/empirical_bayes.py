"""Empirical Bayes: the group's prior is learned from everyone, by expectation-maximisation with Laplace's approximation.

    E: each person's posterior is N(z_i, C_i): z_i the MAP under the prior N(m, S), C_i the inverse expected information
    M: m = mean z_i,   S = mean of (z_i - m)(z_i - m)' + C_i

(Huys et al. 2011, PLoS Computational Biology, "Disentangling the roles of approach, activation and valence".) Two
pseudo-people with half a standard unit of spread keep S away from zero when people are few or alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab.errors import InputError
from explorelab.fitting.model import Fitted
from explorelab.fitting.results import covariances, on_natural_scale
from explorelab.fitting.search.best import Best, best_of_starts, with_prior
from explorelab.fitting.search.optimise import Status
from explorelab.fitting.search.solve import Ending, endings, minimised, problems

PSEUDO_PEOPLE = 2.0
PSEUDO_SD = 0.5
ONE_PERSON = "empirical Bayes needs at least 2 participants, got 1: use method='map'."


class GroupFit(NamedTuple):
    """A group prior for each set of problems, and everyone's estimates under the prior of their set."""

    mean: np.ndarray
    """set x parameter, standard units."""
    covariance: np.ndarray
    best: Best
    ending: Ending
    posterior_covariance: np.ndarray
    """problem x parameter x parameter."""
    steps: np.ndarray
    """How far the group mean or spread moved in each round, in standard units."""
    settled: bool
    """Whether every set had stopped moving by the last round."""

    def table(self, fitted: Fitted) -> xr.Dataset:
        """The group's mean, spread and correlations for each parameter (of the first set)."""
        names = [dimension.name for dimension in fitted.space]
        sd = np.sqrt(np.diagonal(self.covariance[0]))
        low, high = (on_natural_scale(fitted.space, self.mean[0] + sign * 1.96 * sd) for sign in (-1, 1))
        return xr.Dataset(
            {
                "converged": ((), self.settled, {"long_name": "whether the group stopped moving within the rounds"}),
                "mean": ("parameter", on_natural_scale(fitted.space, self.mean[0])),
                "low": ("parameter", low, {"long_name": "95 % of people, lower end"}),
                "high": ("parameter", high, {"long_name": "95 % of people, upper end"}),
                "z_mean": ("parameter", self.mean[0]),
                "z_sd": ("parameter", sd),
                "z_covariance": (("parameter", "parameter_2"), self.covariance[0]),
                "moved": ("round", self.steps),
            },
            coords={"parameter": names, "parameter_2": names},
        )


def fit_group(
    fitted: Fitted,
    row_lists: list[np.ndarray],
    sets: np.ndarray | None = None,
    starts: int = 4,
    seed: int = 0,
    rounds: int = 30,
    tolerance: float = 0.01,
    progress: bool | None = None,
) -> GroupFit:
    """The group's prior and everyone's posterior.

    `sets` says which group each list of rows belongs to (by default, all to one). Groups learn nothing from each other,
    which keeps left-out blocks out.
    """
    rounds = checks.whole("rounds", rounds, at_least=1, at_most=checks.MANY)
    member = np.zeros(len(row_lists), int) if sets is None else np.asarray(sets)
    if len(row_lists) < 2:
        raise InputError(ONE_PERSON)
    best = best_of_starts(fitted, with_prior(fitted, row_lists, prior=True), starts, seed, "fitting", progress)
    group = _Group(fitted, row_lists, member, best, progress)
    moved = [group.round(f"group, round {round_ + 1}", tolerance) for round_ in range(rounds) if group.learning.any()]
    # Each start stays as far behind the person's best start as it was before the group was known.
    lost = best.start_values - best.value[:, None]
    final = Best(group.z, group.value, group.status, group.n_steps, lost + group.value[:, None])
    settled = not group.learning.any()
    return GroupFit(group.mean, group.covariance, final, group.ended(), group.posterior, np.array(moved), settled)


class _Group:
    """Priors of the sets and posteriors of their members, updated in rounds of expectation and maximisation.

    A set that has stopped moving is left alone, so no set's result depends on how long another takes. A set learns nothing
    from members whose likelihood is not finite; they stay where they started, and their status says why.
    """

    def __init__(
        self, fitted: Fitted, row_lists: list[np.ndarray], member: np.ndarray, best: Best, progress: bool | None
    ) -> None:
        z = best.z.copy()
        self.fitted, self.row_lists, self.member, self.z, self.progress = fitted, row_lists, member, z, progress
        n_sets, p = int(member.max()) + 1, z.shape[1]
        self.mean, self.covariance = np.zeros((n_sets, p)), np.tile(np.eye(p), (n_sets, 1, 1))
        self.learning = np.ones(n_sets, bool)
        n = len(row_lists)
        self.value, self.status, self.n_steps = np.zeros(n), best.status.copy(), np.zeros(n, int)
        ending = endings(fitted, with_prior(fitted, row_lists, prior=True), z, progress)
        self.posterior = covariances(ending.information, ending.information)[0]

    def round(self, label: str, tolerance: float) -> float:
        """Update the priors from the posteriors, then the posteriors from the priors; returns how far the priors moved."""
        furthest = 0.0
        now = np.nonzero(self.learning[self.member])[0]
        for s in np.nonzero(self.learning)[0]:
            before = self.mean[s].copy(), self.covariance[s].copy()
            own = (self.member == s) & (self.status != Status.NOT_FINITE)
            if not own.any():
                continue
            self.mean[s], self.covariance[s] = after = _learned(self.z[own], self.posterior[own])
            step = _moved(before, after)
            furthest = max(furthest, step)
            self.learning[s] = step >= tolerance
        self._update(now, label)
        return furthest

    def _update(self, now: np.ndarray, label: str) -> None:
        precision = np.linalg.inv(self.covariance)
        sets = self.member[now]
        each = problems([self.row_lists[i] for i in now], self.mean[sets], precision[sets])
        ended = minimised(self.fitted, each, self.z[now], label, self.progress)
        usable = np.isfinite(ended.value)
        self.z[now[usable]] = ended.z[usable]
        self.value[now], self.status[now], self.n_steps[now] = ended.value, ended.status, ended.n_steps
        self.posterior[now[usable]] = covariances(ended.information, ended.information)[0][usable]

    def ended(self) -> Ending:
        """Everyone's curvature and likelihood at the end, under the prior of their set."""
        precision = np.linalg.inv(self.covariance)
        each = problems(self.row_lists, self.mean[self.member], precision[self.member])
        return endings(self.fitted, each, self.z, self.progress)


def _learned(z: np.ndarray, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = z.mean(0)
    away = z - mean
    pseudo = PSEUDO_PEOPLE * PSEUDO_SD**2 * np.eye(z.shape[1])

    return mean, (away.T @ away + posterior.sum(0) + pseudo) / (len(z) + PSEUDO_PEOPLE)


def _moved(before: tuple[np.ndarray, np.ndarray], after: tuple[np.ndarray, np.ndarray]) -> float:
    """The largest change in a mean or a spread, in standard units."""
    sd_before, sd_after = (np.sqrt(np.diagonal(covariance)) for _, covariance in (before, after))
    return float(max(np.abs(after[0] - before[0]).max(initial=0), np.abs(sd_after - sd_before).max(initial=0)))
