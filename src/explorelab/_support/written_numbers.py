"""Numbers as files have them: what arithmetic leaves of a short decimal, 1.099999999999909, is written as that decimal."""

from __future__ import annotations

import math
from typing import Any

DIGITS = "%.10g"
"""For results of a computation: more digits than any of them has to say."""


LARGEST = 1e5
"""Larger numbers stay as they are: so many lie near a decimal of four places that some of them are meant."""


def tidied(value: float) -> float:
    """The number, or the decimal of at most four places from which it is no more than a rounding error away."""
    if not abs(value) < LARGEST:  # nor NaN
        return value
    short = round(value, 4)
    # The error is that of the numbers it came from, which may have been larger: 1501.1 - 1500.
    near = abs(short - value) <= 4 * math.ulp(max(abs(value), 1000.0))
    return short if near and short != 0 else value


def for_json(value: Any) -> Any:
    """A value as JSON knows it: numbers tidied, null where there is none (JSON has no NaN), lists of them alike."""
    if isinstance(value, list):
        return [for_json(each) for each in value]
    if isinstance(value, float):
        return tidied(value) if math.isfinite(value) else None
    return value


def finite_or_none(value: Any) -> float | None:
    """The number as it is; None, for JSON, where it is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None
