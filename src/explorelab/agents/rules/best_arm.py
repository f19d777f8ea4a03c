"""The probability that each of several independent Gaussian arms is the best one.

    P_i = integral over x of  n(x; mu_i, s_i)  product over j != i of Phi((x - mu_j) / s_j)

by the trapezoidal rule, which converges geometrically, at points whose spacing grows with the distance to the left end
L of the integrand. That resolves every step of the integrand, however narrow: where a Phi still rises right of L, its arm's
sd is at least a sixth of the distance to L, or the integrand would be negligible there and L lie further to the right. So
the number of points depends on the logarithm of the ratio of sds alone, not on the number of arms.

For all arms together, L is where the best of them hardly ever lies: this gives every probability to an absolute 1e-9. An
arm with points of its own, around its own integrand, has its logarithm to 1e-8, however improbable it is.

Derivatives are integrals over the same points. With lambda_j = d/dx log Phi((x - mu_j) / s_j) and v_j the speed at which
the quantile of arm j at x moves,

    dP_i = integral of  n_i product over j != i of Phi_j  times  sum over j != i of lambda_j (v_i - v_j)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from explorelab.agents.factors import Available, Value
from explorelab.agents.rules.normal_tail import bend, log_cdf_and_slope

_DEPTH = 22.0
"""Nats below its peak at which an integrand is negligible."""
_REACH = math.sqrt(2 * _DEPTH)
"""The same for a normal density, in sds."""
_JOINT_NODES = 112
_OWN_NODES = 80
_NARROWEST = 1e-5
"""Sds, at least, as a share of the range in which the best arm can lie, or of an arm's own sd: as good as 0."""
_HALVINGS = 10
_TOGETHER = 8
"""Arms whose own points are computed at the same time."""
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class _Arms(NamedTuple):
    """Means and sds in common units, and which arms take part."""

    mean: Value
    sd: Value
    among: Bool[Array, " arm"]


class _Points(NamedTuple):
    x: Float[Array, " node"]
    log_weight: Float[Array, " node"]


def log_probs_of_best(mean: Value, sd: Value, available: Available, arm: Int[Array, ""] | None = None) -> Value:
    """Log-probability that each available arm is the best; arms with infinite sd come first, all equally likely.

    Every logarithm is right to 1e-8 or, given an `arm`, that arm's, and the probabilities of the others to 1e-9: all that a
    likelihood needs, where many arms would each take points of their own.
    """
    allowed = jnp.ones(mean.shape, bool) if available is None else available
    first = jnp.isinf(sd) & allowed
    known = allowed & ~jnp.isinf(sd)
    n_first = first.sum()
    log_first = jnp.where(first, -jnp.log(jnp.maximum(n_first, 1).astype(mean.dtype)), -jnp.inf)
    # If no arm is known, integrate anyway, so that nothing becomes NaN.
    among = known | ~known.any()
    arms = _standardised(mean, jnp.where(jnp.isinf(sd), 1.0, sd), among)
    if arm is None:
        log_best = lax.map(lambda i: _log_best_of(_resolved_by(arms, i), i), jnp.arange(mean.shape[0]), batch_size=_TOGETHER)
        of_known = jax.nn.log_softmax(jnp.where(among, log_best, -jnp.inf))
    else:
        own = jnp.arange(mean.shape[0]) == arm
        of_known = jnp.where(own, _log_best_of(_resolved_by(arms, arm), arm), _log_best(_resolved(arms)))
        of_known = jnp.where(among, of_known, -jnp.inf)
    return jnp.where(n_first > 0, log_first, of_known)


def _standardised(mean: Value, sd: Value, among: Bool[Array, " arm"]) -> _Arms:
    """Means relative to the best, and sds, in units of the largest difference or sd; no sd is exactly 0."""
    best = lax.stop_gradient(jnp.where(among, mean, -jnp.inf).max())
    away = jnp.where(among, mean - best, 0.0)
    sd = jnp.where(among, sd, 0.0)
    unit = lax.stop_gradient(jnp.maximum(-away.min(), sd.max()))
    alike = unit == 0
    unit = jnp.where(alike, 1.0, unit)
    # Certain arms with one mean share any sd; with the narrowest, derivatives would not cancel in the last digits.
    least = jnp.where(alike, 1.0, 1e-10 if mean.dtype == jnp.float64 else 1e-5)
    return _Arms(away / unit, jnp.maximum(sd / unit, least), among)


