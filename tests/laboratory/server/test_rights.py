"""Who may what: every role at every address of every study, what each role may, and that no address is without a right."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Mount, Route

from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.server.lab_routes import ROUTES
from explorelab.study.admin.admin_routes import ROUTES as OF_STUDY
from explorelab.study.admin.entry.rights import OF_A_STUDY, Right
from explorelab.study.server.participant_routes import ROUTES as OF_PARTICIPANTS
from tests.support.town import OWN, Browser, Town

pytestmark = pytest.mark.quick
ROOT = Path(__file__).parents[3]

VIEWER, HELPER = {"see"}, {"see", "run", "edit"}
ALL = {"see", "run", "edit", "names", "own"}
WHO: dict[str, tuple[set[str], set[str], set[str]]] = {
    # what they may in the laboratory at large, in study a, in study b
    "nobody": (set(), set(), set()),
    "stranger": ({"enter"}, set(), set()),
    "viewer-of-a": ({"enter"}, VIEWER, set()),
    "helper-of-a": ({"enter"}, HELPER, set()),
    "owner-of-a": ({"enter"}, ALL, set()),
    "owner-of-b": ({"enter"}, set(), ALL),
    "viewer": ({"enter"}, VIEWER, VIEWER),
    "helper": ({"enter"}, HELPER, HELPER),
    "helper-who-owns-a": ({"enter"}, ALL, HELPER),
    "olga": ({"enter", "lead"}, ALL, ALL),
}
"""Said once more, by hand."""
OPEN = {
    "GET /lab", "GET /lab/", "GET /lab/login", "GET /lab/join", "POST /lab/login", "POST /lab/join",
    "POST /lab/api/invitation", "GET /lab/{rest:path}", "GET /s/{study}/admin", "GET /s/{study}/admin/",
    "GET /s/{study}/admin/login", "POST /s/{study}/admin/login", "GET /s/{study}/admin/{rest:path}",
}  # fmt: skip
"""The addresses that anyone may ask: pages without anything on them, and the ways in."""


def addresses() -> Iterator[tuple[str, str, Right]]:
    """Every address of the laboratory and of its studies for researchers."""
    for method, path, right, *_ in ROUTES:
        yield method, f"/lab{path}", right
    for method, path, right, *_ in OF_STUDY:
        yield method, f"/s/{{study}}/admin{path}", right


@pytest.fixture(scope="module")
def people(town: Town) -> dict[str, Browser]:
    for login, role, study in (
        ("viewer-of-a", Role.VIEWER, "a"), ("helper-of-a", Role.HELPER, "a"), ("owner-of-a", Role.OWNER, "a"),
        ("owner-of-b", Role.OWNER, "b"), ("viewer", Role.VIEWER, None), ("helper", Role.HELPER, None),
        ("helper-who-owns-a", Role.HELPER, None), ("stranger", Role.VIEWER, "a"),
    ):  # fmt: skip
        town.join(login, role, study)
    people = {**town.people, "nobody": town.browser()}
    people["helper-who-owns-a"].ok("/lab/api/accept", {"invitation": town.secret(Role.OWNER, "a")})
    members = people["olga"].told("/lab/api/studies/a/members")["members"]
    number = next(member["number"] for member in members if member["login"] == "stranger")
    people["olga"].ok(f"/lab/api/studies/a/members/{number}/role", {"role": None})
    return people


def verdict(browser: Browser, method: str, path: str) -> str:
    """Whether the request came in: a change that is sent without its token does nothing, but is refused only for that."""
    answer = browser.get(path) if method == "GET" else browser.client.post(path, json={}, headers=OWN)
    word, sentence = ("", "") if answer.status_code < 400 else (answer.json()["error"], answer.json()["message"])
    if word == "no-session":
        return "logged out"
    if word == "not-allowed":
        return "not allowed"
    if word == "unknown" and sentence == "There is nothing at this address.":
        return "nothing there"
    assert method == "GET" or word == "csrf", answer.text
    return "in"


@pytest.mark.parametrize("study", ["a", "b", "neither"])
@pytest.mark.parametrize("who", WHO)
def test_every_role_at_every_address_of_every_study(who: str, study: str, people: dict[str, Browser]) -> None:
    anywhere, of_a, of_b = WHO[who]
    here = {"a": of_a, "b": of_b, "neither": set[str]()}[study]
    found, expected = {}, {}
    for method, path, right in addresses():
        if right == Right.ANYONE:
            continue
        at = path.replace("{study}", study).replace("{number}", "99").replace("{code}", "abc")
        in_study = right in OF_A_STUDY
        held = here if in_study else anywhere
        if who == "nobody":
            told = "logged out"
        elif right in held:
            told = "in"
        else:
            told = "nothing there" if in_study and not held else "not allowed"
        if study == "neither" and path.startswith("/s/"):
            told = "nothing there"  # there is no such application
        found[f"{method} {at}"] = _read(people[who], method, at, study)
        expected[f"{method} {at}"] = told
    assert found == expected
    assert len(found) > 30


def _read(browser: Browser, method: str, at: str, study: str) -> str:
    if study == "neither" and at.startswith("/s/"):
        answer = browser.client.request(method, at, headers=OWN, json={} if method == "POST" else None)
        assert answer.status_code == 404
        return "nothing there"
    return verdict(browser, method, at)


def test_a_right_about_a_study_needs_a_study_in_the_address_and_the_others_none() -> None:
    for method, path, right in addresses():
        if right != Right.ANYONE:
            assert (right in OF_A_STUDY) == ("{study}" in path), f"{method} {path}"


def test_only_these_addresses_are_open_to_anyone() -> None:
    assert {f"{method} {path}" for method, path, right in addresses() if right == Right.ANYONE} == OPEN


def test_the_page_of_who_may_what_is_that_of_the_routes() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "rights.py"))["page"]()
    assert (ROOT / "docs" / "laboratory-rights.md").read_text(encoding="utf-8") == written, "run python scripts/rights.py"


def served(app: Any) -> set[str]:
    """Every address that an application answers."""
    found: set[str] = set()
    for route in app.routes:
        if hasattr(route, "original_router"):
            found |= served(route.original_router)
        elif isinstance(route, Route):
            found |= {f"{method} {route.path}" for method in (route.methods or ()) if method != "HEAD"}
        else:
            assert isinstance(route, Mount)
            found.add(f"MOUNT {route.path}")
    return found


def served_in_study(town: Town) -> set[str]:
    hosted = town.hosted.get("a")
    assert hosted is not None
    assert hosted.running is not None
    return served(hosted.running.app)


def test_no_address_is_without_a_right(town: Town) -> None:
    """A route that was added beside the tables would be found here."""
    of_lab = {f"{method} /lab{path}" for method, path, *_ in ROUTES}
    assert served(town.app) == of_lab | {"GET /", "GET /lab/api/openapi.json", "MOUNT /static"}
    of_study = {f"{method} /admin{path}" for method, path, *_ in OF_STUDY}
    assert {each for each in served_in_study(town) if each.split(" ")[1].startswith("/admin")} == of_study


def test_the_participants_interface_of_a_study_has_nothing_for_researchers(town: Town) -> None:
    assert {each for each in served_in_study(town) if not each.split(" ")[1].startswith("/admin")} == {
        "GET /", "MOUNT /static", "GET /api/openapi.json", "GET /metrics", "GET /api/results", "GET /pictures/{name:path}",
        *(f"{method} /api{path}" for method, path, *_ in OF_PARTICIPANTS),
    }  # fmt: skip


@pytest.mark.parametrize("who", ["viewer-of-a", "helper-of-a", "owner-of-a", "stranger", "olga"])
def test_the_list_of_studies_holds_one_s_own_alone(who: str, people: dict[str, Browser]) -> None:
    _, of_a, of_b = WHO[who]
    shown = {each["name"]: set(each["rights"]) for each in people[who].told("/lab/api/studies")["studies"]}
    assert shown == {name: held for name, held in (("a", of_a), ("b", of_b)) if held}
