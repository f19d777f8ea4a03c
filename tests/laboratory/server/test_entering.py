"""Logging in, invitations, passwords and sessions: what works, and everything that must not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.database.lab_tables import accounts, invitations, sessions
from explorelab.laboratory.server.lab_desk import COOKIE, KNOWN_COOKIE
from explorelab.study.admin.entry import passwords
from tests.support.town import OWN, PASSWORD, Town, two_studies


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Town]:
    """A laboratory whose limits nobody has used up."""
    with Town(tmp_path / "lab") as town:
        two_studies(town)
        yield town


def cookie_of(answer: Any, name: str = COOKIE) -> str:
    return next(line for line in answer.headers.get_list("set-cookie") if line.startswith(f"{name}="))


def test_an_account_gets_in_by_its_password_and_no_other(fresh: Town) -> None:
    fresh.browser().log_in("OLGA ")  # as people type it
    for login, password in (("olga", "wrong password"), ("olga", ""), ("nobody", PASSWORD), ("", ""), ("olga\0", PASSWORD)):
        answer = fresh.browser(f"10.9.{len(login)}.{len(password)}").post(
            "/lab/login", {"login": login, "password": password}
        )
        assert (answer.status_code, answer.json()["message"]) == (401, "Wrong name or password.")
        assert "set-cookie" not in answer.headers


def test_an_unknown_name_takes_as_long_as_a_wrong_password(fresh: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "HASHING_COST", 2**14)

    def took(login: str, k: int) -> float:
        began = time.process_time()
        assert fresh.browser(f"10.8.0.{k}").post("/lab/login", {"login": login, "password": "wrong"}).status_code == 401
        return time.process_time() - began

    known = min(took("olga", k) for k in range(4))
    unknown = min(took("nobody", 10 + k) for k in range(4))
    assert 0.5 < unknown / known < 2  # both are a hash of some 50 ms; without one it would be a twentieth


@pytest.mark.parametrize("login", ["olga", "nobody"])
def test_guessing_is_limited_and_the_answer_does_not_tell_whether_there_is_such_a_name(fresh: Town, login: str) -> None:
    """From one address, and from many for one name."""
    attacker = fresh.browser("10.7.0.1")
    said = [attacker.post("/lab/login", {"login": login, "password": f"guess {k}"}) for k in range(6)]
    assert [answer.status_code for answer in said] == [401] * 5 + [429]
    many = [fresh.browser(f"10.6.0.{k}").post("/lab/login", {"login": login, "password": "guess"}) for k in range(20)]
    assert {answer.status_code for answer in many} == {401, 429}
    assert many[-1].json()["message"].startswith("Too many wrong passwords")


def test_the_owner_of_a_name_gets_in_from_a_known_browser_while_others_guess(fresh: Town) -> None:
    for k in range(40):
        fresh.browser(f"10.5.0.{k}").post("/lab/login", {"login": "olga", "password": "guess"})
    assert fresh.browser("10.5.1.1").post("/lab/login", {"login": "olga", "password": PASSWORD}).status_code == 429
    fresh.people["olga"].log_in("olga")


def test_a_session_is_new_with_every_login_and_the_one_before_ends(fresh: Town) -> None:
    """Whoever has put a session into somebody's browser beforehand has nothing of it."""
    browser = fresh.browser()
    browser.client.cookies.set(COOKIE, "chosen-by-somebody-else", domain="lab.example")
    browser.log_in("olga")
    first = browser.client.cookies[COOKIE]
    assert first != "chosen-by-somebody-else"
    browser.log_in("olga")
    assert browser.client.cookies[COOKIE] != first
    stolen = fresh.browser()
    stolen.client.cookies.set(COOKIE, first, domain="lab.example")
    assert stolen.get("/lab/api/me").status_code == 401


