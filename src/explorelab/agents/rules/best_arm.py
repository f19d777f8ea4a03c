"""The probability that each of several independent Gaussian arms is the best one.

    P_i = integral over x of  n(x; mu_i, s_i)  product over j != i of Phi((x - mu_j) / s_j)

by Gauss-Legendre quadrature between points shared by all arms: where each Phi rises (because one arm's integrand has steps
as wide as the sds of the others), and around the peak of each integrand. The integrand of arm i is log-concave, with at
least the curvature of the arm's own density, so it has one peak and is negligible eight s_i away from it, wherever the peak
lies. So the probabilities of improbable arms are as accurate as the others.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import log_ndtr
from jaxtyping import Array, Bool, Float

from explorelab.agents.factors import Available, Value

_RISE = np.array([-5.5, -3.5, -2.0, -1.0, 0.0, 1.0, 2.0, 3.5, 5.5])
"""Points where a Phi rises, in its own sds."""
_STEPS = 8.0 / 2.5 ** np.arange(8)
_AROUND_PEAK = np.concatenate([-_STEPS, [0.0], _STEPS])
"""Points around the peak of an integrand, in the arm's own sds: ever finer, as its slopes can be steeper than the arm's."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
_BISECTIONS = 32
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def log_probs_of_best(mean: Value, sd: Value, available: Available) -> Value:
    """Log-probability that each available arm is the best; arms with infinite sd come first, all equally likely."""
    allowed = jnp.ones(mean.shape, bool) if available is None else available
    first = jnp.isinf(sd) & allowed
    known = allowed & ~jnp.isinf(sd)
    n_first = first.sum()
    log_first = jnp.where(first, -jnp.log(jnp.maximum(n_first, 1).astype(mean.dtype)), -jnp.inf)
    # If no arm is known, integrate anyway, so that nothing becomes NaN.
    among = known | ~known.any()
    of_known = _log_probs(*_standardised(mean, jnp.where(jnp.isinf(sd), 1.0, sd), among), among)
    return jnp.where(n_first > 0, log_first, of_known)


def _standardised(mean: Value, sd: Value, among: Bool[Array, " arm"]) -> tuple[Value, Value]:
    """Means relative to the best, and sds, in units of the largest difference or sd; no sd is exactly 0."""
    best = lax.stop_gradient(jnp.where(among, mean, -jnp.inf).max())
    away = jnp.where(among, mean - best, 0.0)
    sd = jnp.where(among, sd, 0.0)
    unit = lax.stop_gradient(jnp.maximum(-away.min(), sd.max()))
    unit = jnp.where(unit > 0, unit, 1.0)
    least = 1e-10 if mean.dtype == jnp.float64 else 1e-5
    return away / unit, jnp.maximum(sd / unit, least)


def _log_probs(mean: Value, sd: Value, among: Bool[Array, " arm"]) -> Value:
    x, log_weight = _nodes(*lax.stop_gradient((mean, sd)), among)
    z = (x[:, None] - mean) / sd
    log_below = jnp.where(among, _log_cdf(z), 0.0)
    others_below = log_below.sum(1, keepdims=True) - log_below
    log_density = -0.5 * z**2 - jnp.log(sd) - _HALF_LOG_2PI
    log_best = jax.nn.logsumexp(log_density + others_below + log_weight[:, None], axis=0)
    return jax.nn.log_softmax(jnp.where(among, log_best, -jnp.inf))


def _nodes(mean: Value, sd: Value, among: Bool[Array, " arm"]) -> tuple[Float[Array, " node"], Float[Array, " node"]]:
    """Nodes and the logarithms of their weights."""
    peak = _peaks(mean, sd, among)
    ends = jnp.concatenate([mean + jnp.asarray(_RISE, mean.dtype)[:, None] * sd,
                            peak + jnp.asarray(_AROUND_PEAK, mean.dtype)[:, None] * sd])  # fmt: skip
    ends = jnp.sort(jnp.where(among, ends, 0.0).ravel())  # for arms left out, the best mean again
    half = (ends[1:] - ends[:-1]) / 2
    x = (ends[1:] + ends[:-1])[:, None] / 2 + half[:, None] * jnp.asarray(_NODES, mean.dtype)
    weight = half[:, None] * jnp.asarray(_WEIGHTS, mean.dtype)
    return x.ravel(), jnp.log(weight).ravel()


def _peaks(mean: Value, sd: Value, among: Bool[Array, " arm"]) -> Value:
    """Where the integrand of every arm is largest, by bisection of its slope."""
    off = ~jnp.eye(mean.shape[0], dtype=bool) & among

    def halve(_: int, between: tuple[Value, Value]) -> tuple[Value, Value]:
        low, high = between
        x = (low + high) / 2
        z = (x[:, None] - mean) / sd
        steepness = jax.jvp(_log_cdf, (z,), (jnp.ones_like(z),))[1] / sd
        rising = jnp.where(off, steepness, 0.0).sum(1) > (x - mean) / sd**2
        return jnp.where(rising, x, low), jnp.where(rising, high, x)

    # An arm's integrand rises at the arm's own mean and falls far above all arms.
    low, high = lax.fori_loop(0, _BISECTIONS, halve, (mean, jnp.full_like(mean, (mean + 10 * sd).max())))
    return (low + high) / 2


_FAR = -15.0
"""Below this, the asymptotic series is exact to 1e-10, and its derivatives are right at any distance."""


def _log_cdf(z: Float[Array, ...]) -> Float[Array, ...]:
    """log Phi(z); the library's own derivative is the exponential of a difference, which loses all digits in the tail."""
    far = z < _FAR
    away = jnp.where(far, z, _FAR)
    inverse = 1 / away**2
    series = jnp.log1p(-inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse))))
    tail = -0.5 * away**2 - jnp.log(-away) - _HALF_LOG_2PI + series
    return jnp.where(far, tail, log_ndtr(jnp.where(far, 0.0, z)))
