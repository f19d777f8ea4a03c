"""The stored choices of a person that a process beside the server does not know yet."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, select

from explorelab.study.computing.pipe import Told
from explorelab.study.config.design import Study
from explorelab.study.database.tables import blocks, choices


def news_query(of: ColumnElement[bool]) -> Select[Any]:
    """A query, built once because that takes several times as long as running it, for `news`: choices in such blocks."""
    of_block = and_(blocks.c.person == choices.c.person, blocks.c.number == choices.c.block)
    return (
        select(
            choices.c.block, choices.c.position, choices.c.arm, choices.c.reward, choices.c.missed, choices.c.advised,
            choices.c.advice_shown_ms, blocks.c.start, blocks.c.dynamic, blocks.c.landscape,
            blocks.c.scene,
        )
        .select_from(choices.join(blocks, of_block))
        .where(choices.c.person == bindparam("of_person"), of)
        .order_by(choices.c.block, choices.c.trial)
        .limit(1_000_000)
        .offset(bindparam("of_known"))
    )  # fmt: skip


def news(connection: Connection, study: Study, query: Select[Any], person: int, known: int) -> tuple[Told, ...]:
    """The person's choices after the first `known`."""
    found = connection.execute(query, {"of_person": person, "of_known": known})
    return tuple(_told(study, row) for row in found)


def _told(study: Study, row: Any) -> Told:
    """A stored choice. Under travel, the suggestion is a goal, and following it samples the next square on the way."""
    board = study.board_of(row)
    near = None if row.dynamic == "standard" else board.next_to(row.position)
    shown = row.advised if row.advice_shown_ms is not None else None
    advised = None if shown is None else board.sampled(row.dynamic, row.position, shown)
    return Told(row.block, row.start, row.arm, row.reward, row.missed, near, advised)
