"""Every screen of a study as its participants' page receives it, for somebody who exists nowhere else."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from explorelab.laboratory.editing.in_memory import add_somebody, database_in_memory
from explorelab.study.config.design import Study
from explorelab.study.database.tables import Person, people
from explorelab.study.session.pages.person_path import promised_path, steps_of
from explorelab.study.session.screens import State, bare_state, state_of
from explorelab.study.session.stages import Stage
from explorelab.study.session.terms import offered

POINTS = 4321.0
"""Of the example, where earnings are shown."""
NOW = 0.0
BARE = (Stage.DECLINED, Stage.WITHDRAWN, Stage.EXPIRED, Stage.PREVIEW)
"""Screens on which nothing but a text is shown."""


class Screen(NamedTuple):
    """A screen, what to call it, and what the page is sent."""

    name: str
    state: State


def screens(study: Study, language: str) -> list[Screen]:
    """The screens in this language, in the order in which people see them."""
    cell = study.cells[0]
    plan = json.dumps([block._asdict() for block in study.plan(cell)])
    with database_in_memory() as connection:
        promised = {"cell": cell.name, "plan": plan, "path": promised_path(study, cell), "terms": offered(study)}
        add_somebody(connection, 1, **promised, language=language, points=POINTS)
        return [*_on_the_way(connection, study), *_endings(study.speaking(language))]


def _on_the_way(connection: Connection, study: Study) -> list[Screen]:
    found = [_screen(connection, study, "Consent", stage=Stage.CONSENT)]
    person = _person(connection)
    steps = steps_of(person)
    if steps is None:
        found.append(_screen(connection, study, "Instructions", stage=Stage.INSTRUCTIONS))
    for number, step in enumerate(steps or ()):
        if step.kind != "blocks":
            found.append(_screen(connection, study, f"Page: {step.page}", stage=Stage.PAGE, step=number, step_at=NOW))
    for number in range(len(json.loads(person.plan or "[]"))):
        found.append(_screen(connection, study, f"Before block {number + 1}", stage=Stage.PLAY, block=number))
    for stage, name in ((Stage.DEBRIEFING, "Debriefing"), (Stage.FINISHED, "The end")):
        found.append(_screen(connection, study, name, stage=stage))
    return found


def _endings(study: Study) -> list[Screen]:
    return [Screen(str(stage).capitalize(), bare_state(study, stage)) for stage in BARE]


def _screen(connection: Connection, study: Study, name: str, **values: str | int | float) -> Screen:
    connection.execute(update(people).values(values))
    return Screen(name, state_of(connection, study, _person(connection), NOW))


def _person(connection: Connection) -> Person:
    row: Person = connection.execute(select(people)).one()
    return row
