"""The way through a study's own pages over HTTP: what comes next, what is kept, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorelab.study.database import tables
from tests.support.study.lab import Lab, Tab
from tests.support.study.own_pages import BEFORE, RIGHT, paged_study


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(paged_study(tmp_path / "files"), tmp_path)
    with made.client:
        yield made


def leave(tab: Tab, answers: dict[str, Any] | None = None, **changes: Any) -> Any:
    page = tab.state["page"]
    report = {"step": page["step"], "attempt": page["attempt"], "answers": answers or {}, "times": {}}
    report |= {"elapsed_ms": 1500.0, **changes}
    return tab.post("page", **report)


def left(tab: Tab, answers: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    answer = leave(tab, answers, **changes)
    assert answer.status_code == 200, answer.text
    tab.state = answer.json()["state"]
    return answer.json()["marks"]


def at(tab: Tab) -> str:
    return tab.state["page"]["name"] if tab.state["stage"] == "at_page" else tab.state["stage"]


def begun(lab: Lab) -> Tab:
    tab = Tab(lab)
    tab.consent()
    return tab


def test_the_whole_way(lab: Lab) -> None:
    tab = begun(lab)
    assert at(tab) == "welcome"
    assert "You play 2 choices." in tab.state["page"]["html"]
    left(tab)
    assert at(tab) == "quiz"
    assert left(tab, RIGHT) == {"passed": True, "wrong": []}
    assert at(tab) == "before"
    assert left(tab, {**BEFORE, "age": 44, "gamer": "yes"}) == {"passed": None, "wrong": []}
    assert at(tab) == "gamers"
    left(tab)
    for number in range(5):
        assert at(tab) == "ready"
        tab.play_block(number)
    assert (at(tab), tab.state["page"]["clock"]) == ("break-7", {"seconds_left": 60.0, "wait": False})
    lab.clock.now += 20
    tab = Tab(lab, tab.key)
    assert tab.state["page"]["clock"]["seconds_left"] == 40.0
    left(tab)
    assert tab.state["page"]["score"]["points"] == tab.state["points"] == lab.rows(tables.people)[0].points
    left(tab)
    assert at(tab) == "after"
    left(tab, {"fun": 4, "dull": 1})
    assert at(tab) == "debriefing"
    assert tab.go("finish")["stage"] == "finished"
    rows = {(row.page, row.question): row for row in lab.rows(tables.answers)}
    assert json.loads(rows["before", "games"].answer) == ["Go"]
    assert (rows["before", "agree"].passed, rows["before", "age"].passed) == (True, None)
    assert (rows["after", "fun"].points, rows["after", "dull"].points, rows["after", "dull"].score) == (4.0, 5.0, "fun")
    assert [row.page for row in lab.rows(tables.visits)] == [
        "welcome", "quiz", "before", "gamers", "break-7", "score-8", "after",
    ]  # fmt: skip


def test_pages_that_are_not_for_someone_are_passed_over(lab: Lab) -> None:
    tab = begun(lab)
    left(tab), left(tab, RIGHT), left(tab, BEFORE)
    assert at(tab) == "ready"
    for number in range(5):
        tab.play_block(number)
    left(tab), left(tab)
    assert at(tab) == "debriefing"
    assert lab.rows(tables.people)[0].bonus is not None


def test_a_quiz_sends_people_back_and_in_the_end_out(lab: Lab) -> None:
    tab = begun(lab)
    left(tab)
    wrong = {**RIGHT, "dots": "yellow"}
    assert left(tab, wrong) == {
        "passed": False, "wrong": [{"question": "dots", "feedback": "<p>Yours is the <em>blue</em> one.</p>\n"}],
    }  # fmt: skip
    assert (at(tab), tab.state["page"]["attempt"], tab.state["page"]["attempts_left"]) == ("welcome", 2, 2)
    left(tab)
    assert (at(tab), tab.state["page"]["attempt"], tab.state["page"]["attempts_left"]) == ("quiz", 2, None)
    left(tab, wrong), left(tab)
    assert left(tab, wrong)["passed"] is False
    assert tab.state["stage"] == "screened"
    assert tab.state["completion"]["code"].startswith("SCREENED1-")
    assert tab.state["payment"] is None
    tab = Tab(lab, tab.key)
    assert tab.state["stage"] == "screened"
    assert tab.post("begin", block=0).status_code == 403


def test_a_repeated_request_gets_the_same_answer_and_another_one_is_refused(lab: Lab) -> None:
    tab = begun(lab)
    left(tab)
    page = {"step": tab.state["page"]["step"], "attempt": 1}
    marks = left(tab, {**RIGHT, "count": 5})
    state = tab.state
    again = leave(tab, {**RIGHT, "count": 5}, **page, elapsed_ms=9.0)
    assert again.json() == {"marks": marks, "state": state}
    other = leave(tab, RIGHT, **page)
    assert (other.status_code, other.json()["error"]) == (409, "out-of-order")
    assert lab.count(tables.answers) == 2
    assert lab.count(tables.visits) == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"age": 17}, "Question age must be answered with a number from 18 to 99."),
        ({"age": 18.5}, "Question age must be answered with a whole number."),
        ({"age": "20"}, "Question age must be answered with a number."),
        ({"age": None}, "Question age must be answered."),
        ({"gamer": "perhaps"}, "Question gamer must be answered with one of its options."),
        ({"games": ["Go", "Go"]}, "Question games must be answered with some of its options, each once."),
        ({"games": ["Poker"]}, "Question games must be answered with some of its options, each once."),
        ({"agree": 4}, "Question agree must be answered with a whole number from 1 to 3."),
        ({"agree": 1.5}, "Question agree must be answered with a whole number from 1 to 3."),
        ({"said": "x" * 21}, "Question said must be answered with at most 20 characters."),
        ({"more": 1}, "The page has no question 'more'."),
    ],
)
def test_what_the_page_does_not_offer_is_refused(lab: Lab, changes: dict[str, Any], sentence: str) -> None:
    tab = begun(lab)
    left(tab), left(tab, RIGHT)
    refused = leave(tab, {**BEFORE, **changes})
    assert (refused.status_code, refused.json()["message"]) == (422, sentence)
    assert at(Tab(lab, tab.key)) == "before"


def test_a_page_out_of_turn_is_refused(lab: Lab) -> None:
    tab = begun(lab)
    for step, attempt in ((1, 1), (0, 2), (99, 1)):
        assert leave(tab, step=step, attempt=attempt).status_code == 409
    assert tab.post("begin", block=0).status_code == 403
    left(tab)
    assert leave(tab, {}, step=0, attempt=1).status_code == 200  # once more, the same
    assert at(tab) == "quiz"


def test_a_break_that_must_be_waited_for_cannot_be_left_before(tmp_path: Path) -> None:
    pages = '[[pages]]\nkind = "break"\nseconds = 60\nwait = true\n[[pages]]\nkind = "blocks"\n'
    lab = Lab(paged_study(tmp_path / "files", pages), tmp_path)
    with lab.client:
        tab = begun(lab)
        lab.clock.now += 50
        assert leave(tab).json()["message"] == "The break lasts another 10 s."
        lab.clock.now += 9.5
        left(tab)
        assert at(tab) == "ready"


def test_expected_answers_are_sent_to_nobody(lab: Lab) -> None:
    tab = begun(lab)
    left(tab)
    assert tab.state["page"]["form"]["questions"]
    assert "expected" not in json.dumps(tab.state)
    assert "blue* one" not in json.dumps(tab.state)


def test_erasure_leaves_no_answer(tmp_path: Path) -> None:
    lab = Lab(paged_study(tmp_path / "files"), tmp_path)
    with lab.client:
        tab = begun(lab)
        left(tab), left(tab, RIGHT), left(tab, {**BEFORE, "said": "UNMISTAKABLE"})
        assert lab.count(tables.answers) == 7
        tab.go("withdraw", delete=True)
        assert (lab.count(tables.answers), lab.count(tables.visits)) == (0, 0)
        person = lab.rows(tables.people)[0]
        assert (person.path, person.step, person.step_at) == (None, 0, None)
    for file in tmp_path.glob("study.db*"):
        assert b"UNMISTAKABLE" not in file.read_bytes(), file


def test_a_study_without_pages_is_what_it_was(tmp_path: Path) -> None:
    lab = Lab(replace(paged_study(tmp_path / "files"), pages=()), tmp_path)
    with lab.client:
        tab = begun(lab)
        assert (tab.state["stage"], tab.state["page"]) == ("instructions", None)
        assert tab.post("page", step=0, attempt=1, answers={}, times={}, elapsed_ms=1.0).status_code == 409
        assert lab.rows(tables.people)[0].path is None
        assert tab.play_block(0)["stage"] == "ready"
