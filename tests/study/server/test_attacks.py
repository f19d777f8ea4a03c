"""Forged, repeated and reordered requests are refused, and what is refused changes nothing."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from explorelab.study.database.tables import events, people
from explorelab.study.session.identity import token_for
from tests.support.study.attacked import ASKED, EVERYWHERE, SCRIPT, Person, Target, body_of, refused


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    target = Target(tmp_path_factory.mktemp("attacked"))
    with target.client:
        yield target


# Tokens and pages -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ASKED)
def test_without_a_token_nothing_happens(target: Target, path: str) -> None:
    someone, other = Person(target), Person(target)
    code, signature = someone.token.split(".")
    for token in (
        None,
        "",
        ".",
        code,
        f"{code}.",
        f"{code}.{signature[:-1]}",
        f"{code}.{'0' * 64}",
        f"{other.token.split('.')[0]}.{signature}",
        f".{signature}",
        token_for(b"another secret", code),
        f"{code.upper()}.{signature}",
        f"{someone.token}.more",
        "nobody.nothing",
    ):
        refused(target, 401, "no-token", lambda token=token: target.post(path, body_of(someone, path), token))
    for header in (someone.token, f"Basic {someone.token}", "Bearer", f"Bearer {other.token} {someone.token}"):
        asked = {"Authorization": header}
        refused(target, 401, "no-token", lambda asked=asked: target.post(path, body_of(someone, path), **asked))


def test_tokens_cannot_be_guessed(target: Target) -> None:
    someone = Person(target)
    code = someone.token.split(".")[0]
    before = target.dump()
    for _ in range(300):
        assert target.post("state", {"epoch": 1}, f"{code}.{secrets.token_hex(32)}").status_code == 401
    assert target.dump() == before
    assert len(someone.token.split(".")[1]) * 4 >= 128


@pytest.mark.parametrize("path", [path for path in ASKED if path != "events"])
def test_an_old_page_is_told_that_another_took_over(target: Target, path: str) -> None:
    someone = Person(target)
    old = body_of(someone, path)
    someone.load()
    refused(target, 409, "taken-over", lambda: target.post(path, old, someone.token))
    refused(target, 409, "taken-over", lambda: target.post(path, {**old, "epoch": 99}, someone.token))
    refused(target, 409, "taken-over", lambda: target.post(path, {**old, "epoch": 0}, someone.token))


def test_events_of_a_page_to_come_are_refused(target: Target) -> None:
    someone = Person(target)
    event = {"number": 0, "kind": "blur", "page_ms": 1.0}
    ahead = {"epoch": someone.epoch + 1, "events": [event]}
    refused(target, 409, "taken-over", lambda: target.post("events", ahead, someone.token))


def test_a_token_moves_its_own_person_alone(target: Target) -> None:
    someone, other = Person(target), Person(target)
    before = target.dump()
    assert target.post("choice", body_of(someone, "choice"), someone.token).status_code == 200
    after = target.dump()
    with target.store.engine.connect() as connection:
        other_id = connection.execute(select(people.c.id).where(people.c.code == other.token.split(".")[0])).scalar_one()
    assert [row for row in before["people"] if row[0] == other_id] == [row for row in after["people"] if row[0] == other_id]
    assert len(after["choices"]) == len(before["choices"]) + 1


@pytest.mark.parametrize("key", ["0" * 64, "x", SCRIPT, "' OR 1=1 --"])
def test_a_wrong_pilot_key_is_refused(target: Target, key: str) -> None:
    body = {"page": "0" * 32, "key": "1" * 64, "query": {"agent": "robot"}}
    refused(target, 401, "no-token", lambda: target.post("arrive", body, **{"X-Pilot-Key": key}))


# Replayed and reordered -----------------------------------------------------------------------------------------------


def test_a_choice_again_has_the_same_answer_whatever_it_says(target: Target) -> None:
    someone = Person(target)
    first = body_of(someone, "choice", goal=7, clicks=[[7, 3.0]])
    told = target.post("choice", first, someone.token).json()
    assert told["arm"] == 7
    before = target.dump()
    for changes in ({}, {"goal": 55, "clicks": [[55, 1.0]]}, {"attempt": 9}, {"goal": None, "clicks": []}, {"pauses": 3}):
        again = target.post("choice", {**first, **changes}, someone.token)
        assert (again.status_code, again.json()) == (200, told)
    assert target.dump() == before


@pytest.mark.parametrize(
    ("changes", "status", "word"),
    [
        ({"trial": 1}, 409, "out-of-order"),
        ({"trial": 1_000_000}, 409, "out-of-order"),
        ({"block": 1}, 409, "out-of-order"),
        ({"block": 4}, 409, "out-of-order"),
        ({"block": 1_000_000}, 409, "out-of-order"),
    ],
)
def test_choices_come_in_order(target: Target, changes: dict[str, Any], status: int, word: str) -> None:
    someone = Person(target)
    refused(target, status, word, lambda: target.post("choice", body_of(someone, "choice", **changes), someone.token))


def test_nothing_happens_before_its_time(target: Target) -> None:
    new = Person(target, "consent")
    choice = {"block": 0, "trial": 0, "goal": None, "clicks": [], "elapsed_ms": 100.0, "pauses": 0, "attempt": 1}
    refused(target, 403, "not-now", lambda: target.post("begin", {"epoch": 1, "block": 0}, new.token))
    refused(target, 409, "out-of-order", lambda: target.post("choice", {"epoch": 1, **choice}, new.token))
    refused(target, 403, "not-now", lambda: target.post("finish", {"epoch": 1}, new.token))
    version = new.state["consent_version"]
    for wrong in ("", SCRIPT, version.upper(), version[:-1]):
        asked = {"epoch": 1, "agreed": True, "version": wrong}
        refused(target, 409, "out-of-order", lambda asked=asked: target.post("consent", asked, new.token))
    ready = Person(target, "instructions")
    refused(target, 409, "out-of-order", lambda: target.post("choice", {"epoch": 1, **choice}, ready.token))
    refused(target, 409, "out-of-order", lambda: target.post("begin", {"epoch": 1, "block": 3}, ready.token))
    refused(target, 403, "not-now", lambda: target.post("finish", {"epoch": 1}, ready.token))
    answered = {"epoch": 1, "agreed": False, "version": version}
    refused(target, 403, "not-now", lambda: target.post("consent", answered, ready.token))


def test_nothing_happens_after_the_end(target: Target) -> None:
    done = Person(target, "finished")
    last = len(target.study.plan(target.study.cells[0])) - 1
    choice = {"block": last, "trial": target.study.n_trials, "goal": None, "clicks": [], "elapsed_ms": 100.0}
    choice |= {"pauses": 0, "attempt": 1, "epoch": 1}
    refused(target, 409, "out-of-order", lambda: target.post("choice", choice, done.token))
    refused(target, 409, "out-of-order", lambda: target.post("choice", {**choice, "block": last + 1}, done.token))
    refused(target, 403, "not-now", lambda: target.post("begin", {"epoch": 1, "block": 0}, done.token))
    gone = Person(target)
    gone.go("withdraw", delete=True)
    for path in ("begin", "finish"):
        refused(target, 403, "not-now", lambda path=path: target.post(path, body_of(gone, path), gone.token))
    refused(target, 409, "out-of-order", lambda: target.post("choice", {**choice, "block": 0, "trial": 0}, gone.token))
    before = target.dump()
    told = target.post("events", {"epoch": 1, "events": [{"number": 0, "kind": "blur", "page_ms": 1.0}]}, gone.token)
    assert told.json() == {"stored": 0}
    assert target.dump() == before


def test_whoever_left_cannot_begin_anew(target: Target) -> None:
    gone = Person(target)
    gone.go("withdraw", delete=True)
    gone.load()
    assert gone.state["stage"] == "withdrawn"
    asked = {"epoch": gone.epoch, "agreed": True, "version": "0" * 64}
    refused(target, 403, "not-now", lambda: target.post("consent", asked, gone.token))


# Forged values --------------------------------------------------------------------------------------------------------

FORGED: dict[str, dict[str, Any]] = {
    "its own reward": {"reward": 1000.0},
    "its own square": {"arm": 3},
    "its own points": {"points": 1e6},
    "its own position": {"position": 3},
    "a time of arrival": {"received_at": 0.0},
    "somebody's number": {"person": 1},
    "a square that is not there": {"goal": 100, "clicks": [[100, 1.0]]},
    "a negative square": {"goal": -1, "clicks": [[-1, 1.0]]},
    "a huge square": {"goal": 2**63, "clicks": [[2**63, 1.0]]},
    "a goal that was not clicked": {"goal": 4, "clicks": []},
    "a goal that was not clicked last": {"goal": 4, "clicks": [[4, 1.0], [5, 2.0]]},
    "clicks without a goal": {"goal": None, "clicks": [[4, 1.0]]},
    "a click before the clock": {"goal": 4, "clicks": [[4, -0.1]]},
    "a click after the clock": {"goal": 4, "clicks": [[4, 1e6]]},
    "clicks that go back in time": {"goal": 4, "clicks": [[5, 3.0], [4, 2.0]]},
    "too many clicks": {"goal": 4, "clicks": [[4, 1.0]] * 201},
    "a click of three numbers": {"goal": 4, "clicks": [[4, 1.0, 2.0]]},
    "a click of one number": {"goal": 4, "clicks": [[4]]},
    "a click in words": {"goal": 4, "clicks": [["4", 1.0]]},
    "clicks that are no list": {"clicks": {"0": [4, 1.0]}},
    "no time passed": {"elapsed_ms": 0.0},
    "too little time passed": {"elapsed_ms": 78.5},
    "negative time": {"elapsed_ms": -100.0},
    "endless time": {"elapsed_ms": 1e10},
    "a trial in words": {"trial": "0"},
    "a trial that is true": {"trial": True},
    "half a trial": {"trial": 0.5},
    "a negative trial": {"trial": -1},
    "an endless trial": {"trial": 10**400},
    "no block": {"block": None},
    "a goal that is true": {"goal": True, "clicks": [[1, 1.0]]},
    "negative pauses": {"pauses": -1},
    "no attempt": {"attempt": 0},
    "an epoch in words": {"epoch": "1"},
    "an epoch beyond all bounds": {"epoch": 10**30},
    "a list for an epoch": {"epoch": [1]},
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_choice_is_refused(target: Target, what: str) -> None:
    someone = Person(target)
    body = body_of(someone, "choice", **FORGED[what])
    # Numbers beyond what Python turns into text by itself are written by hand.
    refused(target, 422, "invalid", lambda: target.post("choice", body, someone.token))
    assert target.post("choice", body_of(someone, "choice"), someone.token).status_code == 200


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1e400"])
def test_numbers_that_are_none_are_refused(target: Target, number: str) -> None:
    someone = Person(target)
    body = json.dumps(body_of(someone, "choice")).replace('"elapsed_ms": 80.0', f'"elapsed_ms": {number}')
    assert number in body
    before = target.dump()
    answer = target.post("choice", body.encode(), someone.token)
    assert answer.status_code in (400, 422), answer.text
    assert set(answer.json()) == {"error", "message"}
    assert target.dump() == before


def test_neighbours_alone_can_be_reached_where_that_is_the_rule(tmp_path: Path) -> None:
    target = Target(tmp_path, training=(), task_dynamics=("neighbour",))
    with target.client:
        someone = Person(target)
        near, width = set(target.study.board.next_to(someone.state["block"]["position"])), target.study.n_arms
        for square in set(range(width)) - near:
            body = body_of(someone, "choice", goal=square, clicks=[[square, 1.0]])
            refused(target, 422, "invalid", lambda body=body: target.post("choice", body, someone.token))
        inside = min(near)
        sly = body_of(someone, "choice", goal=inside, clicks=[[max(set(range(width)) - near), 1.0], [inside, 2.0]])
        refused(target, 422, "invalid", lambda: target.post("choice", sly, someone.token))
        fine = body_of(someone, "choice", goal=inside, clicks=[[inside, 2.0]])
        assert target.post("choice", fine, someone.token).status_code == 200


@pytest.mark.parametrize("path", EVERYWHERE)
def test_unknown_missing_and_wrong_fields_are_refused(target: Target, path: str) -> None:
    someone = Person(target)
    fine = {"page": "0" * 32, "key": "1" * 64, "query": {}} if path == "arrive" else body_of(someone, path)
    refused(target, 422, "invalid", lambda: target.post(path, {**fine, "extra": 1}, someone.token))
    refused(target, 422, "invalid", lambda: target.post(path, {**fine, "__proto__": {}}, someone.token))
    for name in fine:
        left = {key: value for key, value in fine.items() if key != name}
        refused(target, 422, "invalid", lambda left=left: target.post(path, left, someone.token))
        wrong = {**fine, name: {"a": [None]}}
        refused(target, 422, "invalid", lambda wrong=wrong: target.post(path, wrong, someone.token))
    for body in ([], [fine], "text", 1, None, True):
        refused(target, 422, "invalid", lambda body=body: target.post(path, body, someone.token))


EVENT = {"number": 0, "kind": "blur", "block": 0, "trial": 0, "page_ms": 1.0, "value": None}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": SCRIPT}, {"kind": ""}, {"kind": "a" * 33}, {"kind": "Blur"}, {"kind": "blur\n"}, {"number": -1},
        {"kind": 1}, {"number": 10**7}, {"page_ms": -1.0}, {"page_ms": "1"}, {"value": 1e13}, {"value": "x"},
        {"extra": 1}, {"epoch": 1},
    ],
)  # fmt: skip
def test_forged_events_are_refused(target: Target, change: dict[str, Any]) -> None:
    someone = Person(target)
    body = {"epoch": someone.epoch, "events": [EVENT, {**EVENT, "number": 1, **change}]}
    refused(target, 422, "invalid", lambda: target.post("events", body, someone.token))


def test_events_are_kept_once_and_few_at_a_time(target: Target) -> None:
    someone = Person(target)
    many = {"epoch": someone.epoch, "events": [{**EVENT, "number": number} for number in range(101)]}
    refused(target, 422, "invalid", lambda: target.post("events", many, someone.token))
    few = {"epoch": someone.epoch, "events": [{**EVENT, "number": number % 50} for number in range(100)]}
    assert target.post("events", few, someone.token).json() == {"stored": 50}
    assert target.post("events", few, someone.token).json() == {"stored": 0}
    with target.store.engine.connect() as connection:
        found = connection.execute(select(events).join(people).where(people.c.code == someone.token.split(".")[0])).all()
    assert len(found) == 50
