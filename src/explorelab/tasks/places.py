"""Where arms lie on a grid, and how far places are from each other."""

from __future__ import annotations

import numpy as np


def grid_places(width: int, height: int) -> np.ndarray:
    """The squares of a grid, one apart; arm number = x * height + y."""
    x, y = np.divmod(np.arange(width * height), height)
    return np.stack([x, y], axis=1).astype(float)


def grid_shape(places: np.ndarray | None) -> tuple[int, int] | None:
    """Width and height of the grid whose squares these places are, in its order; None if they are none."""
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
    """How far it is along the axes from every place to every other: on a grid, how many squares one passes."""
    return np.abs(places[:, None] - places[None]).sum(-1)
