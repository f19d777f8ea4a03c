"""The bounds of appendix G, with the o(log T) of its table written out, for alpha_t = 1/(K t^a), K = sqrt(2 pi e).

Common to all: arm i's limit beats the best arm's only if (15) the best arm's mean lies above its limit mu + C, (16) arm
i's mean lies below mu_i - C_i, or (17) Delta_i < 2 C_i. The first two have probability P_t at most, each (`remainder`).
By `schedule_quantile_upper_bound` the third is false once
n_i >= eta(T) = (4 sigma_s^2/Delta_i^2) (2 a log T + log(2 pi e)).
An arm never visited has an infinite limit, so an arm that has been visited is not chosen before it.

Every function takes the true means, the variance of the reward noise and one horizon or an array of them, and returns an
array of shape times + arms; NaN for best arms, whose visits have no bound. `epsilon` is free (0.0001 to 4, with
a > 4/(3 (1 - eps^2/16)), so a > 4/3); by default it is the one with the smallest bound at the largest T. A nearly
uninformative prior costs a little of a: `pull` is how strongly it draws estimates (`priors.prior_error`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from explorelab._support.checks import Floats
from explorelab._support.door import door
from explorelab.errors import InputError
from explorelab.theory._checks import Times, checked_n_between, checked_times
from explorelab.theory.arm_sums import noise_to_signal, with_best_arm
from explorelab.theory.remainder import LONGEST_BLOCK_HORIZON, Tail, sum_over_blocks, sum_over_times, tail_of


class Asked(NamedTuple):
    """The arguments that all bounds share."""

    means: npt.ArrayLike
    noise_var: float
    times: Times
    power: float
    tail: Tail


def _bound(formula: Callable[..., Floats]) -> Callable[..., Floats]:
    """The formula with the arguments that all bounds share, followed by its own."""

    @wraps(formula, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def bound(
        means: npt.ArrayLike,
        noise_var: float,
        times: npt.ArrayLike,
        *,
        power: float,
        epsilon: float | None = None,
        pull: float = 0.0,
        **own: float | npt.ArrayLike | None,
    ) -> Floats:
        horizons = checked_times(times)
        return formula(Asked(means, noise_var, horizons, power, tail_of(power, pull, epsilon, horizons)), **own)

    *common, _ = signature(bound, follow_wrapped=False).parameters.values()
    _, *own = signature(formula).parameters.values()
    bound.__signature__ = Signature([*common, *own], return_annotation="Floats")  # type: ignore[attr-defined]
    return door(bound)


@_bound
def deterministic_visits(asked: Asked) -> Floats:
    """An upper bound on the expected visits to each arm by deterministic UCL until each time.

    eta(T) + 2 + 2 sum_{t <= T} P_t: appendix G's theorem, from n_i <= eta + (choices of i made with n_i >= eta). One of
    the 2 rounds eta up to a whole number; the other is printed in the paper ("eta + 1") and not needed.
    Valid for T >= 1, a > 4/(3 (1 - eps^2/16)), K = sqrt(2 pi e), an uncorrelated uninformative prior.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    power
        The power a of the schedule.
    epsilon
        Epsilon of appendix G; by default the one with the smallest bound at the largest time.
    pull
        How strongly the prior draws estimates, from `prior_error`.
    """
    return _deterministic_visits(asked)


@_bound
def stochastic_visits(asked: Asked) -> Floats:
    """An upper bound on the expected visits to each arm by stochastic UCL with feedback cooling until each time.

    The deterministic bound + pi^2/6 (table of appendix G). An arm whose limit is below the best arm's is picked with
    probability t^(-2 (Q* - Q_i)/dQ_min) <= t^-2 if dQ_min > 0, and never if dQ_min = 0; the t^-2 add up to pi^2/6.
    (Equal limits of the two arms would break this: after a visit to each they have probability 0.)
    Valid as the deterministic bound is, and only for the temperature dQ_min/(2 log t).

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    power
        The power a of the schedule.
    epsilon
        Epsilon of appendix G; by default the one with the smallest bound at the largest time.
    pull
        How strongly the prior draws estimates, from `prior_error`.
    """
    return _deterministic_visits(asked) + math.pi**2 / 6


@_bound
def block_visits(asked: Asked) -> Floats:
    """An upper bound on the expected visits to each arm by block UCL until each time.

    eta(T) + 1 + l + 2 sum_{t <= T} P_tau(t), with l = floor(log2 T) + 1 the number of frames and tau(t) the start of
    the block that holds t. Blocks that start with n_i < eta bring at most ceil(eta) + l visits (the last of them
    overshoots by less than its length, l at most); each choice in another block needs (15) or (16) at the block's
    start, a fixed time. The table of appendix G has a further (2/K) log T, left over from the published proof: with
    c > 1 the sum is finite and nothing of the kind remains.
    Valid for 1 <= T <= 1e8, otherwise as the deterministic bound is.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    power
        The power a of the schedule.
    epsilon
        Epsilon of appendix G; by default the one with the smallest bound at the largest time.
    pull
        How strongly the prior draws estimates, from `prior_error`.
    """
    return _goal_visits(_in_blocks(asked), n_between=0)


@_bound
def block_transitions(asked: Asked) -> Floats:
    """An upper bound on the expected transitions of block UCL into each arm until each time.

    E_l/l + sum_{k < l} E_k/(k (k + 1)) + sum_{k <= l} (1 - L_k/k): E_k is the visit bound at 2^k - 1, the end of frame
    k, or 2^k - 1 itself if that is less; l is the frame of T; L_k = 2^(k-1) mod k is the length of the short last block
    (no term where there is none). A frame with v_k visits to arm i has v_k/k blocks of it, and 1 - L_k/k more if the
    short one is among them. Sum over frames by parts: 1/k - 1/(k + 1) = 1/(k (k + 1)), rounded up to 1/k^2 in
    appendix D. The last sum mends the published proof, which takes every block for a full one. It is less than the
    number of frames, hence small, but it grows like log T: sub-logarithmic transitions are not proved by this.
    The best arm has 1 + the sum of the others; where best arms tie they are NaN, as moves among them are not covered.
    A step function of T, the value at the end of the frame that holds T. Valid as the visits are.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    power
        The power a of the schedule.
    epsilon
        Epsilon of appendix G; by default the one with the smallest bound at the largest time.
    pull
        How strongly the prior draws estimates, from `prior_error`.
    """
    return _goal_transitions(_in_blocks(asked), n_between=0)


@_bound
def graphical_visits(asked: Asked, *, n_between: int | None = None) -> Floats:
    """An upper bound on the expected visits to each arm by graphical block UCL until each time.

    Goal selections + walks: [eta(T) + 1 + l + 2 sum_{g <= T} P'_b(g)] + [2 sum_j S_j + 1], with j over the arms below
    the best, and b(g) the first goal selection of the block that holds the g-th. A walk passes an arm at most once, so
    transient visits are at most as many as changes of goal (appendix E).
    Two gaps in appendix E are closed, with p = `n_between` the most arms that a shortest path has between its ends (by
    default N - 2, the worst graph).
    (a) The goal of the block that begins with goal selection b is chosen at a *random* time, not before b, when at most
    (1 + p) b rewards have been seen. The tail bound comes from a supermartingale, so it holds at stopping times too:
    P'_b is P_b with slices up to (1 + p) b.
    (b) S_j is the transition bound with frames that count goal selections. Frame k can last until the time
    2^k - 1 + p B_k, with B_k blocks up to its end, and its eta is taken there.
    Valid for a strongly connected graph and a single best arm (NaN otherwise), and as the block bounds are.

    Parameters
    ----------
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    power
        The power a of the schedule.
    epsilon
        Epsilon of appendix G; by default the one with the smallest bound at the largest time.
    pull
        How strongly the prior draws estimates, from `prior_error`.
    n_between
        The most arms between the ends of any shortest path; by default N - 2.
    """
    asked, between = _in_blocks(asked), checked_n_between(n_between, np.size(asked.means))
    return _goal_visits(asked, between) + _goal_transitions(asked, between).sum(axis=-1, keepdims=True)


def _enough_visits(asked: Asked, times: Times) -> Floats:
    """eta(T) before rounding up: the visits after which an arm's limit is too narrow to mislead."""
    width = 2 * asked.power * np.log(times)[..., np.newaxis] + math.log(2 * math.pi * math.e)
    return np.asarray(4 * noise_to_signal(asked.means, asked.noise_var) * width)


def _deterministic_visits(asked: Asked) -> Floats:
    errors = 2 * sum_over_times(asked.times, *asked.tail)
    return np.asarray(_enough_visits(asked, asked.times) + 2 + errors[..., np.newaxis])


def _goal_visits(asked: Asked, n_between: int) -> Floats:
    errors = 2 * sum_over_blocks(asked.times, *asked.tail, n_between)
    return np.asarray(_enough_visits(asked, asked.times) + (1 + _frame_of(asked.times) + errors)[..., np.newaxis])


def _goal_transitions(asked: Asked, n_between: int) -> Floats:
    """The bound of `block_transitions`, with frames that count goal selections, and walks past at most n_between arms."""
    frame = np.arange(1, int(asked.times.max()).bit_length() + 1)
    length = 2 ** (frame - 1)
    ends = 2**frame - 1
    latest = ends + n_between * np.cumsum(-(-length // frame))
    errors = 2 * sum_over_blocks(ends, *asked.tail, n_between)
    visits = _enough_visits(asked, latest) + (1 + frame + errors)[:, np.newaxis]
    visits = np.minimum(visits, ends[:, np.newaxis])

    k = frame[:, np.newaxis].astype(np.float64)
    earlier = np.cumsum(visits / (k * (k + 1)), axis=0) - visits / (k * (k + 1))
    left_over = length % frame
    short = np.cumsum(np.where(left_over > 0, 1 - left_over / frame, 0.0))
    by_frame = visits / k + earlier + short[:, np.newaxis]
    return with_best_arm(asked.means, by_frame[_frame_of(asked.times) - 1])


def _frame_of(times: Times) -> Times:
    """The frame that holds each time: frame k is 2^(k-1) .. 2^k - 1."""
    # frexp reads the binary exponent exactly; log2 may round up a time just under a power of two
    return np.asarray(np.frexp(times.astype(np.float64))[1], dtype=np.int64)


def _in_blocks(asked: Asked) -> Asked:
    """The arguments unchanged; an error if the sums over blocks would take too long."""
    if asked.times.max() > LONGEST_BLOCK_HORIZON:
        raise InputError(
            f"times must be at most {LONGEST_BLOCK_HORIZON:,} for the corrected block bounds, got {asked.times.max():,}."
        )
    return asked
