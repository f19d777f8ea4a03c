"""A lab's own program that follows live results while everything breaks, and what it knows in the end."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Engine, select

from explorelab.study.admin import offline
from explorelab.study.database.tables import answers, choices, people

EVERY_S = 0.15


class Follower:
    """Asks again and again with the cursor of the last whole answer."""

    def __init__(self, folder: Path, port: int) -> None:
        self.token = offline.add_token(folder, "follower", "results").split()[0]
        self._address = f"http://127.0.0.1:{port}/api/results"
        self.cursor = ""
        self.people: dict[str, dict[str, Any]] = {}
        self.choices: dict[tuple[str, int, int], dict[str, Any]] = {}
        self.answers: dict[tuple[str, int, int, str], dict[str, Any]] = {}
        self.done: Counter[str] = Counter()
        self.faults: list[str] = []

    async def follow(self) -> None:
        """Ask until cancelled."""
        while True:
            await self.ask()
            await asyncio.sleep(EVERY_S)

    async def ask(self) -> bool:
        """One question; whether the answer was whole."""
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            try:
                answer = await client.get(
                    self._address,
                    params={"since": self.cursor, "pilots": "with"},
                    headers={"Authorization": f"Bearer {self.token}"},
                )
            except httpx.TransportError:  # killed, or not there yet
                self.done["unreachable"] += 1
                return False
        if answer.status_code == 410:
            self.done["started again"] += 1
            self.cursor, self.people, self.choices, self.answers = "", {}, {}, {}
            return False
        if answer.status_code != 200:
            self.done[f"status {answer.status_code}"] += 1
            if answer.status_code not in (429, 503):
                self.faults.append(f"the follower was answered {answer.status_code}: {answer.text[:200]}")
            return False
        return self._learn([json.loads(line) for line in answer.text.splitlines()])

    def _learn(self, lines: list[dict[str, Any]]) -> bool:
        for line in lines:
            if line["type"] == "choice":
                self.choices[line["participant"], line["block_number"], line["trial"]] = line
            elif line["type"] == "answer":
                self.answers[line["participant"], line["step"], line["attempt"], line["question"]] = line
            elif line["type"] == "person":
                self.people[line["participant"]] = line
        whole = bool(lines) and lines[-1]["type"] == "end"
        self.done["whole answers" if whole else "cut answers"] += 1
        if whole:
            self.cursor = lines[-1]["cursor"]
        return whole

    def compare(self, engine: Engine) -> list[str]:
        """Every difference between what the program knows and what is stored."""
        names = (choices.c.arm, choices.c.goal, choices.c.reward, choices.c.elapsed_ms, choices.c.flags)
        query = select(people.c.code, choices.c.block + 1, choices.c.trial + 1, *names).join_from(choices, people)
        with engine.connect() as connection:
            stored = {tuple(row[:3]): tuple(row[3:]) for row in connection.execute(query)}
            query = select(people.c.code, *answers.c).join_from(answers, people)
            kept = {
                (row.code, row.step + 1, row.attempt, row.question): json.loads(row.answer)
                for row in connection.execute(query)
            }
            persons = {row.code: (row.stage, row.points, row.bonus) for row in connection.execute(select(people))}
        known = {key: tuple(line[name.name] for name in names) for key, line in self.choices.items()}
        told = {code: (line["stage"], line.get("points"), line.get("bonus")) for code, line in self.people.items()}
        faults = [f"live results lack the choice {key[1:]}" for key in stored.keys() - known.keys()]
        if kept != {key: line["answer"] for key, line in self.answers.items()}:
            faults.append(f"{len(self.answers)} answers are live, {len(kept)} stored, or they differ")
        faults += [f"live results made up the choice {key[1:]}" for key in known.keys() - stored.keys()]
        faults += [f"{known[k]} is live, {stored[k]} stored" for k in known.keys() & stored.keys() if known[k] != stored[k]]
        faults += [f"a person is live as {told.get(k)}, stored as {v}" for k, v in persons.items() if told.get(k) != v]
        return self.faults + faults
