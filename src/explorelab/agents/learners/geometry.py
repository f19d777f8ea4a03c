"""What a layout looks like from the distances between its arms: neighbours, corners, borders, mirror images."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class Geometry(NamedTuple):
    """A layout; ones and zeros are real numbers, ready to be multiplied by weights."""

    spacing: Float[Array, ""]
    """The smallest distance between two arms."""
    log_distances: Float[Array, "arm arm"]
    """log(1 + distance)."""
    near: Float[Array, "arm arm"]
    """1 for an arm and those next to it: no further away than 1.5 times the spacing, on a grid the eight squares around."""
    corner: Float[Array, " arm"]
    """1 for the arms with the fewest others next to them: on a grid its corners, on a line its ends."""
    border: Float[Array, " arm"]
    """1 for all arms with fewer others next to them than the arm with most."""
    images: Float[Array, "arm arm"]
    """1 for other arms that are as far from the centre, such as mirror images."""


def geometry_of(distances: Float[Array, "arm arm"]) -> Geometry:
    """The layout of arms with these distances between them."""
    apart = distances > 0
    spacing = jnp.where(apart, distances, jnp.inf).min()
    near = distances < 1.5 * spacing
    n_near = near.sum(1)
    # Squared distance from the centre: that from all arms on average, less what they have in common.
    squared = (distances**2).mean(1)
    alike = apart & (jnp.abs(squared[:, None] - squared) < 1e-3 * spacing**2)
    dtype = distances.dtype
    return Geometry(
        spacing=spacing,
        log_distances=jnp.log1p(distances),
        near=near.astype(dtype),
        corner=(n_near == n_near.min()).astype(dtype),
        border=(n_near < n_near.max()).astype(dtype),
        images=alike.astype(dtype),
    )
