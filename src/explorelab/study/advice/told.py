"""What an adviser is told: where a person is, and the choices that it does not know yet, as they are stored."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select

from explorelab.study.advice.messages import Moment
from explorelab.study.computing.news import news, news_query
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
_NEWS = news_query(blocks.c.advice != "")


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
    new = news(connection, study, _NEWS, person.id, known)
    near = study.board_of(block).allowed(block.dynamic, position)
    return Moment(person.id, block.advice, block.number, trial, block.start, near, known, new)
