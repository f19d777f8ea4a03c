"""Checks of arguments before anything is compiled, because JAX does not raise on bad values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from explorelab.errors import InputError, unknown_name

MANY = 1_000_000
"""More starts, draws or simulated people than this are a typing error, and would use all memory."""

type Unchecked = Any
"""A value as TOML, JSON or a user gave it: it may be anything until it has been checked."""

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

type Variables = dict[str, Any]
"""Variables, coordinates or attributes of an xarray object by name, which xarray itself types as Any."""


def numbers(name: str, value: object, *, infinite: bool = False) -> Floats:
    """The value as float64, or an error naming it: not a number, NaN, or infinite where that makes no sense."""
    try:
        if value is None:  # which NumPy would convert to NaN
            raise TypeError
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number or an array of numbers, got {shown(value)}.") from None
    if np.isnan(array).any():
        raise InputError(f"{name} must not contain NaN, got one{_first(np.isnan(array))}.")
    if not infinite and np.isinf(array).any():
        raise InputError(f"{name} must be finite, got {array[np.isinf(array)].flat[0]}{_first(np.isinf(array))}.")
    return array


def is_number(value: object) -> bool:
    """Whether the value is a finite number; true and false are not."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and (isinstance(value, int) or math.isfinite(value))
    )


def shown(value: object, most: int = 80) -> str:
    """The value on one line of an error message, shortened if long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= most else f"{text[:most]}..."


def _first(where: np.ndarray) -> str:
    return "" if where.ndim == 0 else f" at index {np.argwhere(where)[0].tolist()}"


def real(
    name: str,
    value: object,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    at_most: float = math.inf,
    infinite: bool = False,
    why: str = "",
) -> Floats:
    """The value (one number, or one for each arm) as float64 within the bounds; otherwise the error includes `why`."""
    array = numbers(name, value, infinite=infinite)
    if array.ndim > 1:
        raise InputError(f"{name} must be one number, or one for each arm, got an array of shape {array.shape}.")
    bad = (array <= above) | (array < at_least) | (array > at_most)
    if not math.isinf(below):
        bad |= array >= below
    if bad.any() and (above, at_least, below, at_most) != (-math.inf, -math.inf, math.inf, math.inf):
        got = array[bad].flat[0] if array.ndim else float(array)
        raise InputError(f"{name} must be {_range(above, at_least, below, at_most)}, got {got:g}{why and '; ' + why}.")
    return array


class Bounds(TypedDict, total=False):
    """The bounds that `real` takes, by name."""

    above: float
    at_least: float
    below: float
    at_most: float
    infinite: bool
    why: str


def scalar(name: str, value: object, **bounds: Unpack[Bounds]) -> Floats:
    """The value as one float64 number within the bounds."""
    array = real(name, value, **bounds)
    if array.ndim:
        raise InputError(f"{name} must be one number, got a list of {array.size}; to try several, use sweep.")
    return array


def _range(above: float, at_least: float, below: float, at_most: float) -> str:
    low = f"above {above:g}" if above != -math.inf else f"at least {at_least:g}" if at_least != -math.inf else ""
    high = f"below {below:g}" if below != math.inf else f"at most {at_most:g}" if at_most != math.inf else ""
    return " and ".join(part for part in (low, high) if part)


def whole(name: str, value: Unchecked, *, at_least: int, at_most: int = 2**63 - 1) -> int:
    """The value as an int within the bounds, or an error naming it."""
    try:
        if isinstance(value, bool | str | bytes) or np.ndim(value) or int(value) != value:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a whole number, got {shown(value)}.") from None
    if value < at_least:
        raise InputError(f"{name} must be at least {at_least}, got {value}.")
    if value > at_most:
        raise InputError(f"{name} must be at most {at_most}, got {value}.")
    return int(value)


def one_of[Kind](kind: str, name: object, table: Mapping[str, Kind]) -> Kind:
    """The entry of the table, or an error that suggests the nearest known name."""
    if not isinstance(name, str) or name not in table:
        raise unknown_name(kind, str(name), table)
    return table[name]


def covariance(name: str, value: object) -> Floats:
    """The value as a symmetric positive semidefinite matrix; singular ones are allowed."""
    matrix = numbers(name, value)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(f"{name} must be a square matrix, got shape {matrix.shape}.")
    asymmetry = np.abs(matrix - matrix.T)
    if asymmetry.max() > 1e-8 * max(np.abs(matrix).max(), 1e-300):
        i, j = np.unravel_index(asymmetry.argmax(), matrix.shape)
        raise InputError(f"{name} must be symmetric, got {matrix[i, j]:g} at [{i}, {j}] but {matrix[j, i]:g} at [{j}, {i}].")
    matrix = (matrix + matrix.T) / 2
    eigenvalues = np.linalg.eigvalsh(matrix)
    if eigenvalues[0] < -1e-8 * max(eigenvalues[-1], 1e-300):
        raise InputError(f"{name} must be positive semidefinite, got an eigenvalue of {eigenvalues[0]:g}.")
    return matrix
