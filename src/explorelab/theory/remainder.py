"""The part of the corrected bounds that appendix G leaves as o(log T), written out.

Appendix G rests on a tail bound for a sum with a random number n <= t of terms (Garivier and Moulines, theorem 22): the
range of n is cut into slices that grow by the factor 1 + eps, each slice costs one exponential bound, and so
P(an arm's limit errs at time t) <= P_t = max(1, ceil(log t / log(1 + eps))) t^-c,  c = 3 a (1 - eps^2/16) / 4.
The maximum is ours: at t = 1 the ceiling is 0, yet one slice is needed. The sum of P_t is finite because c > 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import zeta

from explorelab._support.checks import Floats
from explorelab._support.door import door
from explorelab.errors import InputError
from explorelab.theory._checks import Times, checked_times
from explorelab.theory.quantile import CREDIBILITY_SCALE, upper_quantile

SMALLEST_POWER = 4 / 3
"""The a above which appendix G has a bound, for a small enough eps."""

LEAST_POWER = SMALLEST_POWER * (1 + 1e-8)
"""The smallest a for which the bound can be computed: nearer to 4/3 no eps is left."""

SMALLEST_EPSILON = 1e-4
"""A smaller eps is valid too, but needs more than log T / eps slices and never gives a better bound."""

MARGIN = 1e-9
"""How far c must be above 1: any nearer, the zeta functions below, which grow like 1/(c - 1), cancel to noise."""

FIRST_QUANTILE = float(upper_quantile(1 / CREDIBILITY_SCALE))
"""z_1 = Phi^-1(1 - 1/K) = 0.7, the smallest quantile of the schedule: it grows with t."""

LONGEST_BLOCK_HORIZON = 10**8
"""The block sums hold one number for each block; this many choices are about 4 million blocks."""


def check_epsilon(epsilon: float) -> None:
    """Raise if this is not a valid epsilon of appendix G."""
    if not (math.isfinite(epsilon) and SMALLEST_EPSILON <= epsilon < 4):
        raise InputError(f"epsilon must be at least {SMALLEST_EPSILON} and below 4, got {epsilon}.")


def tail_exponent(power: float, epsilon: float) -> float:
    """The exponent c = 3 a (1 - eps^2/16) / 4 of P_t, after checking that it is above 1 (appendix G)."""
    check_epsilon(epsilon)
    exponent = 0.75 * power * (1 - epsilon**2 / 16)
    if not (math.isfinite(power) and exponent > 1 + MARGIN):
        raise InputError(
            f"power must be above 4/(3 (1 - epsilon^2/16)) = {SMALLEST_POWER / (1 - epsilon**2 / 16):.6f} "
            f"for epsilon = {epsilon:g}, got {power}."
        )
    return exponent


class Tail(NamedTuple):
    """What the sums of P_t depend on."""

    power: float
    epsilon: float


def power_left(power: float, pull: float) -> float:
    """What is left of the power a under a prior that draws estimates by `pull`: a (1 - pull/z_1)^2, or 0 if pull >= z_1.

    A limit then errs only if a sample mean is off by z_t - pull standard errors instead of z_t. Quantiles grow from z_1,
    so z_t - pull >= (1 - pull/z_1) z_t, and P_t holds with the power that makes z_t smaller by that factor.
    """
    return power * max(0.0, 1 - pull / FIRST_QUANTILE) ** 2


def tail_of(power: float, pull: float, epsilon: float | None, times: npt.ArrayLike) -> Tail:
    """What the sums of P_t need: the power that the prior leaves, and epsilon, by default the best one."""
    left = power_left(power, pull)
    return Tail(left, best_epsilon(left, times) if epsilon is None else epsilon)


def error_probability(times: npt.ArrayLike, power: float, epsilon: float, spread: int = 1) -> Floats:
    """A bound P_t on the probability that one arm's mean lies outside its limit at time t; it may exceed 1.

    max(1, ceil(log(spread t) / log(1 + eps))) t^-c, for at most spread * t rewards seen at a threshold set for time t
    (spread = 1 except on a graph). Appendix G, the display before "The same bound holds for (16)".
    Valid for c > 1.
    """
    exponent = tail_exponent(power, epsilon)
    t = checked_times(times)
    edges = _slice_edges(epsilon, spread * int(t.max()))
    slices = np.maximum(1, np.searchsorted(edges, spread * t, side="left"))
    return np.asarray(slices * t.astype(np.float64) ** -exponent)


def sum_over_times(times: npt.ArrayLike, power: float, epsilon: float) -> Floats:
    """The sum of P_t over t = 1..T, for each horizon T, without adding up T terms.

    A time t > 1 is counted once for every slice edge (1 + eps)^j below it, so the sum is 1 + the sum over edges below
    T of zeta(c, floor(edge) + 1) - zeta(c, T + 1), with Hurwitz' zeta(c, n) = n^-c + (n + 1)^-c + ...
    Valid for c > 1 and any T.
    """
    exponent = tail_exponent(power, epsilon)
    horizons = checked_times(times)
    edges = _slice_edges(epsilon, int(horizons.max()))
    n_below = np.searchsorted(edges, horizons, side="left")
    from_edges = np.concatenate([[0.0], np.cumsum(zeta(exponent, np.floor(edges) + 1))])
    return np.asarray(1 + from_edges[n_below] - n_below * zeta(exponent, horizons + 1.0))


def block_layout(last: int) -> tuple[Times, Times]:
    """Start times and lengths of the blocks that start by `last`: frame k holds 2^(k-1) choices in blocks of k.

    Section VI; the last block of a frame is shorter where k does not divide 2^(k-1).
    """
    frames = range(1, last.bit_length() + 1)
    starts = [np.arange(2 ** (k - 1), min(2**k, last + 1), k) for k in frames]
    lengths = [np.minimum(k, 2**k - start) for k, start in zip(frames, starts, strict=True)]
    return np.concatenate(starts), np.concatenate(lengths)


def sum_over_blocks(times: npt.ArrayLike, power: float, epsilon: float, n_between: int = 0) -> Floats:
    """The sum over choices t = 1..T of P at the start of the block that holds t, for each horizon T.

    Every block counts with its actual length, including short last blocks and the one that T cuts off. On a graph T
    counts goal selections, at most `n_between` arms lie between two goals, and at most (1 + n_between) tau rewards have
    been seen at the start of the block whose goal selections start with the tau-th.
    Valid for c > 1 and T up to 2e8.
    """
    horizons = checked_times(times)
    starts, lengths = block_layout(int(horizons.max()))
    chance = error_probability(starts, power, epsilon, spread=1 + n_between)
    total = np.cumsum(chance * lengths)
    block = np.searchsorted(starts, horizons, side="right") - 1
    cut_off = starts[block] + lengths[block] - 1 - horizons
    return np.asarray(total[block] - chance[block] * cut_off)


@door
def best_epsilon(power: float, times: npt.ArrayLike) -> float:
    """The epsilon with the smallest corrected bound at the largest of the times, to about a percent.

    Only the sum of P_t depends on eps, and it jumps at every change of a ceiling: this is the best point of a grid over
    SMALLEST_EPSILON <= eps < 4 sqrt(1 - 4/(3 a)), and of a finer one around it. Every eps gives a true bound, so the last
    digit does not matter, and the same choice serves the block bounds, whose sums are nearly the same. Valid for a > 4/3.

    Parameters
    ----------
    power
        The power a of the schedule alpha_t = 1/(K t^a).
    times
        One horizon or an array of them.
    """
    if not (math.isfinite(power) and power > SMALLEST_POWER):
        raise InputError(f"power must be above 4/3 for a corrected bound, got {power}.")
    longest = int(checked_times(times).max())
    # the range ends where c = 1; staying away from the end keeps c above the margin of `tail_exponent`
    room = 1 - (1 + 2 * MARGIN) * SMALLEST_POWER / power
    lowest, highest = SMALLEST_EPSILON, 4 * math.sqrt(max(room, 0.0)) * 0.999
    if highest <= lowest:
        raise InputError(f"power must be above 4/3 by a hundred-millionth or more, got {power}.")
    grid = np.geomspace(max(lowest, highest / 100), highest, 60)
    for _ in range(2):
        sums = [float(sum_over_times(longest, power, float(epsilon))) for epsilon in grid]
        at = int(np.argmin(sums))
        best = float(grid[at])
        grid = np.linspace(grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)], 41)
    return best


def _slice_edges(epsilon: float, top: int) -> Floats:
    """1, 1 + eps, (1 + eps)^2, ... up to the first that is not below `top`.

    Uses powers, not a quotient of logarithms: log 8 / log 2 may come out above 3, and its ceiling would be 4.
    """
    n_edges = math.ceil(math.log(max(top, 2)) / math.log1p(epsilon)) + 2
    return np.asarray((1 + epsilon) ** np.arange(n_edges, dtype=np.float64))
