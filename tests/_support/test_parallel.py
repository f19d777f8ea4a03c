"""Work over the cores: in order, not too far ahead, and dropped on an interrupt."""

from __future__ import annotations

import threading
import time

import pytest

from explorelab._support.parallel import cores, in_order


@pytest.mark.parametrize("first_alone", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_results_come_in_the_order_of_the_items(n: int, first_alone: bool) -> None:
    def slow_at_first(item: int) -> int:
        time.sleep(0.02 / (item + 1))
        return item**2

    assert list(in_order(slow_at_first, range(n), 3, first_alone=first_alone)) == [item**2 for item in range(n)]


def test_the_first_item_alone_is_done_by_the_caller_before_any_other() -> None:
    begun: list[tuple[int, bool]] = []

    def work(item: int) -> None:
        begun.append((item, threading.current_thread() is threading.main_thread()))

    results = in_order(work, range(3), 2, first_alone=True)
    next(results)
    assert begun == [(0, True)]
    list(results)
    assert sorted(begun[1:]) == [(1, False), (2, False)]


def test_work_is_taken_up_as_it_is_asked_for() -> None:
    begun: list[int] = []
    results = in_order(begun.append, range(100), 2)
    next(results)
    time.sleep(0.05)
    assert max(begun) <= 2
    results.close()  # type: ignore[attr-defined]  # a generator


def test_an_interrupt_drops_what_has_not_begun() -> None:
    begun: list[int] = []
    let_go = threading.Event()

    def work(item: int) -> None:
        begun.append(item)
        if item == 0:
            raise KeyboardInterrupt
        let_go.wait(5)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(in_order(work, range(50), 1))
    assert time.monotonic() - began < 1  # what has begun is not waited for
    let_go.set()
    time.sleep(0.05)
    assert len(begun) <= 2


def test_there_is_a_core_to_work_on() -> None:
    assert cores() >= 1


def test_workers_go_ahead_of_a_slow_item():
    done: list[int] = []
    release = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert release.wait(20)
        done.append(item)
        if len(done) == 6:
            release.set()
        return item

    assert list(in_order(work, range(12), 2, ahead=4)) == list(range(12))
    assert done.index(0) >= 6
