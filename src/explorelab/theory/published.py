"""The bounds as published, for the schedule alpha_t = 1/(K t) with K = sqrt(2 pi e) and an uninformative prior.

Their proofs treat the number of visits to an arm as independent of its rewards, which it is not (appendix G says so). The
paper plots these bounds, and simulations stay well below them, but only those in `corrected` are proved.

Every function takes the true means, the variance of the reward noise and one horizon or an array of them, and returns an
array of shape times + arms; NaN for best arms, whose visits have no bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from explorelab._support.checks import Floats
from explorelab._support.door import door
from explorelab.theory._checks import checked_beta, checked_times
from explorelab.theory.arm_sums import noise_to_signal, with_best_arm
from explorelab.theory.quantile import BETA, CREDIBILITY_SCALE, SMALLEST_BETA

NEEDS_TWO = " (log log T enters)"


@door
def deterministic_visits(means: npt.ArrayLike, noise_var: float, times: npt.ArrayLike, beta: float = BETA) -> Floats:
    """An upper bound on the expected visits to each arm by deterministic UCL until each time.

    (4 beta^2 sigma_s^2/Delta_i^2) (1 + 2 log T - log(1 + 2 log T)) + 1 + (2/K) (1 + log T): the theorem "Regret of the
    deterministic UCL algorithm", one line before its end (appendix B). The printed last line has log 2 + log log T in
    place of log(1 + 2 log T): weaker, and infinite at T = 1.
    Valid for T >= 1, a = 1, K = sqrt(2 pi e), an uncorrelated uninformative prior (but see the module).

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    beta
        Factor of the quantile's bound; 1.02 in the paper.
    """
    log_t = np.log(checked_times(times))[..., np.newaxis]
    enough = 4 * _scaled(means, noise_var, beta) * (1 + 2 * log_t - np.log1p(2 * log_t))
    return np.asarray(enough + 1 + 2 / CREDIBILITY_SCALE * (1 + log_t))


@door
def stochastic_visits(means: npt.ArrayLike, noise_var: float, times: npt.ArrayLike, beta: float = BETA) -> Floats:
    """An upper bound on the expected visits to each arm by stochastic UCL with feedback cooling until each time.

    The deterministic bound + pi^2/6: the theorem "Regret of the stochastic UCL algorithm", where pi^2/6 bounds the
    chance picks of an arm whose limit is below the best arm's, at most t^-2 at time t.
    Valid as the deterministic bound is, and only for the temperature dQ_min/(2 log t): a constant temperature can give
    linear regret.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    beta
        Factor of the quantile's bound; 1.02 in the paper.
    """
    return deterministic_visits(means, noise_var, times, beta) + math.pi**2 / 6


class BlockConstants(NamedTuple):
    """The paper's gamma_1, gamma_2 and gamma_3, one number for each arm; NaN for best arms."""

    gamma_1: Floats
    gamma_2: Floats
    gamma_3: Floats


@door
def block_constants(means: npt.ArrayLike, noise_var: float, beta: float = BETA) -> BlockConstants:
    """The constants of the block bounds, one of each kind for each arm.

    With w = 4 beta^2 sigma_s^2/Delta_i^2 (section VI):
    gamma_1 = 2 w + 1/log 2 + 2/K;  gamma_2 = w (1 - log 2) + 2 + 8/K + log 4/K;
    gamma_3 = gamma_1 log 2 (2 - log log 2) - (w log log 2 - gamma_2) (1 + pi^2/6).

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    beta
        Factor of the quantile's bound; 1.02 in the paper.
    """
    weight = 4 * _scaled(means, noise_var, beta)
    log_2, log_log_2 = math.log(2), math.log(math.log(2))
    gamma_1 = 2 * weight + 1 / log_2 + 2 / CREDIBILITY_SCALE
    gamma_2 = weight * (1 - log_2) + 2 + (8 + math.log(4)) / CREDIBILITY_SCALE
    gamma_3 = gamma_1 * log_2 * (2 - log_log_2) - (weight * log_log_2 - gamma_2) * (1 + math.pi**2 / 6)
    return BlockConstants(gamma_1, gamma_2, gamma_3)


@door
def block_visits(means: npt.ArrayLike, noise_var: float, times: npt.ArrayLike, beta: float = BETA) -> Floats:
    """An upper bound on the expected visits to each arm by block UCL until each time.

    gamma_1 log T - (4 beta^2 sigma_s^2/Delta_i^2) log(log T + 1/2) + gamma_2: the first statement of the theorem
    "Regret of block UCL algorithm", with the log(1 + 2 log T) of its proof in place of the weaker log 2 + log log T.
    Valid for T >= 1, a = 1, K = sqrt(2 pi e), an uncorrelated uninformative prior (but see the module).

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    beta
        Factor of the quantile's bound; 1.02 in the paper.
    """
    log_t = np.log(checked_times(times))[..., np.newaxis]
    constants = block_constants(means, noise_var, beta)
    less = 4 * _scaled(means, noise_var, beta) * np.log(log_t + 0.5)
    return np.asarray(constants.gamma_1 * log_t - less + constants.gamma_2)


@door
def block_transitions(means: npt.ArrayLike, noise_var: float, times: npt.ArrayLike, beta: float = BETA) -> Floats:
    """An upper bound on the expected transitions of block UCL into each arm until each time.

    (gamma_1 log 2) log log T + gamma_3: the second statement of the theorem "Regret of block UCL algorithm". The best
    arm has 1 + the sum of the others (appendix D); if best arms tie they are NaN, as moves among them, which can be most
    of all moves, are not covered.
    Valid for T >= 2 and as the visits are. The proof divides visits by the block length k, but the last block of a
    frame is shorter, and on a path that chooses an arm there the step fails. `corrected` mends that.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    beta
        Factor of the quantile's bound; 1.02 in the paper.
    """
    log_log_t = np.log(np.log(checked_times(times, 2, NEEDS_TWO)))[..., np.newaxis]
    constants = block_constants(means, noise_var, beta)
    return with_best_arm(means, constants.gamma_1 * math.log(2) * log_log_t + constants.gamma_3)


@door
def graphical_visits(means: npt.ArrayLike, noise_var: float, times: npt.ArrayLike, beta: float = BETA) -> Floats:
    """An upper bound on the expected visits to each arm by graphical block UCL until each time.

    The block bound on goal selections + sum_j (2 gamma_1^j log 2 log log T + 2 gamma_3^j) + 1 over the arms j below
    the best, which bounds the number of walks, each passing an arm at most once: the theorem "Regret of graphical
    block UCL algorithm" (it writes i for the inner index j).
    Valid for T >= 2, a strongly connected graph and a single best arm (NaN otherwise), and as the block bounds are.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    beta
        Factor of the quantile's bound; 1.02 in the paper.
    """
    goals = block_visits(means, noise_var, times, beta)
    return goals + block_transitions(means, noise_var, times, beta).sum(axis=-1, keepdims=True)


def _scaled(means: npt.ArrayLike, noise_var: float, beta: float) -> Floats:
    """beta^2 sigma_s^2 / Delta_i^2."""
    return np.asarray(checked_beta(beta, SMALLEST_BETA) ** 2 * noise_to_signal(means, noise_var))
