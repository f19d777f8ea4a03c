"""What an adviser is told: where a person is, and the choices that it does not know yet, as they are stored."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, and_, bindparam, select

from explorelab.study.advice.messages import Moment, Told
from explorelab.study.config.design import Study
from explorelab.study.database.tables import blocks, choices, people

# Built once: building them takes several times as long as running them.
_PERSON = select(people.c.id, people.c.block, people.c.begun).where(people.c.code == bindparam("of_code"))
_BLOCK = select(blocks).where(blocks.c.person == bindparam("of_person"), blocks.c.number == bindparam("of_block"))
_LAST = (
    select(choices.c.trial, choices.c.arm)
    .where(choices.c.person == bindparam("of_person"), choices.c.block == bindparam("of_block"))
    .order_by(choices.c.trial.desc())
    .limit(1)
)
_NEWS = (
    select(
        choices.c.block, choices.c.position, choices.c.arm, choices.c.reward, choices.c.missed, choices.c.advised,
        choices.c.advice_shown_ms, blocks.c.start, blocks.c.dynamic,
    )
    .select_from(choices.join(blocks, and_(blocks.c.person == choices.c.person, blocks.c.number == choices.c.block)))
    .where(choices.c.person == bindparam("of_person"), blocks.c.advice != "")
    .order_by(choices.c.block, choices.c.trial)
    .limit(1_000_000)
    .offset(bindparam("of_known"))
)  # fmt: skip


def moment_of(connection: Connection, study: Study, code: str, known: int) -> Moment | None:
    """Where the person is, and their choices after the first `known`; None if no advised block is being played."""
    person = connection.execute(_PERSON, {"of_code": code}).one_or_none()
    if person is None or not person.begun:
        return None
    at = {"of_person": person.id, "of_block": person.block}
    block = connection.execute(_BLOCK, at).one_or_none()
    if block is None or not block.advice:
        return None
    last = connection.execute(_LAST, at).one_or_none()
    position, trial = (block.start, 0) if last is None else (last.arm, last.trial + 1)
    news = tuple(_told(study, row) for row in connection.execute(_NEWS, {**at, "of_known": known}))
    near = study.allowed(block.dynamic, position)
    return Moment(person.id, block.advice, block.number, trial, block.start, near, known, news)


def _told(study: Study, row: Any) -> Told:
    """A stored choice. Under travel, the suggestion is a goal, and following it samples the next square on the way."""
    near = None if row.dynamic == "standard" else study.next_to(row.position)
    shown = row.advised if row.advice_shown_ms is not None else None
    advised = None if shown is None else study.sampled(row.dynamic, row.position, shown)
    return Told(row.block, row.start, row.arm, row.reward, row.missed, near, advised)
