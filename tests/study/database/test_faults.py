"""Nothing shown is lost and nothing is kept twice, whatever breaks; and robots take part as people do."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from explorelab.study.database import tables
from explorelab.study.database.store import open_store
from tests.support.study import postgres
from tests.support.study.faults import Plan, run
from tests.support.study.ledger import Ledger, compare, identity_of

SHORT = Plan(kills=3, reloads=8, cuts=8, tabs=4, repeats=8, operator=3, at_once=10)
FULL = Plan(kills=200, reloads=100, cuts=50, tabs=50, repeats=100, operator=60)
BACKUPS = Plan(kills=1, reloads=2, cuts=2, tabs=1, repeats=2, operator=6, at_once=10)


def holds(result: dict[str, Any], plan: Plan) -> None:
    print(result)
    assert result["faults"] == []
    assert {name: result[name] for name in ("kills", "reloads", "cuts", "tabs")} == {
        name: getattr(plan, name) for name in ("kills", "reloads", "cuts", "tabs")
    }
    assert result["cut"]["repeated"] == plan.repeats
    assert sum(result["late_answers"].values()) == plan.repeats + result["cut"].get("delayed", 0)
    assert result["shown"] == result["stored"] > 500
    assert result["rewards_compared"] > 0.99 * result["stored"]
    assert result["flags"]["retried"] > 0
    assert result["follower"]["whole answers"] >= 5
    assert plan.operator < 2 or result["follower"]["started again"] >= 1


def on_postgresql(folder: Path, plan: Plan) -> dict[str, Any]:
    if postgres.programs() is None:
        pytest.skip(postgres.MISSING)
    with postgres.cluster() as cluster:
        return run(cluster.new_database(), folder, plan, workers=2)


def test_sqlite_under_fire(tmp_path: Path) -> None:
    holds(run("sqlite:///study.db", tmp_path / "study", SHORT), SHORT)


@pytest.mark.slow
def test_postgresql_under_fire(tmp_path: Path) -> None:
    holds(on_postgresql(tmp_path / "study", SHORT), SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_backups_and_restores_under_load(database: str, tmp_path: Path) -> None:
    """Also those that are killed in the middle, come too early, or are put back elsewhere."""
    folder = tmp_path / "study"
    result = run("sqlite:///study.db", folder, BACKUPS) if database == "sqlite" else on_postgresql(folder, BACKUPS)
    holds(result, BACKUPS)
    done = result["operator"]
    assert min(done["restores killed"], done["backups killed"], done["restores refused"]) >= 1


@pytest.mark.slow
def test_sqlite_under_fire_for_long(tmp_path: Path) -> None:
    holds(run("sqlite:///study.db", tmp_path / "study", FULL), FULL)


@pytest.mark.slow
def test_postgresql_under_fire_for_long(tmp_path: Path) -> None:
    holds(on_postgresql(tmp_path / "study", FULL), FULL)


# The comparison itself ------------------------------------------------------------------------------------------------


class Kept:
    """A database with one person who has finished a block of three choices, and the ledger of what was shown."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.store = open_store("sqlite:///study.db", folder)
        self.ledger, self.key = Ledger(), secrets.token_hex(32)
        with self.store.engine.begin() as connection:
            person = {
                "id": 1,
                "code": "abc",
                "identity": identity_of(self.key, self.store.secret),
                "source": "plain",
                "pilot": False,
                "seed": 1,
            }
            person |= {"stage": "finished", "block": 1, "begun": False, "epoch": 1, "page": "p", "points": 33.0}
            connection.execute(tables.people.insert().values(person | {"arrived_at": 0.0, "seen_at": 0.0}))
            connection.execute(tables.consents.insert().values(person=1, agreed=True, at=0.0, version="", text=""))
            block = {"person": 1, "number": 0, "kind": "task", "dynamic": "standard", "timing": "fast", "deadline_ms": 20}
            block |= {"landscape": "a", "n_trials": 3, "start": 5, "begun_at": 0.0}
            connection.execute(tables.blocks.insert().values(block))
            for trial, (position, arm) in enumerate([(5, 1), (1, 2), (2, 3)]):
                connection.execute(tables.choices.insert().values(self.choice(trial, position, arm)))
                self.ledger.note((self.key, 0, trial), arm, 10.0 + trial, "answer")
        self.ledger.points[self.key] = 33.0

    @staticmethod
    def choice(trial: int, position: int, arm: int) -> dict[str, Any]:
        values = {"person": 1, "block": 0, "trial": trial, "position": position, "goal": arm, "arm": arm, "missed": False}
        values |= {"reward": 10.0 + trial, "n_clicks": 0, "clicks": "[]", "elapsed_ms": 20.0, "overrun_ms": 0.0, "pauses": 0}
        return values | {"epoch": 1, "attempts": 1, "received_at": 0.0, "flags": ""}

    def faults(self, change: Any = None) -> str:
        if change is not None:
            with self.store.engine.begin() as connection:
                connection.execute(change)
        try:
            return "\n".join(compare(self.ledger, self.store.engine)["faults"])
        finally:
            self.store.close()


