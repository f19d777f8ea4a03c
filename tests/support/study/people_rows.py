"""Simulated people for tests of the researcher's page: a study, a database, rows as the server writes them."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient
from sqlalchemy import Connection, insert, select

from explorelab.study.config.design import BlockPlan, Study, Texts
from explorelab.study.database.store import Store, open_store
from explorelab.study.database.tables import blocks, choices, consents, events, metadata, people
from explorelab.study.server.application import create_app
from explorelab.tasks import Noise, Task

NOW = 1_800_000_000.0
PERSON = {
    "code": "abc", "identity": "i", "source": "plain", "pilot": False, "seed": 2**62 - 1, "stage": "play", "cell": "c",
    "block": 0, "begun": True, "epoch": 1, "page": "p", "points": 1.5, "arrived_at": 1.0, "seen_at": 2.0,
}  # fmt: skip
"""The least that a row of `people` holds."""


def small_study(n_trials: int = 90, training: int = 30) -> Study:
    """Two timings, three dynamics, two landscapes, two task blocks after one of training."""
    rng = np.random.default_rng(1)
    noise = Noise("integer-uniform", 5)
    landscapes = {name: Task(rng.integers(0, 60, 100).astype(float), noise, name) for name in ("A", "B")}
    return Study(
        name="square-field",
        title="Finding the best square",
        width=10,
        height=10,
        landscapes=landscapes,
        timings={"fast": 1500, "slow": 3000},
        training=(BlockPlan("training", "standard", "slow", 3000, "A", training),),
        task_timings=("fast", "slow"),
        task_dynamics=("standard", "neighbour", "travel"),
        task_landscapes=("A", "B"),
        n_task_blocks=2,
        n_trials=n_trials,
        texts=Texts("en", "ltr", {"consent": "Do you agree?"}, {}),
    )


def fill(connection: Connection, study: Study, n: int, seed: int = 0, *, pilots: int = 0, now: float = NOW) -> None:
    """Add people at all stages, with choices and events."""
    rng = np.random.default_rng(seed)
    for k in range(n + pilots):
        add_person(connection, study, rng, now, pilot=k >= n)


def add_person(connection: Connection, study: Study, rng: Any, now: float, **given: Any) -> int:
    """One person, at a random stage unless one is given; their number."""
    pilot = bool(given.pop("pilot", False))
    stage = given.pop("stage", None) or str(
        rng.choice(["consent", "instructions", "play", "debriefing", "finished", "declined", "withdrawn"],
                   p=[0.03, 0.03, 0.3, 0.02, 0.54, 0.04, 0.04])
    )  # fmt: skip
    cell = study.cells[int(rng.integers(len(study.cells)))]
    plan = study.plan(cell)
    agreed = stage not in ("consent", "declined")
    block = {"play": int(rng.integers(len(plan))), "withdrawn": int(rng.integers(len(plan)))}.get(stage, 0)
    if stage in ("debriefing", "finished"):
        block = len(plan)
    made = int(rng.integers(plan[block].n_trials)) if stage in ("play", "withdrawn") else 0
    away = float(rng.exponential(20.0)) if rng.random() > 0.1 else float(rng.uniform(8000, 20000))
    lasted = float(rng.normal(900, 150)) if stage == "finished" else float(rng.uniform(30, 800))
    seen_at = now - (away if stage not in ("finished", "declined") else float(rng.uniform(60, 7200)))
    values: dict[str, Any] = {
        "code": secrets.token_hex(5), "identity": secrets.token_hex(32), "pilot": pilot, "seed": 1, "stage": stage,
        "source": "pilot" if pilot else str(rng.choice(["prolific", "mturk", "plain"])), "epoch": 1, "page": "page",
        "cell": cell.name if agreed else None, "block": block, "begun": made > 0, "points": 0.0,
        "arrived_at": seen_at - lasted, "seen_at": seen_at, "finished_at": seen_at if stage == "finished" else None,
        "agent": "stochastic UCL (temperature 1)" if pilot else None,
    }  # fmt: skip
    person = int(connection.execute(insert(people).values({**values, **given})).inserted_primary_key[0])  # type: ignore[index]
    if stage not in ("consent",):
        text = {"version": "v", "text": study.texts.pages["consent"]}
        connection.execute(insert(consents).values(person=person, agreed=agreed, at=values["arrived_at"] + 20, **text))
    if agreed and stage != "instructions":
        _play(connection, study, rng, person, plan, block, made, seen_at)
    return person


def _play(
    connection: Connection,
    study: Study,
    rng: Any,
    person: int,
    plan: tuple[BlockPlan, ...],
    block: int,
    made: int,
    until: float,
) -> None:
    total, rows = 0.0, []
    for number, each in enumerate(plan[: block + 1]):
        n = each.n_trials if number < block else made
        if number == block and not made:
            continue
        connection.execute(
            insert(blocks).values(person=person, number=number, start=0, begun_at=until - 600, **each._asdict())
        )
        task = study.landscapes[each.landscape]
        order = np.argsort(task.means)
        skill = rng.uniform(0.3, 4.0)
        for trial in range(n):
            arm = int(order[min(99, int(100 * rng.random() ** (1 / (1 + skill * trial / 20))))])
            drawn = float(task.means[arm] + rng.integers(-5, 6))
            missed = bool(rng.random() < (0.06 if each.timing == "fast" else 0.01))
            overrun = float(rng.gamma(2.0, 4.0)) if rng.random() < 0.99 else float(rng.uniform(20, 400))
            flags = " ".join(
                ["early"] * (rng.random() < 0.002) + ["overrun"] * (overrun >= 100) + ["slow"] * (rng.random() < 0.005)
            )
            total += drawn if each.kind == "task" else 0.0
            rows.append({
                "person": person, "block": number, "trial": trial, "position": 0, "goal": arm, "arm": arm, "reward": drawn,
                "missed": missed, "n_clicks": 0 if missed else 1, "first_click_ms": None if missed else 400.0,
                "last_click_ms": None if missed else 700.0, "clicks": "[]" if missed else f"[[{arm},400.0],[{arm},700.0]]",
                "elapsed_ms": each.deadline_ms + overrun, "overrun_ms": overrun, "pauses": 0, "epoch": 1, "attempts": 1,
                "received_at": until - 2.0 * (n - trial), "flags": flags,
            })  # fmt: skip
    if rows:
        connection.execute(insert(choices), rows)
    connection.execute(people.update().where(people.c.id == person).values(points=total))
    kinds = ["blur", "focus", "hidden", "visible", "pause", "resume", "slow", "offline", "online"]
    happened = [
        {"person": person, "epoch": 1, "number": k, "kind": str(rng.choice(kinds)), "block": 0, "trial": k,
         "page_ms": 1000.0 * k, "value": None, "received_at": until - 300 + k}
        for k in range(int(rng.poisson(3)))
    ]  # fmt: skip
    if happened:
        connection.execute(insert(events), happened)


def open_filled(
    folder: Path, study: Study, n: int, *, pilots: int = 0, now: float = NOW, url: str = "sqlite:///study.db"
) -> Store:
    """A database with so many people."""
    store = open_store(url, folder)
    with store.engine.begin() as connection:
        fill(connection, study, n, pilots=pilots, now=now)
    return store


PASSWORD = "correct horse battery"
OWN = {"Origin": "http://study.example", "Sec-Fetch-Site": "same-origin"}


class Clock:
    """Time that tests move on."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class Desk:
    """A study that is served, with people in it, and a researcher's browser."""

    def __init__(self, folder: Path, n: int = 0, *, pilots: int = 0, url: str = "sqlite:///study.db") -> None:
        self.study, self.clock = small_study(n_trials=20, training=5), Clock()
        self.store = open_filled(folder, self.study, n, pilots=pilots, url=url)
        self.client = self.browser()

    def browser(
        self, address: str = "10.0.0.1", base_url: str = "http://study.example", password: str = PASSWORD
    ) -> TestClient:
        """A browser at another desk; with another password, another process with that password."""
        app = create_app(self.study, self.store, admin_password=password, now=self.clock)
        return TestClient(app, base_url=base_url, client=(address, 50_000), follow_redirects=False)

    def log_in(self, client: TestClient | None = None, password: str = PASSWORD) -> str:
        """Log in; the token for changes."""
        client = client or self.client
        answer = client.post("/admin/login", json={"password": password}, headers=OWN)
        assert answer.status_code == 200, answer.text
        return str(client.get("/admin/api/session").json()["csrf"])

    def get(self, path: str) -> Any:
        """What is at this address."""
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def dump(self) -> dict[str, list[Any]]:
        """Everything in the database."""
        with self.store.engine.connect() as connection:
            return {
                table.name: [tuple(row) for row in connection.execute(select(table))] for table in metadata.sorted_tables
            }

    def rows(self, table: Any) -> list[Any]:
        """A table's rows."""
        with self.store.engine.connect() as connection:
            return list(connection.execute(select(table).order_by(table.c.id)))
