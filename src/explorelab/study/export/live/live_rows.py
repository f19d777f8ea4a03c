"""What live results consist of: choices and people as JSON, read in small pieces between two numbers of changes.

Nothing holds the database between two pieces: a row with a number in that range can only vanish, because its person had
their data deleted or, for a person, because they went on, and then they come again with a later number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, true, tuple_
from sqlalchemy.orm import aliased

from explorelab._support.written_numbers import Json
from explorelab.study.config.blocks.block_design import BlockDesign
from explorelab.study.config.design import Study
from explorelab.study.database.change_numbers import FEED
from explorelab.study.database.refusals import invalid
from explorelab.study.database.tables import AnyRow, answers, blocks, choices, consents, people, settings
from explorelab.study.export.rows import ABOUT_BLOCK, cells_of, choice_columns
from explorelab.study.session.choice_fields import ALL, ChoiceRead
from explorelab.study.session.stages import Stage

AT_ONCE = 500
"""Rows that are read at once: a few milliseconds."""
PILOTS = ("without", "with", "only")


class Since(NamedTuple):
    """From where on someone wants the results."""

    number: int = -1
    """Changes after this one."""
    at: float | None = None
    """Nothing before this moment."""


class Place(NamedTuple):
    """How far the rows of a kind have been read: those of smaller numbers, and of this one those up to a row."""

    number: int
    row: int = 0


_CURSOR = re.compile(r"([0-9a-f]{8})\.([0-9]{1,18})", re.ASCII)
"""The feed, which may be digits only, and a number; no moment is written like this."""


def cursor(feed: str, number: int) -> str:
    """What a program sends the next time, to go on where it was."""
    return f"{feed}.{number}"


def since(text: str, feed: str, last: int) -> Since | None:
    """What was asked for: all, all after a cursor, or all since a moment.

    None for a cursor from before a restore, also one that was made by hand: its number may be greater than the last.
    """
    if not text:
        return Since()
    if found := _CURSOR.fullmatch(text):
        number = int(found[2])
        return Since(number) if found[1] == feed and number <= last else None
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        raise invalid(
            'since must be a cursor from an earlier answer or a moment such as "2026-03-01T09:00:00Z", got neither.'
        ) from None
    return Since(at=(moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def feed_of(connection: Connection) -> str:
    """The name of this run of numbers: another one begins when a backup is restored."""
    return str(connection.execute(select(settings.c.value).where(settings.c.name == FEED)).scalar_one())


type Piece = tuple[list[dict[str, Json]], Place | None]
"""Some rows, and from where to go on; None at the end."""
type Reader = Callable[[Connection, Study, Since, Place, int, str], Piece]


def choices_piece(connection: Connection, study: Study, asked: Since, place: Place, until: int, pilots: str) -> Piece:
    """Choices in the order in which they were stored."""
    earlier = aliased(blocks)
    number = (
        select(func.count())
        .where(earlier.c.person == blocks.c.person, earlier.c.kind == "task", earlier.c.number <= blocks.c.number)
        .scalar_subquery()
    )
    query = (
        select(people.c.code, people.c.pilot, *ABOUT_BLOCK, number.label("n_task"), *choices.c)
        .join_from(choices, people, people.c.id == choices.c.person)
        .join(consents, and_(consents.c.person == people.c.id, consents.c.agreed.is_(True)))
        .join(blocks, and_(blocks.c.person == choices.c.person, blocks.c.number == choices.c.block))
        .where(_is_wanted(pilots))
    )
    if asked.at is not None:
        query = query.where(choices.c.received_at >= asked.at)
    found, following = _piece(connection, query, choices.c, place, until)
    cells = _cells(study.advice is not None, study.design)

    def line(row: AnyRow) -> dict[str, Json]:
        told = ChoiceRead(row, row.n_task if row.kind == "task" else None, study)
        return {"type": "choice"} | {name: _json(name, cell) for name, cell in cells(told)}

    return [line(row) for row in found], following


def answers_piece(connection: Connection, study: Study, asked: Since, place: Place, until: int, pilots: str) -> Piece:
    """Answers to the questions of pages, in the order in which they were stored."""
    query = (
        select(people.c.code, people.c.pilot, *answers.c)
        .join_from(answers, people, people.c.id == answers.c.person)
        .join(consents, and_(consents.c.person == people.c.id, consents.c.agreed.is_(True)))
        .where(_is_wanted(pilots))
    )
    if asked.at is not None:
        query = query.where(answers.c.received_at >= asked.at)
    found, following = _piece(connection, query, answers.c, place, until)
    return [_answer(row) for row in found], following


def people_piece(connection: Connection, study: Study, asked: Since, place: Place, until: int, pilots: str) -> Piece:
    """People as they are now: those who agreed and, without anything else, those who left or had their data deleted."""
    query = (
        select(people, consents.c.id.label("agreed"))
        .select_from(people.outerjoin(consents, and_(consents.c.person == people.c.id, consents.c.agreed.is_(True))))
        .where(or_(consents.c.id.is_not(None), people.c.stage == Stage.WITHDRAWN), _is_wanted(pilots))
    )
    if asked.at is not None:
        # Who deletes someone's data does not see them, and a program may have read them before.
        query = query.where(or_(people.c.seen_at >= asked.at, consents.c.id.is_(None)))
    found, following = _piece(connection, query, people.c, place, until)
    return [_person(row) for row in found], following


KINDS: tuple[Reader, ...] = (choices_piece, answers_piece, people_piece)
"""In this order: whoever reads a person knows their choices and answers so far."""


def _answer(row: AnyRow) -> dict[str, Json]:
    return {
        "type": "answer", "participant": row.code, "page_name": row.page, "step": row.step + 1, "attempt": row.attempt,
        "question": row.question, "question_kind": row.kind, "question_text": row.text, "answer": json.loads(row.answer),
        "passed": row.passed, "score": row.score, "counted": row.points, "answered_ms": row.answered_ms,
        "received_at": _moment(row.received_at),
    }  # fmt: skip


def _person(row: AnyRow) -> dict[str, Json]:
    told: dict[str, Json] = {"type": "person", "participant": row.code, "stage": row.stage, "deleted": row.agreed is None}
    if row.agreed is None:
        return told
    return told | {
        "source": row.source, "pilot": row.pilot, "language": row.language, "condition": row.cell,
        "block_number": row.block + 1, "points": row.points, "bonus": row.bonus, "arrived_at": _moment(row.arrived_at),
        "seen_at": _moment(row.seen_at), "finished_at": _moment(row.finished_at),
    }  # fmt: skip


def _piece(
    connection: Connection, query: Select[AnyRow], table: AnyRow, place: Place, until: int
) -> tuple[Sequence[AnyRow], Place | None]:
    after = tuple_(table.changed, table.id) > tuple_(place.number, place.row)
    inside = query.where(after, table.changed <= until).order_by(table.changed, table.id).limit(AT_ONCE)
    found = connection.execute(inside).all()
    full = len(found) == AT_ONCE
    return found, Place(found[-1].changed, found[-1].id) if full else None


def _is_wanted(pilots: str) -> ColumnElement[bool]:
    return true() if pilots == "with" else people.c.pilot.is_(pilots == "only")


@cache
def _cells(advice: bool, design: BlockDesign | None) -> Callable[[ChoiceRead], Sequence[tuple[str, AnyRow]]]:
    columns = tuple(choice_columns(advice, design))
    of = cells_of(columns, ALL, design)
    return lambda told: tuple(zip(columns, of(told), strict=True))


def _json(name: str, value: AnyRow) -> Json:
    if name.endswith("_at"):
        return _moment(value)
    return json.loads(value) if name == "clicks" and isinstance(value, str) else value


def _moment(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
