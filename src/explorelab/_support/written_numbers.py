"""Numbers for files: 1.099999999999909, the result of arithmetic with short decimals, is written as 1.1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

type Json = bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None
"""A value that JSON can hold."""

type JsonObject = dict[str, Any]
"""A summary for JSON: whoever reads on in it knows what its maker puts there, and need not ask `Json` at every step."""

DIGITS = "%.10g"
"""Format for computed results: more digits than any of them is accurate to."""


LARGEST = 1e5
"""Larger numbers stay as they are: so many lie near a four-place decimal that some really are meant in full."""


def tidied(value: float) -> float:
    """The number, or the decimal with at most four places if that is within rounding error of it."""
    if not abs(value) < LARGEST:  # nor NaN
        return value
    short = round(value, 4)
    # The rounding error is that of the numbers it was computed from, which may have been larger: 1501.1 - 1500.
    near = abs(short - value) <= 4 * math.ulp(max(abs(value), 1000.0))
    return short if near and short != 0 else value


def for_json(value: Json) -> Json:
    """A value for JSON: numbers tidied, null for NaN, and the same for lists."""
    if isinstance(value, list):
        return [for_json(each) for each in value]
    if isinstance(value, float):
        return tidied(value) if math.isfinite(value) else None
    return value


def finite_or_none(value: SupportsFloat) -> float | None:
    """The number, or None (for JSON) if it is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None
