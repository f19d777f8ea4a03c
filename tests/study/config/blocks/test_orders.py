"""Orders: every one, balanced Latin squares, drawn ones."""

from collections import Counter
from itertools import pairwise

import pytest

from explorelab.study.config.blocks.orders import ORDERS, drawn_order, latin_square, n_orders, orders


@pytest.mark.parametrize("n", range(2, 13))
def test_in_a_latin_square_everything_is_as_often_at_each_place_and_right_after_each_other(n):
    square = latin_square(n)
    places = Counter((place, thing) for row in square for place, thing in enumerate(row))
    assert set(places.values()) == {len(square) // n}
    assert len(places) == n * n
    after = Counter(pair for row in square for pair in pairwise(row))
    assert set(after.values()) == {len(square) // n}
    assert len(after) == n * (n - 1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", range(6))
def test_orders_are_as_many_as_announced_each_another_and_of_everything(order, n):
    found = orders(order, n)
    assert len(found) == len(set(found)) == n_orders(order, n)
    assert all(sorted(each) == list(range(n)) for each in found)


def test_a_drawn_order_depends_on_the_seed_alone_and_every_one_is_as_likely():
    assert drawn_order(5, 7, 1) == drawn_order(5, 7, 1)
    found = Counter(drawn_order(3, seed, 0) for seed in range(6000))
    assert len(found) == 6
    assert max(abs(n - 1000) for n in found.values()) < 4.5 * (6000 * 5 / 36) ** 0.5
