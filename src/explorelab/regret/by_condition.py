"""What differs between the levels of conditions: means, differences and slopes, with people as the units.

A mean at a level is over people, each with the mean of their blocks there. Differences between levels are from a regression
on all conditions (main effects), so that each is adjusted for the others. Its rows are everybody's means in each combination
of levels that they played (`clustered_regression`). Where the data cannot tell a condition from the others, or people are
too few for all of them, it is compared alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from explorelab._support.checks import Floats
from explorelab.choices.conditions import MISSING, Condition, Covariate, Sorted
from explorelab.regret.clustered_regression import Fitted, contrast, estimable, regression
from explorelab.regret.clusters import clustered_share
from explorelab.regret.differences import Difference, mean_of, per_person

FEWEST = 2
"""People that a level must have for an interval."""


class Units(NamedTuple):
    """Everybody's mean in each combination of levels that they played."""

    values: Floats
    who: np.ndarray
    levels: np.ndarray
    """unit x condition, `MISSING` where it is unknown."""
    covariates: Floats
    """unit x covariate."""


class Compared(NamedTuple):
    """One outcome by condition."""

    levels: pd.DataFrame
    """For each condition and level: n_people, n_blocks, mean, low, high."""
    differences: pd.DataFrame
    """For each condition and pair of levels: level, against, difference, low, high, and what it is adjusted for."""
    slopes: pd.DataFrame
    """For each covariate: n_people, sd of people, and the difference for one sd more, with its interval."""


def compared(values: Floats, who: np.ndarray, columns: Sorted, share: bool = False) -> Compared:
    """One outcome, a number for each row (NaN where there is none), by condition; `share` if it is 0 or 1."""
    units = units_of(values, who, columns)
    levels = [row for each in columns.conditions for row in _levels(values, who, each, share)]
    names = ["condition", "level", "n_people", "n_blocks", "mean", "low", "high"]
    return Compared(_frame(levels, names), differences(units, columns), _slopes(units, columns))


def units_of(values: Floats, who: np.ndarray, columns: Sorted) -> Units:
    """Means over the rows of each person and combination of levels, where the value is known."""
    known = np.isfinite(values)
    levels = np.stack([each.level for each in columns.conditions], axis=1) if columns.conditions else np.zeros((len(who), 0))
    keys = np.column_stack([who, levels]).astype(int)[known]
    unit, first, back = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    back = back.reshape(-1)
    n = np.bincount(back, minlength=len(unit))
    covariates = [np.bincount(back, each.values[known], len(unit)) / n for each in columns.covariates]
    extra = np.stack(covariates, axis=1) if covariates else np.zeros((len(unit), 0))
    return Units(np.bincount(back, values[known], len(unit)) / n, keys[first, 0], unit[:, 1:], extra)


def _levels(values: Floats, who: np.ndarray, condition: Condition, share: bool) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for k, level in enumerate(condition.levels):
        at = condition.rows(k) & np.isfinite(values)
        each = per_person(values[at], who[at], int(who.max()) + 1)
        mean = mean_of(each)
        if share and at.any():
            mean = Difference(float(values[at].mean()), *clustered_share(values[at] > 0.5, who[at]))
        rows.append((condition.name, level, int(np.isfinite(each).sum()), int(at.sum()), *mean))
    return rows


def differences(units: Units, columns: Sorted) -> pd.DataFrame:
    """Every pair of levels of every condition, each adjusted for the other conditions."""
    found = []
    for k, condition in enumerate(columns.conditions):
        pairs = list(combinations(range(len(condition.levels)), 2))
        at = units.levels[:, k] != MISSING
        people = [np.unique(units.who[units.levels[:, k] == level]).size for level in range(len(condition.levels))]
        there = [pair for pair in pairs if min(people[i] for i in pair)]
        if not there:
            continue
        fitted, names, apart = _fitted(units, columns, k, at, people)
        for a, b in there:
            told = contrast(fitted, _weights(fitted, a, b))
            if min(people[a], people[b]) < FEWEST:
                told = Difference(told.value, np.nan, np.nan)
            row: dict[str, object] = {
                "condition": condition.name,
                "level": condition.levels[b],
                "against": condition.levels[a],
            }
            row |= {"difference": told.value, "low": told.low, "high": told.high}
            found.append(row | {"adjusted_for": ", ".join(names), "not_apart_from": ", ".join(apart)})
    heads = ["condition", "level", "against", "difference", "low", "high", "adjusted_for", "not_apart_from"]
    return _frame(found, heads)