def _resolved(arms: _Arms) -> _Arms:
    """The same with sds that the common points resolve."""
    mean, sd, among = lax.stop_gradient(arms)
    low, high = (jnp.where(among, mean + sign * _REACH * sd, -jnp.inf).max() for sign in (-1, 1))
    return arms._replace(sd=jnp.maximum(arms.sd, _NARROWEST * (high - low)))


def _resolved_by(arms: _Arms, arm: Int[Array, ""]) -> _Arms:
    """The same with sds of others that the arm's own points resolve."""
    return arms._replace(sd=jnp.maximum(arms.sd, _NARROWEST * lax.stop_gradient(arms.sd[arm])))


# All arms at the same points ------------------------------------------------------------------------------------------


@jax.custom_jvp
def _log_best(arms: _Arms) -> Value:
    """Log-probability of every arm, exact where it is probable, and finite everywhere."""
    return jnp.log(_shares(arms)[0])


@_log_best.defjvp
def _log_best_jvp(primals: tuple[_Arms], tangents: tuple[_Arms]) -> tuple[Value, Value]:
    (arms,), (moved,) = primals, tangents
    share, weight, slope = _shares(arms)
    x = _joint_points(arms).x
    speed = moved.mean + (x[:, None] - arms.mean) / arms.sd * moved.sd
    # Only differences count: what all arms have in common is taken away before it is multiplied by steep slopes.
    speed -= speed[:, jnp.where(arms.among, arms.mean, -jnp.inf).argmax()][:, None]
    # The sums over j != i: what i itself adds to both cancels.
    others = (slope * speed).sum(1, keepdims=True), slope.sum(1, keepdims=True)
    return jnp.log(share), (weight[:, None] * slope * (speed * others[1] - others[0])).sum(0) / share


def _shares(arms: _Arms) -> tuple[Value, Float[Array, " node"], Float[Array, "node arm"]]:
    """Every arm's probability, and at every point its weight times the probability that no arm is above, and all slopes."""
    x, log_weight = _joint_points(arms)
    log_below, slope = _all_below(arms, x)
    weight = jnp.exp(log_weight + log_below.sum(1))
    return jnp.maximum(weight @ slope, jnp.finfo(x.dtype).tiny), weight, slope


