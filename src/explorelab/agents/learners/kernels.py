"""Spatial covariance: how alike an agent believes two arms to be, given the distance between them."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

type Kernel = Callable[[Float[Array, "arm arm"]], Float[Array, "arm arm"]]


def exponential(r: Float[Array, "arm arm"]) -> Float[Array, "arm arm"]:
    """exp(-r), the paper's kernel (section V.C); Matern with smoothness 1/2."""
    return jnp.exp(-r)


def matern32(r: Float[Array, "arm arm"]) -> Float[Array, "arm arm"]:
    """(1 + sqrt(3) r) exp(-sqrt(3) r): once differentiable surfaces."""
    s = math.sqrt(3) * r
    return (1 + s) * jnp.exp(-s)


def matern52(r: Float[Array, "arm arm"]) -> Float[Array, "arm arm"]:
    """(1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r): twice differentiable surfaces."""
    s = math.sqrt(5) * r
    return (1 + s + s**2 / 3) * jnp.exp(-s)


def squared_exponential(r: Float[Array, "arm arm"]) -> Float[Array, "arm arm"]:
    """exp(-r^2 / 2): infinitely differentiable surfaces."""
    return jnp.exp(-(r**2) / 2)


KERNELS: dict[str, Kernel] = {
    "exponential": exponential,
    "matern32": matern32,
    "matern52": matern52,
    "squared-exponential": squared_exponential,
}


def correlation(
    kernel: Kernel, distances: Float[Array, "arm arm"], length_scale: Float[Array, ""]
) -> Float[Array, "arm arm"]:
    """Prior correlation of every pair of arms; a length scale of 0 means independent arms, not 0/0."""
    positive = length_scale > 0
    r = distances / jnp.where(positive, length_scale, 1)
    return jnp.where(positive, kernel(r), jnp.eye(distances.shape[0], dtype=r.dtype))
