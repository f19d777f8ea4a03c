"""Convert whole columns to text, numbers and flags; values that cannot be read are marked, never guessed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorelab.tasks.change_table import label_of

NO_NUMBER = ("", "NA", "N/A", "na", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "none")
"""How files write a missing number."""
YES = ("1", "true", "yes", "t", "y", "1.0")
NO = ("0", "false", "no", "f", "n", "0.0", "", "na", "nan", "null", "none")


def as_text(column: pd.Series) -> np.ndarray:
    """Each value as trimmed text, empty if missing; whole numbers without a decimal point."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = [*as_text(pd.Series(column.cat.categories)), ""]
        return np.array(labels, object)[column.cat.codes]
    values = column.to_numpy(object, na_value=None)
    return np.array([(value if type(value) is str else _as_text(value)).strip() for value in values], object)


def _as_text(value: object) -> str:
    if isinstance(value, list | tuple | np.ndarray):
        return " ".join(_as_text(each) for each in value)
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def as_numbers(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """The values as float64, NaN if missing, and a mask of those that are not numbers."""
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype):
        return column.to_numpy(np.float64, na_value=np.nan), np.zeros(len(column), bool)
    codes, labels = codes_of(column)
    numbers = [np.nan if label in NO_NUMBER else _number(label) for label in labels]
    values = np.array([np.nan if number is None else number for number in numbers], np.float64)
    bad = np.array([number is None for number in numbers], bool)
    return values[codes], bad[codes]


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def is_empty(column: pd.Series) -> np.ndarray:
    """A mask of empty values."""
    return as_text(column) == ""


def as_flags(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """The values as bool (an empty one is False), and a mask of those that are neither yes nor no."""
    codes, labels = codes_of(column)
    yes = np.array([label.lower() in YES for label in labels], bool)
    no = np.array([label.lower() in NO for label in labels], bool)
    return yes[codes], ~(yes | no)[codes]


def codes_of(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """The index of each value's label, and the labels as text in order of first appearance."""
    codes, labels = pd.factorize(as_text(column))
    return codes.astype(np.int64), [str(label) for label in labels]


def codes_of_several(columns: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """The same for the values of several columns together."""
    texts = [as_text(columns[name]) for name in columns.columns]
    joined = np.array([label_of(values) for values in zip(*texts, strict=True)], object)
    codes, labels = pd.factorize(joined)
    return codes.astype(np.int64), [str(label) for label in labels]


def typed(column: pd.Series) -> np.ndarray:
    """The values as whole numbers, numbers or flags if all of them are; otherwise as text, empty if missing."""
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
    """Whether the text is written like a number; 007 and the like are labels."""
    digits = label.lstrip("-")
    return not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()) and label.strip("0123456789.eE+-") == ""
