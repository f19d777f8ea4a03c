"""Assessments are made beside the game while a researcher looks, by one process for all, from what is stored."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorelab.study.assessment import assessment_desk, lease
from explorelab.study.assessment.assessment_answer import Found
from explorelab.study.database.tables import assessments, choices
from tests.support.study import stub_assessor
from tests.support.study.advised import advised_study
from tests.support.study.lab import Lab, Tab
from tests.support.study.postgres import Cluster
from tests.support.study.small_study import small_study

OWN = {"Origin": "http://study.example", "Sec-Fetch-Site": "same-origin"}
NOWHERE = ("/nowhere/there-is-no-such-program",)
ONE = {"task_timings": ("fast",), "task_dynamics": ("standard",), "task_landscapes": ("A",)}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assessment_desk, "RENEW_S", 0.1)
    monkeypatch.setattr(assessment_desk, "NOBODY_S", 0.05)


@contextmanager
def opened(study: Any, folder: Path, program: Any = None, **more: Any) -> Iterator[Lab]:
    """A study that is served, with a researcher logged in."""
    lab = Lab(study, folder, assessor=program or stub_assessor.program(), **more)
    with lab.client:
        assert lab.client.post("/admin/login", json={"password": "a long password"}, headers=OWN).status_code == 200
        yield lab


def look(lab: Lab, pilots: bool = False) -> dict[str, Any]:
    answer = lab.client.get(f"/admin/api/assessments?pilots={pilots}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def people_of(lab: Lab) -> list[Any]:
    return list(look(lab)["people"])


def until(lab: Lab, so: Callable[[list[Any]], bool], seconds: float = 60.0) -> list[Any]:
    """The people as soon as it is so; time goes on while the researcher looks."""
    end = time.monotonic() + seconds
    while not so(shown := people_of(lab)):
        assert time.monotonic() < end, shown
        time.sleep(0.2)
        lab.clock.now += 1.0
    return shown


def all_found(shown: list[Any]) -> bool:
    return bool(shown) and all(each["found"] and each["known"] == each["choices"] for each in shown)


def code_of(tab: Tab) -> str:
    return tab.token.split(".")[0]


def playing(lab: Lab, n: int) -> Tab:
    """Somebody who has made so many choices in the first task block."""
    tab = Tab(lab)
    tab.consent()
    for number in range(len(lab.study.training)):
        tab.play_block(number)
    tab.go("begin", block=len(lab.study.training))
    for trial in range(n):
        assert tab.choose(trial, (7 * trial + 3) % 100).status_code == 200
    return tab


def test_in_an_empty_study_and_with_people_in_practice_nobody_is_assessed_and_no_process_runs(tmp_path: Path) -> None:
    with opened(small_study(**ONE), tmp_path, NOWHERE) as lab:
        nobody = {"enabled": True, "now": lab.clock.now, "agent": "stochastic-ucl", "people": [], "why_not": ""}
        assert look(lab) == nobody
        tab = Tab(lab)
        tab.consent()
        tab.go("begin", block=0)
        tab.choose(0, 5)
        assert people_of(lab) == []
        time.sleep(0.5)
        desk = lab.client.app.state.office.assessments  # type: ignore[attr-defined]
        assert desk.link is not None
        assert not desk.link.is_started


@pytest.mark.parametrize(
    "advised", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["without advice", "with advice"]
)
def test_the_real_process_finds_out_about_people_who_play(tmp_path: Path, advised: bool) -> None:
    study = advised_study("none", n_task_blocks=2) if advised else small_study(**ONE)
    with opened(study, tmp_path, assessment_desk.PROGRAM) as lab:
        tab, other = playing(lab, 3), playing(lab, 0)
        until(lab, all_found, 240.0)
        for trial in range(3, 6):
            tab.choose(trial, 50 + trial)
        tab.go("begin", block=len(study.training) + 1)
        tab.choose(0, 12)
        shown = {each["code"]: each for each in until(lab, all_found, 240.0)}
        rows = [row for row in lab.rows(choices) if row.person == 1]
    mine, theirs = shown[code_of(tab)], shown[code_of(other)]
    found = Found(**mine["found"])
    assert (mine["place"], mine["block"], mine["choices"], mine["trouble"]) == ("task", 2, 7, "")
    assert found.regret == [pytest.approx(study.landscapes["A"].best - rows[-1].reward, abs=0.06)]
    assert found.later == [2, 3, 4, 5, 6]
    assert sum(found.forms.values()) == pytest.approx(1)
    assert found.regret_to_come > 0
    assert found.regret_if_advised > 0
    assert "temperature" in {each.parameter for each in found.estimates}
    assert (len(found.estimates) > 4) is advised  # situated-ucl has more parameters than stochastic-ucl
    assert (theirs["choices"], theirs["found"]["regret"]) == (0, [])


def test_the_oldest_assessment_is_renewed_first_and_only_of_those_who_went_on(tmp_path: Path) -> None:
    with opened(small_study(**ONE), tmp_path) as lab:
        tabs = [playing(lab, n) for n in (1, 2, 3)]
        shown = until(lab, all_found)
        assert [each["found"]["regret"] for each in shown] == [[1.0], [2.0], [3.0]]
        first = [each["made_at"] for each in shown]
        tabs[1].choose(2, 5)
        lab.clock.now += 10
        again = [each["made_at"] for each in until(lab, all_found)]
        assert (again[0], again[2]) == (first[0], first[2])
        assert again[1] > first[1]


@pytest.mark.parametrize("delete", [True, False], ids=["with all data", "and leaves the data"])
def test_whoever_withdraws_vanishes_and_nothing_that_was_found_is_kept(tmp_path: Path, delete: bool) -> None:
    with opened(small_study(**ONE), tmp_path) as lab:
        tab, other = playing(lab, 2), playing(lab, 2)
        until(lab, all_found)
        assert tab.post("withdraw", delete=delete).status_code == 200
        assert [each["code"] for each in people_of(lab)] == [code_of(other)]
        assert [row.person for row in lab.rows(assessments)] == [2]


def test_an_assessment_that_comes_after_a_withdrawal_is_not_stored(tmp_path: Path) -> None:
    with opened(small_study(**ONE), tmp_path, stub_assessor.program(2.0)) as lab:
        tab = playing(lab, 2)
        people_of(lab)
        time.sleep(1.2)  # it is being computed
        assert tab.post("withdraw", delete=True).status_code == 200
        time.sleep(2.5)
        assert lab.rows(assessments) == []


def test_a_process_that_is_killed_comes_back(tmp_path: Path) -> None:
    with opened(small_study(**ONE), tmp_path) as lab:
        tab = playing(lab, 1)
        before = until(lab, all_found)[0]["found"]["regret_to_come"]
        (number,) = stub_assessor.running()
        assert number == before
        os.kill(number, signal.SIGKILL)
        assert tab.choose(1, 6).status_code == 200
        lab.clock.now += 10
        after = until(lab, all_found)[0]["found"]
        assert after["regret_to_come"] != before
        assert after["regret"] == [2.0]  # it was told everything again


def test_it_stops_when_nobody_looks_and_starts_again_when_somebody_does(tmp_path: Path) -> None:
    with opened(small_study(**ONE), tmp_path) as lab:
        tab = playing(lab, 1)
        until(lab, all_found)
        assert len(stub_assessor.running()) == 1
        lab.clock.now += lease.LOOKED_S + 1
        end = time.monotonic() + 20
        while stub_assessor.running():
            assert time.monotonic() < end
            time.sleep(0.05)
        tab.choose(1, 6)
        time.sleep(0.5)
        assert lab.rows(assessments)[0].n == 1
        until(lab, all_found)
    assert stub_assessor.running() == []


def test_a_server_that_starts_again_shows_what_was_found_and_goes_on(tmp_path: Path) -> None:
    study = small_study(**ONE)
    with opened(study, tmp_path) as lab:
        tab = playing(lab, 2)
        before = until(lab, all_found)
    with opened(study, tmp_path, NOWHERE) as lab:
        lab.clock.now = before[0]["made_at"] + 1
        assert people_of(lab) == before
    with opened(study, tmp_path) as lab:
        lab.clock.now = before[0]["made_at"] + 1
        tab.lab = lab
        tab.choose(2, 9)
        assert until(lab, all_found)[0]["found"]["regret"] == [3.0]


def test_another_agent_does_not_pass_off_what_this_one_found(tmp_path: Path) -> None:
    with opened(advised_study("none"), tmp_path) as lab:
        playing(lab, 2)
        until(lab, all_found)
    other = advised_study("none", advice={"agent": "stochastic-ucl"})
    with opened(other, tmp_path, NOWHERE) as lab:
        assert [each["found"] for each in people_of(lab)] == [None]


def test_of_several_servers_on_postgresql_one_assesses_and_all_tell(server: Cluster, tmp_path: Path) -> None:
    url = server.new_database()
    study = small_study(**ONE)
    with opened(study, tmp_path, url=url) as one, opened(study, tmp_path, url=url) as two:
        playing(one, 2)
        for lab in (one, two, one, two):
            until(lab, all_found)
            two.clock.now = one.clock.now = max(one.clock.now, two.clock.now)
        assert people_of(one) == people_of(two)
        assert len(stub_assessor.running()) == 1
        # The one that has the lease goes without giving it back: the other takes over when it has run out.
        with one.store.engine.begin() as connection:
            held = lease._locked(connection)
            lease.keep(connection, lease.NAME, lease.json.dumps(held._replace(holder="gone")))
        time.sleep(0.5)
        assert stub_assessor.running() == []
        two.clock.now += lease.HELD_S + 1
        playing(two, 1)
        until(two, all_found)
        assert len(stub_assessor.running()) == 1


def test_a_study_may_do_without(tmp_path: Path) -> None:
    with opened(replace(small_study(**ONE), assessment=False), tmp_path, NOWHERE) as lab:
        playing(lab, 2)
        shown = look(lab)
        assert (shown["enabled"], shown["people"]) == (False, [])
        assert lab.rows(assessments) == []


def test_people_and_robots_are_assessed_when_somebody_looks_at_them(tmp_path: Path) -> None:
    with opened(small_study(**ONE), tmp_path) as lab:
        playing(lab, 2)
        assert look(lab, pilots=True)["people"] == []
        time.sleep(0.6)
        assert lab.rows(assessments) == []
        until(lab, all_found)


def test_no_choice_waits_for_an_assessment(tmp_path: Path) -> None:
    with opened(small_study(**ONE, n_trials=60), tmp_path, stub_assessor.program(30.0)) as lab:
        tab = playing(lab, 1)
        people_of(lab)
        time.sleep(1.0)
        took = []
        for trial in range(1, 21):
            began = time.perf_counter()
            assert tab.choose(trial, 5).status_code == 200
            took.append(time.perf_counter() - began)
        assert np.median(took) < 1.0
        assert people_of(lab)[0]["found"] is None