def test_the_cookie_is_kept_from_scripts_and_other_sites(fresh: Town) -> None:
    answer = fresh.browser().post("/lab/login", {"login": "olga", "password": PASSWORD})
    for name in (COOKIE, KNOWN_COOKIE):
        parts = {part.strip().lower() for part in cookie_of(answer, name).split(";")[1:]}
        assert {"httponly", "samesite=strict", "path=/"} <= parts
    known = fresh.browser()
    known.client.cookies.set(KNOWN_COOKIE, fresh.people["olga"].client.cookies[KNOWN_COOKIE], domain="lab.example")
    assert known.get("/lab/api/me").status_code == 401  # it opens nothing by itself


def test_neither_passwords_nor_cookies_nor_invitations_are_in_the_database(fresh: Town) -> None:
    secret = fresh.secret(Role.VIEWER)
    with fresh.database.engine.connect() as connection:
        everything = " ".join(
            str(row) for table in (accounts, sessions, invitations) for row in connection.execute(select(table))
        )
    for hidden in (PASSWORD, secret, fresh.people["olga"].client.cookies[COOKIE]):
        assert hidden not in everything


@pytest.mark.parametrize("end", ["log out", "elsewhere", "time", "account removed"])
def test_a_session_that_has_ended_opens_nothing_even_to_whoever_has_its_cookie(fresh: Town, end: str) -> None:
    helper = fresh.join("hans", Role.HELPER)
    copy = fresh.browser()
    copy.client.cookies.set(COOKIE, helper.client.cookies[COOKIE], domain="lab.example")
    assert copy.get("/lab/api/me").status_code == 200
    if end == "log out":
        helper.ok("/lab/logout")
    elif end == "elsewhere":
        other = fresh.browser("10.3.0.1").log_in("hans")
        number = next(each["number"] for each in other.told("/lab/api/sessions")["sessions"] if not each["is_this"])
        other.ok(f"/lab/api/sessions/{number}/end")
    elif end == "time":
        fresh.clock.now += 12 * 3600 + 1
    else:
        number = next(
            each["number"] for each in fresh.people["olga"].told("/lab/api/members")["members"] if each["login"] == "hans"
        )
        fresh.people["olga"].ok(f"/lab/api/members/{number}/remove")
    for path in ("/lab/api/me", "/s/a/admin/api/overview"):
        assert copy.get(path).json()["error"] == "no-session"


def test_nobody_ends_the_sessions_of_others(fresh: Town) -> None:
    hans = fresh.join("hans", Role.HELPER)
    number = fresh.people["olga"].told("/lab/api/sessions")["sessions"][0]["number"]
    assert hans.post(f"/lab/api/sessions/{number}/end").status_code == 404
    assert fresh.people["olga"].get("/lab/api/me").status_code == 200


def test_a_new_password_needs_the_old_one_and_ends_all_other_sessions(fresh: Town) -> None:
    hans, elsewhere = fresh.join("hans", Role.HELPER), fresh.browser("10.2.0.1")
    elsewhere.log_in("hans")
    assert hans.post("/lab/api/password", {"password": "wrong", "new": "another long password"}).status_code == 401
    assert hans.post("/lab/api/password", {"password": PASSWORD, "new": "short"}).status_code == 422
    hans.ok("/lab/api/password", {"password": PASSWORD, "new": "another long password"})
    assert (hans.get("/lab/api/me").status_code, elsewhere.get("/lab/api/me").status_code) == (200, 401)
    fresh.browser("10.2.0.2").log_in("hans", "another long password")
    assert fresh.browser("10.2.0.3").post("/lab/login", {"login": "hans", "password": PASSWORD}).status_code == 401


def joining(secret: str, login: str = "new") -> dict[str, str]:
    return {"invitation": secret, "login": login, "name": "New", "password": PASSWORD}


