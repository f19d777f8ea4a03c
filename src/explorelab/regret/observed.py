"""People's regret: observed, from the rewards received, and expected, from the arms' means.

    observed  R(t) = m* t - sum of r up to t            (section V.B of the paper)
    expected  R(t) = sum of m* - m_i over the arms i chosen up to t

m* is the largest mean of all arms of the block's landscape, whether or not they were on offer. Where means are known trial
by trial, because they change, it is the largest one on each trial among the arms on offer, and m* t is the sum of these.
Every trial counts, even one that was forced or repeated because there was no answer: t is a decision time, not a decision.

A missed trial on which nothing was sampled loses all of m*: nothing was earned, so the sum of rewards stays the same while
m* t grows. This takes the formula literally and assumes that a reward of 0 means nothing; if yours have another zero, leave
such trials out of the file. If an arm was sampled but its reward is unknown, the arm's mean stands in for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Floats
from explorelab._support.counted import each_of
from explorelab._support.rounding import without_rounding
from explorelab.choices.table import NOWHERE, Choices
from explorelab.errors import InputError

HOW_TO_TELL = (
    'add means (or landscape = "B", or means_by where blocks or trials have several) to the table [task] of the task file'
)
TAKEN = ("row", "time", "form", "participant", "block")
"""Names that are taken; a condition with one of them gets a trailing underscore."""


def observed_regret(choices: Choices, best_mean: npt.ArrayLike | None = None) -> xr.DataArray:
    """m* t minus the rewards received up to t, row x time, NaN beyond the end of a block.

    Coordinates are the participant, block and conditions of each row. `best_mean`, one number or one per row, is m* where
    the means of the arms are unknown.
    """
    best = _best_means(choices, best_mean)
    unknown = choices.present & ~choices.observed & (choices.arm != NOWHERE)
    received = np.where(choices.observed, choices.reward, 0.0)
    if unknown.any():
        received = np.where(unknown, _mean_of_chosen(choices), received)
    return _cumulative(choices, best, received, "observed_regret")


def noise_var_of(choices: Choices) -> float:
    """The variance of rewards about their arms' means: the layout's or, if that is unknown, that of the rewards seen."""
    known, at = choices.layout.noise_var, choices.observed
    if known is not None or not at.any():
        return 0.0 if known is None else float(known)
    return float(((choices.reward - _mean_of_chosen(choices))[at] ** 2).mean())


def best_of_moments(choices: Choices) -> Floats:
    """The best mean on each trial among the arms on offer, row x trial, where means change; -inf where unknown."""
    assert choices.means is not None
    best = np.where(np.isnan(choices.means), -np.inf, choices.means)
    if choices.available is not None:
        best = np.where(choices.available, best, -np.inf)
    return np.where(choices.present, best.max(2), 0.0)


def _best_means(choices: Choices, best_mean: npt.ArrayLike | None) -> Floats:
    """m* of every row (row x 1) or, where means change, of every trial (row x trial)."""
    if choices.means is not None and choices.means_change:
        moments = best_of_moments(choices)
        lacking = np.isinf(moments).any(1)
        if lacking.any():
            where = _where(choices, lacking)
            raise InputError(f"regret needs the true mean rewards, but not all of {where} are known: {HOW_TO_TELL}.")
        return moments
    unknown = np.full(choices.n_rows, -np.inf)
    known = unknown if choices.means is None else np.where(np.isnan(choices.means), -np.inf, choices.means).max(1)
    if best_mean is not None:
        given = checks.real("best_mean", best_mean)
        if given.ndim and given.shape != known.shape:
            raise InputError(f"best_mean must be one number, or one for {each_of(known.size, 'row')}, got {given.size}.")
        known = np.where(np.isinf(known), given, known)
    if np.isinf(known).any():
        where = _where(choices, np.isinf(known))
        raise InputError(f"regret needs the true mean rewards, but those of {where} are not known: {HOW_TO_TELL}.")
    return known[:, None]


def mean_of_arms(choices: Choices, arm: np.ndarray) -> Floats:
    """The mean of these arms (row x trial) on their trials."""
    assert choices.means is not None
    if choices.means_change:
        return np.take_along_axis(choices.means, arm[..., None], axis=2)[..., 0]
    return np.take_along_axis(choices.means, arm, axis=1)


class Yardsticks(NamedTuple):
    """The mean reward of always choosing the best arm, and of choosing at random."""

    best: float
    random: float


def yardsticks(choices: Choices) -> Yardsticks | None:
    """What the best arm and random choice would earn in these blocks; None unless all means are known."""
    if choices.means is None:
        return None
    if not choices.means_change:
        known = np.isfinite(choices.means).all()
        return Yardsticks(float(choices.means.max(1).mean()), float(choices.means.mean())) if known else None
    if not np.isfinite(choices.means[choices.present]).all():
        return None
    offered = choices.present[..., None] if choices.available is None else choices.available & choices.present[..., None]
    offered = np.broadcast_to(offered, choices.means.shape)
    share = offered / np.maximum(offered.sum(2, keepdims=True), 1)
    at_random = np.where(offered, choices.means * share, 0.0).sum(2)
    return Yardsticks(float(best_of_moments(choices)[choices.present].mean()), float(at_random[choices.present].mean()))


def _mean_of_chosen(choices: Choices) -> Floats:
    """The true mean of each trial's arm; arbitrary on trials without one."""
    chosen = choices.present & (choices.arm != NOWHERE)
    if choices.means is None:
        means = np.full(choices.arm.shape, np.nan)
    else:
        means = mean_of_arms(choices, np.where(chosen, choices.arm, 0))
    lacking = (np.isnan(means) & chosen).any(1)
    if lacking.any():
        where = _where(choices, lacking)
        raise InputError(f"regret needs the mean of every chosen arm, but some of {where} are not known: {HOW_TO_TELL}.")
    return means


def _where(choices: Choices, rows: np.ndarray) -> str:
    if rows.all():
        return "all blocks"
    first = int(rows.argmax())
    who = f"participant {choices.participants[choices.participant[first]]}, block {choices.block[first]}"
    return who if rows.sum() == 1 else f"{rows.sum()} blocks (first {who})"


def _cumulative(choices: Choices, best: Floats, earned: Floats, name: str) -> xr.DataArray:
    """The cumulative loss up to each trial, with the labels of the rows; a loss within rounding is 0."""
    present, lost = choices.present, without_rounding(best - earned, best, earned)
    broken = (present[:, 1:] & ~present[:, :-1]).any(1)
    if broken.any():
        raise InputError(f"regret adds up over trials, but {_where(choices, broken)} lacks some before its last one.")
    total = np.where(present, np.cumsum(np.where(present, lost, 0.0), axis=1), np.nan)
    labels = {
        "participant": np.asarray(choices.participants)[choices.participant],
        "block": choices.block,
        **{f"{key}_" if key in TAKEN else key: np.asarray(values) for key, values in choices.conditions.items()},
    }
    coords = {key: ("row", values) for key, values in labels.items()}
    return xr.DataArray(total, {**coords, "time": np.arange(1, total.shape[1] + 1)}, ("row", "time"), name)
