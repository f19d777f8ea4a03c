"""Places of arms on a grid, and distances between places."""

from __future__ import annotations

import numpy as np


def grid_places(width: int, height: int) -> np.ndarray:
    """The squares of a grid with unit spacing; arm number = x * height + y."""
    x, y = np.divmod(np.arange(width * height), height)
    return np.stack([x, y], axis=1).astype(float)


def grid_shape(places: np.ndarray | None) -> tuple[int, int] | None:
    """Width and height of the grid that these places form, in its order; None if they do not."""
    if places is None or places.shape[1] != 2:
        return None
    sides = places.max(0) + 1
    if sides.prod() != len(places) or (sides != np.round(sides)).any():
        return None
    width, height = int(sides[0]), int(sides[1])
    return (width, height) if np.array_equal(grid_places(width, height), places) else None


def distances_between(places: np.ndarray) -> np.ndarray:
    """Euclidean distance between every pair of places (place x dimension)."""
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))


def walks_between(places: np.ndarray) -> np.ndarray:
    """Distance along the axes between every pair of places: on a grid, the number of squares moved."""
    return np.abs(places[:, None] - places[None]).sum(-1)