def test_an_invitation_works_once(fresh: Town) -> None:
    secret = fresh.secret(Role.VIEWER, "a")
    assert fresh.browser().ok("/lab/api/invitation", {"invitation": secret})["study"] == "a"
    fresh.browser().ok("/lab/join", joining(secret))
    for path, body in (("/lab/join", joining(secret, "other")), ("/lab/api/invitation", {"invitation": secret})):
        assert fresh.browser().post(path, body).status_code == 410
    assert fresh.people["olga"].post("/lab/api/accept", {"invitation": secret}).status_code == 410


def test_of_many_who_use_an_invitation_at_once_one_gets_in(fresh: Town) -> None:
    secret = fresh.secret(Role.OWNER)
    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(lambda k: fresh.browser(f"10.4.0.{k}").post("/lab/join", joining(secret, f"n{k}")), range(6)))
    assert sorted(answer.status_code for answer in said) == [200] + [410] * 5
    assert len(fresh.people["olga"].told("/lab/api/members")["members"]) == 2


@pytest.mark.parametrize("why", ["expired", "taken back", "never made", "empty"])
def test_an_invitation_that_is_not_good_lets_nobody_in(fresh: Town, why: str) -> None:
    olga = fresh.people["olga"]
    secret = olga.ok("/lab/api/invitations", {"role": "owner", "for_whom": "Eve"})["invitation"]
    if why == "expired":
        fresh.clock.now += 7 * 24 * 3600 + 1
    elif why == "taken back":
        olga.ok(f"/lab/api/invitations/{olga.told('/lab/api/members')['invitations'][0]['number']}/revoke")
    else:
        secret = "" if why == "empty" else secret[:-1] + ("A" if secret[-1] != "A" else "B")
    answer = fresh.browser().post("/lab/join", joining(secret))
    assert (answer.status_code, "set-cookie" in answer.headers) == (410, False)


def test_an_invitation_is_not_spent_on_a_name_that_is_taken_or_a_password_that_is_too_short(fresh: Town) -> None:
    secret = fresh.secret(Role.VIEWER)
    assert fresh.browser().post("/lab/join", joining(secret, "olga")).status_code == 409
    assert fresh.browser().post("/lab/join", {**joining(secret), "password": "short"}).status_code == 422
    assert fresh.browser().post("/lab/join", joining(secret, "-odd name")).status_code == 422
    fresh.browser().ok("/lab/join", joining(secret))


def test_an_owner_of_one_study_invites_to_that_study_alone(fresh: Town) -> None:
    owner = fresh.join("anna", Role.OWNER, "a")
    secret = owner.ok("/lab/api/studies/a/invitations", {"role": "helper", "for_whom": "Ben"})["invitation"]
    fresh.browser().ok("/lab/join", joining(secret, "ben"))
    assert owner.post("/lab/api/invitations", {"role": "helper"}).status_code == 403
    assert owner.post("/lab/api/studies/b/invitations", {"role": "helper"}).status_code == 404
    waiting = fresh.people["olga"].ok("/lab/api/studies/b/invitations", {"role": "viewer"})
    assert waiting["invitation"]
    number = fresh.people["olga"].told("/lab/api/studies/b/members")["invitations"][0]["number"]
    assert owner.post(f"/lab/api/studies/a/invitations/{number}/revoke").status_code == 404  # it is another study's


def test_an_invitation_never_takes_a_role_away(fresh: Town) -> None:
    fresh.people["olga"].ok("/lab/api/accept", {"invitation": fresh.secret(Role.VIEWER)})
    assert fresh.people["olga"].told("/lab/api/me")["role"] == "owner"


def test_whoever_owns_a_study_gives_roles_to_those_who_work_there_and_learns_of_nobody_else(fresh: Town) -> None:
    anna, boris = fresh.join("anna", Role.OWNER, "a"), fresh.join("boris", Role.VIEWER, "b")
    helper = fresh.join("helga", Role.HELPER, "a")
    numbers = {name: each.told("/lab/api/me")["number"] for name, each in (("boris", boris), ("helga", helper))}
    for number in (numbers["boris"], 999):
        answer = anna.post(f"/lab/api/studies/a/members/{number}/role", {"role": "viewer"})
        assert (answer.status_code, answer.json()["message"]) == (404, "There is no such account.")
    assert "Boris" not in anna.get("/lab/api/studies/a/deeds").text
    anna.ok(f"/lab/api/studies/a/members/{numbers['helga']}/role", {"role": "viewer"})


