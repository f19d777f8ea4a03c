"""Empirical Bayes: the group's prior is learned from everyone, by expectation-maximisation with Laplace's approximation.

    E: each person's posterior is N(z_i, C_i): z_i the MAP under the prior N(m, S), C_i the inverse expected information
    M: m = mean z_i,   S = mean of (z_i - m)(z_i - m)' + C_i

(Huys et al. 2011, PLoS Computational Biology, "Disentangling the roles of approach, activation and valence".) Two
pseudo-people with half a standard unit of spread keep S away from zero when people are few or alike.

`group_from` first takes a few cheaper rounds towards the same end. In each, everyone's likelihood becomes a parabola around
where they are (one evaluation), several E and M steps alternate on these parabolas, and everyone moves to where they lead;
only those whom a parabola misled are minimised. Parabolas alone may go round in circles, so plain rounds follow.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab.errors import InputError
from explorelab.fitting.model import Fitted
from explorelab.fitting.objective import Curvature
from explorelab.fitting.results import covariances, on_natural_scale
from explorelab.fitting.search.best import Best, best_of_starts, with_prior
from explorelab.fitting.search.optimise import CLOSE, Minimum, Status
from explorelab.fitting.search.solve import Ending, curved, endings, limits, minimised, problems

PSEUDO_PEOPLE = 2.0
PSEUDO_SD = 0.5
AHEAD = 10
"""E and M steps on the same parabolas. Many more lead too far where the group is hardly determined, and back and forth."""
ON_PARABOLAS = 6
"""Rounds on parabolas at most."""
ONE_PERSON = "empirical Bayes needs at least 2 participants, got 1: use method='map'."


type _Prior = tuple[np.ndarray, np.ndarray]
"""Mean and covariance."""


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
    group.status = best.status.copy()
    moved = [group.round(f"group, round {round_ + 1}", tolerance) for round_ in range(rounds) if group.learning.any()]
    # Each start stays as far behind the person's best start as it was before the group was known.
    lost = best.start_values - best.value[:, None]
    final = Best(group.z, group.value, group.status, group.n_steps, lost + group.value[:, None], group.information)
    settled = not group.learning.any()
    return GroupFit(group.mean, group.covariance, final, group.ended(), group.posterior, np.array(moved), settled)


def group_from(
    fitted: Fitted,
    row_lists: list[np.ndarray],
    z: np.ndarray,
    rounds: int = 30,
    tolerance: float = 0.01,
    label: str = "group",
    progress: bool | None = None,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Mean and covariance of the group, in rounds that begin at these points; and whether they settled.

    The points only save steps: people's own minima, for instance, found before it was known who belongs to the group. It is
    settled where it is for `fit_group`: when a plain round moves it by less than the tolerance. Nothing is learned from
    people whose likelihood is not finite.
    """
    p = len(fitted.space)
    prior: _Prior = np.zeros(p), np.eye(p)
    ended = _minimised(fitted, row_lists, z, prior, f"{label}, round 1", progress)
    finite = np.isfinite(ended.value)
    people = [rows for rows, usable in zip(row_lists, finite, strict=True) if usable]
    if not people:
        return *prior, False
    z = ended.z[finite]
    at = _likelihood(fitted, people, z, f"{label}, round 1", progress)
    for number in range(2, ON_PARABOLAS + 2):
        steps, ahead = _on_parabolas(z, at, prior, *limits(fitted.space))
        step, prior = _moved(prior, steps[0]), steps[-1]
        if step < tolerance:
            break
        z, at = _went(fitted, people, (z, at), ahead, prior, f"{label}, round {number}", progress)
    for number in range(rounds):
        ended = _minimised(fitted, people, z, prior, f"{label}, plain round {number + 1}", progress)
        z = np.where(np.isfinite(ended.value)[:, None], ended.z, z)
        before, prior = prior, _learned(z, covariances(ended.information, ended.information)[0])
        if _moved(before, prior) < tolerance:
            return *prior, True
    return *prior, False


def _minimised(
    fitted: Fitted, row_lists: list[np.ndarray], z: np.ndarray, prior: _Prior, label: str, progress: bool | None
) -> Minimum:
    return minimised(fitted, problems(row_lists, prior[0], np.linalg.inv(prior[1])), z, label, progress)


def _likelihood(fitted: Fitted, row_lists: list[np.ndarray], z: np.ndarray, label: str, progress: bool | None) -> Curvature:
    """Everyone's negative log-likelihood with its derivatives, in NumPy arrays."""
    return curved(fitted, with_prior(fitted, row_lists, prior=False), z, label, progress)


def _on_parabolas(
    z: np.ndarray, at: Curvature, prior: _Prior, low: np.ndarray, high: np.ndarray
) -> tuple[list[_Prior], np.ndarray]:
    """The prior after each of several E and M steps on these parabolas, and where everyone will then be."""
    information, gradient = np.asarray(at.information), np.asarray(at.gradient)
    own = np.einsum("nij,nj->ni", information, z) - gradient
    steps = []
    for _ in range(AHEAD):
        precision = np.linalg.inv(prior[1])
        spread = np.linalg.inv(information + precision)
        z = np.clip(np.einsum("nij,nj->ni", spread, own + precision @ prior[0]), low, high)
        prior = _learned(z, spread)
        steps.append(prior)
    return steps, z


