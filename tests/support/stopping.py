"""Long work that is stopped again and again, and goes on each time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from explorelab._support.work.finished import Finished


class StoppedError(Exception):
    """What stops the work."""


def stopped_after_every[Out](n: int, work: Callable[[], Out]) -> tuple[Out, int]:
    """What the work comes to although it is stopped after every so many parts, and how often it was."""
    put = Finished.put
    for times in range(1000):
        kept = 0

        def count(self: Finished, key: str, result: object) -> None:
            nonlocal kept
            put(self, key, result)
            kept += 1
            if kept >= n:
                raise StoppedError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Finished, "put", count)
            try:
                return work(), times
            except StoppedError:
                continue
    raise AssertionError("it does not go on")
