"""Numbers about the requests of a server's processes: each counts its own, and stores them now and then for the others."""

from __future__ import annotations

import json
import secrets
from bisect import bisect_left
from collections import Counter
from typing import TypedDict

from sqlalchemy import Connection, delete, select

from explorelab.study.database.store import keep
from explorelab.study.database.tables import settings
from explorelab.study.database.waiting import Load

PREFIX = "requests:"
"""How the settings begin in which processes tell each other their counts."""
FORGOTTEN_S = 60.0
"""A process that has not been heard of for so long has ended."""
BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
STORED = {"/api/choice": "choice", "/api/page": "page"}
"""Requests whose answer says that something of a participant is on disk, and what to call it."""


class Told(TypedDict):
    """What a process tells of itself."""

    at: float
    statuses: dict[str, int]
    """Requests that were refused or failed, by the status of the answer."""
    took: dict[str, list[int]]
    """For each kind of `STORED`, how many answers took up to each of `BUCKETS_S`, and longer."""
    took_s: dict[str, float]
    """How long they took together."""
    waiting: int


class RequestCounts:
    """The counts of this process since it began."""

    def __init__(self, load: Load) -> None:
        self.name = secrets.token_hex(4)
        self._load = load
        self._statuses: Counter[str] = Counter()
        self._took = {kind: [0] * (len(BUCKETS_S) + 1) for kind in STORED.values()}
        self._took_s = dict.fromkeys(STORED.values(), 0.0)

    def note(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        if status >= 400:
            self._statuses[str(status)] += 1
        elif kind := STORED.get(path):
            self._took[kind][bisect_left(BUCKETS_S, seconds)] += 1
            self._took_s[kind] += seconds

    def tell(self, connection: Connection, now: float) -> None:
        """Store the counts."""
        told: Told = {
            "at": now, "statuses": dict(self._statuses), "took": self._took, "took_s": self._took_s,
            "waiting": self._load.waiting,
        }  # fmt: skip
        keep(connection, PREFIX + self.name, json.dumps(told))

    def all_told(self, connection: Connection, now: float) -> dict[str, Told]:
        """What every process has stored, by its name: only what is stored, so that no count ever becomes smaller."""
        self.tell(connection, now)
        rows = connection.execute(select(settings).where(settings.c.name.startswith(PREFIX)).order_by(settings.c.name))
        found = {row.name.removeprefix(PREFIX): json.loads(row.value) for row in rows}
        old = [name for name, told in found.items() if now - told["at"] > FORGOTTEN_S]
        if old:
            connection.execute(delete(settings).where(settings.c.name.in_([PREFIX + name for name in old])))
        return {name: told for name, told in found.items() if name not in old}
