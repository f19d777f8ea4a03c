"""Bodies and texts of every kind are answered as they should be, and the interface is as it describes itself."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi import checks as conforms
from sqlalchemy import select

from explorelab.study.config.design import Server
from explorelab.study.database.tables import choices, people
from tests.support.study import postgres
from tests.support.study.attacked import EVERYWHERE, SCRIPT, Person, Target, body_of, refused


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    target = Target(tmp_path_factory.mktemp("attacked"))
    with target.client:
        yield target


# Bodies ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERYWHERE)
def test_large_bodies_are_refused_unread(target: Target, path: str) -> None:
    someone = Person(target)
    ten_megabytes = b'{"epoch": "' + b"x" * 10_000_000 + b'"}'
    refused(target, 413, "too-large", lambda: target.post(path, ten_megabytes, someone.token))
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {someone.token}"}
    pieces = [ten_megabytes[at : at + 50_000] for at in range(0, len(ten_megabytes), 50_000)]
    # In pieces, its length is not said at first.
    refused(target, 413, "too-large", lambda: target.client.post(f"/api/{path}", content=iter(pieces), headers=headers))


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/html", ""])
def test_other_content_is_refused(target: Target, path: str, kind: str) -> None:
    someone = Person(target)
    body = {"page": "0" * 32, "key": "1" * 64, "query": {}} if path == "arrive" else body_of(someone, path)
    refused(target, 415, "not-json", lambda: target.post(path, body, someone.token, **{"Content-Type": kind}))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"epoch=1",
        b"{'epoch': 1}",
        b"\xff\xfe",
        b"\x00",
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b'{"epoch": ' + b"9" * 60_000 + b"}",
    ],
    ids=["nothing", "half", "form", "python", "not text", "zero", "lists in lists", "tables in tables", "60 000 digits"],
)
@pytest.mark.parametrize("path", ["arrive", "choice"])
def test_what_is_not_json_is_refused(target: Target, path: str, body: bytes) -> None:
    someone = Person(target)
    before = target.dump()
    answer = target.post(path, body, someone.token)
    assert answer.status_code in (400, 422), answer.text
    assert set(answer.json()) == {"error", "message"}
    assert target.dump() == before


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_other_methods_are_refused(target: Target, path: str, method: str) -> None:
    headers = {"Content-Type": "application/json"}
    refused(
        target, 405, "not-allowed", lambda: target.client.request(method, f"/api/{path}", content=b"{}", headers=headers)
    )


@pytest.mark.parametrize(
    "path",
    ["/api/nothing", "/api/people/1", "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/study.db"],
)
def test_there_is_nothing_else(target: Target, path: str) -> None:
    refused(target, 404, "not-found", lambda: target.client.get(path))


# Text -----------------------------------------------------------------------------------------------------------------

QUERIES: dict[str, dict[str, str]] = {
    "prolific": {"PROLIFIC_PID": SCRIPT},
    "prolific's session": {"PROLIFIC_PID": "someone", "STUDY_ID": SCRIPT, "SESSION_ID": SCRIPT},
    "mturk": {"workerId": SCRIPT, "assignmentId": "a", "hitId": "h"},
    "mturk's task": {"workerId": "someone", "assignmentId": SCRIPT, "hitId": SCRIPT},
    "sql": {"PROLIFIC_PID": "x'; DROP TABLE choices; --"},
}


@pytest.mark.parametrize("source", QUERIES)
def test_script_for_a_name_in_the_address_is_refused(target: Target, source: str) -> None:
    body = {"page": "0" * 32, "key": "1" * 64, "query": QUERIES[source]}
    refused(target, 422, "invalid", lambda: target.post("arrive", body))
    assert "<script" not in target.post("arrive", body).text


def test_script_elsewhere_in_the_address_comes_back_nowhere(target: Target) -> None:
    query = {SCRIPT: SCRIPT, "agent": SCRIPT, "turkSubmitTo": f"https://a.mturk.com/{SCRIPT}"}
    someone = Person(target, "finished", query)
    shown = json.dumps(someone.state) + target.post("state", {"epoch": someone.epoch}, someone.token).text
    assert "<script" not in shown
    assert SCRIPT not in repr(target.dump())


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "https://evil.example", "https://mturk.com.evil.example", "https://evil.example/mturk.com",
        "https://evil.example#.mturk.com", "https://www.mturk.com@evil.example", "http://www.mturk.com", "//evil.example",
        "https://evil.example\\.mturk.com", "https://evil.example?.mturk.com", "data:text/html,x",
    ],
)  # fmt: skip
def test_people_are_sent_back_to_mturk_alone(target: Target, address: str) -> None:
    query = {"workerId": secrets.token_hex(8), "assignmentId": "a", "hitId": "h", "turkSubmitTo": address}
    someone = Person(target, "finished", query)
    assert someone.state["completion"]["submit_to"] is None


@pytest.mark.parametrize(
    "text", ["\ud800", "\u0000", "\u202e", "é" * 100, "a" * 2048, "\x1b[31m", "\n" * 50], ids=lambda text: ascii(text[:2])
)
@pytest.mark.parametrize("name", ["PROLIFIC_PID", "workerId", "agent", "anything"])
def test_odd_text_in_the_address_is_no_failure(target: Target, name: str, text: str) -> None:
    query = {name: text, "assignmentId": text, "STUDY_ID": text}
    headers = {"X-Pilot-Key": target.pilot_key} if name == "agent" else {}
    answer = target.post("arrive", {"page": "2" * 32, "key": secrets.token_hex(32), "query": query}, **headers)
    assert answer.status_code in (200, 422), answer.text


@pytest.mark.parametrize(
    "change",
    [
        {"page": SCRIPT}, {"page": "0" * 31}, {"page": "0" * 65}, {"page": "G" * 32}, {"page": "0" * 32 + "\n"},
        {"key": SCRIPT}, {"key": ""}, {"key": "0" * 64 + "\n"}, {"query": {"a": 1}}, {"query": {"a": ["b"]}},
        {"query": {"a": "b" * 2049}},
        {"query": {"a" * 65: "b"}}, {"query": {str(number): "b" for number in range(33)}}, {"query": [["a", "b"]]},
    ],
)  # fmt: skip
def test_forged_arrivals_are_refused(target: Target, change: dict[str, Any]) -> None:
    body = {"page": "0" * 32, "key": "1" * 64, "query": {}, **change}
    refused(target, 422, "invalid", lambda: target.post("arrive", body))


def test_a_preview_leaves_nothing_behind(target: Target) -> None:
    before = target.dump()
    query = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h", "workerId": "w"}
    answer = target.post("arrive", {"page": "3" * 32, "key": "4" * 64, "query": query})
    assert answer.json()["token"] == ""
    assert answer.json()["state"]["stage"] == "preview"
    assert target.dump() == before


def test_what_is_to_come_is_told_to_nobody(target: Target) -> None:
    someone = Person(target)
    told = json.dumps(someone.state) + target.post("choice", body_of(someone, "choice"), someone.token).text
    told += target.client.get("/api/texts").text
    with target.store.engine.connect() as connection:
        row = connection.execute(select(people).where(people.c.code == someone.token.split(".")[0])).one()
    for secret in (str(row.seed), row.cell, row.identity, "landscape", "condition", "means", target.store.secret.hex()):
        assert secret not in told


@pytest.mark.parametrize("path", ["/", "/api/health", "/api/texts", "/api/nothing", "/static/study.js"])
def test_every_answer_says_what_it_may_load(target: Target, path: str) -> None:
    headers = target.client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


# Too often ------------------------------------------------------------------------------------------------------------


def test_too_many_requests_are_told_to_wait(tmp_path: Path) -> None:
    target = Target(tmp_path, server=Server(120.0, 50, 5))
    with target.client:
        someone = Person(target)
        answers = [target.post("state", {"epoch": 1}, someone.token) for _ in range(30)]
        assert {answer.status_code for answer in answers} == {200, 429}
        refused(target, 429, "too-fast", lambda: target.post("choice", body_of(someone, "choice"), someone.token))
        assert int(answers[-1].headers["Retry-After"]) >= 1
        came = [target.post("arrive", {"page": "0" * 32, "key": secrets.token_hex(32), "query": {}}) for _ in range(60)]
        assert [answer.status_code for answer in came].count(200) == 49


# Anything that the interface's own description allows, and what it does not ---------------------------------------------


@pytest.fixture(scope="module")
def described(target: Target) -> Any:
    load_all_checks()

    async def always_on(scope: Any, receive: Any, send: Any) -> None:
        # Every request here would start and stop the application, which closes its database.
        if scope["type"] != "lifespan":
            await target.app(scope, receive, send)
            return
        for done in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{done}.complete"})

    return schemathesis.openapi.from_asgi("/api/openapi.json", always_on)


CHECKS = [
    schemathesis.checks.not_a_server_error,
    conforms.status_code_conformance,
    conforms.content_type_conformance,
    conforms.response_schema_conformance,
    conforms.response_headers_conformance,
]

LOOKED_AT = ("health", "alive", "texts")
"""What anybody may look at."""


def test_the_description_names_every_route_of_participants_and_programs(described: Any) -> None:
    found = {path for path in described if path.startswith("/api/")}
    assert found == {f"/api/{path}" for path in (*EVERYWHERE, *LOOKED_AT, "results")}


@pytest.mark.parametrize(
    ("path", "mode"),
    [(path, mode) for path in EVERYWHERE for mode in GenerationMode]
    + [(path, GenerationMode.POSITIVE) for path in LOOKED_AT],
)
def test_anything_is_answered_as_described(path: str, mode: GenerationMode, described: Any, target: Target) -> None:
    operation = described[f"/api/{path}"]["GET" if path in LOOKED_AT else "POST"]

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def asked(case: Any) -> None:
        someone = Person(target)
        if isinstance(case.body, dict) and case.body.get("epoch") == 0:
            case.body["epoch"] = someone.epoch  # so that some of them reach what lies behind
        case.call_and_validate(headers={"Authorization": f"Bearer {someone.token}"}, checks=CHECKS)

    asked()


@pytest.mark.parametrize("text", ["\ud800", "\u0000"], ids=ascii)
def test_odd_text_on_postgresql_is_no_failure(text: str, tmp_path: Path) -> None:
    if postgres.programs() is None:
        pytest.skip(postgres.MISSING)
    with postgres.cluster() as cluster:
        target = Target(tmp_path, cluster.new_database())
        with target.client:
            for query in ({"agent": text}, {"PROLIFIC_PID": text}, {"x": text}):
                headers = {"X-Pilot-Key": target.pilot_key} if "agent" in query else {}
                answer = target.post("arrive", {"page": "2" * 32, "key": secrets.token_hex(32), "query": query}, **headers)
                assert answer.status_code in (200, 422), answer.text
            someone = Person(target)
            choice = body_of(someone, "choice")
            assert target.post("choice", choice, someone.token).status_code == 200
            with target.store.engine.connect() as connection:
                assert len(connection.execute(select(choices)).all()) == 1