CHOICES, PEOPLE = tables.choices, tables.people
DOCTORED = {
    "a choice is lost": (delete(CHOICES).where(CHOICES.c.trial == 1), "shown and lost: (0, 1)"),
    "a reward is another": (update(CHOICES).where(CHOICES.c.trial == 1).values(reward=12.0), "stored (2, 12.0)"),
    "a square is another": (update(CHOICES).where(CHOICES.c.trial == 1).values(arm=9), "did not end"),
    "a choice is added": (CHOICES.insert().values(Kept.choice(3, 3, 3)), "stored and never shown: (0, 3)"),
    "points are others": (update(PEOPLE).values(points=40.0), "rewards add up to 33.0"),
    "somebody is stuck": (update(PEOPLE).values(stage="play"), "stopped at play"),
    "consent is lost": (delete(tables.consents), "0 consents"),
}


@pytest.mark.parametrize("what", DOCTORED)
def test_a_doctored_database_is_found_out(what: str, tmp_path: Path) -> None:
    assert Kept(tmp_path / "whole").faults() == ""
    change, said = DOCTORED[what]
    assert said in Kept(tmp_path / "doctored").faults(change)


def test_two_rewards_for_one_choice_are_found_out(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.ledger.note((kept.key, 0, 1), 2, 11.5, "state")
    assert "was (2, 11.0), then (2, 11.5)" in kept.faults()


PAGES = {
    "lost": ({}, "page (0, 1) was acknowledged and is lost"),
    "another": ({"gamer": '"no"'}, "page (0, 1) is kept with {'gamer': 'no'}, which was never sent"),
    "the same": ({"gamer": '"yes"'}, ""),
}


@pytest.mark.parametrize("case", PAGES)
def test_answers_that_are_lost_or_others_are_found_out(case: str, tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    name = (kept.key, 0, 1)
    kept.ledger.sent[name] = [{"gamer": "yes"}]
    kept.ledger.acknowledged[name] = {"gamer": "yes"}
    rows, said = PAGES[case]
    with kept.store.engine.begin() as connection:
        page = {"person": 1, "step": 0, "page": "before", "attempt": 1}
        if rows:
            left = {"kind": "form", "left_at": 0.0, "elapsed_ms": 1.0, "n_wrong": 0, "epoch": 1}
            connection.execute(tables.visits.insert().values(page | left))
        for question, answer in rows.items():
            given = {"number": 0, "question": question, "kind": "choice", "text": "?", "answer": answer, "score": ""}
            connection.execute(tables.answers.insert().values(page | given | {"received_at": 0.0}))
    faults = kept.faults()
    assert said in faults
    assert bool(said) == bool(faults)