def _went(
    fitted: Fitted,
    row_lists: list[np.ndarray],
    now: tuple[np.ndarray, Curvature],
    ahead: np.ndarray,
    prior: _Prior,
    label: str,
    progress: bool | None,
) -> tuple[np.ndarray, Curvature]:
    """Everyone where the parabolas led them, or, if that is no better than where they were, at their minimum."""
    there = _likelihood(fitted, row_lists, ahead, label, progress)
    misled = ~(_value(there, ahead, prior) <= _value(now[1], now[0], prior) + CLOSE)
    if not misled.any():
        return ahead, there
    those = [rows for rows, wrong in zip(row_lists, misled, strict=True) if wrong]
    z = ahead.copy()
    z[misled] = _minimised(fitted, those, now[0][misled], prior, label, progress).z
    again = _likelihood(fitted, those, z[misled], label, progress)
    return z, jax.tree.map(lambda all_, some: _replaced(all_, misled, some), there, again)


def _value(at: Curvature, z: np.ndarray, prior: _Prior) -> np.ndarray:
    """Everyone's objective; NaN, which is no better than anything, if it or a derivative is not finite."""
    away = z - prior[0]
    value = np.asarray(at.value) + 0.5 * np.einsum("ni,ij,nj->n", away, np.linalg.inv(prior[1]), away)
    usable = np.isfinite(np.asarray(at.gradient)).all(1) & np.isfinite(np.asarray(at.information)).all((1, 2))
    return np.where(usable, value, np.nan)


def _replaced(array: np.ndarray, where: np.ndarray, by: np.ndarray) -> np.ndarray:
    result = array.copy()
    result[where] = by
    return result


class _Group:
    """Priors of the sets and posteriors of their members, updated in rounds of expectation and maximisation.

    A set that has stopped moving is left alone, so no set's result depends on how long another takes. A set learns nothing
    from members whose likelihood is not finite; they stay where they started, and their status says why.
    """

    def __init__(
        self,
        fitted: Fitted,
        row_lists: list[np.ndarray],
        member: np.ndarray,
        best: Best,
        progress: bool | None,
    ) -> None:
        self.fitted, self.row_lists, self.member, self.progress = fitted, row_lists, member, progress
        self.z, self.information = best.z.copy(), best.information.copy()
        self.posterior = covariances(self.information, self.information)[0]
        n_sets, (n, p) = int(member.max()) + 1, best.z.shape
        self.mean, self.covariance = np.zeros((n_sets, p)), np.tile(np.eye(p), (n_sets, 1, 1))
        self.learning = np.ones(n_sets, bool)
        self.value, self.status, self.n_steps = np.zeros(n), np.full(n, Status.CONVERGED), np.zeros(n, int)

    def round(self, label: str, tolerance: float) -> float:
        """Update the priors from the posteriors, then the posteriors from the priors; returns how far the priors moved."""
        furthest = 0.0
        now = np.nonzero(self.learning[self.member])[0]
        for s in np.nonzero(self.learning)[0]:
            before = self.mean[s].copy(), self.covariance[s].copy()
            own = (self.member == s) & (self.status != Status.NOT_FINITE)
            if not own.any():
                continue
            after = _learned(self.z[own], self.posterior[own])
            self.mean[s], self.covariance[s] = after
            step = _moved(before, after)
            furthest = max(furthest, step)
            self.learning[s] = step >= tolerance
        self.update(now, label)
        return furthest

    def update(self, now: np.ndarray, label: str) -> None:
        """Everyone's posterior, for those with these indices."""
        precision = np.linalg.inv(self.covariance)
        sets = self.member[now]
        each = problems([self.row_lists[i] for i in now], self.mean[sets], precision[sets])
        ended = minimised(self.fitted, each, self.z[now], label, self.progress)
        usable = np.isfinite(ended.value)
        self.z[now[usable]] = ended.z[usable]
        self.value[now], self.status[now], self.n_steps[now] = ended.value, ended.status, ended.n_steps
        self.information[now[usable]] = ended.information[usable]
        self.posterior[now[usable]] = covariances(ended.information, ended.information)[0][usable]

    def ended(self) -> Ending:
        """Everyone's curvature and likelihood at the end, under the prior of their set."""
        precision = np.linalg.inv(self.covariance)
        each = problems(self.row_lists, self.mean[self.member], precision[self.member])
        return endings(self.fitted, each, self.z, self.progress)


def _learned(z: np.ndarray, posterior: np.ndarray) -> _Prior:
    mean = z.mean(0)
    away = z - mean
    pseudo = PSEUDO_PEOPLE * PSEUDO_SD**2 * np.eye(z.shape[1])

    return mean, (away.T @ away + posterior.sum(0) + pseudo) / (len(z) + PSEUDO_PEOPLE)


def _moved(before: _Prior, after: _Prior) -> float:
    """The largest change in a mean or a spread, in standard units."""
    sd_before, sd_after = (np.sqrt(np.diagonal(covariance)) for _, covariance in (before, after))
    return float(max(np.abs(after[0] - before[0]).max(initial=0), np.abs(sd_after - sd_before).max(initial=0)))
