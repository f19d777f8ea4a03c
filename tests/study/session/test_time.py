"""The server keeps the time: what comes too early or was clicked too late is refused, whatever the browser's clock says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorelab.study.database import tables
from explorelab.study.session.doubts import doubted
from explorelab.study.session.game import slack_s
from tests.support.study.lab import Lab, Tab, in_play
from tests.support.study.small_study import small_study


def paper(folder: Path, **changes: Any) -> Lab:
    """A study with the paper's clocks: 1.5 s and 6 s."""
    return Lab(small_study(deadline_ms=1500, **changes), folder)


def begun(lab: Lab) -> Tab:
    """Someone in their first block, where any square may be chosen."""
    tab = Tab(lab)
    tab.consent()
    tab.go("begin", block=0)
    return tab


def waited(lab: Lab, tab: Tab, seconds: float, trial: int = 0, **changes: Any) -> Any:
    """A choice that comes so long after the last one, with a clock that claims to have run to its end."""
    lab.clock.now += seconds
    clicked_ms = tab.state["block"]["deadline_ms"] * (0.3 + 0.01 * trial)
    return tab.post("choice", **tab.report(trial, 5, **{"clicks": [[5, clicked_ms]], **changes}))


def refused(answer: Any) -> bool:
    return bool(answer.status_code == 422 and answer.json()["error"] == "invalid")


@pytest.mark.parametrize("deadline_ms", [20, 1500, 60_000])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.85])
def test_a_choice_cannot_come_before_its_time_is_up(tmp_path: Path, deadline_ms: int, share: float) -> None:
    lab = Lab(small_study(deadline_ms=deadline_ms), tmp_path)
    with lab.client:
        tab = begun(lab)
        deadline_s = tab.state["block"]["deadline_ms"] / 1000
        early = waited(lab, tab, share * deadline_s)
        assert refused(early), early.text
        assert lab.count(tables.choices) == 0
        # The same choice in time is kept, and the next one is held to its own clock.
        assert waited(lab, tab, deadline_s).status_code == 200
        assert refused(waited(lab, tab, share * deadline_s, 1))
        assert lab.count(tables.choices) == 1


def test_a_script_that_does_not_wait_gets_nowhere(tmp_path: Path) -> None:
    lab = paper(tmp_path)
    with lab.client:
        tab = begun(lab)
        n_trials = tab.state["block"]["n_trials"]
        answers = [waited(lab, tab, 0.04, trial) for trial in range(n_trials) for _ in range(3)]
        assert lab.count(tables.choices) == 0
        assert {answer.status_code for answer in answers} == {409, 422}


def test_a_page_cannot_claim_more_time_than_has_passed(tmp_path: Path) -> None:
    lab = paper(tmp_path)
    with lab.client:
        tab = begun(lab)
        assert refused(waited(lab, tab, 6.1, elapsed_ms=59_000.0))
        assert waited(lab, tab, 60.0, elapsed_ms=59_000.0).status_code == 200
        assert {"overrun", "slow"} <= set(lab.rows(tables.choices)[0].flags.split())


@pytest.mark.parametrize("late_ms", [6000.5, 6001.0, 59_000.0])
@pytest.mark.parametrize("first", [[], [[5, 20.0]]])
def test_a_click_after_the_time_is_up_does_not_count(tmp_path: Path, late_ms: float, first: list[Any]) -> None:
    lab = paper(tmp_path)
    with lab.client:
        tab = begun(lab)
        clicks = [*first, [5, late_ms]]
        assert refused(waited(lab, tab, 60.0, clicks=clicks, elapsed_ms=59_500.0))
        assert waited(lab, tab, 0.0, clicks=[[5, 6000.0]]).status_code == 200


