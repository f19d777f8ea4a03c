"""Every route, whatever it is asked: HEAD where there is GET, no Host repeated, and nothing odd is the server's failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from starlette.routing import Mount

from explorelab.study.database.refusals import NO_OBJECT, NOT_JSON
from tests.support.study.attacked import Person, Target, body_of
from tests.support.study.postgres import Cluster

OWN = {"Origin": "http://study.example", "Sec-Fetch-Site": "same-origin"}
ODD = {
    "zero": "\0",
    "zero within": "a\0b",
    "half a character": "\ud800",
    "long": "a" * 3000,
    "new lines": "\r\n\r\n",
    "a face": "\U0001f600" * 50,
    "digits": "9" * 400,
    "nothing": "",
}


class Everything(Target):
    """A study with its researcher logged in, and the parts of every request that is fine."""

    def __init__(self, folder: Path, database: str) -> None:
        super().__init__(folder, database)
        answer = self.client.post("/admin/login", json={"password": "a long password"}, headers=OWN)
        assert answer.status_code == 200
        self.csrf = self.client.get("/admin/api/session").json()["csrf"]
        self.person = Person(self)

    @property
    def headers(self) -> dict[str, str]:
        token = f"Bearer {self.person.token}"
        return {**OWN, "X-CSRF-Token": self.csrf, "Authorization": token, "Content-Type": "application/json"}


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everything]:
    database = "sqlite:///study.db"
    if request.param == "postgresql":
        cluster: Cluster = request.getfixturevalue("server")
        database = cluster.new_database()
    target = Everything(tmp_path_factory.mktemp("every"), database)
    with target.client:
        yield target


def routes(target: Target) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of every route."""
    described = target.app.openapi()["paths"]
    found = [(method.upper(), path, about) for path, ways in described.items() for method, about in ways.items()]
    hidden = [route for route in target.app.routes if not getattr(route, "include_in_schema", True)]
    for route in hidden:
        if not isinstance(route, Mount):
            found += [(method, route.path, {}) for method in sorted(route.methods - {"HEAD"})]  # type: ignore[attr-defined]
    return [*found, ("GET", "/static/{file}", {})]


def filled(path: str, text: str) -> str:
    """A path with its parts in braces filled in, written as a browser would (half a character as its three bytes)."""
    before, brace, rest = path.partition("{")
    return before + quote(text.encode("utf-8", "surrogatepass"), safe="") + rest.partition("}")[2] if brace else path


def check(answer: Any, asked: str) -> None:
    assert answer.status_code < 500, (asked, answer.text)
    assert "study.evil" not in str(answer.headers) + answer.text, asked


def test_the_routes_are_found(target: Everything) -> None:
    paths = {path for _, path, _ in routes(target)}
    assert {"/", "/api/choice", "/admin", "/admin/api/people/{code}/delete", "/admin/login", "/static/{file}"} <= paths


@pytest.mark.parametrize("odd", ODD)
def test_odd_text_in_addresses_and_headers_is_no_failure(target: Everything, odd: str) -> None:
    text = ODD[odd]
    latin = text.encode("latin-1", "replace")
    for method, path, _ in routes(target):
        if path.endswith(("logout", "/export")):
            continue
        at = filled(path, text)
        sent: Any = {"content": b"{}"} if method == "POST" else {}
        check(target.client.request(method, at, headers=target.headers, **sent), at)
        tail = filled("?since={x}", text) + filled("&pilots={x}", text) + filled("&{x}=1", text)
        check(target.client.request(method, filled(path, "abc") + tail, headers=target.headers, **sent), at + tail)
        for name in ("Authorization", "X-Pilot-Key", "X-CSRF-Token", "Cookie", "If-None-Match", "Host", "Origin", "Range"):
            headers: Any = {**target.headers, name: latin.replace(b"\r\n", b" ")}
            check(target.client.request(method, filled(path, "abc"), headers=headers, **sent), f"{at} {name}")


def fine_bodies(target: Everything) -> dict[str, dict[str, Any]]:
    """A body that every route which takes one would accept."""
    asked = ("state", "consent", "begin", "choice", "page", "advice", "events", "finish", "withdraw")
    bodies = {f"/api/{path}": body_of(target.person, path) for path in asked}
    bodies["/api/events"]["events"] = [{"number": 0, "kind": "blur", "page_ms": 1.0}]
    bodies["/api/arrive"] = {"page": "0" * 32, "key": "1" * 64, "query": {"PROLIFIC_PID": "a", "x": "y", "agent": "z"}}
    bodies["/admin/login"] = {"password": "wrong"}
    bodies["/admin/api/people/{code}/delete"] = {"code": "abc"}
    return bodies


