"""How far places are from each other."""

from __future__ import annotations

import numpy as np


def distances_between(places: np.ndarray) -> np.ndarray:
    """Euclidean distance between every pair of places (place x dimension)."""
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))


def walks_between(places: np.ndarray) -> np.ndarray:
    """How far it is along the axes from every place to every other: on a grid, how many squares one passes."""
    return np.abs(places[:, None] - places[None]).sum(-1)
