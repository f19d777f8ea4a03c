"""Assigns conditions: at random among those with the fewest people who are taking part or have finished."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping

from sqlalchemy import Connection, and_, func, or_, select, text

from explorelab.study.config.blocks.block_design import Condition
from explorelab.study.config.design import Cell, Study
from explorelab.study.database.refusals import not_now
from explorelab.study.database.tables import people
from explorelab.study.session.stages import PLAYED, UNDER_WAY

LOCK = 7_305_201_410
"""Number of the PostgreSQL lock under which one person at a time is assigned; SQLite has a single writer anyway."""


def assign(connection: Connection, study: Study, pilot: bool, now: float) -> Cell | Condition:
    """A condition for one more person. Drop-outs do not count, and pilots only among themselves."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    counts = counts_of(connection, study, pilot, now)
    least = min(counts.values())
    emptiest = [cell for cell in study.cells if counts[cell.name] == least]
    return secrets.choice(emptiest if study.design is None else _rarest(study, emptiest, counts))


def _rarest(study: Study, cells: list[Cell | Condition], counts: Mapping[str, int]) -> list[Cell | Condition]:
    """Those whose levels have the fewest people, so that each factor is balanced before all conditions are."""
    people_at: Counter[tuple[str, str]] = Counter()
    for cell in study.cells:
        people_at.update(dict.fromkeys(cell.factors.items(), counts[cell.name]))
    n_levels = Counter(name for name, _ in people_at)
    crowded = {cell: sum(n_levels[at[0]] * people_at[at] for at in cell.factors.items()) for cell in cells}
    least = min(crowded.values())
    return [cell for cell in cells if crowded[cell] == least]


def counts_of(connection: Connection, study: Study, pilot: bool, now: float) -> dict[str, int]:
    """How many people count in each condition: finished, or taking part and seen within the time to come back."""
    since = now - 60 * study.server.return_within_minutes
    counted = or_(people.c.stage.in_(PLAYED), and_(people.c.stage.in_(UNDER_WAY), people.c.seen_at >= since))
    rows = connection.execute(
        select(people.c.cell, func.count())
        .where(people.c.pilot == pilot, people.c.cell.is_not(None), counted)
        .group_by(people.c.cell)
    )
    found = {str(cell): int(count) for cell, count in rows}
    return {cell.name: found.get(cell.name, 0) for cell in study.cells}


def cell_named(study: Study, name: str | None) -> Cell | Condition:
    """The condition of someone who has one."""
    found = next((cell for cell in study.cells if cell.name == name), None)
    if found is None:
        raise not_now("This study has changed since you started and cannot be continued.")
    return found
