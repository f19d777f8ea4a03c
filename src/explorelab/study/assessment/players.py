"""Who is playing, what is to be told of them, and what was found: all of it in the database."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, or_, select

from explorelab.study.assessment.asked import Asked
from explorelab.study.assessment.assessment_answer import AssessedPerson, Found
from explorelab.study.computing.news import news, news_query
from explorelab.study.config.design import Study
from explorelab.study.database.tables import assessments, blocks, choices, people
from explorelab.study.session.stages import PLAYED, Stage

JUST_S = 900.0
"""Whoever has finished is shown for so long."""
AT_LEAST_S = 5.0
"""Nobody is assessed again sooner."""
_TASK_NEWS = news_query(blocks.c.kind == "task")


class Player(NamedTuple):
    """Somebody who has begun a task block."""

    id: int
    code: str
    pilot: bool
    stage: str
    block: int
    """The last task block that they have begun."""
    n: int
    """Choices in task blocks."""


class Made(NamedTuple):
    """The last assessment of a person."""

    block: int
    n: int
    """Choices that it knows."""
    made_at: float


def players(connection: Connection, study: Study, kinds: tuple[bool, ...], now: float) -> list[Player]:
    """Everyone who is playing or has just finished: people, pilots or both."""
    of_block = and_(choices.c.person == blocks.c.person, choices.c.block == blocks.c.number)
    here = now - 60 * study.server.return_within_minutes
    query = (
        select(
            people.c.id, people.c.code, people.c.pilot, people.c.stage, func.max(blocks.c.number), func.count(choices.c.id),
        )
        .select_from(people.join(blocks, blocks.c.person == people.c.id).outerjoin(choices, of_block))
        .where(
            people.c.pilot.in_(kinds),
            or_(
                and_(people.c.stage == Stage.PLAY, people.c.seen_at > here),
                and_(people.c.stage.in_(PLAYED), people.c.seen_at > now - JUST_S),
            ),
            blocks.c.kind == "task",
            blocks.c.landscape.in_(list(study.landscapes)),
        )
        .group_by(people.c.id, people.c.code, people.c.pilot, people.c.stage)
        .order_by(people.c.id)
    )  # fmt: skip
    return [Player(*row) for row in connection.execute(query)]


def made(connection: Connection, maker: str) -> dict[int, Made]:
    """The last assessment of everyone by this maker."""
    columns = assessments.c.person, assessments.c.block, assessments.c.n, assessments.c.made_at
    return {
        number: Made(*rest) for number, *rest in connection.execute(select(*columns).where(assessments.c.maker == maker))
    }


def next_due(
    connection: Connection, study: Study, maker: str, kinds: tuple[bool, ...], tried: dict[int, float], now: float
) -> Player | None:
    """Whoever has waited longest among those who have gone on since they were last assessed; None if nobody has.

    `tried` says when an assessment that failed was begun, so that it does not hold up the others.
    """
    known = made(connection, maker)
    due = []
    for player in players(connection, study, kinds, now):
        last = known.get(player.id)
        at = max(tried.get(player.id, 0.0), 0.0 if last is None else last.made_at)
        if (last is None or (last.block, last.n) != (player.block, player.n)) and not 0 <= now - at < AT_LEAST_S:
            due.append((at, player.id, player))
    return min(due)[2] if due else None


def asked_of(connection: Connection, study: Study, player: Player, known: int) -> Asked | None:
    """What is asked of somebody whose first `known` choices are known; None if they have gone."""
    block = connection.execute(
        select(blocks).where(blocks.c.person == player.id, blocks.c.number == player.block)
    ).one_or_none()
    if block is None or block.landscape not in study.landscapes:
        return None
    new = news(connection, study, _TASK_NEWS, player.id, known)
    # Another block may have begun meanwhile: it is for the next time.
    new = tuple(each for each in new if each.block <= player.block)
    return Asked(player.id, block.number, block.start, block.landscape, block.dynamic, block.n_trials, known, new)


def keep_found(connection: Connection, maker: str, asked: Asked, found: dict[str, Any], now: float) -> None:
    """Store what was found in place of what was before; nothing if the person has withdrawn meanwhile."""
    still = select(people.c.id).where(people.c.id == asked.person, people.c.stage != Stage.WITHDRAWN).with_for_update()
    if connection.execute(still).first() is None:
        return
    connection.execute(delete(assessments).where(assessments.c.person == asked.person))
    values = {"block": asked.block, "n": asked.known + len(asked.news), "maker": maker, "made_at": now}
    connection.execute(insert(assessments).values(person=asked.person, found=json.dumps(found), **values))


def assessed_people(connection: Connection, study: Study, maker: str, pilots: bool, now: float) -> list[AssessedPerson]:
    """Everyone who is playing or has just finished, with their last assessment."""
    here = players(connection, study, (pilots,), now)
    query = select(assessments).where(assessments.c.person.in_([player.id for player in here]), assessments.c.maker == maker)
    rows = {row.person: row for row in connection.execute(query)} if here else {}
    return [_shown(study, player, rows.get(player.id)) for player in here]


def _shown(study: Study, player: Player, row: Any) -> AssessedPerson:
    found = {} if row is None else json.loads(row.found)
    return AssessedPerson(
        code=player.code,
        place="task" if player.stage == Stage.PLAY else player.stage,
        block=study.task_number(player.block if row is None else row.block),
        choices=player.n,
        made_at=None if row is None else row.made_at,
        known=None if row is None else row.n,
        found=Found(**found) if "regret" in found else None,
        trouble=found.get("trouble", ""),
    )
