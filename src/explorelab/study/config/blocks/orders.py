"""Orders in which blocks are played: as written, every order, a balanced Latin square, or drawn for each person."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial
from typing import Literal

import numpy as np

type Order = Literal["fixed", "latin", "full", "drawn"]

ORDERS: tuple[Order, ...] = ("fixed", "latin", "full", "drawn")
"""fixed: as written. latin: a balanced Latin square. full: every order. drawn: at random for each person."""


def n_orders(order: Order, n: int) -> int:
    """How many orders of so many things people are assigned to."""
    if n < 2 or order in ("fixed", "drawn"):
        return 1
    return factorial(n) if order == "full" else n * (1 + n % 2)


@cache
def orders(order: Order, n: int) -> tuple[tuple[int, ...], ...]:
    """The orders of so many things that people are assigned to, in equal numbers; of those that are drawn, the first."""
    if n < 2 or order in ("fixed", "drawn"):
        return (tuple(range(n)),)
    return tuple(permutations(range(n))) if order == "full" else latin_square(n)


def latin_square(n: int) -> tuple[tuple[int, ...], ...]:
    """Williams' square: each thing is as often at each place, and right after each other (n rows, 2n if n is odd)."""
    steps = [(i + 1) // 2 if i % 2 else -(i // 2) for i in range(n)]  # 0, 1, -1, 2, -2, ...
    square = [tuple((row + step) % n for step in steps) for row in range(n)]
    return tuple(square if n % 2 == 0 else [*square, *(row[::-1] for row in square)])


def drawn_order(n: int, *seed: int) -> tuple[int, ...]:
    """An order at random, always the same for the same seed."""
    return tuple(np.random.default_rng(seed).permutation(n).tolist())
