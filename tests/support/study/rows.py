"""A small study and a database with people in it, as the server would have left them there."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, insert

from explorelab.study.config.blocks.scenes import reward
from explorelab.study.config.design import BlockPlan, Payment, Study, Texts
from explorelab.study.database.tables import blocks, choices, consents, deletions, events, metadata, people
from explorelab.tasks import grid, integer_noise, landscape, with_noise

BEGAN = 1_700_000_000.0
CONSENT = "# Consent\n\nYou may stop at any time. Für alle: ja.\n"
PAGES = {"consent": CONSENT, "instructions": "Click.\n", "debriefing": "Thanks.\n", "declined": "Bye.\n"}


def small_study(n_trials: int = 12, **changes: Any) -> Study:
    """A study on 4 x 3 squares with two timings, all three dynamics and two landscapes, after a training block."""
    means = np.arange(12.0).reshape(4, 3)
    landscapes = {
        "A": replace(with_noise(grid(means), integer_noise(2)), note=landscape("A").note),
        "B": with_noise(grid(30 - means), integer_noise(2)),
        "peak": with_noise(grid(np.eye(4, 3) * 50), integer_noise(1)),
    }
    study = Study(
        name="small-study_1",
        title="A small study",
        width=4,
        height=3,
        landscapes=landscapes,
        timings={"fast": 300, "slow": 900},
        training=(BlockPlan("training", "standard", "slow", 900, "peak", 3),),
        task_timings=("fast", "slow"),
        task_dynamics=("standard", "neighbour", "travel"),
        task_landscapes=("A", "B"),
        n_task_blocks=2,
        n_trials=n_trials,
        texts=Texts("en", "ltr", PAGES, {}),
        payment=Payment(currency="USD", base=2.0, per_point=0.01, most=3.0),
    )
    return replace(study, **changes)


class Filler:
    """Enters people into a database; the same calls enter the same rows."""

    def __init__(self, engine: Engine, study: Study) -> None:
        self.engine, self.study, self.n = engine, study, 0
        metadata.create_all(engine)

    def person(
        self, stage: str = "finished", *, source: str = "prolific", cell: int = 0, until: int | None = None, **more: Any
    ) -> str:
        """Someone at this stage, who made `until` choices in all (None: all of them); says their code."""
        self.n += 1
        i, pilot = self.n, source == "pilot"
        code = f"P{sha256(str(i).encode()).hexdigest()[:9].upper()}"
        arrived = BEGAN + 100.0 * i + 0.125
        agreed = stage not in ("consent", "declined")
        values: dict[str, Any] = {
            "code": code, "identity": sha256(f"secret {i}".encode()).hexdigest(), "source": source,
            "platform_id": f"{i:024x}" if source in ("prolific", "mturk") else None,
            "platform_session": f"SESSION{i}" if source in ("prolific", "mturk") else None,
            "platform_study": "STUDYONPLATFORM" if source in ("prolific", "mturk") else None,
            "pilot": pilot, "seed": 4_000_000_000_000_000_000 + i, "stage": stage,
            "cell": self.study.cells[cell % len(self.study.cells)].name if agreed else None, "block": 0, "begun": False,
            "epoch": 1 + i % 2, "page": f"{i:032x}", "points": 0.0, "arrived_at": arrived, "seen_at": arrived + 90,
            "finished_at": arrived + 90 if stage == "finished" else None, "agent": "=random-choice" if pilot else None,
        }  # fmt: skip
        with self.engine.begin() as connection:
            number = connection.execute(insert(people).values(values)).inserted_primary_key[0]  # type: ignore[index]
            if stage != "consent":
                version = sha256(CONSENT.encode()).hexdigest()
                connection.execute(
                    insert(consents).values(person=number, agreed=agreed, at=arrived + 1, version=version, text=CONSENT)
                )
            points = self._play(connection, number, cell, until) if agreed else 0.0
            connection.execute(people.update().where(people.c.id == number).values({"points": points, **more}))
            self._events(connection, number, arrived)
        return code

    def deleted(self) -> str:
        """Someone who took part and had everything deleted: the bare row is left."""
        code = self.person("finished")
        with self.engine.begin() as connection:
            number = connection.execute(people.select().where(people.c.code == code)).one().id
            for table in (choices, events, blocks, consents):
                connection.execute(table.delete().where(table.c.person == number))
            gone = {"stage": "withdrawn", "platform_id": None, "platform_session": None, "cell": None, "points": 0.0}
            connection.execute(people.update().where(people.c.id == number).values(gone))
            connection.execute(insert(deletions).values(at=BEGAN, by="participant", n_choices=27))
        return code

    def _play(self, connection: Connection, person: int, cell: int, until: int | None) -> float:
        study, rng = self.study, np.random.default_rng([7, person])
        points, left = 0.0, 10**9 if until is None else until
        for number, plan in enumerate(study.plan(study.cells[cell % len(study.cells)])):
            if not left:
                break
            start = int(rng.integers(study.n_arms))
            begun = BEGAN + 100.0 * person + 10 * number
            connection.execute(
                insert(blocks).values(person=person, number=number, start=start, begun_at=begun, **plan._asdict())
            )
            rows = list(self._choices(rng, person, number, plan, start, begun, min(left, plan.n_trials)))
            connection.execute(insert(choices), rows)
            left -= len(rows)
            points += sum(row["reward"] for row in rows) if plan.kind == "task" else 0.0
        return points

    def _choices(self, rng: Any, person: int, number: int, plan: BlockPlan, start: int, begun: float, n: int) -> Any:
        study, position, yellow = self.study, start, start
        for trial in range(n):
            missed = trial % 7 == 5
            clicks = [] if missed else self._clicks(rng, plan, position)
            goal = clicks[-1][0] if clicks else yellow
            arm = study.board.sampled(plan.dynamic, position, goal)
            overrun = 120.5 if trial == 4 else 3.25
            yield {
                "person": person, "block": number, "trial": trial, "position": position, "goal": goal, "arm": arm,
                "reward": reward(study.landscapes[plan.landscape], arm, person, number, trial), "missed": missed,
                "n_clicks": len(clicks), "first_click_ms": clicks[0][1] if clicks else None,
                "last_click_ms": clicks[-1][1] if clicks else None, "clicks": json.dumps(clicks, separators=(",", ":")),
                "elapsed_ms": plan.deadline_ms + overrun, "overrun_ms": overrun, "pauses": int(trial == 3), "epoch": 1,
                "attempts": 1 + (trial == 2), "received_at": begun + trial + 0.0625,
                "flags": " ".join(["overrun"] * (trial == 4) + ["retried"] * (trial == 2)),
            }  # fmt: skip
            position, yellow = arm, goal if plan.dynamic == "travel" else arm

    def _clicks(self, rng: Any, plan: BlockPlan, position: int) -> list[list[float]]:
        squares = self.study.board.allowed(plan.dynamic, position) or tuple(range(self.study.n_arms))
        picked = [int(rng.choice(squares)) for _ in range(int(rng.integers(1, 4)))]
        times = np.sort(rng.uniform(20, plan.deadline_ms, len(picked))).round(2).tolist()
        return [list(pair) for pair in zip(picked, times, strict=True)]

    def _events(self, connection: Connection, person: int, at: float) -> None:
        kinds = [("visible", None, None, None), ("hidden", 1, 3, None), ("@slow", 1, 4, 812.5)]
        rows = [
            {"person": person, "epoch": 1, "number": n, "kind": kind, "block": block, "trial": trial,
             "page_ms": 250.5 * n, "value": value, "received_at": at + n}
            for n, (kind, block, trial, value) in enumerate(kinds)
        ]  # fmt: skip
        connection.execute(insert(events), rows)


def fill(engine: Engine, study: Study) -> dict[str, str]:
    """A study with one of everything; the codes of people by what they are."""
    filler = Filler(engine, study)
    n = study.n_trials
    return {
        "prolific": filler.person(cell=0),
        "mturk": filler.person(source="mturk", cell=9),
        "plain": filler.person(source="plain", cell=17),
        "new": filler.person("consent"),
        "declined": filler.person("declined"),
        "training": filler.person("play", cell=3, until=2),
        "half-way": filler.person("play", cell=5, until=3 + n + n // 2),
        "one choice": filler.person("play", cell=6, until=4),
        "withdrawn": filler.person("withdrawn", cell=7, until=3 + n),
        "deleted": filler.deleted(),
        "reading": filler.person("debriefing", cell=8),
        "robot": filler.person(source="pilot", cell=2),
        "another robot": filler.person("play", source="pilot", cell=4, until=6),
        "poor": filler.person(cell=11, points=-5.0),
        "rich": filler.person(cell=12, points=10_000.0),
    }


def fill_many(engine: Engine, study: Study, n_choices: int) -> None:
    """People with one long task block of 2000 choices each, quickly."""
    metadata.create_all(engine)
    each = 2000
    with engine.begin() as connection:
        for person in range(1, n_choices // each + 1):
            values = {
                "id": person, "code": f"P{person}", "identity": f"{person}", "source": "plain", "pilot": False, "seed": 1,
                "stage": "play", "epoch": 1, "page": "", "points": 0.0, "arrived_at": BEGAN, "seen_at": BEGAN,
            }  # fmt: skip
            connection.execute(insert(people).values(values))
            connection.execute(insert(consents).values(person=person, agreed=True, at=BEGAN, version="0", text="ja" * 5000))
            plan = BlockPlan("task", "travel", "fast", 300, "A", each)
            connection.execute(insert(blocks).values(person=person, number=0, start=0, begun_at=BEGAN, **plan._asdict()))
            row = {
                "person": person, "block": 0, "position": 4, "goal": 5, "arm": 5, "reward": 3.0, "missed": False,
                "n_clicks": 2, "first_click_ms": 100.25, "last_click_ms": 200.5, "clicks": "[[4,100.25],[5,200.5]]",
                "elapsed_ms": 300.5, "overrun_ms": 0.5, "pauses": 0, "epoch": 1, "attempts": 1, "flags": "",
            }  # fmt: skip
            rows = [{**row, "trial": trial, "received_at": BEGAN + trial} for trial in range(each)]
            connection.execute(insert(choices), rows)


def contents(out: Path) -> dict[str, bytes]:
    """What is in the files of a folder."""
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
