"""What an edit of a study that people have begun may not change: what they were promised, and what their data are about."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, func, insert, select

from explorelab._support.counted import counted
from explorelab.errors import InputError
from explorelab.laboratory.editing.in_memory import add_somebody, database_in_memory
from explorelab.study.config.checking.findings import Finding
from explorelab.study.config.design import Study
from explorelab.study.database.tables import people, settings
from explorelab.study.session.promises import check_promises
from explorelab.study.session.stages import UNDER_WAY


class Begun(NamedTuple):
    """What people of a study have begun."""

    n_people: int
    """Who have agreed to take part, without robots."""
    n_active: int
    ways: tuple[tuple[str | None, str | None, int], ...]
    """The different blocks and pages that people were promised, and with which block of these it matters."""
    served: tuple[tuple[str, str], ...]
    """What was on the squares, and on the pages, when they met them."""


KEEP, FROM_NOW_ON = "whoever has agreed keeps", "the new ones are for those who agree from now on"
NOBODY = Begun(0, 0, (), ())


def begun(connection: Connection, since: float) -> Begun:
    """What people have begun: everyone who agreed, and robots that play at the moment."""
    agreed = people.c.plan.is_not(None)
    playing = people.c.stage.in_(UNDER_WAY) & (people.c.seen_at >= since)
    human = connection.execute(select(people.c.plan, people.c.path).where(agreed, people.c.pilot.is_(False)).distinct())
    robots = connection.execute(
        select(people.c.plan, people.c.path, people.c.block).where(agreed, people.c.pilot.is_(True), playing).distinct()
    )
    n = select(func.count()).select_from(people).where(people.c.pilot.is_(False))
    kept = connection.execute(select(settings.c.name, settings.c.value).where(settings.c.name.like("served:%")))
    return Begun(
        n_people=int(connection.execute(n.where(agreed)).scalar_one()),
        n_active=int(connection.execute(n.where(playing)).scalar_one()),
        ways=(*((row.plan, row.path, 0) for row in human), *((row.plan, row.path, row.block) for row in robots)),
        served=tuple((row.name, row.value) for row in kept),
    )


def breaks(study: Study, found: Begun) -> list[Finding]:
    """Why the study must not be changed to this; empty if it may."""
    if not found.ways:
        return []
    with database_in_memory() as connection:
        for name, value in found.served:
            connection.execute(insert(settings).values(name=name, value=value))
        for number, (plan, path, block) in enumerate(found.ways):
            add_somebody(connection, number, stage="play", plan=plan, path=path, block=block, terms="{}", cell="any")
        try:
            check_promises(connection, study, 0.0)
        except InputError as error:
            what = str(error).partition(":")[0].removeprefix("people who are still playing ")
            n = counted(max(1, found.n_people), "person has", "people have")
            sentence = f"{n} begun this study, and {what}: keep that as it was, and give what you change another name."
            return [Finding("study.toml", None, "wrong", "settings", sentence)]
    return []


def effects(before: Study | None, after: Study, found: Begun) -> list[str]:
    """What the change means for people who have begun, a sentence each."""
    if before is None or not found.n_people:
        return []
    sentences = []
    if (before.payment, before.completion) != (after.payment, after.completion):
        sentences.append(f"Payment, completion code and way back: {KEEP} theirs; {FROM_NOW_ON}.")
    if _blocks(before) != _blocks(after) or before.pages != after.pages:
        sentences.append(f"Blocks and pages: {KEEP} those that they were promised; {FROM_NOW_ON}.")
    if any(before.speaking(language).texts != after.speaking(language).texts for language in after.languages):
        sentences.append("Texts: everybody sees the new ones from now on. What each person agreed to is kept word for word.")
    return sentences


def _blocks(study: Study) -> list[str]:
    return [f"{cell} {study.plan(cell)}" for cell in study.cells]