def with_odd(value: Any, text: str) -> Iterator[Any]:
    """The value with one of its texts, names or numbers replaced, one after another."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: changed} for changed in with_odd(inner, text))
        yield {**value, text: text}
    elif isinstance(value, list):
        yield [text]
        for number, inner in enumerate(value):
            yield from ([*value[:number], changed, *value[number + 1 :]] for changed in with_odd(inner, text))
    else:
        yield text


def test_every_route_that_takes_a_body_has_one_here(target: Everything) -> None:
    taking = {path for method, path, about in routes(target) if method == "POST" and "requestBody" in about}
    assert taking <= set(fine_bodies(target))


@pytest.mark.parametrize("odd", ODD)
def test_odd_text_in_bodies_is_no_failure(target: Everything, odd: str) -> None:
    for path, body in fine_bodies(target).items():
        pilot = {"X-Pilot-Key": target.pilot_key} if path == "/api/arrive" else {}
        for headers in ({}, pilot):
            for changed in with_odd(body, ODD[odd]):
                sent = json.dumps(changed).encode()
                at = filled(path, "abc")
                check(target.client.post(at, content=sent, headers={**target.headers, **headers}), f"{at} {sent[:200]!r}")
    target.person = Person(target)  # some of them were fine: the last one may have withdrawn


BROKEN = {
    "half": (b'{"page": ', 400, NOT_JSON),
    "a form": (b"password=a+long+password", 400, NOT_JSON),
    "not text": (b"\xff\xfe", 400, NOT_JSON),
    "a list": (b"[]", 422, NO_OBJECT),
    "a number": (b"3", 422, NO_OBJECT),
    "text": (b'"text"', 422, NO_OBJECT),
    "null": (b"null", 422, NO_OBJECT),
    "nothing": (b"", 422, NO_OBJECT),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_body_that_is_no_object_is_told_in_the_same_sentence_everywhere(target: Everything, broken: str) -> None:
    body, status, said = BROKEN[broken]
    for path in fine_bodies(target):
        answer = target.client.post(filled(path, "abc"), content=body, headers=target.headers)
        word = "malformed" if status == 400 else "invalid"
        assert (answer.status_code, answer.json()) == (status, {"error": word, "message": said}), path


def test_a_field_that_is_wrong_is_named_everywhere(target: Everything) -> None:
    for path, body in fine_bodies(target).items():
        for name in body:
            left = {key: value for key, value in body.items() if key != name}
            answer = target.client.post(filled(path, "abc"), json=left, headers=target.headers)
            assert answer.json() == {"error": "invalid", "message": f"{name}: Field required."}, path


def test_whoever_is_asked_for_by_an_odd_name_is_not_there(target: Everything) -> None:
    for text in ODD.values():
        answer = target.client.get(filled("/admin/api/people/{code}", text), headers=target.headers)
        assert answer.status_code in (200, 400, 404, 422)


def test_head_is_answered_wherever_get_is(target: Everything) -> None:
    for method, path, about in routes(target):
        if method != "GET":
            continue
        at = filled(path, "study.js" if "file" in path else target.person.token.split(".")[0])
        target.now += 60.0  # a program's route slows those down who guess
        got, head = (
            target.client.request(each, at, headers=target.headers, follow_redirects=False) for each in ("GET", "HEAD")
        )
        assert (head.status_code, head.content) == (got.status_code, b""), at
        assert got.status_code in ((401,) if "programs" in about.get("tags", ()) else (200, 303, 404)), at
        for name in ("content-type", "content-length", "content-security-policy", "location"):
            assert head.headers.get(name) == got.headers.get(name), (at, name)


def test_head_of_what_is_only_posted_to_is_refused(target: Everything) -> None:
    for path in ("/api/choice", "/api/arrive"):
        assert target.client.head(path).status_code == 405


def test_the_host_header_comes_back_nowhere(target: Everything) -> None:
    for method, path, _ in routes(target):
        for at in (filled(path, "abc"), filled(path, "abc") + "/", filled(path, "abc").rstrip("/"), "//study.evil/.."):
            headers = {
                **target.headers,
                "Host": "study.evil",
                "X-Forwarded-Host": "study.evil",
                "Forwarded": "host=study.evil",
            }
            sent: Any = {"content": b"{}"} if method == "POST" else {}
            answer = target.client.request(method, at or "/", headers=headers, follow_redirects=False, **sent)
            assert "study.evil" not in str(answer.headers) + answer.text, at
            location = urlsplit(answer.headers.get("location", "/"))
            assert (location.scheme, location.netloc) == ("", ""), at