def test_the_last_owner_stays(fresh: Town) -> None:
    olga = fresh.people["olga"]
    number = olga.told("/lab/api/me")["number"]
    for path, body in ((f"/lab/api/members/{number}/role", {"role": "viewer"}), (f"/lab/api/members/{number}/remove", {})):
        assert olga.post(path, body).json()["error"] == "last-owner"
    fresh.join("paul", Role.OWNER)
    olga.ok(f"/lab/api/members/{number}/role", {"role": "viewer"})
    assert olga.get("/lab/api/members").status_code == 403


@pytest.mark.parametrize("how", ["removed", "no owner of the laboratory", "no owner of the study"])
def test_whoever_may_no_longer_invite_leaves_no_invitations(fresh: Town, how: str) -> None:
    olga = fresh.people["olga"]
    study = "a" if how == "no owner of the study" else None
    paul = fresh.join("paul", Role.OWNER, study)
    here = "/lab/api/studies/a" if study else "/lab/api"
    made = paul.ok(f"{here}/invitations", {"role": "owner", "for_whom": "a second self"})["invitation"]
    hers = olga.ok("/lab/api/invitations", {"role": "viewer", "for_whom": "somebody else"})["invitation"]
    number = paul.told("/lab/api/me")["number"]
    if how == "removed":
        olga.ok(f"/lab/api/members/{number}/remove", {})
    else:
        olga.ok(f"{here}/members/{number}/role", {"role": "viewer"})
    assert fresh.browser().post("/lab/join", joining(made, "second")).status_code == 410
    assert fresh.browser().post("/lab/join", joining(hers, "other")).status_code == 200


CHANGES = {
    "no token": {"X_CSRF_Token": ""}, "somebody else's token": {"X_CSRF_Token": "0" * 64},
    "another site": {"Origin": "https://evil.example"}, "a site that embeds": {"Sec_Fetch_Site": "cross-site"},
    "a neighbour": {"Sec_Fetch_Site": "same-site"}, "no origin": {"Origin": "null", "Sec_Fetch_Site": "none"},
}  # fmt: skip


@pytest.mark.parametrize("why", CHANGES)
def test_a_change_comes_from_the_session_s_own_page(town: Town, why: str) -> None:
    answer = town.people["olga"].post("/lab/api/studies/a/archive", {}, **CHANGES[why])
    assert answer.status_code == 403
    assert town.people["olga"].told("/lab/api/studies/a")["state"] != "archived"


@pytest.mark.parametrize("path", ["/lab/login", "/lab/join"])
def test_nobody_is_logged_in_by_another_site(fresh: Town, path: str) -> None:
    body = {"login": "olga", "password": PASSWORD} if path == "/lab/login" else joining(fresh.secret(Role.VIEWER))
    answer = fresh.browser().client.post(
        path, json=body, headers={**OWN, "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    )
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


@pytest.mark.parametrize("path", ["/lab", "/lab/login", "/lab/join", "/lab/api/me", "/lab/nothing"])
def test_pages_of_the_laboratory_cannot_be_framed_cached_or_given_scripts(town: Town, path: str) -> None:
    headers = town.people["olga"].get(path).headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY"
    assert "script-src 'self';" in headers["content-security-policy"]


def test_secrets_are_not_repeated_in_refusals(fresh: Town) -> None:
    for path in ("/lab/login", "/lab/join", "/lab/api/invitation"):
        answer = fresh.browser().post(
            path, {"password": "very secret", "invitation": ["very secret"], "more": "very secret"}
        )
        assert answer.status_code == 422
        assert "very secret" not in answer.text
