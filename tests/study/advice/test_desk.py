"""Advice is computed beside the game: it comes if it is ready, and nothing waits for it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from explorelab.study.advice.messages import Moment
from explorelab.study.database.tables import choices
from tests.support.study.advised import advised_lab, advised_study, in_task, stub
from tests.support.study.lab import Lab, Tab
from tests.support.study.stub_adviser import suggested

SLOW_S = 20.0


def ask(tab: Tab, trial: int) -> dict[str, Any]:
    answer = tab.post("advice", block=tab.state["block"]["number"], trial=trial)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def expected(lab: Lab, trial: int) -> int:
    return suggested(Moment(1, "impersonal", 0, trial, 0, None, 0, ()))


def test_what_the_adviser_says_is_handed_out_with_a_seal_that_the_choice_brings_back(tmp_path: Path) -> None:
    with advised_lab(advised_study(advice={"within_ms": 5000}), tmp_path, stub(0.0)) as lab:
        tab = in_task(lab)
        for trial in range(3):
            said = ask(tab, trial)
            assert (said["arm"], said["reason"]) == (expected(lab, trial), "best")
            report = {"advised": said["arm"], "advice": "best", "advice_seal": said["seal"], "advice_shown_ms": 4.0}
            assert tab.choose(trial, said["arm"], **report).status_code == 200
        rows = lab.rows(choices)
    assert [(row.advised, row.advice, row.advice_shown_ms) for row in rows] == [(row.goal, "best", 4.0) for row in rows]
    assert len(rows) == 3


def test_the_same_choice_is_advised_the_same_however_often_it_is_asked(tmp_path: Path) -> None:
    with advised_lab(advised_study(advice={"within_ms": 5000}), tmp_path, stub(0.0)) as lab:
        tab = in_task(lab)
        assert ask(tab, 0) == ask(tab, 0)


def test_a_slow_adviser_delays_no_choice_and_its_advice_is_late(tmp_path: Path) -> None:
    with advised_lab(advised_study(advice={"within_ms": 50}), tmp_path, stub(SLOW_S)) as lab:
        tab = in_task(lab)
        began, waited = time.perf_counter(), 0.0
        for trial in range(6):
            asked = time.perf_counter()
            said = ask(tab, trial)
            waited += time.perf_counter() - asked
            assert (said["arm"], said["reason"]) == (None, "late")
            assert tab.choose(trial, 5, advice="late").status_code == 200
        assert time.perf_counter() - began - waited < SLOW_S / 4
        assert waited < SLOW_S / 4
        assert {row.advice for row in lab.rows(choices)} == {"late"}


def test_a_choice_is_acknowledged_before_its_successor_is_advised(tmp_path: Path) -> None:
    with advised_lab(advised_study(), tmp_path, stub(1.0)) as lab:
        tab = in_task(lab)
        began = time.perf_counter()
        assert tab.choose(0, 5).status_code == 200
        assert time.perf_counter() - began < 0.8


def test_advice_begins_with_the_choice_that_the_study_names(tmp_path: Path) -> None:
    with advised_lab(advised_study(advice={"from_choice": 2, "within_ms": 5000}), tmp_path, stub(0.0)) as lab:
        tab = in_task(lab)
        assert tab.state["block"]["advice"] == {"from_trial": 1, "within_ms": 5000}
        assert ask(tab, 0)["reason"] == "not asked"
        tab.choose(0, 5)
        assert ask(tab, 1)["arm"] == expected(lab, 1)
        assert lab.rows(choices)[0].advice == "not asked"


def test_nobody_is_advised_on_a_choice_that_is_over_or_far_ahead(tmp_path: Path) -> None:
    with advised_lab(advised_study(advice={"within_ms": 300}), tmp_path, stub(0.0)) as lab:
        tab = in_task(lab)
        assert ask(tab, 0)["arm"] is not None
        tab.choose(0, 5)
        assert ask(tab, 1)["arm"] is not None
        assert ask(tab, 0)["arm"] is None
        assert ask(tab, 4)["arm"] is None


def test_an_adviser_that_dies_is_replaced_and_told_everything_again(tmp_path: Path) -> None:
    with advised_lab(advised_study(advice={"within_ms": 20_000}), tmp_path, stub(0.0)) as lab:
        tab = in_task(lab)
        tab.choose(0, 5)
        assert ask(tab, 1)["arm"] == expected(lab, 1)
        children = [
            int(number)
            for file in Path(f"/proc/{os.getpid()}/task").glob("*/children")
            for number in file.read_text().split()
            if b"stub_adviser" in Path(f"/proc/{number}/cmdline").read_bytes()
        ]
        os.kill(children[0], signal.SIGKILL)
        assert tab.choose(1, 6).status_code == 200
        until = time.monotonic() + 30
        while (said := ask(tab, 2))["arm"] is None:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert said["arm"] == expected(lab, 2)


@pytest.mark.parametrize("arms", [(), ("none",)], ids=["without advice", "all in the arm none"])
def test_no_process_is_started_where_nobody_is_advised(tmp_path: Path, arms: tuple[str, ...]) -> None:
    study = advised_study("none") if arms else advised_study().__class__(**{**advised_study().__dict__, "advice": None})
    lab = Lab(study, tmp_path, adviser=("/nowhere/there-is-no-such-program",))
    with lab.client:
        tab = in_task(lab)
        assert "advice" not in tab.state["block"]
        assert tab.choose(0, 5).status_code == 200
        with lab.store.engine.connect() as connection:
            assert connection.execute(select(choices.c.advice)).scalar() == ("none" if arms else None)
