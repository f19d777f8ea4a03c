"""A study with forms before its blocks, and simulated people who fill them in while others choose: for study_load.py."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path
from typing import Any

from bench.study_crowd import Connection, Participant, request

MOST_FORMS = 97
"""A study has at most a hundred pages."""
N_QUESTIONS = 10
WHO = """
[[questions]]
name = "role"
kind = "choice"
text = "What will you do?"
options = {chooses = "Choose squares", answers = "Answer questions"}
"""
QUESTION = """
[[questions]]
name = "q{number}"
kind = "scale"
steps = 7
text = "How much do you agree with statement number {number}?"
"""
PAGE = """
[[pages]]
kind = "form"
name = "form-{number}"
file = "form.toml"
show_if.who.role = "answers"
"""


def add_forms(folder: Path, seconds: float, clock_s: float) -> None:
    """Let the study ask everyone what they do, and some of them a form of ten questions on every tick of the clock."""
    n = min(MOST_FORMS, math.ceil(seconds / clock_s) + 5)
    (folder / "who.toml").write_text(WHO, encoding="utf-8")
    (folder / "form.toml").write_text(
        "".join(QUESTION.format(number=number) for number in range(N_QUESTIONS)), encoding="utf-8"
    )
    pages = ['\n[[pages]]\nkind = "form"\nfile = "who.toml"\n', *(PAGE.format(number=number) for number in range(n))]
    with (folder / "study.toml").open("a", encoding="utf-8") as toml:
        toml.write("".join([*pages, '\n[[pages]]\nkind = "blocks"\n']))


class Chooser(Participant):
    """Someone who says that they will choose, and does."""

    role = "chooses"
    seen_as = "seconds"

    async def begin(self, state: dict[str, Any]) -> None:
        """Answer the first form; then begin the block."""
        state = await self._answered_first(state)
        self._block = (await self._post("/api/begin", epoch=self._epoch, block=0))["state"]["block"]

    async def _answered_first(self, state: dict[str, Any]) -> dict[str, Any]:
        said = await self._post("/api/page", epoch=self._epoch, **_report(state["page"], {"role": self.role}))
        return dict(said["state"])


class Answerer(Chooser):
    """Someone who fills in one form after another."""

    role = "answers"
    seen_as = "forms"

    def __init__(self, connection: Connection, clock_s: float, seed: int) -> None:
        super().__init__(connection, clock_s, seed)
        self._answers, self.shown_at = random.Random(seed), time.perf_counter()

    async def begin(self, state: dict[str, Any]) -> None:
        """Answer the first form."""
        self._page = (await self._answered_first(state))["page"]

    def choice(self) -> bytes:
        """The request that leaves the form."""
        answers = {f"q{number}": self._answers.randint(1, 7) for number in range(N_QUESTIONS)}
        return request("/api/page", {"epoch": self._epoch, **_report(self._page, answers)}, self.token)

    def answered(self, answer: bytes) -> None:
        """Go on to the next form."""
        self._page = self.read(answer)["state"]["page"]

    async def look(self, seen: dict[str, Any]) -> None:
        """There is no advice on forms."""


def _report(page: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    times = {name: 500.0 + 10 * number for number, name in enumerate(answers)}
    return {"step": page["step"], "attempt": page["attempt"], "answers": answers, "elapsed_ms": 1000.0, "times": times}
