"""The participants' interface, over HTTP against the real application and a real database."""

from __future__ import annotations

import itertools
import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from small_study import small_study
from sqlalchemy import func, select

from explorelab import InputError
from explorelab.study import tables
from explorelab.study.app import create_app
from explorelab.study.assignment import counts_of
from explorelab.study.design import Payment, Server, Study
from explorelab.study.game import start_square
from explorelab.study.promises import check_promises
from explorelab.study.store import Store, open_store
from explorelab.study.tokens import code_of, token_for


class Clock:
    """Time that tests move on."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Lab:
    """A study that is being served, and its database."""

    def __init__(self, study: Study, folder: Path) -> None:
        self.study, self.clock = study, Clock()
        self.store: Store = open_store("sqlite:///study.db", folder)
        app = create_app(study, self.store, admin_password="a long password", now=self.clock)
        self.client = TestClient(app, base_url="http://study.example")

    def count(self, table: Any) -> int:
        with self.store.engine.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(table)).scalar_one())

    def rows(self, table: Any) -> list[Any]:
        with self.store.engine.connect() as connection:
            return list(connection.execute(select(table).order_by(table.c.id)))


class Tab:
    """One page of one person."""

    def __init__(
        self, lab: Lab, key: str | None = None, query: dict[str, str] | None = None, page: str | None = None
    ) -> None:
        self.lab, self.key, self.query = lab, key or secrets.token_hex(32), query or {}
        self.page = page or secrets.token_hex(16)
        answer = lab.client.post("/api/arrive", json={"page": self.page, "key": self.key, "query": self.query})
        assert answer.status_code == 200, answer.text
        self.token, self.state = answer.json()["token"], answer.json()["state"]

    def post(self, path: str, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.lab.client.post(f"/api/{path}", json={"epoch": self.state["epoch"], **body}, headers=headers)

    def go(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self.post(path, **body)
        assert answer.status_code == 200, answer.text
        self.state = answer.json()["state"]
        return self.state

    def consent(self, agreed: bool = True) -> dict[str, Any]:
        return self.go("consent", agreed=agreed, version=self.state["consent_version"])

    def report(self, trial: int, square: int | None, **changes: Any) -> dict[str, Any]:
        block = self.state["block"]
        clicks = [] if square is None else [[square, 5.0]]
        return {
            "block": block["number"], "trial": trial, "goal": square, "clicks": clicks,
            "elapsed_ms": block["deadline_ms"] + 2.5, "pauses": 0, "attempt": 1, **changes,
        }  # fmt: skip

    def choose(self, trial: int, square: int | None, **changes: Any) -> Any:
        self.lab.clock.now += self.state["block"]["deadline_ms"] / 1000 + 0.02
        return self.post("choice", **self.report(trial, square, **changes))

    def play_block(self, number: int) -> dict[str, Any]:
        self.go("begin", block=number)
        for trial in range(self.state["block"]["n_trials"]):
            made = self.choose(trial, None).json()
        self.state = made["state"]
        return self.state


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        yield lab


def in_play(lab: Lab, dynamic: str = "standard") -> Tab:
    """Someone in the training block of this dynamic."""
    tab = Tab(lab)
    tab.consent()
    for number, training in enumerate(lab.study.training):
        if training.dynamic == dynamic:
            tab.go("begin", block=number)
            return tab
        tab.play_block(number)
    raise AssertionError(dynamic)


def test_the_whole_way_from_arrival_to_the_code(lab: Lab) -> None:
    tab = Tab(lab, query={"PROLIFIC_PID": "abc"})
    assert tab.state["stage"] == "consent"
    assert "Text of consent" in tab.state["html"]["consent"]
    assert tab.consent()["stage"] == "instructions"
    for number in range(5):
        state = tab.play_block(number)
        assert state["stage"] == ("ready" if number < 4 else "debriefing")
    assert tab.go("finish")["stage"] == "finished"
    assert tab.state["completion"]["code"] == "THANKS42"
    assert lab.count(tables.choices) == 3 * 3 + 2 * 6
    person = lab.rows(tables.people)[0]
    task = [row.reward for row in lab.rows(tables.choices) if row.block >= 3]
    assert person.points == sum(task) == tab.state["points"]
    assert tab.state["payment"]["bonus"] == lab.study.payment.bonus(sum(task))


def test_the_second_block_takes_the_other_timing_and_landscape_and_another_dynamic(lab: Lab) -> None:
    tab = Tab(lab)
    tab.consent()
    for number in range(5):
        tab.play_block(number)
    first, second = (row for row in lab.rows(tables.blocks) if row.kind == "task")
    assert {first.timing, second.timing} == {"fast", "slow"}
    assert {first.landscape, second.landscape} == {"A", "B"}
    assert first.dynamic != second.dynamic


def test_a_page_is_told_of_the_block_in_play_and_nothing_else(lab: Lab) -> None:
    tab = in_play(lab)
    told = str(tab.state) + str(tab.choose(0, 3).json())
    for secret in ("landscape", "means", "training_peak", "'A'", "'B'", "cell", "fast", "slow", "seed"):
        assert secret not in told


def test_rewards_are_the_landscape_plus_a_whole_number_up_to_five(lab: Lab) -> None:
    tab = in_play(lab)
    made = [tab.choose(trial, 55).json() for trial in range(3)]
    assert all(each["reward"] - 100 in range(-5, 6) for each in made)
    assert [each["reward"] for each in made] == [row.reward for row in lab.rows(tables.choices)]


def test_no_click_repeats_the_last_choice(lab: Lab) -> None:
    tab = in_play(lab)
    start = tab.state["block"]["position"]
    assert tab.choose(0, None).json()["arm"] == start
    assert tab.choose(1, 42).json()["arm"] == 42
    assert tab.choose(2, None).json()["arm"] == 42
    assert [row.missed for row in lab.rows(tables.choices)] == [True, False, True]


def test_a_neighbour_can_be_chosen_and_others_are_refused(lab: Lab) -> None:
    tab = in_play(lab, "neighbour")
    position = tab.state["block"]["position"]
    near = set(lab.study.next_to(position))
    far = next(square for square in range(100) if square not in near)
    refused = tab.choose(0, far)
    assert (refused.status_code, refused.json()["error"]) == (422, "invalid")
    there = max(near)
    assert tab.choose(0, there).json()["arm"] == there


def test_who_travels_walks_one_square_at_a_time_and_keeps_the_goal(lab: Lab) -> None:
    tab = in_play(lab, "travel")
    x, y = divmod(tab.state["block"]["position"], 10)
    goal = (x + 2 if x < 5 else x - 2) * 10 + y
    first = tab.choose(0, goal).json()
    assert abs(divmod(first["arm"], 10)[0] - x) == 1
    assert (first["position"], first["goal"]) == (first["arm"], goal)
    assert tab.choose(1, None).json()["arm"] == goal
    assert tab.choose(2, None).json()["arm"] == goal


def test_the_same_choice_again_gets_the_same_answer_and_is_kept_once(lab: Lab) -> None:
    tab = in_play(lab)
    first = tab.choose(0, 55).json()
    assert tab.choose(0, 55, attempt=2).json() == first
    assert tab.choose(0, 11, attempt=3).json() == first
    assert lab.count(tables.choices) == 1


def test_the_last_choice_of_a_block_again_also_says_what_follows(lab: Lab) -> None:
    tab = in_play(lab)
    for trial in range(3):
        last = tab.choose(trial, 1).json()
    assert last["state"]["stage"] == "ready"
    assert tab.choose(2, 1).json() == last


def test_choices_come_in_order(lab: Lab) -> None:
    tab = in_play(lab)
    answer = tab.choose(1, 5)
    assert (answer.status_code, answer.json()["error"]) == (409, "out-of-order")
    assert tab.post("choice", **tab.report(0, 5, block=1)).status_code == 409
    assert lab.count(tables.choices) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"goal": 100, "clicks": [[100, 5.0]]},
        {"goal": 4, "clicks": [[5, 5.0]]},
        {"goal": None, "clicks": [[5, 5.0]]},
        {"goal": 5, "clicks": []},
        {"clicks": [[5, 30.0], [5, 20.0]]},
        {"clicks": [[5, 9_000.0]]},
        {"elapsed_ms": 10.0},
        {"elapsed_ms": -1.0},
        {"goal": "5"},
        {"goal": 5.5},
        {"trial": "0"},
        {"reward": 100},
        {"pauses": -1},
        {"attempt": 0},
        {"clicks": [[5, "1"]]},
        {"clicks": [[5, 1.0]] * 201},
    ],
    ids=range(16),
)  # fmt: skip
def test_what_cannot_have_happened_is_refused(lab: Lab, changes: dict[str, Any]) -> None:
    tab = in_play(lab)
    answer = tab.post("choice", **{**tab.report(0, 5), **changes})
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
    assert lab.count(tables.choices) == 0


def test_doubts_are_flagged(lab: Lab) -> None:
    tab = in_play(lab)
    tab.choose(0, 5)
    tab.post("choice", **tab.report(1, 5))
    tab.choose(2, 5, elapsed_ms=500.0, pauses=1, attempt=2)
    assert [row.flags for row in lab.rows(tables.choices)] == ["", "early", "early overrun paused retried"]


def test_a_reload_goes_on_where_it_was_and_the_old_page_is_refused(lab: Lab) -> None:
    old = in_play(lab)
    reward = old.choose(0, 33).json()["reward"]
    new = Tab(lab, old.key)
    block = new.state["block"]
    assert (new.state["stage"], block["trial"], block["position"], block["last_reward"]) == ("play", 1, 33, reward)
    refused = old.choose(1, 5)
    assert (refused.status_code, refused.json()["error"]) == (409, "taken-over")
    assert new.choose(1, 5).status_code == 200


def test_an_arrival_repeated_by_the_network_is_one_arrival(lab: Lab) -> None:
    tab = Tab(lab)
    again = Tab(lab, tab.key, page=tab.page)
    assert (again.state["epoch"], again.token) == (tab.state["epoch"], tab.token)
    assert lab.count(tables.people) == 1


def test_prolific_and_mturk_are_known_again_in_any_browser(lab: Lab) -> None:
    first = Tab(lab, query={"PROLIFIC_PID": "abc", "STUDY_ID": "s", "SESSION_ID": "t"})
    first.consent()
    assert Tab(lab, query={"PROLIFIC_PID": "abc"}).state["stage"] == "instructions"
    worker = {"workerId": "W", "assignmentId": "X", "hitId": "H", "turkSubmitTo": "https://workersandbox.mturk.com"}
    Tab(lab, query=worker)
    Tab(lab, query={**worker, "turkSubmitTo": "https://evil.example"})
    prolific, mturk = lab.rows(tables.people)
    assert (prolific.source, prolific.platform_id, prolific.platform_session) == ("prolific", "abc", "t")
    assert (mturk.source, mturk.platform_id, mturk.submit_to) == ("mturk", "W", "https://workersandbox.mturk.com")


def test_a_preview_shows_no_task_and_keeps_nothing(lab: Lab) -> None:
    tab = Tab(lab, query={"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H"})
    assert (tab.state["stage"], tab.token, tab.state["block"]) == ("preview", "", None)
    assert lab.count(tables.people) == 0


def test_whoever_stays_away_too_long_cannot_go_on(lab: Lab) -> None:
    tab = in_play(lab)
    lab.clock.now += 60 * 119
    tab = Tab(lab, tab.key)
    assert tab.state["stage"] == "play"
    lab.clock.now += 60 * 121
    assert tab.post("choice", **tab.report(0, 5)).status_code == 403
    assert tab.post("state").json()["state"]["stage"] == "expired"
    new = Tab(lab, tab.key)
    assert (new.state["stage"], new.token) == ("expired", "")
    assert lab.count(tables.choices) == 0


def test_whoever_has_made_every_choice_gets_the_code_however_late(lab: Lab) -> None:
    tab = Tab(lab)
    tab.consent()
    for number in range(5):
        tab.play_block(number)
    lab.clock.now += 60 * 60 * 24
    late = Tab(lab, tab.key)
    assert late.state["stage"] == "debriefing"
    assert late.go("finish")["completion"]["code"]


def test_declining_ends_and_is_kept(lab: Lab) -> None:
    tab = Tab(lab)
    assert tab.consent(agreed=False)["stage"] == "declined"
    assert Tab(lab, tab.key).state["stage"] == "declined"
    assert [row.agreed for row in lab.rows(tables.consents)] == [False]
    assert Tab(lab, tab.key).post("begin", block=0).status_code == 403


def test_consent_is_kept_with_time_and_text(lab: Lab) -> None:
    tab = Tab(lab)
    version = tab.state["consent_version"]
    assert tab.post("consent", agreed=True, version="other").status_code == 409
    tab.consent()
    assert tab.post("consent", agreed=True, version=version).status_code == 200
    (row,) = lab.rows(tables.consents)
    assert (row.agreed, row.version, row.text) == (True, version, lab.study.texts.pages["consent"])
    assert row.at == lab.clock.now


def test_nothing_is_played_before_consent(lab: Lab) -> None:
    assert Tab(lab).post("begin", block=0).status_code == 403
    assert lab.count(tables.blocks) == 0


def test_withdrawing_keeps_or_deletes_as_the_person_wishes(lab: Lab) -> None:
    keeps, deletes = in_play(lab), in_play(lab)
    keeps.choose(0, 1)
    deletes.choose(0, 1)
    assert keeps.go("withdraw", delete=False)["stage"] == "withdrawn"
    assert deletes.go("withdraw", delete=True)["stage"] == "withdrawn"
    assert len(lab.rows(tables.choices)) == 1
    person = lab.rows(tables.people)[1]
    assert (person.platform_id, person.cell, person.seed) == (None, None, 0)
    assert [(row.by, row.n_choices) for row in lab.rows(tables.deletions)] == [("participant", 1)]
    assert Tab(lab, deletes.key).state["stage"] == "withdrawn"
    assert deletes.post("begin", block=0).status_code == 409
    assert Tab(lab, deletes.key).post("begin", block=0).status_code == 403


def test_what_was_deleted_does_not_come_back_with_the_person(lab: Lab) -> None:
    query = {"PROLIFIC_PID": "abc", "SESSION_ID": "t", "STUDY_ID": "s"}
    tab = Tab(lab, query=query)
    tab.consent()
    tab.go("withdraw", delete=True)
    Tab(lab, query=query)
    (person,) = lab.rows(tables.people)
    kept = (person.platform_id, person.platform_session, person.platform_study, person.cell, person.plan, person.seed)
    assert kept == (None, None, None, None, None, 0)


def test_the_bonus_that_was_shown_is_the_one_that_is_paid(tmp_path: Path) -> None:
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        tab = Tab(lab)
        tab.consent()
        for number in range(5):
            tab.play_block(number)
        shown = tab.go("finish")["payment"]["bonus"]
    edited = Lab(small_study(payment=Payment(per_point=1.0)), tmp_path)
    with edited.client:
        assert Tab(edited, tab.key).state["payment"]["bonus"] == shown == edited.rows(tables.people)[0].bonus


@pytest.mark.parametrize("name", ["{{%PROLIFIC_PID%}}", "", " ", "a b", "a" * 200, "<script>"])
def test_a_link_with_a_broken_name_is_nobody(lab: Lab, name: str) -> None:
    body = {"page": "0" * 32, "key": "1" * 32, "query": {"PROLIFIC_PID": name}}
    answer = lab.client.post("/api/arrive", json=body)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
    assert "PROLIFIC_PID" in answer.json()["message"]
    assert lab.count(tables.people) == 0


def test_people_from_a_plain_link_have_a_code_of_their_own(lab: Lab) -> None:
    codes = []
    for _ in range(2):
        tab = Tab(lab)
        tab.consent()
        for number in range(5):
            tab.play_block(number)
        codes.append(tab.go("finish")["completion"]["code"])
    assert codes == [f"THANKS42-{row.code}" for row in lab.rows(tables.people)]


def test_a_study_edited_half_way_keeps_its_word(tmp_path: Path) -> None:
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        tab = Tab(lab)
        tab.consent()
        tab.play_block(0)
    edited = Lab(small_study(n_trials=2, n_training=1, task_dynamics=("standard",), task_timings=("fast",)), tmp_path)
    with edited.client:
        again = Tab(edited, tab.key)
        for number in range(1, 5):
            assert again.state["stage"] == "ready"
            again.play_block(number)
        assert again.state["stage"] == "debriefing"
        assert edited.count(tables.choices) == 3 * 3 + 2 * 6


def test_what_people_under_way_play_on_cannot_be_changed(tmp_path: Path) -> None:
    lab = Lab(small_study(), tmp_path)
    study = lab.study
    less = {name: task for name, task in study.landscapes.items() if name != "B"}
    other = {**study.landscapes, "B": study.landscapes["A"]}

    def check(**changes: Any) -> None:
        with lab.store.engine.begin() as connection:
            check_promises(connection, replace(study, **changes), lab.clock.now)

    with lab.client:
        for changes in ({"landscapes": less}, {"landscapes": other}, {"width": 5, "height": 20}, {}):
            check(**changes)  # nobody has come yet
        Tab(lab).consent()
        with pytest.raises(InputError, match="still have blocks on landscape 'B'"):
            check(landscapes=less)
        with pytest.raises(InputError, match="play on landscape 'B' as it was"):
            check(landscapes=other)
        with pytest.raises(InputError, match="play on the grid as it was"):
            check(width=5, height=20)
        check(n_trials=9)
        lab.clock.now += 60 * 121
        check(landscapes=less)


def test_events_are_kept_once_also_those_of_a_page_that_was_replaced(lab: Lab) -> None:
    old = in_play(lab)
    events = [{"number": i, "kind": kind, "page_ms": 10.0 * i} for i, kind in enumerate(("hidden", "visible"))]
    assert old.post("events", events=events).json() == {"stored": 2}
    Tab(lab, old.key)
    assert old.post("events", events=[*events, {"number": 2, "kind": "blur", "page_ms": 99.0}]).json() == {"stored": 1}
    assert [row.kind for row in lab.rows(tables.events)] == ["hidden", "visible", "blur"]


def test_tokens_are_signed() -> None:
    assert code_of(b"secret", token_for(b"secret", "abc")) == "abc"
    assert code_of(b"other", token_for(b"secret", "abc")) is None
    assert code_of(b"secret", "abc.") is None


def test_conditions_are_balanced_over_people_who_stay(lab: Lab) -> None:
    for _ in range(24):
        Tab(lab).consent()
    assert Counter(row.cell for row in lab.rows(tables.people)).most_common()[-1][1] == 1
    leaving = Tab(lab)
    leaving.consent()
    leaving.go("withdraw", delete=False)
    left = lab.rows(tables.people)[-1].cell
    for _ in range(24):
        Tab(lab).consent()
    with lab.store.engine.connect() as connection:
        counts = counts_of(connection, lab.study, False, lab.clock.now)
    assert set(counts.values()) == {2}, left


def test_people_who_went_away_make_room_in_their_condition(lab: Lab) -> None:
    for _ in range(24):
        Tab(lab).consent()
    lab.clock.now += 60 * 121
    with lab.store.engine.connect() as connection:
        assert set(counts_of(connection, lab.study, False, lab.clock.now).values()) == {0}


def test_robots_need_the_key_and_do_not_count(lab: Lab) -> None:
    with lab.store.engine.connect() as connection:
        settings = {row.name: row.value for row in connection.execute(select(tables.settings))}
    body = {"page": "0" * 32, "key": "1" * 32, "query": {"agent": "a robot"}}
    assert lab.client.post("/api/arrive", json=body, headers={"X-Pilot-Key": "wrong"}).status_code == 401
    answer = lab.client.post("/api/arrive", json=body, headers={"X-Pilot-Key": settings["pilot_key"]})
    assert answer.status_code == 200
    (robot,) = lab.rows(tables.people)
    assert (robot.pilot, robot.source, robot.agent) == (True, "pilot", "a robot")
    token = answer.json()["token"]
    body = {"epoch": 1, "agreed": True, "version": answer.json()["state"]["consent_version"]}
    lab.client.post("/api/consent", json=body, headers={"Authorization": f"Bearer {token}"})
    with lab.store.engine.connect() as connection:
        robots, persons = (counts_of(connection, lab.study, pilot, lab.clock.now) for pilot in (True, False))
    assert (sum(robots.values()), sum(persons.values())) == (1, 0)


def test_rewards_do_not_depend_on_when_they_are_drawn(lab: Lab) -> None:
    tab = in_play(lab)
    made = [tab.choose(trial, 7).json()["reward"] for trial in range(3)]
    seed = lab.rows(tables.people)[0].seed
    expected = [float(np.random.default_rng([seed, 0, trial]).integers(-5, 5, endpoint=True)) for trial in range(3)]
    assert made == expected


def test_people_are_asked_to_slow_down(tmp_path: Path) -> None:
    lab = Lab(small_study(server=Server(120.0, 3, 2)), tmp_path)
    with lab.client:
        tabs = [Tab(lab) for _ in range(3)]
        body = {"page": "0" * 32, "key": "1" * 32, "query": {}}
        refused = lab.client.post("/api/arrive", json=body)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "20")
        statuses = [tabs[0].post("state").status_code for _ in range(8)]
        assert statuses == [200] * 6 + [429] * 2
        assert tabs[1].post("state").status_code == 200


def test_every_answer_has_a_strict_policy(lab: Lab) -> None:
    for path in ("/", "/api/health", "/api/nothing", "/static/study.js"):
        headers = lab.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_every_start_square_is_as_likely() -> None:
    starts = [start_square(seed, block, 100) for seed, block in itertools.product(range(2000), range(2))]
    counts = np.bincount(starts, minlength=100)
    chi2 = ((counts - 40) ** 2 / 40).sum()
    assert len(counts) == 100
    assert chi2 < 99 + 4 * np.sqrt(2 * 99)


def test_nothing_of_the_platform_is_kept_of_those_who_decline(lab: Lab) -> None:
    tab = Tab(lab, query={"PROLIFIC_PID": "abc", "SESSION_ID": "t"})
    tab.consent(agreed=False)
    (person,) = lab.rows(tables.people)
    assert (person.platform_id, person.platform_session) == (None, None)


def test_another_assignment_does_not_replace_the_one_that_was_finished(lab: Lab) -> None:
    query = {"workerId": "W", "assignmentId": "PAID", "hitId": "H"}
    tab = Tab(lab, query=query)
    tab.consent()
    for number in range(5):
        tab.play_block(number)
    tab.go("finish")
    Tab(lab, query={**query, "assignmentId": "OTHER"})
    assert lab.rows(tables.people)[0].platform_session == "PAID"


def test_events_of_one_person_are_bounded(lab: Lab) -> None:
    tab = in_play(lab)
    for start in range(0, 5200, 100):
        tab.post("events", events=[{"number": start + i, "kind": "blur", "page_ms": 1.0} for i in range(100)])
    assert lab.count(tables.events) == 5000


def test_a_body_that_goes_on_and_on_is_refused(lab: Lab) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"page": "'
        for _ in range(100):
            yield b"0" * 1024

    headers = {"Content-Type": "application/json"}
    for answer in (
        lab.client.post("/api/arrive", content=chunks(), headers=headers),
        lab.client.post("/api/arrive", content=b"0" * 100_000, headers=headers),
        lab.client.post("/api/arrive", content=b"{}", headers={"Content-Type": "text/plain"}),
    ):
        assert answer.status_code in (413, 415)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert set(answer.json()) == {"error", "message"}
