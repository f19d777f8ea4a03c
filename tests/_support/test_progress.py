"""Progress: nothing where nobody looks, a bar for work that lasts, a line for each step."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable

import pytest

from explorelab._support import progress

pytestmark = pytest.mark.quick


class Terminal(io.StringIO):
    """What stands in for a terminal."""

    def isatty(self) -> bool:
        return True


def bar(shown: bool | None) -> None:
    with progress.Progress("fitting", 4, shown) as bar:
        for _ in range(4):
            bar.advance()
    assert bar.done == 4


def two_steps(shown: bool | None) -> None:
    step = progress.steps(2, shown)
    step("reading")
    step("writing")


@pytest.mark.parametrize("work", [bar, two_steps])
@pytest.mark.parametrize(("on_terminal", "asked", "told"), [(False, None, False), (False, True, True), (True, False, False)])
def test_progress_is_told_on_a_terminal_or_if_asked_for(
    monkeypatch: pytest.MonkeyPatch, work: Callable[..., None], on_terminal: bool, asked: bool | None, told: bool
) -> None:
    monkeypatch.setattr(progress, "PATIENCE_S", -1.0)
    errors = Terminal() if on_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    work(asked)
    assert bool(errors.getvalue()) == told


def test_work_that_ends_soon_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = Terminal()
    monkeypatch.setattr(sys, "stderr", errors)
    bar(None)
    assert errors.getvalue() == ""


def test_a_bar_does_not_wait_for_the_end_of_the_first_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_S", 0.01)
    errors = Terminal()
    monkeypatch.setattr(sys, "stderr", errors)
    with progress.Progress("fitting", 4):
        until = time.monotonic() + 30
        while "fitting" not in errors.getvalue():
            assert time.monotonic() < until
            time.sleep(0.01)
    said = errors.getvalue()
    time.sleep(0.05)
    assert errors.getvalue() == said


def test_steps_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    two_steps(True)
    assert capsys.readouterr().err == "[1/2] reading\n[2/2] writing\n"
