"""Formulas of conditions, as in "temperature ~ group + C(session); bonus = 0 if group == 'control'", read and checked.

The right-hand side is formulaic's grammar. Its columns are a block's conditions: whatever `Choices` holds for each block,
and the block's own label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from explorelab._support.counted import counted
from explorelab.choices.columns import as_numbers, is_empty, typed
from explorelab.choices.table import Choices
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.spaces import Space, standard

type Effects = str | Mapping[str, str]
"""Formulas as one text, separated by semicolons, or the right-hand side by parameter."""

FUNCTIONS = (
    *("C", "contr.treatment", "contr.sum", "contr.helmert", "contr.poly", "contr.diff", "contr.custom", "contr.SAS"),
    *(f"np.{name}" for name in ("log", "log2", "log10", "log1p", "exp", "sqrt", "abs")),
    *("center", "scale", "standardize", "poly", "log", "log2", "log10", "log1p", "exp", "sqrt", "abs", "I"),
)
"""What formulas may call. Formulas are evaluated as Python, also those of a saved fit, which may be somebody else's."""
HELD = re.compile(r"^(\w+)\s*=\s*([^=]+?)\s+if\s+(.+)$", re.DOTALL)
LISTED = 5


class Columns(NamedTuple):
    """The columns that a formula makes of the conditions, one value per block."""

    names: tuple[str, ...]
    terms: tuple[str, ...]
    """The term of the formula that each column belongs to."""
    values: np.ndarray
    """row x column."""


class Held(NamedTuple):
    """A parameter that has a given value in some blocks."""

    parameter: str
    value: float
    """In natural units."""
    where: str
    """Which blocks: a condition in Python, such as group == 'control'."""


class Formulas(NamedTuple):
    """What each parameter depends on."""

    of: dict[str, str]
    """The right-hand side for each parameter that has one."""
    held: tuple[Held, ...]

    @property
    def text(self) -> str:
        """All formulas as one text, from which `parsed` makes the same again."""
        held = [f"{each.parameter} = {each.value!r} if {each.where}" for each in self.held]
        return "; ".join([*(f"{name} ~ {right}" for name, right in self.of.items()), *held])


def parsed(effects: Effects, free: Sequence[str] | None = None) -> Formulas:
    """The formulas, checked as far as possible without the choices.

    `free` are the parameters that may have one; None if that was checked before.
    """
    of: dict[str, str] = {}
    held: list[Held] = []
    for statement in _statements(effects):
        condition = None if "~" in statement else HELD.match(statement)
        if condition is not None:
            name, value, where = (part.strip() for part in condition.groups())
            held.append(Held(name, _number(value, statement), where))
        else:
            name, tilde, right = (part.strip() for part in statement.partition("~"))
            if not tilde or not right or "~" in right:
                raise InputError(f"an effect must read like 'temperature ~ group + age', got {statement!r}.")
            if name in of:
                raise InputError(f"effects must have one formula for {name}, got {of[name]!r} and {right!r}.")
            of[name] = right
        if free is not None and name not in free:
            raise unknown_name("free parameter in effects", name, free)
    if not of and not held:
        raise InputError("effects must have a formula, such as 'temperature ~ group', got none.")
    return Formulas(of, tuple(held))


def _statements(effects: Effects) -> list[str]:
    if isinstance(effects, str):
        return [part.strip() for part in effects.split(";") if part.strip()]
    return [f"{name} ~ {right}" for name, right in effects.items()]


def _number(text: str, statement: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"a value that is held must be a number, got {text!r} in {statement!r}.") from None


def conditions_table(choices: Choices) -> pd.DataFrame:
    """The conditions of every block, one row each, and its label as `block`."""
    named = {name: values for name, values in choices.conditions.items() if len(np.shape(values)) == 1}
    return pd.DataFrame({"block": typed(pd.Series(choices.block.astype(object))), **named})


def columns_of(parameter: str, right: str, table: pd.DataFrame) -> Columns:
    """The columns of one formula; the table may be one with other values, as long as it has the levels seen."""
    spec, matrix = _evaluated(parameter, right, table, table)
    terms = [""] * matrix.shape[1]
    for term, places in spec.term_indices.items():
        for place in places:
            terms[place] = str(term)
    return Columns(tuple(map(str, spec.column_names)), tuple(terms), matrix)


def columns_with(parameter: str, right: str, table: pd.DataFrame, other: pd.DataFrame) -> np.ndarray:
    """The values of the same columns where conditions are those of another table."""
    return _evaluated(parameter, right, table, other)[1]


def _check_calls(formula: str) -> None:
    """Raise if a formula does more than name columns and call known functions."""
    # What stands between quotes or backticks is a level's or a column's name.
    code = re.sub(r"`[^`]*[^`\s][^`]*`|\"[^\"]*\"|'[^']*'", lambda name: "`c`" if name[0][0] == "`" else "''", formula)
    called = [name for name in re.findall(r"([\w.]*)\s*\(", code) if name and name not in FUNCTIONS]
    odd = re.search(r"[{}@;]|__|\blambda\b|\bimport\b|[\])]\s*\(|\[", code)
    if called or odd:
        what = f"{called[0]}()" if called else repr(odd[0]) if odd else ""
        raise InputError(f"{formula}: expected columns and the functions {', '.join(FUNCTIONS[:2])}, ..., log, got {what}.")
    if re.search(r"(?<![\w.`])\.(?![\w.`])", code):
        raise InputError(f"{formula}: '.' is not known as all columns: name the columns.")
    if re.search(r"`\s*`", code):
        raise InputError(f"{formula}: a column's name between backticks is empty.")


