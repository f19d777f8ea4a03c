"""The forecast that knows no persons: how far other people moved."""

from __future__ import annotations

import numpy as np

from explorelab.choices.table import NOWHERE, Choices
from explorelab.fitting.likelihood import positions


def moves_table(others: Choices, choices: Choices) -> np.ndarray:
    """Log-probability of each choice from how often other people moved so far: no beliefs, no rewards, no persons.

    Distances are walks between arms, or where arms lie nowhere, staying and leaving; from nowhere, all arms are alike.
    """
    n_arms = choices.layout.n_arms
    walks = choices.layout.walks if choices.layout.walks is not None else 1.0 - np.eye(n_arms)
    kinds, kind = np.unique(np.round(walks, 6), return_inverse=True)
    kind = kind.reshape(walks.shape)

    def moved(of: Choices) -> tuple[np.ndarray, np.ndarray]:
        at = positions(of)
        return at, of.scored & (at != NOWHERE)

    at, counted = moved(others)
    made = np.bincount(kind[at[counted], others.arm[counted]], minlength=len(kinds)) + 1.0
    # How many arms lie so far away depends on where one stands: of each distance, the share of those there are.
    at, there = moved(choices)
    weight = made[kind[np.maximum(at, 0)]] / _n_at_distance(kind, len(kinds))[np.maximum(at, 0)]
    weight = np.where(there[..., None], weight, 1.0)
    if choices.available is not None:
        weight = np.where(choices.available, weight, 0.0)
    chosen = np.take_along_axis(weight, np.maximum(choices.arm, 0)[..., None], axis=2)[..., 0]
    # Where nothing was chosen there may have been nothing on offer.
    chosen, total = (np.where(choices.scored, part, 1.0) for part in (chosen, weight.sum(2)))
    return np.where(choices.scored, np.log(chosen / total), np.nan)


def _n_at_distance(kind: np.ndarray, n_kinds: int) -> np.ndarray:
    """arm x arm: how many arms lie as far from the one as the other does."""
    counts = np.stack([np.bincount(row, minlength=n_kinds) for row in kind])
    return np.take_along_axis(counts, kind, axis=1)
