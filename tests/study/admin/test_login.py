"""Who may see the researcher's page, and that nobody else sees or changes anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from explorelab.errors import InputError
from explorelab.study.admin.admin_routes import ROUTES
from explorelab.study.admin.entry.login import COOKIE, KNOWN_COOKIE, Attempts, Keeper
from explorelab.study.admin.entry.own_site import check_origin, is_https
from explorelab.study.database.refusals import Refused
from explorelab.study.database.tables import people
from explorelab.study.server.security_headers import RESEARCHER
from tests.support.study.people_rows import OWN, PASSWORD, Desk

LOOKS = [
    *("/admin/api/session", "/admin/api/overview", "/admin/api/notices", "/admin/api/assessments"),
    *("/admin/api/people", "/admin/api/people/CODE"),
]
CHANGES = ["/admin/api/people/CODE/delete", "/admin/logout", "/admin/api/export"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path, 3)
    yield desk
    desk.store.close()


def some_code(desk: Desk) -> str:
    return str(desk.rows(people)[0].code)


def change(desk: Desk, path: str, headers: dict[str, str]) -> Any:
    code = some_code(desk)
    body = {"code": code} if path.endswith("delete") else {}
    return desk.client.post(path.replace("CODE", code), json=body, headers=headers)


def test_the_lists_above_are_all_routes() -> None:
    found = {(method, f"/admin{path.replace('{code}', 'CODE')}") for method, path, *_ in ROUTES}
    listed = {("GET", path) for path in LOOKS} | {("POST", path) for path in CHANGES}
    pages = {
        ("GET", "/admin"),
        ("GET", "/admin/"),
        ("GET", "/admin/login"),
        ("POST", "/admin/login"),
        ("GET", "/admin/{rest:path}"),
    }
    assert found == listed | pages


@pytest.mark.parametrize("path", ["/admin", "/admin/"])
def test_the_page_without_a_session_leads_to_the_login(desk: Desk, path: str) -> None:
    answer = desk.client.get(path, follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/admin/login")
    desk.log_in()
    answer = desk.client.get(path, follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/admin")


@pytest.mark.parametrize("path", LOOKS)
def test_nothing_is_seen_without_a_session(desk: Desk, path: str) -> None:
    path = path.replace("CODE", some_code(desk))
    answer = desk.client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (401, "no-session")
    desk.log_in()
    assert desk.client.get(path).status_code == 200


@pytest.mark.parametrize("path", CHANGES)
def test_nothing_is_changed_without_a_session(desk: Desk, path: str) -> None:
    before = desk.dump()
    answer = change(desk, path, OWN)
    assert (answer.status_code, answer.json()["error"]) == (401, "no-session")
    assert desk.dump() == before


def test_a_wrong_password_is_refused(desk: Desk) -> None:
    for wrong in ("", "wrong", PASSWORD + " ", PASSWORD.upper()):
        answer = desk.browser(f"10.1.0.{len(wrong)}").post("/admin/login", json={"password": wrong}, headers=OWN)
        assert answer.status_code == 401
        assert answer.json()["error"] == "wrong-password"
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"password": 5}', b'{"password": "a", "b": 1}', b"\xff"])
def test_a_malformed_login_is_refused_and_not_repeated(desk: Desk, body: bytes) -> None:
    answer = desk.client.post("/admin/login", content=body, headers={**OWN, "Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == ((400, "malformed") if body == b"\xff" else (422, "invalid"))


def test_a_login_over_4_kib_is_refused(desk: Desk) -> None:
    answer = desk.client.post("/admin/login", json={"password": "x" * 5000}, headers=OWN)
    assert answer.status_code == 413


def test_an_empty_password_is_no_password(desk: Desk) -> None:
    with pytest.raises(InputError, match="needs a password"):
        desk.browser(password="")


@pytest.mark.parametrize(("base", "secure"), [("http://study.example", False), ("https://study.example", True)])
def test_the_cookie_is_kept_from_scripts_and_other_sites(desk: Desk, base: str, secure: bool) -> None:
    client = desk.browser(base_url=base)
    answer = client.post("/admin/login", json={"password": PASSWORD}, headers={**OWN, "Origin": base})
    parts = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "max-age=43200"} <= parts
    # Without a path of its own a cookie has that of the login, /admin, also below the path of a proxy.
    assert not any(part.startswith("path=") for part in parts)
    assert ("secure" in parts) == secure


def attempt(browser: Any, password: str = "wrong", **headers: str) -> Any:
    return browser.post("/admin/login", json={"password": password}, headers={**OWN, **headers})


def counted(desk: Desk, address: str) -> bool:
    """Whether an attempt from this address is let through; it counts as wrong."""
    try:
        with desk.store.engine.begin() as connection:
            Attempts(desk.store.secret).begin(connection, address, None, desk.clock.now)
    except Refused:
        return False
    return True


def test_five_failures_from_one_address_whatever_the_process(desk: Desk) -> None:
    processes = [desk.client, desk.browser("10.0.0.1")]  # each counts what the others do
    assert [attempt(processes[k % 2]).status_code for k in range(5)] == [401] * 5
    for process in processes:
        refused = attempt(process, PASSWORD)  # also the right one
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "12")
        assert refused.json()["message"] == "Too many wrong passwords: wait 12 seconds."
    desk.clock.now += 11
    assert attempt(processes[0]).status_code == 429
    desk.clock.now += 1
    assert attempt(processes[1], PASSWORD).status_code == 200


def test_a_clock_that_is_set_back_keeps_nobody_waiting(desk: Desk) -> None:
    assert [counted(desk, "10.0.0.1") for _ in range(6)] == [True] * 5 + [False]
    desk.clock.now -= 3 * 3600
    assert counted(desk, "10.0.0.1")


def test_attempts_at_once_count_in_whatever_order_they_saw_the_clock(desk: Desk) -> None:
    let_through = 0
    for _ in range(20):
        let_through += counted(desk, "10.0.0.1")
        desk.clock.now -= 0.001
    assert let_through == 5


@pytest.mark.parametrize(
    ("attacker", "other", "same"),
    [
        ("10.0.0.1", "10.0.0.2", False),
        ("2001:db8:1:2::5", "2001:db8:1:2:ffff::9", True),  # one customer's network
        ("2001:db8:1:2::5", "2001:db8:1:3::5", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::2", True),
        ("no address", "none either", False),
    ],
)
def test_failures_of_one_address_do_not_lock_out_another(desk: Desk, attacker: str, other: str, same: bool) -> None:
    assert [counted(desk, attacker) for _ in range(6)] == [True] * 5 + [False]
    assert counted(desk, other) is not same


def test_many_addresses_are_no_way_round(desk: Desk) -> None:
    assert sum(counted(desk, f"10.1.{number}.1") for number in range(200)) == 50


def test_a_known_browser_gets_in_whatever_others_or_it_did(desk: Desk) -> None:
    token = desk.log_in()
    desk.client.post("/admin/logout", json={}, headers={**OWN, "X-CSRF-Token": token})
    while counted(desk, "10.0.0.1"):
        pass
    for number in range(80):
        counted(desk, f"10.1.{number}.1")
    assert not counted(desk, "10.2.0.1")
    assert [attempt(desk.client).status_code for _ in range(8)] == [401] * 8
    assert attempt(desk.client, PASSWORD).status_code == 200


def test_a_forged_browser_is_not_known(desk: Desk) -> None:
    genuine = Keeper("another long one", desk.store.secret, desk.clock).new_known_cookie()  # before the password changed
    forged = ["", ".", "a.b", "0" * 32, f"{'0' * 32}.{'0' * 64}", genuine]
    statuses = [attempt(desk.client, Cookie=f"{KNOWN_COOKIE}={cookie}").status_code for cookie in forged]
    assert statuses == [401] * 5 + [429]


def test_a_client_cannot_say_that_it_is_somebody_else(desk: Desk) -> None:
    said = [{"X-Forwarded-For": f"10.9.0.{k}", "Forwarded": f"for=10.9.0.{k}"} for k in range(60)]
    assert [attempt(desk.client, **each).status_code for each in said] == [401] * 5 + [429] * 55


def test_no_address_is_kept(desk: Desk) -> None:
    attempt(desk.client)
    assert "10.0.0.1" not in repr(desk.dump())


def test_used_up_limits_are_forgotten(desk: Desk) -> None:
    for number in range(90):
        counted(desk, f"10.1.{number}.1")
        desk.clock.now += 60
    assert len(desk.dump()["buckets"]) == 62  # of the last hour, and the one of all


def test_a_researcher_gets_in_while_nothing_can_be_stored(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(work: object) -> None:
        raise OperationalError("INSERT", {}, Exception("disk is full"))

    monkeypatch.setattr(desk.store, "write", full)
    assert attempt(desk.client).status_code == 401
    assert attempt(desk.client, PASSWORD).status_code == 200


def test_a_success_forgets_the_failures(desk: Desk) -> None:
    for _ in range(3):
        for _ in range(4):
            desk.client.post("/admin/login", json={"password": "wrong"}, headers=OWN)
        desk.log_in()


def test_a_session_ends_after_twelve_hours(desk: Desk) -> None:
    desk.log_in()
    desk.client.cookies.set(COOKIE, desk.client.cookies[COOKIE], path="/admin")  # the browser itself would forget it
    desk.clock.now += 12 * 3600 - 2
    assert desk.client.get("/admin/api/session").status_code == 200
    desk.clock.now += 3
    assert desk.client.get("/admin/api/session").status_code == 401


def test_forged_cookies_are_refused(desk: Desk) -> None:
    desk.log_in()
    name, ends, signature = desk.client.cookies[COOKIE].split(".")
    later = str(int(ends) + 3600)
    other = Keeper(PASSWORD, b"another secret", desk.clock).new_cookie()
    forged = [
        "", ".", "..", "a.b.c", f"{name}.{ends}", f"{name}.{ends}.", f"{name}.{later}.{signature}",
        f"{'0' * 32}.{ends}.{signature}", f"{name}.{ends}.{signature[:-1]}",
        f"{name}.{ends}.{signature}0", f"{name}.nan.{signature}", other,
    ]  # fmt: skip
    for cookie in forged:
        answer = desk.browser().get("/admin/api/session", headers={"Cookie": f"{COOKIE}={cookie}"})
        assert answer.status_code == 401, cookie
    genuine = desk.browser().get("/admin/api/session", headers={"Cookie": f"{COOKIE}={name}.{ends}.{signature}"})
    assert genuine.status_code == 200


def test_a_new_password_ends_every_session(desk: Desk) -> None:
    desk.log_in()
    cookie = {"Cookie": f"{COOKIE}={desk.client.cookies[COOKIE]}"}
    assert desk.browser(password="another long one").get("/admin/api/session", headers=cookie).status_code == 401


def test_logging_out_ends_the_session_for_copies_of_the_cookie_and_other_processes(desk: Desk) -> None:
    token = desk.log_in()
    cookie = {"Cookie": f"{COOKIE}={desk.client.cookies[COOKIE]}"}
    assert desk.browser().get("/admin/api/session", headers=cookie).status_code == 200
    answer = desk.client.post("/admin/logout", json={}, headers={**OWN, "X-CSRF-Token": token})
    assert answer.status_code == 204
    assert COOKIE not in desk.client.cookies
    assert desk.browser().get("/admin/api/session", headers=cookie).status_code == 401
    desk.log_in()  # another session is not touched
    assert desk.client.get("/admin/api/session").status_code == 200


def test_logged_out_sessions_are_forgotten_when_they_would_have_ended(desk: Desk) -> None:
    for _ in range(3):
        token = desk.log_in()
        desk.client.post("/admin/logout", json={}, headers={**OWN, "X-CSRF-Token": token})
        desk.clock.now += 13 * 3600
    assert sum(name.startswith("logged-out:") for name, _ in desk.dump()["settings"]) == 1


FOREIGN = {
    "another site": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    "another site, an old browser": {"Origin": "https://evil.example"},
    "a neighbour": {"Origin": "http://other.study.example", "Sec-Fetch-Site": "same-site"},
    "another port": {"Origin": "http://study.example:81"},
    "only the header of the fetch": {"Sec-Fetch-Site": "cross-site"},
    "a lie about the origin": {**OWN, "Sec-Fetch-Site": "cross-site"},
    "a lie about the site": {**OWN, "Origin": "https://evil.example"},
    "a sandbox": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    "an old sandbox": {"Origin": "null"},
    "nothing said": {},
}


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
def test_another_site_changes_nothing(desk: Desk, path: str, headers: dict[str, str]) -> None:
    token = desk.log_in()
    before = desk.dump()
    answer = change(desk, path, {**headers, "X-CSRF-Token": token})
    assert (answer.status_code, answer.json()["error"]) == (403, "origin")
    assert desk.dump() == before


@pytest.mark.parametrize("path", CHANGES)
def test_a_change_needs_the_token_of_its_own_session(desk: Desk, path: str) -> None:
    foreign = desk.log_in(desk.browser())
    own = desk.log_in()
    before = desk.dump()
    for token in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": foreign}, {"X-CSRF-Token": own[:-1]}, {"X-CSRF-Token": "ä"}):
        answer = change(desk, path, {**OWN, **{name: value.encode() for name, value in token.items()}})  # type: ignore[dict-item]
        assert (answer.status_code, answer.json()["error"]) == (403, "csrf")
    assert desk.dump() == before
    assert change(desk, path, {**OWN, "X-CSRF-Token": own}).status_code in (200, 204)


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
def test_another_site_cannot_log_anyone_in(desk: Desk, headers: dict[str, str]) -> None:
    answer = desk.client.post("/admin/login", json={"password": PASSWORD}, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_proxy_that_changes_the_host_can_say_the_address(desk: Desk) -> None:
    own = "https://public.example"

    def request(origin: str) -> Any:
        from starlette.requests import Request

        headers = [(b"host", b"127.0.0.1:8000"), (b"origin", origin.encode())]
        return Request(
            {"type": "http", "scheme": "http", "method": "POST", "path": "/", "headers": headers, "query_string": b""}
        )

    check_origin(request(own), own)
    check_origin(request("http://127.0.0.1:8000"), own)
    assert is_https(request(own), own)
    with pytest.raises(Exception, match="another site"):
        check_origin(request("https://public.example.evil.example"), own)


def test_every_answer_has_the_headers(desk: Desk) -> None:
    def check(answer: Any) -> None:
        assert {name: answer.headers.get(name) for name in RESEARCHER} == RESEARCHER
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]

    for path in ["/admin", "/admin/login", "/admin/nothing", *LOOKS]:
        check(desk.client.get(path))
    check(desk.client.post("/admin/login", json={"password": "wrong"}, headers=OWN))
    check(desk.client.post("/admin/login", content=b"password=wrong", headers=OWN))  # refused before it comes to a route
    check(desk.client.delete("/admin/login"))
    token = desk.log_in()
    for path in ["/admin", *LOOKS]:
        check(desk.client.get(path))
    for path in CHANGES[:1]:
        check(change(desk, path, {**OWN, "X-CSRF-Token": token}))


def test_unknown_addresses_are_answered_in_one_form(desk: Desk) -> None:
    answer = desk.client.get("/admin/nothing/here")
    assert answer.status_code == 404
    assert set(answer.json()) == {"error", "message"}