def _evaluated(parameter: str, right: str, table: pd.DataFrame, other: pd.DataFrame):  # type: ignore[no-untyped-def]
    from formulaic import ModelMatrix, model_matrix

    formula = f"{parameter} ~ {right}"
    _check_calls(formula)
    try:
        with np.errstate(all="ignore"):
            made = model_matrix(right, table, context={}, na_action="ignore")
        if not isinstance(made, ModelMatrix):
            raise InputError(f"{formula}: expected one right-hand side of columns joined by +, : and *.")
        spec = made.model_spec
        matrix = made if other is table else spec.get_model_matrix(other, context={}, na_action="ignore")
        values = np.asarray(matrix, float)
    except InputError:
        raise
    except Exception as error:  # a user's formula may fail in whatever it calls
        raise InputError(f"{formula}: this formula cannot be evaluated: {_told(error)}.") from None
    if not np.isfinite(values).all():
        raise InputError(
            f"{formula}: a column is not a finite number in {counted(int((~np.isfinite(values)).any(1).sum()), 'block')}."
        )
    return spec, values


def _told(error: Exception) -> str:
    """What a library says about a formula, in one line without colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m|[⧛⧚]", "", str(error))
    return " ".join(plain.split()).rstrip(".") or type(error).__name__


def variables_of(parameter: str, right: str) -> list[str]:
    """The names of conditions that a formula needs."""
    from formulaic import Formula

    _check_calls(f"{parameter} ~ {right}")
    try:
        return sorted(map(str, Formula(right).required_variables))
    except Exception as error:  # whatever the reader makes of a user's text
        raise InputError(f"{parameter} ~ {right}: this formula cannot be read: {_told(error)}.") from None


def check_conditions(formulas: Formulas, choices: Choices, table: pd.DataFrame) -> list[str]:
    """Raise unless every condition exists, is complete and varies; returns the names of those that are used."""
    used: dict[str, str] = {}
    for parameter, right in formulas.of.items():
        used |= dict.fromkeys(variables_of(parameter, right), f"{parameter} ~ {right}")
    for held in formulas.held:
        for name in table.columns:
            if re.search(rf"\b{re.escape(str(name))}\b", re.sub(r"\"[^\"]*\"|'[^']*'", "''", held.where)):
                _check_complete(str(name), table[name], choices)
    for name, formula in used.items():
        if name not in table:
            varying = choices.table is not None and name in choices.table
            if varying:
                raise InputError(f"{formula}: {name} changes within a block, but an effect needs one value for each block.")
            raise unknown_name(f"condition in {formula!r}:", name, table.columns)
        _check_complete(name, table[name], choices)
        _check_numbers(name, table[name])
        values = table[name].unique()
        if len(values) < 2:
            raise InputError(f"{formula}: {name} is {values[0]!r} in every block, so it can have no effect.")
    return [*used]


def _check_complete(name: str, column: pd.Series, choices: Choices) -> None:
    missing = is_empty(column)
    if not missing.any():
        return
    who = [choices.participants[i] for i in np.unique(choices.participant[missing])]
    listed = ", ".join(who[:LISTED]) + (f" and {len(who) - LISTED} more" if len(who) > LISTED else "")
    raise InputError(
        f"{name} is missing for {len(who)} of {counted(choices.n_participants, 'participant')} ({listed}): "
        "give its values, or leave these people out."
    )


def _check_numbers(name: str, column: pd.Series) -> None:
    """Raise if a column of numbers has become text because of a few values that are none, or if numbers are not real."""
    if column.dtype.kind in "cmM":
        raise InputError(f"{name} must be numbers or names, got values such as {column.iloc[0]}.")
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return
    labels = pd.Series(column.unique(), dtype=object)
    _, bad = as_numbers(labels)
    if 0 < bad.sum() < len(labels) / 2:
        raise InputError(
            f"{name} must be numbers in every block, or names in every block, got {labels[bad].iloc[0]!r} among numbers."
        )


def held_values(formulas: Formulas, space: Space, table: pd.DataFrame) -> np.ndarray | None:
    """At what parameters are held, in standard units (row x parameter; NaN where they are free); None if nowhere."""
    if not formulas.held:
        return None
    names = [dimension.name for dimension in space]
    values = np.full((len(table), len(space)), np.nan)
    for each in formulas.held:
        at, there = names.index(each.parameter), _where(each, table)
        z = float(standard((space[at],), {each.parameter: np.float64(each.value)})[0])
        if np.isnan(z) or np.isinf(each.value):
            raise InputError(f"{each.parameter} cannot be held at {each.value:g}: its scale is {space[at].scale}.")
        twice = there & (values[:, at] != z) & ~np.isnan(values[:, at])
        if twice.any():
            raise InputError(f"{each.parameter} is held at two values in {counted(int(twice.sum()), 'block')}.")
        values[there, at] = z
    for at, name in enumerate(names):
        if not np.isnan(values[:, at]).any():
            raise InputError(f"{name} is held in every block: give it as a fixed value instead.")
    return values


def _where(held: Held, table: pd.DataFrame) -> np.ndarray:
    told = f"{held.parameter} = {held.value:g} if {held.where}"
    _check_calls(told)
    try:
        there = np.asarray(table.eval(held.where, engine="python"))
    except Exception as error:
        raise InputError(f"{told}: this condition cannot be evaluated: {_told(error)}.") from None
    if there.shape != (len(table),) or there.dtype != bool:
        raise InputError(f"{told}: expected a condition that is true or false for each block.")
    if not there.any():
        raise InputError(f"{told}: no block fulfils this condition.")
    return there
