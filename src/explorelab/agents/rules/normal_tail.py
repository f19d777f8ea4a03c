"""The normal distribution function and its slope, to 12 digits at any distance, for many arguments at a time.

    log Phi(z)   and   lambda(z) = d/dz log Phi(z) = phi(z) / Phi(z)

both from erfcx(t) = exp(t^2) erfc(t), t = |z| / sqrt 2, which is smooth and takes one polynomial. The library's log Phi
takes three branches for the same, and its derivative, the exponential of a difference, loses all digits in the tail.
"""

from __future__ import annotations

import math
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import erfcx

_MIDDLE = 3.75
"""erfcx(t) (1 + 2 t) is a polynomial of (t - middle) / (t + middle) (Shepherd & Laframboise 1981)."""
_DEGREE = 22
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)

type _Pair = tuple[Float[Array, ...], Float[Array, ...]]


@cache
def _coefficients() -> tuple[float, ...]:
    """The polynomial's coefficients, from the highest power down: Chebyshev interpolation of SciPy's erfcx."""
    y = np.polynomial.chebyshev.chebpts1(_DEGREE + 1)
    t = _MIDDLE * (1 + y) / (1 - y)
    series = np.polynomial.chebyshev.chebfit(y, erfcx(t) * (1 + 2 * t), _DEGREE)
    return tuple(np.polynomial.chebyshev.cheb2poly(series)[::-1].tolist())


@jax.custom_jvp
def log_cdf_and_slope(z: Float[Array, ...]) -> _Pair:
    """log Phi(z) and its derivative phi(z) / Phi(z)."""
    t = jnp.abs(z) * math.sqrt(0.5)
    y = (t - _MIDDLE) / (t + _MIDDLE)
    scaled = jnp.zeros_like(y)
    for coefficient in _coefficients():
        scaled = scaled * y + coefficient
    scaled = scaled / (1 + 2 * t)
    bell = jnp.exp(-t * t)
    below = z < 0
    share = jnp.where(below, 0.5 * scaled, 1 - 0.5 * bell * scaled)
    log_cdf = jnp.log(share) - jnp.where(below, t * t, 0.0)
    return log_cdf, jnp.where(below, 0.5, bell / 2) * math.sqrt(2 / math.pi) / share


@log_cdf_and_slope.defjvp
def _log_cdf_and_slope_jvp(primals: tuple[Float[Array, ...]], tangents: tuple[Float[Array, ...]]) -> tuple[_Pair, _Pair]:
    (z,), (dz,) = primals, tangents
    log_cdf, slope = log_cdf_and_slope(z)
    return (log_cdf, slope), (slope * dz, -bend(z, slope) * dz)


_FAR = -40.0
"""Below this, the asymptotic series is exact to 9 digits, and the difference is not."""


def bend(z: Float[Array, ...], slope: Float[Array, ...]) -> Float[Array, ...]:
    """Minus the second derivative of log Phi(z), from z and the slope there: between 0 and 1, and 1 far in the tail."""
    far = z < _FAR
    inverse = 1 / jnp.where(far, z, _FAR) ** 2
    # z + slope is a difference of large numbers in the tail.
    series = inverse * (1 - 2 * inverse * (1 - 5 * inverse * (1 - 7.4 * inverse)))
    return jnp.where(far, -slope * z * series, slope * (z + slope))
