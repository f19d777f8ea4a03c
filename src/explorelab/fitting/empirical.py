"""Empirical Bayes: the prior of the group learned from everyone, by expectation-maximisation with Laplace's approximation.

    E: each person's posterior is N(z_i, C_i), z_i the MAP under the current prior N(m, S), C_i the inverse information
    M: m = mean z_i,   S = mean of (z_i - m)(z_i - m)' + C_i

(Huys et al. 2011, PLoS Computational Biology, "Disentangling the roles of approach, activation and valence".) Two
pseudo-people with half a standard unit of spread keep S away from zero when people are few or alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from explorelab import checks
from explorelab.errors import InputError
from explorelab.fitting.best import Best, best_of_starts
from explorelab.fitting.individual import with_prior
from explorelab.fitting.model import Fitted
from explorelab.fitting.results import covariances, on_natural_scale
from explorelab.fitting.solve import Ending, endings, minimised, problems

PSEUDO_PEOPLE = 2.0
PSEUDO_SD = 0.5


class GroupFit(NamedTuple):
    """Group priors, one for each set of problems, and everyone's estimates under theirs."""

    mean: np.ndarray
    """set x parameter, standard units."""
    covariance: np.ndarray
    best: Best
    ending: Ending
    posterior_covariance: np.ndarray
    """problem x parameter x parameter."""
    steps: np.ndarray
    """How far the group mean or spread moved in each round, in standard units."""

    def table(self, fitted: Fitted) -> xr.Dataset:
        """The group's mean, spread and correlations for each parameter (of the first set)."""
        names = [dimension.name for dimension in fitted.model.space]
        sd = np.sqrt(np.diagonal(self.covariance[0]))
        low, high = (on_natural_scale(fitted.model.space, self.mean[0] + sign * 1.96 * sd) for sign in (-1, 1))
        return xr.Dataset(
            {
                "mean": ("parameter", on_natural_scale(fitted.model.space, self.mean[0])),
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

    `sets` says to which group each list of rows belongs (one for all by default); groups learn nothing from each other,
    which is what keeps left-out blocks out.
    """
    rounds = checks.whole("rounds", rounds, at_least=1)
    member = np.zeros(len(row_lists), int) if sets is None else np.asarray(sets)
    if len(row_lists) < 2:
        raise InputError("empirical Bayes needs at least 2 participants, got 1: use method='map'.")
    each = with_prior(fitted, row_lists, prior=True)
    best = best_of_starts(fitted, each, starts, seed, "fitting", progress)
    n_parameters, n_sets = len(fitted.model.space), int(member.max()) + 1
    mean, covariance = np.zeros((n_sets, n_parameters)), np.tile(np.eye(n_parameters), (n_sets, 1, 1))
    z, moved = best.z, []
    ending = endings(fitted, each, z, progress)
    for round_ in range(rounds):
        posterior = covariances(ending.hessian, ending.information)[0]
        before = mean.copy(), covariance.copy()
        for s in range(n_sets):
            mean[s], covariance[s] = _learned(z[member == s], posterior[member == s])
        moved.append(_moved(before, (mean, covariance)))
        each = problems(row_lists, mean[member], np.linalg.inv(covariance)[member])
        ended = minimised(fitted, each, z, f"group, round {round_ + 1}", progress)
        z = np.where(np.isfinite(ended.value)[:, None], ended.z, z)
        ending = endings(fitted, each, z, progress)
        if moved[-1] < tolerance:
            break
    final = Best(
        z, ended.value, ended.converged, ended.n_steps, best.start_values - best.value[:, None] + ended.value[:, None]
    )
    posterior = covariances(ending.hessian, ending.information)[0]
    return GroupFit(mean, covariance, final, ending, posterior, np.array(moved))


def _learned(z: np.ndarray, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = z.mean(0)
    away = z - mean
    pseudo = PSEUDO_PEOPLE * PSEUDO_SD**2 * np.eye(z.shape[1])

    return mean, (away.T @ away + posterior.sum(0) + pseudo) / (len(z) + PSEUDO_PEOPLE)


def _moved(before: Any, after: Any) -> float:
    sd_before, sd_after = (np.sqrt(np.diagonal(c, axis1=1, axis2=2)) for c in (before[1], after[1]))
    return float(max(np.abs(after[0] - before[0]).max(initial=0), np.abs(sd_after - sd_before).max(initial=0)))