def _joint_points(arms: _Arms) -> _Points:
    mean, sd, among = lax.stop_gradient(arms)
    arms = _Arms(mean, sd, among)
    target = math.sqrt(2 * _DEPTH)

    def below(x: Float[Array, ""]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        log_below, slope = _all_below(arms, x)
        return log_below.sum(), slope.sum()

    def nearer(_: int, x: Float[Array, ""]) -> Float[Array, ""]:
        depth, slope = below(x)
        root = jnp.sqrt(-2 * depth)
        return x + jnp.where(root > target, (root - target) * root / slope, 0.0)

    # The root of the depth is nearly linear in x, so that few steps suffice.
    left = jnp.where(among, mean - _REACH * sd, -jnp.inf).max()
    left = lax.fori_loop(0, 5, nearer, left)
    right = jnp.where(among, mean + _REACH * sd, -jnp.inf).max()
    return _spread(left, right, target / below(left)[1], _JOINT_NODES)


def _spread(left: Float[Array, ""], right: Float[Array, ""], even: Float[Array, ""], n: int) -> _Points:
    """Points from left to right: evenly spaced for a distance of about `even`, then geometrically, at the end evenly again.

    With D the distance to left - even, the spacing is proportional to D (1 - D / limit).
    """
    even = jnp.clip(even, 1e-9 * (right - left), right - left)
    whole = right - left + even
    limit = 1.25 * whole
    first, last = even / (1 - even / limit), whole / (1 - whole / limit)
    step = jnp.log(last / first) / n
    y = step * (jnp.arange(n, dtype=left.dtype) + 0.5)
    distance = first * jnp.exp(y)
    slowed = 1 + distance / limit
    return _Points(left - even + distance / slowed, jnp.log(step * first) + y - 2 * jnp.log(slowed))


def _all_below(
    arms: _Arms, x: Float[Array, " *node"], but: Int[Array, ""] | None = None
) -> tuple[Float[Array, "*node arm"], Float[Array, "*node arm"]]:
    """For every arm (except one) the logarithm of the probability that it is below x, and its slope along x."""
    log_below, slope = log_cdf_and_slope((x[..., None] - arms.mean) / arms.sd)
    counts = arms.among if but is None else arms.among & (jnp.arange(arms.mean.shape[0]) != but)
    return jnp.where(counts, log_below, 0.0), jnp.where(counts, slope / arms.sd, 0.0)


# One arm at points of its own -----------------------------------------------------------------------------------------


@jax.custom_jvp
def _log_best_of(arms: _Arms, arm: Int[Array, ""]) -> Float[Array, ""]:
    """Log-probability of this arm, however improbable it is."""
    return _own_integral(arms, arm, _own_points(arms, arm))[0]


@_log_best_of.defjvp
def _log_best_of_jvp(
    primals: tuple[_Arms, Int[Array, ""]], tangents: tuple[_Arms, Float[Array, ""]]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    (arms, arm), (moved, _) = primals, tangents
    points = _own_points(arms, arm)
    log_best, share, slope = _own_integral(arms, arm, points)
    speed = moved.mean + (points.x[:, None] - arms.mean) / arms.sd * moved.sd
    return log_best, share @ (slope * (speed[:, arm][:, None] - speed)).sum(1)


def _own_integral(
    arms: _Arms, arm: Int[Array, ""], points: _Points
) -> tuple[Float[Array, ""], Float[Array, " node"], Float[Array, "node arm"]]:
    """The logarithm of the integral, each point's share of it, and the slopes of the other arms."""
    log_below, slope = _all_below(arms, points.x, arm)
    mean, sd = arms.mean[arm], arms.sd[arm]
    log_part = points.log_weight - 0.5 * ((points.x - mean) / sd) ** 2 + log_below.sum(1)
    return jax.nn.logsumexp(log_part) - jnp.log(sd) - _HALF_LOG_2PI, jax.nn.softmax(log_part), slope


def _own_points(arms: _Arms, arm: Int[Array, ""]) -> _Points:
    """Points about the peak of the arm's integrand, which is log-concave and bends at least as much as the arm's density."""
    mean, sd, among = lax.stop_gradient(arms)
    arms, own_mean, own_sd = _Arms(mean, sd, among), mean[arm], sd[arm]

    def at(x: Float[Array, ""]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The logarithm of the integrand, and its slope."""
        log_below, slope = _all_below(arms, x, arm)
        z = (x - own_mean) / own_sd
        return log_below.sum() - 0.5 * z**2, slope.sum() - z / own_sd

    peak = _peak(arms, arm)
    height = at(peak)[0]

    def from_left(_: int, x: Float[Array, ""]) -> Float[Array, ""]:
        value, slope = at(x)
        root = jnp.sqrt(jnp.maximum(2 * (height - value), 0.0))
        return x + jnp.where(root > _REACH, (root - _REACH) * root / slope, 0.0)

    def from_right(_: int, x: Float[Array, ""]) -> Float[Array, ""]:
        value, slope = at(x)
        return x - jnp.where(value < height - _DEPTH, (value - height + _DEPTH) / slope, 0.0)

    # Where arms are so far behind that rounding hides the peak, points still have an order.
    least = jnp.maximum(1e-9 * own_sd, 16 * jnp.finfo(own_sd.dtype).eps)
    left = jnp.minimum(lax.fori_loop(0, 6, from_left, peak - _REACH * own_sd), peak - least)
    right = jnp.maximum(lax.fori_loop(0, 4, from_right, peak + _REACH * own_sd), peak + least)
    return _spread(left, right, _REACH / at(left)[1], _OWN_NODES)


def _peak(arms: _Arms, arm: Int[Array, ""]) -> Float[Array, ""]:
    """Where the arm's integrand is largest.

    The slope of its logarithm is convex, so that Newton's steps from the left never go too far; but they climb slowly out of
    a narrow arm's step, across which halving leaps.
    """
    own_mean, own_sd = arms.mean[arm], arms.sd[arm]
    others = arms.among & (jnp.arange(arms.mean.shape[0]) != arm)

    def halve(_: int, between: tuple[Float[Array, ""], Float[Array, ""]]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        low, high = between
        middle = (low + high) / 2
        rising = steepness(middle)[0] > 0
        low, high = jnp.where(rising, middle, low), jnp.where(rising, high, middle)
        slope, curvature = steepness(low)
        return low + slope / curvature, high

    def steepness(x: Float[Array, ""]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        z = (x - arms.mean) / arms.sd
        slope = log_cdf_and_slope(z)[1]
        down = jnp.where(others, bend(z, slope) / arms.sd**2, 0.0).sum() + 1 / own_sd**2
        return jnp.where(others, slope / arms.sd, 0.0).sum() - (x - own_mean) / own_sd**2, down

    high = jnp.maximum(own_mean, jnp.where(others, arms.mean + _REACH * arms.sd, -jnp.inf).max())
    return lax.fori_loop(0, _HALVINGS, halve, (own_mean, high))[0]
