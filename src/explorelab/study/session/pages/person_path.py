"""A person's way through the study's own pages: promised at consent, and followed step by step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from explorelab.study.config.blocks.block_design import Condition
from explorelab.study.config.design import BlockPlan, Cell, Study
from explorelab.study.database.tables import Person, answers, visits
from explorelab.study.session.pages.page_kinds import KINDS
from explorelab.study.session.pages.page_types import Answer, Step
from explorelab.study.session.pages.show_if import about_answers, is_wanted, suits
from explorelab.study.session.stages import Stage


class Onward(NamedTuple):
    """Where someone is next."""

    stage: Stage
    step: int
    block: int


def promised_path(study: Study, cell: Cell | Condition) -> str | None:
    """The pages of someone in this condition, to be stored; None in a study without pages of its own."""
    if not study.pages:
        return None
    steps = [
        Step(page.name, page.kind, page.number, about_answers(page.show_if), dict(page.settings))
        for page in study.pages
        if suits(cell.factors, page.show_if)
    ]
    return json.dumps([step._asdict() for step in steps], ensure_ascii=False)


def steps_of(person: Person) -> tuple[Step, ...] | None:
    """The pages that the person was promised; None for the usual course."""
    return None if person.path is None else _read(person.path)


@lru_cache(maxsize=256)
def _read(path: str) -> tuple[Step, ...]:
    return tuple(Step(**step) for step in json.loads(path))


def onward(connection: Connection, person: Person, plan: Sequence[BlockPlan], step: int, block: int) -> Onward:
    """The first page from this step on that is to be shown; blocks of pages that are not are passed over.

    Pages with questions that have been answered are not shown again to those who were sent back.
    """
    steps = steps_of(person) or ()
    for number in range(step, len(steps)):
        here = steps[number]
        about = KINDS[here.kind]
        wanted = is_wanted(here.show_if, lambda page, question: answer_of(connection, person, page, question))
        if about.plays:
            first = block
            while block < len(plan) and plan[block].page == here.number:
                block += 1
            if wanted and block > first:
                return Onward(Stage.PLAY, number, first)
        elif wanted and not (about.asks and _is_done(connection, person, number)):
            return Onward(Stage.PAGE, number, block)
    return Onward(Stage.DEBRIEFING, len(steps), block)


def after_block(connection: Connection, person: Person, plan: Sequence[BlockPlan], number: int) -> Onward:
    """Where someone is after this block: at the next one of the same page, or beyond that page."""
    if number + 1 < len(plan) and plan[number + 1].page == plan[number].page:
        return Onward(Stage.PLAY, person.step, number + 1)
    return onward(connection, person, plan, person.step + 1, number + 1)


def answer_of(connection: Connection, person: Person, page: str, question: str) -> Answer:
    """The person's last answer to a question; None if there is none."""
    query = (
        select(answers.c.answer)
        .where(answers.c.person == person.id, answers.c.page == page, answers.c.question == question)
        .order_by(answers.c.id.desc())
        .limit(1)
    )
    found = connection.execute(query).scalar()
    given: Answer = None if found is None else json.loads(found)
    return given


def n_visits(connection: Connection, person: Person, step: int) -> int:
    """How often the person has left this page."""
    query = select(func.count()).select_from(visits).where(visits.c.person == person.id, visits.c.step == step)
    return int(connection.execute(query).scalar_one())


def _is_done(connection: Connection, person: Person, step: int) -> bool:
    """Whether the questions of this page have been answered, all right where they must be."""
    last = select(visits.c.passed).where(visits.c.person == person.id, visits.c.step == step)
    row = connection.execute(last.order_by(visits.c.attempt.desc()).limit(1)).one_or_none()
    return row is not None and row.passed is not False
