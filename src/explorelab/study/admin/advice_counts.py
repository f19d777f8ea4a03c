"""How advice fares: how much of it was ready in time, shown and followed, by kind."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, and_, case, func, select

from explorelab.choices.advice_given import FAILED, LATE
from explorelab.study.admin.answers import AdviceCount
from explorelab.study.config.design import Study
from explorelab.study.database.tables import blocks, choices, people


def advice_counts(connection: Connection, study: Study, pilots: bool) -> list[AdviceCount] | None:
    """A row for each kind of advice in the study; None if it gives none."""
    if study.advice is None:
        return None
    shown = choices.c.advice_shown_ms.is_not(None)
    followed = and_(shown, choices.c.missed.is_(False), choices.c.goal == choices.c.advised)

    def n(what: ColumnElement[bool]) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((what, 1), else_=0)), 0)

    query = (
        select(
            blocks.c.advice, func.count(), n(shown), n(choices.c.advice.in_((LATE, FAILED))), n(followed),
        )
        .select_from(
            choices.join(people, people.c.id == choices.c.person).join(
                blocks, and_(blocks.c.person == choices.c.person, blocks.c.number == choices.c.block)
            )
        )
        .where(people.c.pilot.is_(pilots), blocks.c.advice != "")
        .group_by(blocks.c.advice)
    )  # fmt: skip
    found = {arm: tuple(map(int, counts)) for arm, *counts in connection.execute(query)}
    return [
        AdviceCount(arm=arm, choices=made, shown=on_screen, late=late, followed=taken)
        for arm in study.advice.arms
        for made, on_screen, late, taken in [found.get(arm, (0, 0, 0, 0))]
    ]
