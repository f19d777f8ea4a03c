"""Counts in a sentence, singular or plural."""

from __future__ import annotations


def plural(n: float, one: str, many: str = "") -> str:
    """The singular or plural word for a number: person or people, block or blocks, is or are."""
    return one if n == 1 else many or f"{one}s"


def counted(n: int, one: str, many: str = "") -> str:
    """1 person, 326 people, 0 blocks."""
    return f"{n} {plural(n, one, many)}"


def each_of(n: int, one: str, many: str = "") -> str:
    """The phrase "the one arm" or "each of the 4 arms", as in "must have a name for ..."."""
    return f"the one {one}" if n == 1 else f"each of the {counted(n, one, many)}"
