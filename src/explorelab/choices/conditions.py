"""Which further columns of choices are conditions, whose levels can be compared, and which are covariates.

A **condition** has at least two levels, each a set of blocks: at most `MOST_LEVELS` names or `MOST_NUMBERS` numbers. Other
columns of numbers are **covariates**, and so are those in which no two people share a value, and an age however few values
it has. Other columns of names, such as labels of people, are neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from explorelab._support.checks import Floats
from explorelab.choices.advice_given import ARM_OF_STUDY, NONE
from explorelab.choices.columns import as_numbers, as_text
from explorelab.choices.table import Choices

MOST_LEVELS, MOST_NUMBERS = 12, 6
"""The most levels of a condition: of one whose levels are names, and of one whose levels are numbers."""
AGES = ("age", "age_years")
"""Columns of numbers that are covariates even if a sample has few values of them."""
NO_VALUE = ("", "NA", "N/A", "na", "n/a", "NaN", "nan")
"""How files write that a value is missing; "none" may be the name of a level."""
CONDITION, COVARIATE, CONSTANT, LABELS = "condition", "covariate", "constant", "labels"
BETWEEN, WITHIN, MIXED = "between people", "within people", "within some people"
MISSING = -1
"""The level of a block whose value is missing."""


@dataclass(frozen=True, eq=False)
class Condition:
    """A column whose levels can be compared."""

    name: str
    levels: tuple[str, ...]
    level: np.ndarray
    """The level of each row, as an index; `MISSING` where it has none."""
    design: str
    """`BETWEEN` if everybody played at one level, `WITHIN` if everybody played at several, otherwise `MIXED`."""
    also: tuple[str, ...] = ()
    """Other columns that divide the blocks in the same way."""

    def called(self, level: str) -> str:
        """A level in a sentence: a name alone; a letter, a number or a flag with the name of the condition."""
        is_name = len(level) > 2 and level not in ("True", "False") and as_numbers(pd.Series([level]))[1].any()
        return level if is_name else f"{self.name} {level}"

    def pair(self, level: str, against: str) -> str:
        """Two levels: slow against fast, session: 2 against 1."""
        named = self.called(level) == level and self.called(against) == against
        return f"{level} against {against}" if named else f"{self.name}: {level} against {against}"

    def rows(self, level: int | str) -> np.ndarray:
        """The rows at a level (a mask)."""
        return self.level == (level if isinstance(level, int) else self.levels.index(level))


@dataclass(frozen=True, eq=False)
class Covariate:
    """A column of numbers with too many values to be compared one by one."""

    name: str
    values: np.ndarray
    """A number for each row, NaN where it is missing."""


@dataclass(frozen=True, eq=False)
class Sorted:
    """The further columns by what they are."""

    conditions: tuple[Condition, ...] = ()
    covariates: tuple[Covariate, ...] = ()
    constant: tuple[str, ...] = ()
    """Columns that are the same in every block."""
    labels: tuple[str, ...] = ()
    """Columns of names with too many values to be conditions."""

    def cells(self) -> np.ndarray:
        """The index of each row's combination of levels; a missing one counts as a level."""
        if not self.conditions:
            return np.zeros(0, int)
        levels = np.stack([each.level for each in self.conditions], axis=1)
        return np.unique(levels, axis=0, return_inverse=True)[1].reshape(-1)


class _Column(NamedTuple):
    """A column as text, and as numbers if it has nothing else."""

    text: np.ndarray
    missing: np.ndarray
    numbers: Floats | None


def _read(values: np.ndarray) -> _Column:
    column = pd.Series(values)
    text = as_text(column)
    missing = np.isin(text, NO_VALUE)
    numbers, bad = as_numbers(column)
    is_numbers = not pd.api.types.is_bool_dtype(column.dtype) and not (bad & ~missing).any() and np.isfinite(numbers).any()
    return _Column(text, missing, numbers if is_numbers else None)


