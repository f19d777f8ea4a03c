"""Knowing what a platform calls someone is not being that person: nothing of theirs is seen, changed or blocked."""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute

from tests.support.study.attacked import Person, Target, body_of

STAGES = ("instructions", "play", "debriefing", "finished", "withdrawn", "deleted")
PLATFORMS: dict[str, tuple[dict[str, str], str]] = {
    "prolific": ({"PROLIFIC_PID": "5f00aa", "SESSION_ID": "realsession", "STUDY_ID": "s"}, "SESSION_ID"),
    "mturk": ({"workerId": "A1B2C3", "assignmentId": "REAL", "hitId": "H", "turkSubmitTo": "https://a.mturk.com"},
              "assignmentId"),
}  # fmt: skip
number = itertools.count()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    target = Target(tmp_path_factory.mktemp("impostor"), n_trials=2, n_training=1)
    with target.client:
        yield target


def query_of(platform: str) -> dict[str, str]:
    """The link of someone new on this platform."""
    query, session = PLATFORMS[platform]
    name = next(iter(query))
    return {**query, name: f"{query[name]}{next(number)}", session: f"{query[session]}{next(number)}"}


def victim_at(target: Target, stage: str, query: dict[str, str]) -> Person:
    """Someone who has come that far."""
    person = Person(target, "play" if stage in ("withdrawn", "deleted") else stage, query)
    if stage in ("withdrawn", "deleted"):
        person.go("withdraw", delete=stage == "deleted")
    return person


def forged(query: dict[str, str]) -> list[dict[str, str]]:
    """Links with the same name that anyone could write."""
    session = next(name for name in ("SESSION_ID", "assignmentId") if name in query)
    return [
        {**query, session: "madeup"},
        {**query, session: ""},
        {**query, session: query[session].upper() + "x"},
        {name: value for name, value in query.items() if name != session},
        {**query, session: "madeup", "turkSubmitTo": "https://evil.mturk.com"},
    ]


def participant_routes(target: Target) -> list[APIRoute]:
    """Every route that a participant's page may ask; a new one is found by itself."""
    found = [
        route
        for route in _all(target.app.routes)
        if route.path.startswith("/api/") and "openapi" not in route.path and "programs" not in route.tags
    ]
    assert len(found) >= 10
    return found


def _all(routes: Any) -> Iterator[APIRoute]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif hasattr(route, "original_router"):
            yield from _all(route.original_router.routes)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("stage", STAGES)
def test_the_name_alone_opens_nothing_on_any_route(target: Target, stage: str, platform: str) -> None:
    query = query_of(platform)
    victim = victim_at(target, stage, query)
    before = target.dump()
    code = victim.token.split(".")[0]
    for link in forged(query):
        came = target.post("arrive", {"page": secrets.token_hex(16), "key": secrets.token_hex(32), "query": link})
        assert (came.status_code, came.json()["error"]) == (403, "elsewhere")
        told = came.json()
        for route in participant_routes(target):
            path = route.path.removeprefix("/api/")
            if path in ("arrive", "alive", "health", "texts"):
                continue
            body = body_of(victim, path) if path != "choice" or stage == "play" else {"epoch": victim.epoch}
            for token in (told.get("token"), "", code):
                answer = target.client.request(
                    next(iter(route.methods)), route.path, content=json.dumps(body),
                    headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
                )  # fmt: skip
                assert answer.status_code == 401, (route.path, answer.text)
                assert set(answer.json()) == {"error", "message"}
        assert not any(secret in came.text for secret in (code, "points", "epoch", query.get("SESSION_ID", "REAL")))
    assert target.dump() == before
    # The page of the person is still the one in use.
    assert target.post("state", {"epoch": victim.epoch}, victim.token).status_code == 200


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_person_goes_on_in_the_same_browser_or_with_the_same_session(target: Target, platform: str) -> None:
    query = query_of(platform)
    victim = victim_at(target, "play", query)
    for link in forged(query):  # the browser's key is enough
        victim.load(link)
        assert victim.state["stage"] == "play"
    victim.key = secrets.token_hex(32)
    victim.load(query)  # so is the session, as first seen
    assert victim.state["stage"] == "play"


def test_a_session_that_came_later_is_not_the_one_first_seen(target: Target) -> None:
    query = query_of("prolific")
    victim = victim_at(target, "play", query)
    victim.load({**query, "SESSION_ID": "second"})
    other = {"page": secrets.token_hex(16), "key": secrets.token_hex(32), "query": {**query, "SESSION_ID": "second"}}
    assert target.post("arrive", other).status_code == 403


@pytest.mark.parametrize("does", ["nothing", "declines", "withdraws", "deletes"])
def test_a_place_cannot_be_kept_from_someone_by_coming_first_under_their_name(target: Target, does: str) -> None:
    query = query_of("prolific")
    squatter = Person(target, "consent", forged(query)[0])
    if does == "declines":
        squatter.go("consent", agreed=False, version=squatter.state["consent_version"])
    elif does != "nothing":
        squatter.go("withdraw", delete=does == "deletes")
    victim = Person(target, "consent", query)
    assert victim.state["stage"] == "consent"
    victim.state = victim.go("consent", agreed=True, version=victim.state["consent_version"])
    if does == "nothing":
        late = {"epoch": squatter.epoch, "agreed": True, "version": squatter.state["consent_version"]}
        answer = target.post("consent", late, squatter.token)
        assert (answer.status_code, answer.json()["error"]) == (403, "elsewhere")
    victim.load(query)
    assert victim.state["stage"] == "instructions"


def test_someone_who_reads_the_consent_is_not_thrown_out_by_another_under_their_name(target: Target) -> None:
    query = query_of("mturk")
    victim = Person(target, "consent", query)
    Person(target, "consent", forged(query)[0])
    victim.state = victim.go("consent", agreed=True, version=victim.state["consent_version"])
    assert victim.state["stage"] == "instructions"
    again = {"page": secrets.token_hex(16), "key": secrets.token_hex(32), "query": forged(query)[0]}
    assert target.post("arrive", again).status_code == 403


def test_people_who_read_under_one_name_keep_a_row_each_and_one_of_them_the_place(target: Target) -> None:
    query = query_of("prolific")
    readers = [Person(target, "consent", {**query, "SESSION_ID": f"session{k}"}) for k in range(3)]
    n_people = len(target.dump()["people"])
    for k, reader in enumerate(readers):
        reader.load({**query, "SESSION_ID": f"session{k}"})
        assert (reader.state["stage"], reader.epoch) == ("consent", 2)
    assert len(target.dump()["people"]) == n_people
    agreed = {"agreed": True, "version": readers[0].state["consent_version"]}
    answers = [target.post("consent", {"epoch": 2, **agreed}, reader.token).status_code for reader in reversed(readers)]
    assert answers == [200, 403, 403]
