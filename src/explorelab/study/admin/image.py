"""The contents of the database, kept in memory for the researcher's page and updated with whatever is new.

Choices and events are only ever added, with growing numbers, so a look at the study costs only as much as is new. Each
choice has its place in tables of block x trial, so reading one twice changes nothing, and sums over them take no time. The
database counts events, again for each person with a new one. If something was deleted, everything is read again.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, Table, case, func, select

from explorelab._support.checks import Floats, Ints
from explorelab.study.database.tables import AnyRow, Person, blocks, choices, deletions, events, people, visits
from explorelab.study.session.pages.exclusions import failed_checks

OVERLAP = 1000
"""On PostgreSQL a row can appear after one with a higher number, so this many numbers are read again."""
CHUNK = 20_000
MOST_BLOCKS = 1000
"""Blocks per person at most: a block's key is the person's number times this, plus the block's number."""
LATELY_S = 60.0

PEOPLE = select(
    people.c.id, people.c.code, people.c.source, people.c.pilot, people.c.stage, people.c.cell, people.c.block,
    people.c.begun, people.c.points, people.c.arrived_at, people.c.seen_at, people.c.finished_at,
    people.c.plan, people.c.seed, people.c.path,
).order_by(people.c.id)  # fmt: skip


class BlockRow(NamedTuple):
    """A block that someone has begun."""

    id: int
    person: int
    number: int
    kind: str
    dynamic: str
    timing: str
    landscape: str
    n_trials: int
    deadline_ms: int
    name: str
    scene: str


type Flagged = tuple[int, int, int, str]
"""Person, block, trial and flags of a choice."""


class Sums(NamedTuple):
    """Sums over the choices of each block."""

    choices: list[int]
    missed: list[int]
    flags: dict[str, list[int]]