def kind_of(name: str, values: np.ndarray, person: np.ndarray) -> str:
    """What a column is: `CONDITION`, `COVARIATE`, `CONSTANT` or `LABELS`, given who played each row."""
    column = _read(np.asarray(values))
    known = ~column.missing
    pairs = pd.DataFrame({"value": column.text[known], "person": np.asarray(person)[known]}).drop_duplicates()
    n = pairs["value"].nunique()
    if n < 2:
        return CONSTANT
    # Where no value is shared by two people, three or more are not groups.
    own = n > 2 and len(pairs) == n and pairs["person"].nunique() > 1
    if column.numbers is not None:
        return COVARIATE if n > MOST_NUMBERS or own or (n > 2 and name.lower() in AGES) else CONDITION
    return LABELS if n > MOST_LEVELS or own else CONDITION


def sorted_columns(choices: Choices) -> Sorted:
    """The further columns of these choices by what they are, in their order."""
    conditions: list[Condition] = []
    covariates: list[Covariate] = []
    others: dict[str, list[str]] = {CONSTANT: [], LABELS: []}
    for name, given in choices.conditions.items():
        values = np.asarray(given)
        if values.ndim != 1:
            continue
        kind = kind_of(name, values, choices.participant)
        if kind == CONDITION:
            _add(conditions, _condition(name, values, choices.participant))
        elif kind == COVARIATE:
            numbers = _read(values).numbers
            assert numbers is not None
            covariates.append(Covariate(name, numbers))
        else:
            others[kind].append(name)
    return Sorted(tuple(conditions), tuple(covariates), tuple(others[CONSTANT]), tuple(others[LABELS]))


def _add(conditions: list[Condition], new: Condition) -> None:
    """Add a condition, or its name to one that has the same blocks at its levels."""
    for k, old in enumerate(conditions):
        pairs = set(zip(old.level.tolist(), new.level.tolist(), strict=True))
        if len(old.levels) == len(new.levels) == len(pairs - {(MISSING, MISSING)}) and all(
            (a == MISSING) == (b == MISSING) for a, b in pairs
        ):
            conditions[k] = Condition(old.name, old.levels, old.level, old.design, (*old.also, new.name))
            return
    conditions.append(new)


def _condition(name: str, values: np.ndarray, person: np.ndarray) -> Condition:
    text, missing, numbers = _read(values)
    if name == ARM_OF_STUDY:  # blocks without advice may have an empty cell
        text, missing = np.where(missing, NONE, text), np.zeros_like(missing)
    found = sorted(set(text[~missing].tolist()), key=str if numbers is None else float)
    if name == ARM_OF_STUDY:
        found.sort(key=lambda level: level != NONE)
    index = {level: k for k, level in enumerate(found)}
    level = np.array([MISSING if out else index[one] for one, out in zip(text.tolist(), missing.tolist(), strict=True)])
    return Condition(name, tuple(found), level, _design(level, person))


def _design(level: np.ndarray, person: np.ndarray) -> str:
    known = level != MISSING
    n_levels = pd.Series(level[known]).groupby(np.asarray(person)[known]).nunique()
    return BETWEEN if n_levels.max() == 1 else WITHIN if n_levels.min() > 1 else MIXED


class Apart(NamedTuple):
    """Choices with a participant for every person in every cell."""

    choices: Choices
    row: np.ndarray
    """The first row of each such participant in the choices that they came from."""


def apart(choices: Choices, cells: np.ndarray) -> Apart:
    """The same choices as if everybody were another person in every cell (a number for each row)."""
    keys = np.column_stack([choices.participant, cells])
    _, first, unit = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(unit.reshape(-1), kind="stable")
    names = tuple(str(k + 1) for k in range(len(first)))
    return Apart(replace(choices.rows(order), participants=names, participant=unit.reshape(-1)[order]), first)


def beside_people(table: pd.DataFrame, choices: Choices) -> pd.DataFrame:
    """A table with a column `participant`, and beside it the further columns that are constant within people."""
    first = np.unique(choices.participant, return_index=True)[1]
    who = pd.Series(np.asarray(choices.participants, object))
    found = {}
    for name, given in choices.conditions.items():
        values = pd.Series(np.asarray(given))
        if values.groupby(choices.participant).nunique(dropna=False).max() == 1:
            found[f"{name}_" if name in table else name] = dict(zip(who, values.iloc[first], strict=True))
    return table.assign(**{name: table["participant"].map(of_person) for name, of_person in found.items()})
