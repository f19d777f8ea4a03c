"""The Gittins index of a Gaussian arm whose reward variance is known.

The belief about the arm's mean is N(mu, noise_var / n), where n is the weight of the belief in observations: noise_var /
prior_var, plus one for every reward seen. Shifting or scaling the rewards shifts or scales the index with them, so

    index = mu + sqrt(noise_var) * g(n, discount)

and only one curve g per discount has to be computed (Gittins, Glazebrook & Weber 2011, table 8.1, lists
n sqrt(1 - discount) g). With a the discount and y the mean minus the reward of a known arm, in units of sqrt(noise_var),

    V(y, n) = max(0, Q(y, n)),   Q(y, n) = y + a E V(y', n + 1),   y' ~ N(y, 1 / (n (n + 1))),   Q(-g(n), n) = 0

is solved backwards in n. At both ends g is a power of n. If almost nothing is known about an arm, a single reward settles
its mean. If much is known, its mean is a random walk with steps of size 1 / n, and the arm is left once the walk has fallen
by its expected maximum at a geometric time, which Spitzer's identity gives:

    n -> 0:     g = k / sqrt(n),   k = a / (1 - a) (phi(k) - k Phi(-k))
    n -> inf:   g = c / n,         c = sum over j >= 1 of a^j / sqrt(2 pi j)

Both limits are also upper bounds on g at every n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from explorelab.errors import InputError

MIN_DISCOUNT, MAX_DISCOUNT = 1e-6, 0.9999
"""Below the minimum, g drowns in rounding error; above the maximum, the backward pass takes minutes."""

_LOG_WEIGHT = np.linspace(math.log(1e-6), math.log(1e9), 865)
_FRACTIONS = (0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.45, 0.6, 0.8)
_FORK = 32  # the weight at which passes over fractional weights start
_TOP, _BURN_IN = 7.0, 9.0  # largest weight used, and steps taken above it, in units of the horizon -1 / log(discount)
_RESOLUTION = 0.125  # spacing of the lattice, in standard deviations of a step
_REGRID = 1.3  # factor by which the steps may grow before a new lattice is laid out
_DECAY = 8.0  # e-folds over which the lattice follows the decaying value of being able to stop
_MARGIN = 7.5  # standard deviations added at each end of the lattice, for wrap-around

type Nodes = Float[np.ndarray, " node"]


class GittinsTable(NamedTuple):
    """log g against increasing log n; linear between the points and beyond both ends."""

    log_weight: Float[np.ndarray, " weight"]
    log_bonus: Float[np.ndarray, " weight"]


class _Curve(NamedTuple):
    """Q(y, n) for one weight n on an even lattice of y; above `top` it is y / (1 - discount)."""

    low: float
    spacing: float
    top: float
    max_step_sd: float
    q: Nodes

    @property
    def y(self) -> Nodes:
        return self.low + self.spacing * np.arange(self.q.size)


@cache
def gittins_table(discount: float) -> GittinsTable:
    """The curve g(n, discount) of the Gittins index mu + sqrt(noise_var) g(n, discount), for weights n from 1e-6 to 1e9.

    Linear interpolation in log-log coordinates gives g to a relative error of 3e-5. The slopes at the ends are those of the
    limits, -1/2 and -1, so linear extrapolation is as accurate. A discount of 0.99 takes a tenth of a second, 0.999 a
    second, and the largest half a minute; each is computed once.
    """
    if not MIN_DISCOUNT <= discount <= MAX_DISCOUNT:
        raise InputError(
            f"discount must be between {MIN_DISCOUNT} and {MAX_DISCOUNT}, got {discount}: it is the value of a reward "
            "one trial "
            "later, 1 - 1 / horizon, so 0.99 for a horizon of 100 trials."
        )
    log_bonus = _log_bonus(float(discount))
    log_weight = _LOG_WEIGHT.copy()
    log_weight.flags.writeable = log_bonus.flags.writeable = False
    return GittinsTable(log_weight, log_bonus)


def _log_bonus(discount: float) -> Nodes:
    """log g at the table's weights.

    The function interpolated is g (sqrt(n) / k + n / c), which is smooth in x = sqrt(n) / (c / k + sqrt(n)). By the limits,
    it is 1 at x = 0 and x = 1, with slopes 1 and -1.
    """
    from scipy.interpolate import CubicSpline

    k, c = _limits(discount)
    weight, bonus = _to_infinity(*_solve(discount), c)
    root = np.sqrt(weight)
    x = np.concatenate([[0.0], root / (c / k + root), [1.0]])
    ratio = np.concatenate([[1.0], bonus * (root / k + weight / c), [1.0]])
    knots = _spread_out(x)
    root = np.exp(_LOG_WEIGHT / 2)
    smooth = CubicSpline(x[knots], ratio[knots], bc_type=((1, 1.0), (1, -1.0)))(root / (c / k + root))
    return np.log(smooth / (root / k + root**2 / c))


def _to_infinity(weight: Nodes, bonus: Nodes, c: float) -> tuple[Nodes, Nodes]:
    """Weights and g extended to larger weights: n g is a polynomial in 1 / n through six of the points and the limit c."""
    from scipy.interpolate import BarycentricInterpolator

    chosen = np.searchsorted(weight, weight[-1] / np.array([1, 1.2, 1.6, 2.2, 3, 4]))
    through = BarycentricInterpolator(np.append(1 / weight[chosen], 0), np.append(weight[chosen] * bonus[chosen], c))
    beyond = weight[-1] * np.geomspace(1.1, 1e4, 50)
    return np.append(weight, beyond), np.append(bonus, through(1 / beyond) / beyond)


@cache
def _limits(discount: float) -> tuple[float, float]:
    """k and c of the limits g = k / sqrt(n) for small n and g = c / n for large n."""
    odds, k = discount / (1 - discount), 0.0
    for _ in range(50):  # Newton's method on an increasing concave function, from the left of its root
        upper_tail = math.erfc(k / math.sqrt(2)) / 2
        excess = math.exp(-k * k / 2) / math.sqrt(2 * math.pi) - k * upper_tail
        k += (odds * excess - k) / (1 + odds * upper_tail)
    j = np.arange(1, 2 + math.ceil(-45 / math.log(discount)))
    return k, float(np.sum(discount**j / np.sqrt(2 * math.pi * j)))


def _spread_out(x: Nodes, least: float = 0.01) -> list[int]:
    """Indices of the increasing x to keep, first and last included, so that neighbours are `least` apart."""
    kept = [0]
    for i in range(1, x.size - 1):
        if x[i] - x[kept[-1]] >= least and x[-1] - x[i] >= least:
            kept.append(i)
    return [*kept, x.size - 1]


# Backward induction ---------------------------------------------------------------------------------------------------


def _solve(discount: float) -> tuple[Nodes, Nodes]:
    """Increasing weights and g at each, from one pass over whole weights and, below `_FORK`, one for each fraction."""
    horizon = -1 / math.log(discount)
    top = max(math.ceil(_TOP * horizon), 10 * _FORK)
    start = top + math.ceil(_BURN_IN * horizon)
    end = _lattice(start, discount)
    end = end._replace(q=end.y / (1 - discount))
    found: dict[float, float] = {}
    for weight, curve in _backward(end, start, _FORK + 5, discount):
        if weight <= top:
            found[weight] = -_boundary(curve)[1]
    curve = _move(curve, _lattice(_FORK + 4, discount), discount)
    whole = dict(_backward(curve, _FORK + 4, 1, discount))
    around_fork = np.stack([whole[n].q for n in range(_FORK - 1, _FORK + 5)])
    passes = [whole]
    for fraction in _FRACTIONS:
        between = curve._replace(q=_stencil(np.array([fraction]))[0] @ around_fork)  # at weight _FORK + 1 + fraction
        passes.append(dict(_backward(between, _FORK + fraction, fraction, discount)))
    for curves in passes:
        found |= {weight: -_boundary(curve)[1] for weight, curve in curves.items()}
    weights = np.array(sorted(found))
    return weights, np.array([found[weight] for weight in weights])


def _backward(curve: _Curve, start: float, stop: float, discount: float) -> Iterator[tuple[float, _Curve]]:
    """The weights start, start - 1, ..., stop, each with its curve; `curve` is that of start + 1."""
    for steps_left in range(round(start - stop), -1, -1):
        weight = stop + steps_left
        if _step_sd(weight) > curve.max_step_sd:
            curve = _move(curve, _lattice(weight, discount), discount)
        curve = curve._replace(q=_one_step(curve, weight, discount))
        yield weight, curve


def _step_sd(weight: float) -> float:
    return 1 / math.sqrt(weight * (weight + 1))


def _lattice(weight: float, discount: float) -> _Curve:
    """An empty lattice fine enough for Q at weight + 1 and wide enough for it at weight / _REGRID.

    It reaches from below the stopping boundary to where stopping is far in the future: six of the belief's standard
    deviations above 0, or where the value of being able to stop, which falls like exp(-y n sqrt(2 / horizon)), is down to
    exp(-_DECAY).
    """
    least, max_step_sd = weight / _REGRID, _REGRID * _step_sd(weight)
    k, c = _limits(discount)
    top = min(6 / math.sqrt(least), _DECAY / (least * math.sqrt(-2 * math.log(discount))))
    low = -min(k / math.sqrt(least), c / least) - _MARGIN * max_step_sd
    spacing = _RESOLUTION * _step_sd(weight + 1)
    n_nodes = 64 * math.ceil((top + _MARGIN * max_step_sd - low) / spacing / 64)
    return _Curve(low, spacing, top, max_step_sd, np.zeros(n_nodes))


def _one_step(curve: _Curve, weight: float, discount: float) -> Nodes:
    """Q at this weight from the curve of weight + 1: y + discount E max(0, Q(y', weight + 1)).

    The expectation uses the trapezium rule, corrected for the boundary between two nodes, by Fourier transform of
    V - y / (1 - discount), which is 0 at the top. Wrap-around spoils only the margins, where V is known.
    """
    first, boundary = _boundary(curve)
    y = curve.y
    forever = y / (1 - discount)
    gain = curve.q - forever
    gain[:first] = -forever[:first]
    gain[y > curve.top] = 0
    offset = (y[first] - boundary) / curve.spacing
    gain[first : first + 6] += (_END_WEIGHTS @ offset ** np.arange(7)) * curve.q[first : first + 6]
    spectrum = np.fft.rfft(gain)
    frequency = np.arange(spectrum.size) * (2 * math.pi * _step_sd(weight) / (y.size * curve.spacing))
    return forever + discount * np.fft.irfft(spectrum * np.exp(-0.5 * frequency**2), y.size)


def _boundary(curve: _Curve) -> tuple[int, float]:
    """The first node with Q > 0, and the y below it where Q = 0, by Newton's method on the polynomial through six nodes."""
    first = int(np.argmax(curve.q > 0))
    near = curve.q[first - 3 : first + 3]
    coefficients = (_SIX_NODES @ near).tolist()[::-1]
    position = float(near[2] / (near[2] - near[3]))  # in spacings above node first - 1
    for _ in range(4):
        value = slope = 0.0
        for coefficient in coefficients:
            slope = slope * position + value
            value = value * position + coefficient
        position -= value / slope
    return first, curve.low + curve.spacing * (first - 1 + position)


# Interpolation and quadrature on an even lattice ----------------------------------------------------------------------


_SIX_NODES = np.linalg.inv(np.vander(np.arange(-2.0, 4.0), increasing=True))
"""From the values at the nodes -2, ..., 3 to the coefficients of the polynomial through them."""


def _stencil(position: Nodes) -> Float[np.ndarray, "node 6"]:
    """The weight of each of the nodes -2, ..., 3 in the interpolated value at positions between 0 and 1."""
    return np.vander(position, 6, increasing=True) @ _SIX_NODES


def _move(curve: _Curve, lattice: _Curve, discount: float) -> _Curve:
    """The curve on another lattice; where that one reaches further down, V = 0 and any negative Q will do."""
    y = lattice.y
    position = (y - curve.low) / curve.spacing
    below: Int[np.ndarray, " node"] = np.clip(np.floor(position).astype(int), 2, curve.q.size - 4)
    inside = np.sum(_stencil(np.clip(position - below, 0, 1)) * curve.q[below[:, None] + np.arange(-2, 4)], axis=1)
    return lattice._replace(q=np.where(y > curve.top, y / (1 - discount), np.where(position < 2, y, inside)))


_BERNOULLI = (1.0, -1 / 2, 1 / 6, 0.0, -1 / 30, 0.0, 1 / 42)


def _end_weights(n_nodes: int) -> Float[np.ndarray, "node power"]:
    """Corrections to the trapezium rule over [b, inf) with nodes at b + offset + 0, 1, 2, ..., as powers of the offset.

    With weight 1 + w_i(offset) at node i, polynomials of degree m < n_nodes that die out far away are integrated exactly:
    the sum over i of w_i (offset + i)^m is B_{m+1}(offset) / (m + 1), a Bernoulli polynomial (Euler and Maclaurin).
    """
    moments = np.zeros((n_nodes, n_nodes + 1))
    for m in range(n_nodes):
        for power in range(m + 2):
            moments[m, power] = math.comb(m + 1, power) * _BERNOULLI[m + 1 - power] / (m + 1)
    about_first = np.zeros_like(moments)  # the same with i^m for (offset + i)^m
    for m in range(n_nodes):
        for j in range(m + 1):
            shifted = math.comb(m, j) * (-1.0) ** (m - j) * moments[j, : j + 2]
            about_first[m, m - j : m + 2] += shifted
    return np.linalg.solve(np.vander(np.arange(n_nodes), increasing=True).T, about_first)


_END_WEIGHTS = _end_weights(6)
