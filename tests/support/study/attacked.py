"""A served study to attack, and its database as one value, so that before and after can be compared."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from fastapi.testclient import TestClient
from sqlalchemy import select

from explorelab.study.database.store import open_store
from explorelab.study.database.tables import metadata
from explorelab.study.export.live.request_counts import PREFIX
from explorelab.study.server.application import create_app
from explorelab.study.server.context import Context
from explorelab.study.server.pulse import VITALS
from explorelab.study.server.reception import pilot_key_of
from explorelab.study.server.steady_clock import ALIVE
from tests.support.study.small_study import small_study

SCRIPT = "<script>alert(1)</script>"
ASKED = ("state", "consent", "begin", "choice", "page", "advice", "events", "finish", "withdraw")
MORE: dict[str, dict[str, Any]] = {
    "state": {},
    "consent": {"agreed": True, "version": ""},
    "begin": {"block": 0},
    "choice": {},
    "page": {"step": 0, "attempt": 1, "answers": {}, "elapsed_ms": 1.0, "times": {}},
    "advice": {"block": 0, "trial": 0},
    "events": {"events": []},
    "finish": {},
    "withdraw": {"delete": True},
}
"""What a request needs besides the epoch; a choice needs more, see `body_of`."""
EVERYWHERE = ["arrive", *ASKED]


class Target:
    """The application on a new database, asked as a browser would, or not."""

    def __init__(self, folder: Path, database: str = "sqlite:///study.db", **changes: Any) -> None:
        self.study = small_study(**changes)
        self.store = open_store(database, folder)
        self.now = 1_000_000.0
        self.app = create_app(self.study, self.store, admin_password="a long password", now=lambda: self.now)
        self.pilot_key = pilot_key_of(Context(self.study, self.store, lambda: 0.0))
        # Failures come as answers with status 500, as they would over the network.
        self.client = TestClient(self.app, base_url="http://study.example", raise_server_exceptions=False)

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, but for the signs of life that a server writes by itself now and then."""
        with self.store.engine.connect() as connection:
            found = {
                table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
                for table in metadata.sorted_tables
            }
        found["settings"] = [row for row in found["settings"] if not row[0].startswith((ALIVE, VITALS, PREFIX))]
        return found

    def post(self, path: str, body: Any, token: str | None = None, **headers: str) -> httpx.Response:
        """The answer to any JSON at all."""
        self.now += 0.1 * (path == "choice")  # longer than any clock here
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {
            "Content-Type": "application/json",
            **({} if token is None else {"Authorization": f"Bearer {token}"}),
            **headers,
        }
        return self.client.post(f"/api/{path}", content=data, headers=sent)


class Person:
    """Someone in the middle of the study."""

    def __init__(self, target: Target, stage: str = "play", query: dict[str, str] | None = None) -> None:
        self.target, self.key = target, secrets.token_hex(32)
        self.load(query)
        if stage != "consent":
            self.state = self.go("consent", agreed=True, version=self.state["consent_version"])
        if stage not in ("consent", "instructions"):
            self.state = self.go("begin", block=0)
        if stage in ("debriefing", "finished"):
            while self.state["stage"] != "debriefing":
                self.state = self.go("choice", **self.choice())["state"] or self.state
                if self.state["stage"] == "play":
                    self.state["block"]["trial"] += 1
                if self.state["stage"] == "ready":
                    self.state = self.go("begin", block=self.state["block"]["number"])
        if stage == "finished":
            self.state = self.go("finish")

    def load(self, query: dict[str, str] | None = None) -> None:
        """Open the page, once more if it was open."""
        answer = self.target.post("arrive", {"page": secrets.token_hex(16), "key": self.key, "query": query or {}})
        assert answer.status_code == 200, answer.text
        self.token, self.state = answer.json()["token"], answer.json()["state"]

    @property
    def epoch(self) -> int:
        """Of the last page."""
        return int(self.state["epoch"])

    def go(self, path: str, **body: Any) -> Any:
        """Something that must succeed; what to show then, or the whole answer to a choice."""
        answer = self.target.post(path, {"epoch": self.epoch, **body}, self.token)
        assert answer.status_code == 200, answer.text
        return answer.json() if path == "choice" else answer.json()["state"]

    def choice(self, **changes: Any) -> dict[str, Any]:
        """A choice that would be accepted, but for the changes."""
        block = self.state["block"]
        body = {"block": block["number"], "trial": block["trial"], "goal": None, "clicks": [], "pauses": 0, "attempt": 1}
        return {**body, "elapsed_ms": float(block["deadline_ms"]), **changes}


def body_of(who: Person, path: str, /, **changes: Any) -> dict[str, Any]:
    """A request that would do something."""
    more = who.choice() if path == "choice" else MORE[path]
    return {"epoch": who.epoch, **more, **changes}


def refused(target: Target, status: int | tuple[int, ...], word: str, attack: Callable[[], Any]) -> None:
    """The attack is answered with this status and word, in the usual form, and the database is as it was."""
    before = target.dump()
    answer = attack()
    assert answer.status_code in ((status,) if isinstance(status, int) else status), answer.text
    assert set(answer.json()) == {"error", "message"}
    assert answer.json()["error"] == word
    assert target.dump() == before