@pytest.mark.parametrize("number", ["-1", "NaN", "Infinity", "-Infinity", "1e308", "1e999"])
@pytest.mark.parametrize("where", ["elapsed_ms", "click"])
def test_times_that_are_none_are_refused(lab: Lab, number: str, where: str) -> None:
    tab = in_play(lab)
    lab.clock.now += 10.0
    mark = 12.25 if where == "click" else 99.25
    report = tab.report(0, 5, elapsed_ms=99.25, clicks=[[5, 12.25]], epoch=tab.state["epoch"])
    headers = {"Authorization": f"Bearer {tab.token}", "Content-Type": "application/json"}
    text = str(report).replace("'", '"').replace(str(mark), number)
    assert number in text
    assert lab.client.post("/api/choice", content=text, headers=headers).status_code in (400, 422)
    assert lab.count(tables.choices) == 0


HONEST: dict[str, Callable[[float], float]] = {
    "at once": lambda s: s,
    "over a slow network": lambda s: s + 1.2,
    "on a coarse clock": lambda s: s - 0.017,
    "on a clock that runs fast": lambda s: s * 0.999,
    "after a pause": lambda s: s + 300.0,
}


@pytest.mark.parametrize("how", HONEST)
def test_an_honest_page_is_never_refused(tmp_path: Path, how: str) -> None:
    lab = paper(tmp_path, n_trials=3, n_training=2)
    with lab.client:
        tab = Tab(lab)
        tab.consent()
        for number in range(5):
            tab.go("begin", block=number)
            block = tab.state["block"]
            for trial in range(block["n_trials"]):
                answer = waited(
                    lab, tab, HONEST[how]((block["deadline_ms"] + 2.5) / 1000), trial, goal=None, clicks=[], by_hand=0
                )
                assert answer.status_code == 200, answer.text
            tab.state = answer.json()["state"]
        assert tab.state["stage"] == "debriefing"


@pytest.mark.parametrize("later_s", [1.0, 2.5, 3.5])
def test_nobody_is_doubted_for_a_poor_network(tmp_path: Path, later_s: float) -> None:
    lab = paper(tmp_path)
    with lab.client:
        tab = begun(lab)
        for trial in range(3):
            assert waited(lab, tab, 6.0 + later_s, trial).status_code == 200
        with lab.store.engine.connect() as connection:
            assert "slow" not in next(iter(doubted(connection).values()), ())


def test_thinking_for_longer_than_the_clock_gives_is_flagged(tmp_path: Path) -> None:
    lab = paper(tmp_path)
    with lab.client:
        tab = begun(lab)
        assert waited(lab, tab, 6.5).status_code == 200
        assert waited(lab, tab, 30.0, 1, pauses=1).status_code == 200
        assert [row.flags for row in lab.rows(tables.choices)] == ["", "paused slow"]


def test_time_is_kept_over_a_restart_and_by_another_process(tmp_path: Path) -> None:
    before = paper(tmp_path)
    with before.client:
        tab = begun(before)
        assert waited(before, tab, 6.1).status_code == 200
    after = paper(tmp_path)
    after.clock.now = before.clock.now
    with after.client:
        tab.lab = after
        assert refused(waited(after, tab, 1.0, 1))
        assert waited(after, tab, 5.2, 1).status_code == 200


@pytest.mark.parametrize("set_by_s", [-10_800.0, -30.0, 10_800.0])
def test_a_clock_that_is_set_throws_nobody_out(tmp_path: Path, set_by_s: float) -> None:
    lab = paper(tmp_path)
    with lab.client:
        tab = begun(lab)
        assert waited(lab, tab, 6.1).status_code == 200
        lab.clock.now += set_by_s if set_by_s < 0 else 3600.0
        assert waited(lab, tab, 6.1, 1).status_code == 200
        assert waited(lab, tab, 6.1, 2).status_code == 200
        assert refused(waited(lab, tab, 0.1, 2)) is False  # made already: the same answer
        flags = [row.flags for row in lab.rows(tables.choices)]
        assert flags == ["", "clock" if set_by_s < 0 else "slow", ""]


def test_what_is_allowed_for_clocks_is_a_tenth_and_never_much() -> None:
    assert [slack_s(ms) for ms in (10, 100, 1500, 6000, 600_000)] == [0.002, 0.01, 0.15, 0.25, 0.25]
