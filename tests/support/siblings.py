"""Which values of a parametrised test the everyday run leaves to the slow one, because another says nearly the same."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow(*values: Any) -> list[Any]:
    """These values, in the slow run only."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def slow_but(quick: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """All these values, those that are not among the `quick` ones in the slow run only."""
    everything = list(values)
    assert all(each in everything for each in quick), f"not among the values: {[q for q in quick if q not in everything]}"
    return [each for value in everything for each in ([value] if value in quick else slow(value))]
