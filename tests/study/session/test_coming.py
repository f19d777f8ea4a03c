"""People who come, come back, agree, decline, withdraw and leave with their payment, over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorelab.study.config.design import Payment
from explorelab.study.database import tables
from tests.support.study.lab import Lab, Tab, in_play
from tests.support.study.small_study import small_study


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
    query = {"PROLIFIC_PID": "abc", "STUDY_ID": "s", "SESSION_ID": "t"}
    first = Tab(lab, query=query)
    first.consent()
    assert Tab(lab, query=query).state["stage"] == "instructions"
    assert Tab(lab, first.key, {"PROLIFIC_PID": "abc"}).state["stage"] == "instructions"
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
    Tab(lab, tab.key, query)
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
    Tab(lab, tab.key, {**query, "assignmentId": "OTHER"})
    assert lab.rows(tables.people)[0].platform_session == "PAID"