def _weights(fitted: Fitted, a: int, b: int) -> Floats:
    """Level b less level a: coefficients follow the intercept, the first level has none."""
    weights = np.zeros(len(fitted.coefficients))
    weights[b] += 1.0
    if a:
        weights[a] -= 1.0
    return weights


def _fitted(
    units: Units, columns: Sorted, k: int, at: np.ndarray, people: Sequence[int]
) -> tuple[Fitted, tuple[str, ...], tuple[str, ...]]:
    """The regression that a condition is compared in, the names it is adjusted for, and those it cannot be told from."""
    own = _dummies(units.levels[at, k], len(people))
    others = {each.name: _others(units.levels[at, j]) for j, each in enumerate(columns.conditions) if j != k}
    others = {name: design for name, design in others.items() if design.shape[1]}
    seen = [level for level, n in enumerate(people) if n]

    def fit(names: Sequence[str]) -> Fitted:
        design = np.hstack([np.ones((at.sum(), 1)), own, *(others[name] for name in names)])
        return regression(design, units.values[at], units.who[at])

    def told_apart(fitted: Fitted) -> bool:
        return all(estimable(fitted, _weights(fitted, a, b)) for a, b in combinations(seen, 2))

    full = fit(list(others))
    wide = full.design.shape[1] < np.unique(units.who[at]).size
    if wide and told_apart(full):
        return full, tuple(others), ()
    apart = tuple(name for name in others if not told_apart(fit([name])))
    return fit([]), (), apart


def _dummies(level: np.ndarray, n: int) -> Floats:
    return (level[:, None] == np.arange(1, n)).astype(np.float64)


def _others(level: np.ndarray) -> Floats:
    """Columns for the levels that occur, the missing one among them, but for the first."""
    return (level[:, None] == np.unique(level)[1:]).astype(np.float64)


def _slopes(units: Units, columns: Sorted) -> pd.DataFrame:
    rows = [_slope(units, columns, k, each) for k, each in enumerate(columns.covariates)]
    return _frame(rows, ["covariate", "n_people", "sd", "difference", "low", "high", "adjusted_for"])


def _frame(rows: Sequence[object], columns: Sequence[str]) -> pd.DataFrame:
    """A table whose columns of numbers are numbers even if it has no rows."""
    numbers = [name for name in columns if name in ("n_people", "n_blocks", "mean", "sd", "difference", "low", "high")]
    return pd.DataFrame(rows, columns=list(columns)).astype(dict.fromkeys(numbers, float))


def _slope(units: Units, columns: Sorted, k: int, covariate: Covariate) -> tuple[object, ...]:
    """The difference for one standard deviation (over people) more of a covariate, adjusted for the conditions."""
    at = np.isfinite(units.covariates[:, k])
    values, who = units.covariates[at, k], units.who[at]
    people = np.unique(who)
    sd = float(np.std(per_person(values, who, int(who.max(initial=0)) + 1)[people], ddof=1)) if people.size > 1 else 0.0
    if sd == 0:
        return covariate.name, people.size, sd, np.nan, np.nan, np.nan, ""
    alone = np.column_stack([np.ones(len(values)), (values - values.mean()) / sd])
    others = [_others(units.levels[at, j]) for j in range(len(columns.conditions))]
    for design, names in ((np.hstack([alone, *others]), [each.name for each in columns.conditions]), (alone, [])):
        if design.shape[1] >= people.size and names:
            continue
        fitted, weights = regression(design, units.values[at], who), np.eye(design.shape[1])[1]
        if estimable(fitted, weights):
            told = contrast(fitted, weights) if people.size > FEWEST else Difference(np.nan, np.nan, np.nan)
            return covariate.name, people.size, sd, *told, ", ".join(names)
    return covariate.name, people.size, sd, np.nan, np.nan, np.nan, ""


def by_cell(values: Floats, who: np.ndarray, columns: Sorted) -> pd.DataFrame:
    """The mean over people in every combination of levels that occurs, with its interval."""
    rows = []
    levels = np.stack([each.level for each in columns.conditions], axis=1)
    known = np.isfinite(values) & (levels != MISSING).all(1)
    for cell in np.unique(levels[known], axis=0):
        at = known & (levels == cell).all(1)
        each = per_person(values[at], who[at], int(who.max()) + 1)
        names = {one.name: one.levels[k] for one, k in zip(columns.conditions, cell.tolist(), strict=True)}
        mean = mean_of(each)
        rows.append({**names, "n_people": int(np.isfinite(each).sum()), "n_blocks": int(at.sum()), "mean": mean.value,
                     "low": mean.low, "high": mean.high})  # fmt: skip
    return pd.DataFrame(rows)
