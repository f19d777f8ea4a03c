"""The server's clock goes on by what passes, whatever the clock on the wall does."""

from __future__ import annotations

from explorelab.study.clock import steady


def test_the_servers_clock_does_not_jump_with_the_one_on_the_wall() -> None:
    wall, passed = [1000.0], [5.0]
    now = steady(lambda: wall[0], lambda: passed[0])
    assert now() == 1000.0
    wall[0] += 10_800.0
    passed[0] += 1.5
    assert now() == 1001.5
