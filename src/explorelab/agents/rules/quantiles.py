"""The normal quantile for a tail so small that only its logarithm can be represented."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax.scipy.special import ndtri
from jaxtyping import Array, Float

FAR = 60.0
"""The tail exp(-60) can still be represented in single precision; smaller ones only by their logarithms."""


def upper_quantile(log_tail: Float[Array, ""]) -> Float[Array, ""]:
    """The z that a standard normal number exceeds with probability exp(log_tail), from 0 down to the smallest number.

    For large tails it is -ndtri(tail), not ndtri(1 - tail), which loses every digit as the tail shrinks. Far out, the tail
    is exp(-z^2 / 2) / sqrt(2 pi z^2) times a factor c close to 1, so z^2 = -2 log_tail - log(2 pi z^2) + 2 log c is solved
    by fixed-point iteration, each step of which leaves a hundredth of the error.
    """
    near = -ndtri(jnp.exp(jnp.maximum(log_tail, -FAR)))
    far = -2 * jnp.minimum(log_tail, -FAR)
    square = far - jnp.log(2 * math.pi * far)
    for _ in range(4):
        square = far - jnp.log(2 * math.pi * square) + 2 * _log_factor(square)
    return jnp.where(log_tail < -FAR, jnp.sqrt(square), near)


def _log_factor(square: Float[Array, ""]) -> Float[Array, ""]:
    """Log of c in P(Z > z) = c exp(-z^2 / 2) / sqrt(2 pi z^2): Laplace's continued fraction."""
    fraction = square
    for k in range(6, 0, -1):
        fraction = square * (1 + k / fraction)
    return -jnp.log(fraction / square)
