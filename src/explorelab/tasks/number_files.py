"""Means and places from lists, or from files named in a task's table."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.counted import counted
from explorelab._support.toml.toml_file import SettingError, shown
from explorelab._support.toml.toml_lines import KeyPath
from explorelab._support.written_numbers import Json
from explorelab.errors import InputError


def numbers_of(
    name: str, value: Unchecked, folder: Path = Path(), at: KeyPath = (), largest: float = math.inf
) -> np.ndarray:
    """One or two dimensions of numbers: as they are, or from a file in the folder.

    `at` is their path in a table, so that an error can say which one is wrong; none may exceed `largest` in size.
    """
    bounds = "numbers, neither NaN nor infinite" if math.isinf(largest) else f"{-largest} to {largest} points"
    if isinstance(value, str):
        array = checks.numbers(name, read_numbers(str(folder / value)))
        if abs(array).max(initial=0) > largest:
            raise InputError(f"{name} must be {bounds}, got {abs(array).max():g}.")
    else:
        listed = _as_lists(value)
        if not isinstance(listed, list) or not listed or listed[0] == []:
            raise InputError(f"{name} must be a list of numbers, of lists of numbers, or a file, got {shown(value)}.")
        _check_lists(name, listed, at, bounds, min(largest, sys.float_info.max))
        array = np.array(listed, dtype=float)
    if array.ndim not in (1, 2) or array.size == 0:
        raise InputError(f"{name} must have one or two dimensions, got an array of shape {array.shape}.")
    return array


def _as_lists(value: Unchecked) -> Unchecked:
    """Arrays, and lists of them, as lists of plain numbers."""
    if hasattr(value, "__array__"):
        return np.asarray(value).tolist()
    return [_as_lists(each) for each in value] if isinstance(value, list | tuple) else value


def _check_lists(name: str, listed: list[Unchecked], at: KeyPath, bounds: str, largest: float) -> None:
    """Refuse lists of different lengths, and anything that is not a number."""
    nested = isinstance(listed[0], list)
    for x, row in enumerate(listed):
        if isinstance(row, list) != nested or (nested and len(row) != len(listed[0])):
            wanted = (
                f"a list of {counted(len(listed[0]), 'number')} as the first is" if nested else "a number as the first is"
            )
            raise SettingError((*at, x), f"{name}: each must be {wanted}, got {shown(row)}.")
        for y, number in enumerate(row if nested else [row]):
            if not checks.is_number(number) or abs(number) > largest:
                place = (*at, x, y) if nested else (*at, x)
                raise SettingError(place, f"{name} must be {bounds}, got {shown(number)}.")


def means_for_each(value: Unchecked, folder: Path) -> dict[str, np.ndarray]:
    """Mean rewards for each value of a column: a table, a JSON file {value: means}, or a CSV file (value, then means)."""
    if isinstance(value, str):
        path = folder / value
        value = _json(path) if path.suffix == ".json" else _labelled_rows(path)
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"means must be a table with means for each value of means_by, got {checks.shown(value)}.")
    means = {
        str(label): numbers_of(f"means of {label}", numbers, folder, ("means", str(label)))
        for label, numbers in value.items()
    }
    shapes = {array.shape for array in means.values()}
    if len(shapes) > 1:
        raise InputError(f"means must have as many numbers for each value of means_by, got shapes {sorted(shapes)}.")
    return means


def _json(path: Path) -> Json:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the file: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON file: {error}.") from None


def _rows(path: Path) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot read the file: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8: {error}.") from None
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if any(cell.strip() for cell in row)]
    if not rows:
        raise InputError(f"{path}: expected a table of numbers, got an empty file.")
    return rows


def _labelled_rows(path: Path) -> dict[str, list[float]]:
    """Rows of a CSV file: a header, then in each row a label and its numbers."""
    rows = _rows(path)[1:]
    for label, count in Counter(row[0] for row in rows).most_common(1):
        if count > 1:
            raise InputError(f"{path}: expected each value of means_by once, got {label!r} {count} times.")
    return {row[0]: [_number(path, i + 2, cell) for cell in row[1:]] for i, row in enumerate(rows)}


def _number(path: Path, row: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{path}, row {row}: expected a number, got {checks.shown(text)}.") from None


def places_of(name: str, value: Unchecked, folder: Path) -> np.ndarray:
    """Where each arm lies (arm x dimension): as it is, or from a CSV file, x and y in a row for each arm.

    A header is skipped; its column `arm`, if any, says which arm a row is about.
    """
    array = _places_in(folder / value) if isinstance(value, str) else checks.numbers(name, value)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        raise InputError(
            f"{name} must be a place for each arm, [[x, y], ...], or a CSV file of them, got {checks.shown(value)}."
        )
    return array


def _places_in(path: Path) -> np.ndarray:
    rows = _rows(path)
    header = rows[0] if any(_is_text(cell) for cell in rows[0]) else []
    body, above = rows[1:] if header else rows, 2 if header else 1
    width = len(rows[0])
    short = next((i for i, row in enumerate(body) if len(row) != width), None)
    if short is not None:
        raise InputError(f"{path}, row {short + above}: expected {counted(width, 'number')}, got {len(body[short])}.")
    table = checks.numbers(str(path), [[_number(path, i + above, cell) for cell in row] for i, row in enumerate(body)])
    if "arm" not in header:
        return table
    at = header.index("arm")
    order = table[:, at] - table[:, at].min()
    if sorted(order.tolist()) != list(range(len(table))):
        raise InputError(f"{path}: column arm must number the arms one by one, each once.")
    return np.delete(table[np.argsort(order)], at, axis=1)


def _is_text(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return True
    return False


def read_numbers(path: str) -> np.ndarray:
    """The numbers of a file: comma- or white-space-separated text, or NumPy's .npy."""
    try:
        if path.endswith(".npy"):
            return np.asarray(np.load(path, allow_pickle=False), dtype=float)
        text = Path(path).read_text(encoding="utf-8-sig")
        rows = [line.replace(",", " ").split() for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
        if not rows:
            raise InputError(f"{path}: expected numbers, got an empty file.")
        if len({len(row) for row in rows}) > 1:
            short = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
            raise InputError(f"{path}, row {short + 1}: expected {counted(len(rows[0]), 'number')}, got {len(rows[short])}.")
        table = np.array([[float(number) for number in row] for row in rows])
    except OSError as error:
        raise InputError(f"{path}: cannot read the file: {error.strerror or error}.") from None
    except (ValueError, UnicodeDecodeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: expected a table of numbers: {error}.") from None
    return table.ravel() if 1 in table.shape else table
