"""A laboratory for tests: two studies, and somebody of every role, each with a browser of their own."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from explorelab.laboratory.accounts import invitations
from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.database.lab_database import open_lab_database
from explorelab.laboratory.hosting.laboratory_folder import open_folder
from explorelab.laboratory.hosting.study_list import registered
from explorelab.laboratory.server.lab_application import applications, below_studies
from explorelab.laboratory.server.laboratory import Laboratory

BASE = "http://lab.example"
OWN = {"Origin": BASE, "Sec-Fetch-Site": "same-origin"}
PASSWORD = "a long enough password"
NOW = 1_800_000_000.0


class Clock:
    """Time that tests move on."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class Browser:
    """A browser, in which somebody may be logged in."""

    def __init__(self, client: TestClient) -> None:
        self.client, self.csrf = client, ""

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, follow_redirects=False, **more)

    def post(self, path: str, body: object = None, **headers: str) -> Any:
        """A change from the session's own page, or with other headers."""
        sent = {**OWN, "X-CSRF-Token": self.csrf, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.client.post(path, json={} if body is None else body, headers=sent)

    def ok(self, path: str, body: object = None) -> Any:
        """What a change that must succeed says."""
        answer = self.post(path, body)
        assert answer.status_code in (200, 204), answer.text
        return answer.json() if answer.content else None

    def told(self, path: str) -> Any:
        """What is there."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def log_in(self, login: str, password: str = PASSWORD) -> Browser:
        """Log in, which must succeed."""
        self.ok("/lab/login", {"login": login, "password": password})
        self.csrf = self.told("/lab/api/me")["csrf"]
        return self


class Town:
    """The laboratory, its application, and the people who work there."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.folder = open_folder(folder)
        self.database = open_lab_database(self.folder.database, self.folder.folder)
        self.laboratory = Laboratory(self.folder, self.database, self.clock)
        self.app, self.hosted = applications(self.laboratory)
        self.all = below_studies(self.app, self.hosted)
        self.people: dict[str, Browser] = {}
        self._first = TestClient(self.all, base_url=BASE, client=("10.0.0.1", 1))

    def __enter__(self) -> Town:
        self._first.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._first.__exit__(None, None, None)

    def browser(self, address: str = "10.0.0.1") -> Browser:
        """A new browser; its requests are answered in the one event loop."""
        client = TestClient(self.all, base_url=BASE, client=(address, 1))
        client.portal = self._first.portal
        return Browser(client)

    def secret(self, role: Role, study: str | None = None) -> str:
        """An invitation."""
        number = None if study is None else self.database.look(lambda connection: registered(connection, study)).id
        return self.database.change(
            lambda connection: invitations.invite(connection, number, role, "somebody", "a test", self.clock.now)
        )

    def join(self, login: str, role: Role, study: str | None = None) -> Browser:
        """Somebody new, who is logged in."""
        browser = self.browser(f"10.1.{len(self.people)}.{secrets.randbelow(250)}")
        body = {"invitation": self.secret(role, study), "login": login, "name": login.title(), "password": PASSWORD}
        browser.ok("/lab/join", body)
        browser.csrf = browser.told("/lab/api/me")["csrf"]
        self.people[login] = browser
        return browser


def settled(folder: Path) -> Town:
    """A town with two studies, "a" and "b", owned by the laboratory's owner; to be entered before it is asked."""
    return Town(folder)


def two_studies(town: Town) -> None:
    """Make the laboratory's owner and the studies."""
    owner = town.join("olga", Role.OWNER)
    for name in ("a", "b"):
        owner.ok("/lab/api/studies", {"name": name, "title": f"Study {name}"})