class Image:
    """People, blocks and choices as of the last `refresh`."""

    def __init__(self) -> None:
        self.people: list[Person] = []
        self.seed_of: dict[int, int] = {}
        self.version = 0
        """Changes whenever anything else does."""
        self._clear(0)

    def _clear(self, deletion: int) -> None:
        self._deletion = deletion
        self._marks = dict.fromkeys(("choices", "events", "blocks"), 0)
        self.failed_checks: dict[int, int] = {}
        """Attention checks failed, by person, for those who have failed any."""
        self._left = 0  # the newest page that someone has left
        self.blocks: list[BlockRow] = []
        self.rows_of: dict[int, dict[int, int]] = {}
        """By person and number of the block: its place in `blocks`, `sums`, and the tables of choices."""
        self.events: dict[int, dict[str, int]] = {}
        """Numbers of events by person and kind."""
        self.reward: Floats = np.full((0, 0), np.nan)
        """Rewards, block x trial; NaN if there is no choice yet."""
        self.overrun: Floats = np.full((0, 0), np.nan)
        self._missed: Floats = np.zeros((0, 0))
        self._flags: Floats = np.zeros((0, 0))  # sums of powers of two, one for each word
        self._words: list[str] = []
        self._recent: Floats = np.zeros((0, 3))  # number, person and time of the last minute's choices
        self.sums = Sums([], [], {})

    def refresh(self, connection: Connection, now: float) -> bool:
        """Read what is new; returns whether the earlier data still hold (otherwise everything was read again)."""
        deletion = int(connection.execute(select(func.coalesce(func.max(deletions.c.id), 0))).scalar_one())
        newest = {table.name: _newest(connection, table) for table in (choices, events, blocks)}
        held = deletion == self._deletion and all(newest[name] >= mark for name, mark in self._marks.items())
        if not held:
            self._clear(deletion)
        overlap = 0 if connection.dialect.name == "sqlite" else OVERLAP
        new = {name: newest[name] > mark or (overlap > 0 and mark > 0) for name, mark in self._marks.items()}
        after = {name: max(mark - overlap, 0) for name, mark in self._marks.items()}
        # Each query may see a newer state of the database; in this order every choice finds its block and person.
        made = _made(connection, after["choices"]) if new["choices"] else np.zeros((0, 8))
        flagged = _flagged(connection, after["choices"]) if new["choices"] else []
        if new["events"]:
            self._count_events(connection, after["events"])
        if new["blocks"]:
            self._read_blocks(connection, after["blocks"])
        everyone: list[Person] = list(connection.execute(PEOPLE))
        # Only studies with pages of their own need to look at what was left.
        left = _newest(connection, visits) if any(person.path is not None for person in everyone) else 0
        if left != self._left:
            self.failed_checks = failed_checks(connection)
        self._remember_recent(made, now)
        self._keep(made, flagged)
        if newest != self._marks or left != self._left or not held or everyone != self.people:
            self.version += 1
        self.people = everyone
        self.seed_of = {person.id: person.seed for person in everyone}
        self._marks, self._left = newest, left
        return held

    def n_recent(self, persons: set[int]) -> int:
        """Choices of these people in the last minute."""
        return int(np.isin(self._recent[:, 1], np.fromiter(persons, np.float64, len(persons))).sum())

    def _count_events(self, connection: Connection, after: int) -> None:
        query = select(events.c.person, events.c.kind, func.count()).group_by(events.c.person, events.c.kind)
        if after:
            query = query.where(events.c.person.in_(select(events.c.person).where(events.c.id > after)))
        counted: dict[int, dict[str, int]] = {}
        for person, kind, n in connection.execute(query):
            counted.setdefault(person, {})[kind] = n
        self.events |= counted

    def _read_blocks(self, connection: Connection, after: int) -> None:
        columns = [blocks.c[name] for name in BlockRow._fields]
        for row in connection.execute(select(*columns).where(blocks.c.id > after).order_by(blocks.c.id)):
            block = BlockRow(*row)
            rows = self.rows_of.setdefault(block.person, {})
            if block.number not in rows:
                rows[block.number] = len(self.blocks)
                self.blocks.append(block)
        shape = len(self.blocks), max((block.n_trials for block in self.blocks), default=0)
        self.reward, self.overrun = (_grown(values, shape, np.nan) for values in (self.reward, self.overrun))
        self._missed, self._flags = (_grown(values, shape, 0.0) for values in (self._missed, self._flags))

    def _remember_recent(self, made: Floats, now: float) -> None:
        recent = np.concatenate([self._recent, made[:, [0, 1, 7]]])
        recent = recent[recent[:, 2] > now - LATELY_S]
        self._recent = recent[np.unique(recent[:, 0], return_index=True)[1]]

    def _keep(self, made: Floats, flagged: list[Flagged]) -> None:
        """Enter choices into the tables and update the sums."""
        if not len(made) and len(self.sums.choices) == len(self.blocks):
            return
        row, trial = self._places(made[:, 1], made[:, 2]), made[:, 3].astype(np.int64)
        known = (row >= 0) & (trial < self.reward.shape[1])
        at = row[known], trial[known]
        self.reward[at], self.overrun[at], self._missed[at] = made[known, 4], made[known, 5], made[known, 6]
        for person, block, number, flags in flagged:
            place = self.rows_of.get(person, {}).get(block)
            if place is not None and number < self.reward.shape[1]:
                self._flags[place, number] = sum(2.0 ** self._bit(word) for word in set(flags.split()))
        bits = self._flags.astype(np.int64)
        self.sums = Sums(
            np.isfinite(self.reward).sum(1).tolist(),
            self._missed.sum(1).astype(np.int64).tolist(),
            {word: (bits >> bit & 1).sum(1).tolist() for bit, word in enumerate(self._words)},
        )

    def _places(self, person: Floats, block: Floats) -> Ints:
        """The rows of the tables for these people and blocks; -1 where there is none."""
        keys, back = np.unique(person.astype(np.int64) * MOST_BLOCKS + block.astype(np.int64), return_inverse=True)
        split = (divmod(key, MOST_BLOCKS) for key in keys.tolist())
        return np.array([self.rows_of.get(who, {}).get(number, -1) for who, number in split], np.int64)[back]

    def _bit(self, word: str) -> int:
        if word not in self._words:
            self._words.append(word)
        return self._words.index(word)


def _newest(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one())


def _made(connection: Connection, after: int) -> Floats:
    """Number, person, block, trial, reward, overrun, whether missed, and time of the choices above a number."""
    query = select(
        choices.c.id, choices.c.person, choices.c.block, choices.c.trial, choices.c.reward, choices.c.overrun_ms,
        case((choices.c.missed, 1), else_=0), choices.c.received_at,
    ).where(choices.c.id > after)  # fmt: skip
    flat = [np.fromiter(chain.from_iterable(part), np.float64) for part in connection.execute(query).partitions(CHUNK)]
    return np.concatenate([np.zeros(0), *flat]).reshape(-1, 8)


def _flagged(connection: Connection, after: int) -> list[Flagged]:
    """Person, block, trial and flags of the choices above a number that have flags."""
    query = select(choices.c.person, choices.c.block, choices.c.trial, choices.c.flags)
    rows: list[AnyRow] = list(connection.execute(query.where(choices.c.id > after, choices.c.flags != "")))
    return rows


def _grown(values: Floats, shape: tuple[int, int], empty: float) -> Floats:
    """The values, in the corner of a larger table if they need more room."""
    if values.shape == shape:
        return values
    larger = np.full(shape, empty)
    larger[: values.shape[0], : values.shape[1]] = values
    return larger
