"""A study that is served to simulated pages, with a clock that tests move on."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import func, select

from explorelab.study.advice import desk as advising
from explorelab.study.assessment import assessment_desk as assessing
from explorelab.study.config.design import Study
from explorelab.study.database.store import Store, open_store
from explorelab.study.server.application import create_app

UNHURRIED_MS = 30.0
"""How long a choice without a deadline takes."""


class Clock:
    """Time that tests move on."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Lab:
    """A study that is being served, and its database."""

    def __init__(
        self,
        study: Study,
        folder: Path,
        url: str = "sqlite:///study.db",
        adviser: Sequence[str] = advising.PROGRAM,
        assessor: Sequence[str] = assessing.PROGRAM,
    ) -> None:
        self.study, self.clock = study, Clock()
        self.store: Store = open_store(url, folder)
        programs = {"adviser": adviser, "assessor": assessor}
        app = create_app(study, self.store, admin_password="a long password", now=self.clock, **programs)
        self.client = TestClient(app, base_url="http://study.example")

    def count(self, table: Any) -> int:
        with self.store.engine.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(table)).scalar_one())

    def rows(self, table: Any) -> list[Any]:
        with self.store.engine.connect() as connection:
            return list(connection.execute(select(table).order_by(table.c.id)))


class Tab:
    """One page of one person."""

    def __init__(
        self, lab: Lab, key: str | None = None, query: dict[str, str] | None = None, page: str | None = None
    ) -> None:
        self.lab, self.key, self.query = lab, key or secrets.token_hex(32), query or {}
        self.page = page or secrets.token_hex(16)
        answer = lab.client.post("/api/arrive", json={"page": self.page, "key": self.key, "query": self.query})
        assert answer.status_code == 200, answer.text
        self.token, self.state = answer.json()["token"], answer.json()["state"]

    def post(self, path: str, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.lab.client.post(f"/api/{path}", json={"epoch": self.state["epoch"], **body}, headers=headers)

    def go(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self.post(path, **body)
        assert answer.status_code == 200, answer.text
        self.state = answer.json()["state"]
        return self.state

    def consent(self, agreed: bool = True) -> dict[str, Any]:
        return self.go("consent", agreed=agreed, version=self.state["consent_version"])

    def report(self, trial: int, square: int | None, **changes: Any) -> dict[str, Any]:
        block = self.state["block"]
        elapsed_ms = (block["deadline_ms"] or UNHURRIED_MS) + 2.5
        clicks = [] if square is None else [[square, 5.0 + trial / 10]]
        return {
            "block": block["number"], "trial": trial, "goal": square, "clicks": clicks,
            "elapsed_ms": elapsed_ms, "pauses": 0, "attempt": 1, "by_hand": len(clicks), **changes,
        }  # fmt: skip

    def choose(self, trial: int, square: int | None, **changes: Any) -> Any:
        self.lab.clock.now += (self.state["block"]["deadline_ms"] or UNHURRIED_MS) / 1000 + 0.02
        return self.post("choice", **self.report(trial, square, **changes))

    def play_block(self, number: int) -> dict[str, Any]:
        self.go("begin", block=number)
        for trial in range(self.state["block"]["n_trials"]):
            made = self.choose(trial, None).json()
        self.state = made["state"]
        return self.state


def in_play(lab: Lab, dynamic: str = "standard") -> Tab:
    """Someone in the training block of this dynamic."""
    tab = Tab(lab)
    tab.consent()
    for number, training in enumerate(lab.study.training):
        if training.dynamic == dynamic:
            tab.go("begin", block=number)
            return tab
        tab.play_block(number)
    raise AssertionError(dynamic)
