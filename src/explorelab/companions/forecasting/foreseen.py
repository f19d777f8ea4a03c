"""What was predicted of one person, and how often predictions of each size came true."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab.choices.table import Choices

EDGES = np.concatenate([[0.0], np.geomspace(0.001, 1.0, 16)])
"""Bins of predicted probabilities, for calibration."""


class Foreseen(NamedTuple):
    """What was predicted of one person; rows of the choices x trial."""

    rows: np.ndarray
    personal: np.ndarray
    """Log-probability of each choice, from the person's own earlier ones."""
    group: np.ndarray
    """The same from the group alone."""
    counts: np.ndarray
    """Calibration: for each bin, the number of predictions, their sum, and how many came true."""
    n_effective: np.ndarray
    """Effective number of points after each trial; NaN beyond the last one of a block."""
    replayed: bool
    """Whether it took a live companion."""


def calibration(probability: np.ndarray, arm: np.ndarray, offered: np.ndarray) -> np.ndarray:
    """Counts for `Foreseen`, of predictions (choice x arm) of the arms that were on offer."""
    n = len(EDGES) - 1
    at = np.clip(np.searchsorted(EDGES, probability, side="right") - 1, 0, n - 1)[offered]
    hit = (np.arange(probability.shape[1]) == arm[:, None])[offered]
    return np.stack([np.bincount(at, w, n) for w in (np.ones(len(at)), probability[offered], hit.astype(float))])


def offers(choices: Choices, rows: np.ndarray) -> np.ndarray:
    """Row x trial x arm: which arms could be chosen."""
    shape = len(rows), choices.n_trials, choices.layout.n_arms
    return np.ones(shape, bool) if choices.available is None else choices.available[rows]
