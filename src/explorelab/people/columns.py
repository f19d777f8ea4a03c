"""Columns of a file as text, numbers and flags, whole columns at a time: what cannot be read is marked, never guessed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

NO_NUMBER = ("", "NA", "N/A", "na", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "none")
"""What files write where there is no number."""
YES = ("1", "true", "yes", "t", "y", "1.0")
NO = ("0", "false", "no", "f", "n", "0.0", "", "na", "nan", "null", "none")


def as_text(column: pd.Series) -> pa.Array:
    """Each value as trimmed text, empty where there is none; whole numbers without a decimal point."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = [*as_text(pd.Series(column.cat.categories)).to_pylist(), ""]
        text = pa.array(np.array(labels, object)[column.cat.codes], pa.string())
    elif pd.api.types.is_float_dtype(column.dtype):
        text = _numbers_as_text(column.to_numpy(np.float64, na_value=np.nan))
    elif column.dtype == object:
        text = _one_by_one(column)
    else:
        try:
            text = _one_piece(pa.array(column, from_pandas=True)).cast(pa.string())
        except (pa.ArrowException, TypeError, ValueError):
            text = _one_by_one(column)
    return pc.utf8_trim_whitespace(pc.fill_null(text, ""))


def _one_by_one(values: Iterable[Any]) -> pa.Array:
    return pa.array([_as_text(value) for value in values], pa.string())


def _numbers_as_text(values: np.ndarray) -> pa.Array:
    known = values[np.isfinite(values)]
    array = pa.array(values, from_pandas=True)
    whole = len(known) == np.isfinite(values).sum() and (known == np.round(known)).all() and (np.abs(known) < 2**53).all()
    if whole and not np.isinf(values).any():
        return array.cast(pa.int64()).cast(pa.string())
    return _one_by_one(values.tolist())


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple | np.ndarray):
        return " ".join(_as_text(each) for each in value)
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _one_piece(array: Any) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def as_numbers(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """The values as float64, NaN where there is none, and a mask of those that are something else than a number."""
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype):
        return column.to_numpy(np.float64, na_value=np.nan), np.zeros(len(column), bool)
    text = as_text(column)
    empty = pc.is_in(text, value_set=pa.array(NO_NUMBER))
    known = pc.if_else(empty, pa.scalar(None, pa.string()), text)
    try:
        return known.cast(pa.float64()).to_numpy(zero_copy_only=False), np.zeros(len(column), bool)
    except pa.ArrowInvalid:
        return _numbers_one_by_one(known)


def _numbers_one_by_one(text: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    coded = text.dictionary_encode()
    numbers = [_number(value) for value in coded.dictionary.to_pylist()]
    codes = coded.indices.to_numpy(zero_copy_only=False)
    present = np.asarray(pc.is_valid(text).to_numpy(zero_copy_only=False), bool)
    at = np.where(present, codes, 0).astype(int)
    values = np.array([np.nan if number is None else number for number in numbers], np.float64)[at]
    bad = np.array([number is None for number in numbers], bool)[at] & present
    return np.where(present, values, np.nan), bad


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def is_empty(column: pd.Series) -> np.ndarray:
    """Where the column holds nothing."""
    return _among(as_text(column), [""])


def as_flags(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """The values as bool (an empty one is False), and a mask of those that are neither yes nor no."""
    text = pc.utf8_lower(as_text(column))
    yes, no = _among(text, YES), _among(text, NO)
    return yes, ~(yes | no)


def _among(text: pa.Array, values: Iterable[str]) -> np.ndarray:
    return np.asarray(pc.is_in(text, value_set=pa.array(list(values))).to_numpy(zero_copy_only=False), bool)


def codes_of(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """For each value the index of its label, and the labels as text in the order in which they first appear."""
    coded = as_text(column).dictionary_encode()
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary.to_pylist()


def typed(column: pd.Series) -> np.ndarray:
    """The values as whole numbers, numbers or flags where all of them are; otherwise as text, empty where there is none."""
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_integer_dtype(column.dtype):
        return column.to_numpy() if not column.isna().any() else column.to_numpy(np.float64, na_value=np.nan)
    if pd.api.types.is_float_dtype(column.dtype):
        return column.to_numpy(np.float64, na_value=np.nan)
    codes, labels = codes_of(column)
    return _typed_labels(labels)[codes] if labels else np.zeros(0, object)


def _typed_labels(labels: list[str]) -> np.ndarray:
    known = [label for label in labels if label]
    if known and all(label in ("True", "False") for label in labels):
        return np.array([label == "True" for label in labels])
    try:
        if known and all(str(int(label)) == label and abs(int(label)) < 2**62 for label in labels):
            return np.array([int(label) for label in labels], np.int64)
    except ValueError:
        pass
    numbers = [_number(label) if label else np.nan for label in labels]
    if known and all(number is not None and _plain(label) for number, label in zip(numbers, labels, strict=True)):
        return np.array(numbers, np.float64)
    return np.array(labels, object)


def _plain(label: str) -> bool:
    """Whether a number is written as numbers are: 007 and the like are labels."""
    digits = label.lstrip("-")
    return not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()) and label.strip("0123456789.eE+-") == ""
