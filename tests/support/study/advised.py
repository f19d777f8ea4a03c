"""A small study with advice, served to simulated pages with an adviser that tests choose."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from explorelab.study.advice.desk import PROGRAM
from explorelab.study.advice.seal import seal_of
from explorelab.study.config.design import Advice, Study
from tests.support.study.lab import Lab, Tab
from tests.support.study.small_study import small_study

ONE_CELL = {"task_timings": ("fast",), "task_dynamics": ("standard",), "task_landscapes": ("A",), "training": ()}
"""One condition but for the advice."""


def stub(seconds: float) -> tuple[str, ...]:
    """The program that suggests something or other after so many seconds."""
    # Without its folder on the path: that has an operator.py.
    return (sys.executable, "-P", str(Path(__file__).with_name("stub_adviser.py")), str(seconds))


def advised_study(*arms: str, advice: dict[str, Any] | None = None, **changes: Any) -> Study:
    """A study with these arms."""
    how = {"arms": arms or ("impersonal",), **(advice or {})}
    return small_study(**{**ONE_CELL, "n_task_blocks": 1, **changes}, advice=Advice(**how))


@contextmanager
def advised_lab(
    study: Study, folder: Path, program: tuple[str, ...] = PROGRAM, url: str = "sqlite:///study.db"
) -> Iterator[Lab]:
    """The study, with advice from the moment the block begins."""
    lab = Lab(study, folder, url, adviser=program)
    with lab.client:
        desk = lab.client.app.state.reception.desk  # type: ignore[attr-defined]
        until = time.monotonic() + 120
        while not desk.is_ready:
            assert time.monotonic() < until, "the adviser is not ready"
            time.sleep(0.05)
        yield lab


def in_task(lab: Lab) -> Tab:
    """Someone at the beginning of the first block of a study without training."""
    tab = Tab(lab)
    tab.consent()
    tab.go("begin", block=tab.state["block"]["number"])
    return tab


def sealed(lab: Lab, tab: Tab, trial: int, arm: int | None, reason: str = "best", **more: Any) -> dict[str, Any]:
    """What a page reports of advice that the server gave."""
    code = tab.token.split(".")[0]
    seal = seal_of(lab.store.secret, code, tab.state["block"]["number"], trial, arm, reason)
    return {"advised": arm, "advice": reason, "advice_seal": seal, "advice_shown_ms": None, **more}
