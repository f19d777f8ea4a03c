"""The researcher's overview: where people are, one by one and in all, and how the conditions fill."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import Counter

import numpy as np
from sqlalchemy import Connection

from explorelab.study.admin.advice_counts import advice_counts
from explorelab.study.admin.answers import CellCount, Overview, People, PersonRow, Totals
from explorelab.study.admin.image import Image
from explorelab.study.admin.live_regret import Bests, Forms, curves
from explorelab.study.admin.quality import FOCUS, HIDDEN, NETWORK, n_events, quality
from explorelab.study.config.design import BlockPlan, Study
from explorelab.study.database.tables import Person
from explorelab.study.session.doubts import doubts
from explorelab.study.session.game import plans
from explorelab.study.session.stages import ENDED, KEPT, PLAYED, UNDER_WAY, Stage

GONE = "gone"
PLACES = (*(stage.value for stage in KEPT if stage != Stage.PLAY), "training", "task", GONE)
"""Where people are: at a stage, in a block of one of the two kinds, or gone."""
FAILED_CHECK = "failed-check"
"""How the list of people calls a failed attention check, beside the flags of choices."""
UNCHANGED_S = 10.0
"""How long an answer holds if nothing happens: with time, people count as gone and choices leave the last minute."""


def place_of(study: Study, person: Person, plan: tuple[BlockPlan, ...], now: float) -> str:
    """Where someone is, as the page names it: one of PLACES."""
    if person.stage in ENDED:
        return str(person.stage)
    if now - person.seen_at > 60 * study.server.return_within_minutes:
        return GONE
    if person.stage == Stage.PLAY:
        return plan[person.block].kind if person.block < len(plan) else "task"
    return str(person.stage)


def plan_of(study: Study, person: Person) -> tuple[BlockPlan, ...]:
    """The blocks someone was promised; none before consent, or if the study no longer has the condition."""
    known = person.plan is not None or any(cell.name == person.cell for cell in study.cells)
    return plans(study, person) if known else ()


class Overviews:
    """Answers about the study, from one image of it that all requests share."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._lock = threading.Lock()
        self._image = Image()
        self._bests = Bests(study)
        self._forms = Forms(study, self._bests)
        self._plans: dict[tuple[str | None, str | None], tuple[BlockPlan, ...]] = {}
        self._answers: dict[bool, tuple[int, float, bytes]] = {}
        self._rows: dict[int, tuple[int, PersonRow]] = {}
        self._rows_of = (-1, 0.0)  # the version of the image, and the time, that the rows were made at
        self._name = secrets.token_hex(4)  # marks versions as ours, not another process's
        self._version = 0

    def overview(self, connection: Connection, pilots: bool, now: float) -> tuple[bytes, str]:
        """The overview as JSON, and a tag that changes when it does."""
        with self._lock:
            self._refresh(connection, now)
            version, made_at, body = self._answers.get(pilots, (-1, 0.0, b""))
            if self._is_old(version, made_at, now):
                body = self._overview(connection, pilots, now).model_dump_json().encode()
                self._answers[pilots] = (self._image.version, now, body)
        return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'

    def people(self, connection: Connection, since: str, now: float) -> People:
        """The people whose row changed since that version, or everyone if the version is unknown."""
        with self._lock:
            self._refresh(connection, now)
            if self._is_old(*self._rows_of, now):
                self._renew_rows(now)
            name, _, number = since.partition(".")
            full = name != self._name or not number.isdecimal()
            after = -1 if full else int(number)
            rows = [row for version, row in self._rows.values() if version > after]
            version = f"{self._name}.{self._version}"
        return People(version=version, now=now, full=full, columns=PersonRow._fields, rows=rows)

    def _is_old(self, version: int, made_at: float, now: float) -> bool:
        """Whether an answer must be remade: something happened, or enough time has passed to matter."""
        return version != self._image.version or not 0 <= now - made_at < UNCHANGED_S

    def _refresh(self, connection: Connection, now: float) -> None:
        if not self._image.refresh(connection, now):
            self._forms.forget()
            self._bests.forget()

    def _plan(self, person: Person) -> tuple[BlockPlan, ...]:
        key = person.cell, person.plan
        if key not in self._plans:
            self._plans[key] = plan_of(self._study, person)
        return self._plans[key]

    def _overview(self, connection: Connection, pilots: bool, now: float) -> Overview:
        study, image = self._study, self._image
        among = [person for person in image.people if person.pilot == pilots]
        numbers = {person.id for person in among}
        n_pilots = len(among) if pilots else len(image.people) - len(among)
        return Overview(
            name=study.name, title=study.title, pilots=pilots, n_people=len(image.people) - n_pilots, n_pilots=n_pilots,
            n_blocks=len(study.training) + study.n_task_blocks, n_trials=study.n_trials,
            return_within_minutes=study.server.return_within_minutes,
            totals=self._totals(among, numbers, now), cells=self._cells(among, now),
            curves=curves(study, image, numbers, self._bests), phenotypes=self._forms.phenotypes(image, numbers),
            quality=quality(study, image, numbers), advice=advice_counts(connection, study, pilots),
        )  # fmt: skip

    def _totals(self, among: list[Person], numbers: set[int], now: float) -> Totals:
        places = [place_of(self._study, person, self._plan(person), now) for person in among]
        lasted = [person.finished_at - person.arrived_at for person in among if person.finished_at is not None]
        here = [who for who, place in zip(among, places, strict=True) if place not in (*ENDED, GONE)]
        found = Counter(places)
        image = self._image
        return Totals(
            arrived=len(among), consented=sum(person.cell is not None for person in among),
            **{place: found[place] for place in PLACES},
            median_minutes_finished=_median_minutes(lasted),
            median_minutes_active=_median_minutes([now - person.arrived_at for person in here]),
            choices=sum(n for block, n in zip(image.blocks, image.sums.choices, strict=True) if block.person in numbers),
            choices_last_minute=image.n_recent(numbers), doubted=sum(bool(self._doubts(person)) for person in among),
        )  # fmt: skip

    def _cells(self, among: list[Person], now: float) -> list[CellCount]:
        """People as they count for the balance of conditions."""
        since = now - 60 * self._study.server.return_within_minutes
        finished = Counter(person.cell for person in among if person.stage in PLAYED)
        active = Counter(person.cell for person in among if person.stage in UNDER_WAY and person.seen_at >= since)
        return [
            CellCount(
                name=cell.name,
                levels=cell.factors,
                active=active[cell.name],
                finished=finished[cell.name],
            )
            for cell in self._study.cells
        ]

    def _renew_rows(self, now: float) -> None:
        """Make every person's row, and give changed rows a new version."""
        version = self._version + 1
        for person in self._image.people:
            row = self._row(person, now)
            if person.id not in self._rows or self._rows[person.id][1] != row:
                self._rows[person.id] = (version, row)
                self._version = version
        self._rows_of = (self._image.version, now)

    def _flags(self, person: Person) -> dict[str, int]:
        """How many of someone's choices have each flag."""
        rows = self._image.rows_of.get(person.id, {}).values()
        return {flag: n for flag, each in self._image.sums.flags.items() if (n := sum(each[row] for row in rows))}

    def _all_flags(self, person: Person) -> list[tuple[str, int]]:
        """Flags of someone's choices, and the attention checks they have failed."""
        failed = self._image.failed_checks.get(person.id, 0)
        return [*sorted(self._flags(person).items()), *([(FAILED_CHECK, failed)] if failed else [])]

    def _doubts(self, person: Person) -> tuple[str, ...]:
        """Why someone may not have played by hand or in time."""
        image = self._image
        if person.pilot:
            return ()
        rows = image.rows_of.get(person.id, {}).values()
        made, missed = (sum(each[row] for row in rows) for each in image.sums[:2])
        return doubts(made, {**self._flags(person), "absent": missed}, image.events.get(person.id, ()))

    def _row(self, person: Person, now: float) -> PersonRow:
        image, plan = self._image, self._plan(person)
        rows = image.rows_of.get(person.id, {})
        made, missed, _ = image.sums
        ahead = plan[person.block].n_trials if person.block < len(plan) else 0
        return PersonRow(
            code=person.code, source=person.source, pilot=person.pilot,
            place=place_of(self._study, person, plan, now), cell=person.cell or "",
            block=person.block, n_blocks=len(plan),
            trial=made[rows[person.block]] if person.block in rows else 0, n_trials=ahead,
            points=round(person.points, 1), choices=sum(made[row] for row in rows.values()),
            missed=sum(missed[row] for row in rows.values()), focus_losses=n_events(image, person.id, FOCUS),
            hidden_pauses=n_events(image, person.id, HIDDEN), slow_network=n_events(image, person.id, NETWORK),
            flags=" ".join(f"{flag} {n}" for flag, n in self._all_flags(person)),
            doubts=" ".join(self._doubts(person)),
            arrived_at=round(person.arrived_at, 1), seen_at=round(person.seen_at, 1),
        )  # fmt: skip


def _median_minutes(seconds: list[float]) -> float | None:
    return round(float(np.median(seconds)) / 60, 1) if seconds else None
