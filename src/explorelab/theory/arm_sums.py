"""Sums of bounds over arms, and the lower bound that no algorithm beats."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from explorelab._support.checks import Floats
from explorelab._support.door import door
from explorelab.theory._checks import checked_costs, checked_means, checked_noise_var, checked_times


@door
def gaps(means: npt.ArrayLike) -> Floats:
    """The loss of each arm relative to the best one: Delta_i = max_j m_j - m_i (section II).

    Best arms are those with a gap of exactly 0, so means that tie must be equal to the last digit.

    Parameters
    ----------
    means
        True mean reward of each arm.
    """
    vector = checked_means(means)
    return np.asarray(vector.max() - vector)


def noise_to_signal(means: npt.ArrayLike, noise_var: float) -> Floats:
    """sigma_s^2 / Delta_i^2 for each arm, the factor of every bound; NaN for best arms, which have no bound."""
    gap, noise_sd = gaps(means), np.sqrt(checked_noise_var(noise_var))
    ratio = np.full_like(gap, np.nan)
    # a gap too small to be squared has an infinite bound, one too large a bound of 0: both are right
    with np.errstate(over="ignore", under="ignore"):
        np.divide(noise_sd, gap, out=ratio, where=gap > 0)
        return np.asarray(ratio**2)


@door
def regret_of_visits(means: npt.ArrayLike, visits: npt.ArrayLike) -> Floats:
    """The expected regret, given the expected visits: sum of Delta_i E[n_i] over the arms below the best (section II).

    Best arms cost nothing, so their (unbounded, NaN) visits do not enter.

    Parameters
    ----------
    means
        True mean reward of each arm.
    visits
        Expected visits to each arm; arms on the last axis.
    """
    gap = gaps(means)
    return np.asarray(np.where(gap > 0, gap * np.asarray(visits, dtype=np.float64), 0.0).sum(axis=-1))


@door
def cost_of_transitions(costs: npt.ArrayLike, transitions: npt.ArrayLike) -> Floats:
    """The expected transition cost, given the expected transitions into each arm: sum of c_i^max E[s_i].

    c_i^max is the largest mean cost of a move *into* arm i, max_j costs[j, i] (the paper's definition has the indices
    exchanged, but its proof multiplies by the transitions into arm i). With E[s_i*] = 1 + sum of the other E[s_i],
    this is the third statement of the theorem "Regret of block UCL algorithm".

    Parameters
    ----------
    costs
        Mean cost of each move, `costs[from, to]`.
    transitions
        Expected transitions into each arm; arms on the last axis.
    """
    into = np.atleast_1d(np.asarray(transitions, dtype=np.float64))
    return np.asarray((checked_costs(costs, into.shape[-1]).max(axis=0) * into).sum(axis=-1))


def with_best_arm(means: npt.ArrayLike, transitions: Floats) -> Floats:
    """The transitions with the best arm's filled in: one more than all the others together.

    Before every move to the best arm except the first comes a move to an arm below it (appendix D, last lines). If best
    arms tie, moves among them are not covered, and their transitions stay NaN.
    """
    best = gaps(means) == 0
    if best.sum() != 1:
        return transitions
    return np.where(best, 1 + transitions[..., ~best].sum(axis=-1, keepdims=True), transitions)


@door
def lai_robbins_visits(means: npt.ArrayLike, noise_var: float, times: npt.ArrayLike) -> Floats:
    """The visits to each arm that no uniformly good algorithm can avoid in the long run; NaN for best arms.

    (2 sigma_s^2 / Delta_i^2) log T, the leading term of the Lai-Robbins bound (section II, "The Gaussian multi-armed
    bandit task"). Asymptotic: the bound has a factor 1 + o(1), so at a finite T this is a yardstick, not a bound.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    """
    log_t = np.log(checked_times(times))[..., np.newaxis]
    ratio = noise_to_signal(means, noise_var)
    with np.errstate(invalid="ignore"):
        # 0 at T = 1, however small the gap: infinity times 0 is 0 here
        return np.asarray(np.where((log_t == 0) & ~np.isnan(ratio), 0.0, 2 * ratio * log_t))


@door
def lai_robbins_regret(means: npt.ArrayLike, noise_var: float, times: npt.ArrayLike) -> Floats:
    """The regret that no uniformly good algorithm can avoid in the long run.

    sum_i (2 sigma_s^2 / Delta_i) log T over arms below the best: the visits of `lai_robbins_visits`, weighted by their gaps,
    and asymptotic like these.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    """
    return regret_of_visits(means, lai_robbins_visits(means, noise_var, times))
