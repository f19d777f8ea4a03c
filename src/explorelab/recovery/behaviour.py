"""A group's behaviour as curves and numbers, to be compared with simulated groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from explorelab._support.checks import Floats
from explorelab.choices.table import NOWHERE, Choices
from explorelab.fitting.likelihood import positions
from explorelab.regret.forms import FORMS, PowerFit
from explorelab.regret.forms_fast import best_forms
from explorelab.regret.observed import observed_regret
from explorelab.regret.phenotypes import FEWEST_TRIALS

CURVES = {
    "regret": "observed regret",
    "reward": "reward",
    "repeat": "share of choices that repeat the last arm",
    "travel": "walk to the next arm",
    "unique": "share of choices so far that were new arms",
}
"""Curves over time, as means over blocks."""


class Each(NamedTuple):
    """Statistics per block and trial (NaN if missing), or per block."""

    curves: dict[str, Floats]
    """Curves by their names in `CURVES`, row x trial."""
    numbers: dict[str, Floats]
    """Numbers by name, one per row."""
    walks: Floats | None
    """Distance of each choice from the last: row x trial, NaN without one; None if arms have no places."""


def of_each(choices: Choices, power: PowerFit = "raw", best_mean: npt.ArrayLike | None = None) -> Each:
    """The statistics of every block: curves over its trials, and single numbers."""
    chosen, before = choices.arm, positions(choices)
    moved = choices.scored & (before != NOWHERE)
    sampled = choices.observed
    regret = observed_regret(choices, best_mean).values
    curves = {
        "regret": regret,
        "reward": np.where(sampled, choices.reward, np.nan),
        "repeat": np.where(moved, chosen == before, np.nan),
    }
    walks = None
    if choices.layout.walks is not None:
        walks = np.where(moved, choices.layout.walks[np.maximum(before, 0), np.maximum(chosen, 0)], np.nan)
        curves["travel"] = walks
    curves["unique"] = _unique(choices)
    numbers = {
        "final regret": _last(regret),
        **{f"mean {name}": _row_mean(curves[name]) for name in ("reward", "repeat", "travel") if name in curves},
        "share of new arms": _last(curves["unique"]),
    }
    label = labels(regret, power)
    labelled = label >= 0
    for k, form in enumerate(FORMS):
        numbers[f"phenotype {form}"] = np.where(labelled, label == k, np.nan)
    return Each(curves, numbers, walks)


def labels(regret: Floats, power: PowerFit) -> np.ndarray:
    """The form (a number in FORMS) of every curve; -1 for those too short to have one."""
    lengths = np.isfinite(regret).sum(1)
    label = np.full(len(regret), -1)
    for length in np.unique(lengths[lengths >= FEWEST_TRIALS]):
        at = lengths == length
        label[at] = best_forms(regret[at, :length], power)
    return label


def _unique(choices: Choices) -> Floats:
    """The share of samples so far that were of arms new to the block."""
    arm, n_rows = choices.arm, choices.n_rows
    seen = np.zeros((n_rows, choices.layout.n_arms), bool)
    new = np.zeros(arm.shape, bool)
    rows = np.arange(n_rows)
    for t in range(choices.n_trials):
        at = np.maximum(arm[:, t], 0)
        new[:, t] = choices.observed[:, t] & ~seen[rows, at]
        seen[rows, at] |= choices.observed[:, t]
    samples = np.cumsum(choices.observed, axis=1)
    share = np.cumsum(new, axis=1) / np.maximum(samples, 1)
    return np.where(choices.observed, share, np.nan)


def _last(curves: Floats) -> Floats:
    """The last number of every row."""
    known = np.isfinite(curves)
    at = curves.shape[1] - 1 - known[:, ::-1].argmax(1)
    return np.where(known.any(1), curves[np.arange(len(curves)), at], np.nan)


def _row_mean(curves: Floats) -> Floats:
    return mean_known(curves, 1)


def mean_known(values: Floats, axis: int) -> Floats:
    """The mean over values that are not NaN; NaN if all are."""
    known = np.isfinite(values)
    n = known.sum(axis)
    return np.where(n > 0, np.where(known, values, 0.0).sum(axis) / np.maximum(n, 1), np.nan)
