"""What each request from a participant's page does, in one transaction: find the person, change them, and say what follows.

The clock is read after the person is found, which on PostgreSQL may mean waiting for another of their requests.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, func, insert, select

from explorelab.study.config.design import Study
from explorelab.study.database.refusals import taken_over
from explorelab.study.database.tables import Person, events
from explorelab.study.session import game, participants
from explorelab.study.session.choice_fields import Choosing
from explorelab.study.session.identity import Arrival
from explorelab.study.session.pages import leaving
from explorelab.study.session.pages.shown_page import marks_shown
from explorelab.study.session.questions import Beginning, Consenting, FromPage, Leaving, Telling, Withdrawing
from explorelab.study.session.screens import Chosen, Left, State, bare_state, state_of
from explorelab.study.session.stages import Stage

type Clock = Callable[[], float]

MOST_EVENTS = 1000
"""Events stored for one person; a page that reports more is broken or lying."""


def arrive(
    connection: Connection, study: Study, arrival: Arrival, page: str, now: Clock, admit: Callable[[Connection, float], None]
) -> tuple[str, State]:
    """The code of the person who opened the page, and what it shows. `admit` may refuse someone new, who is not stored."""
    at = now()
    person = participants.arrive(connection, study, arrival, page, at)
    if person.epoch == 1 and person.arrived_at == at:
        admit(connection, at)
    return person.code, _state_in_time(connection, study, person, now)


def look(connection: Connection, study: Study, code: str, asked: FromPage, now: Clock) -> State:
    """What to show now; nothing changes."""
    person = participants.found(connection, code, asked.epoch, locked=False)
    return _state_in_time(connection, study, person, now)


def attend(connection: Connection, study: Study, code: str, asked: FromPage, now: Clock) -> None:
    """Refuse a page that has been replaced; nothing changes."""
    participants.found(connection, code, asked.epoch, locked=False)


def consent(connection: Connection, study: Study, code: str, asked: Consenting, now: Clock) -> State:
    """What to show after an answer to the consent text."""
    person = participants.found(connection, code, asked.epoch)
    at = now()
    return state_of(connection, study, participants.consent(connection, study, person, asked.agreed, asked.version, at), at)


def begin(connection: Connection, study: Study, code: str, asked: Beginning, now: Clock) -> State:
    """What to show once a block has begun."""
    person = participants.in_time(study, participants.found(connection, code, asked.epoch), now())
    game.begin(connection, study, person, asked.block, now())
    return state_of(connection, study, participants.found(connection, code, asked.epoch), now())


def leave(connection: Connection, study: Study, code: str, asked: Leaving, now: Clock) -> Left:
    """What became of a page and its answers, and what to show next."""
    person = participants.in_time(study, participants.found(connection, code, asked.epoch), now())
    spoken = study.speaking(person.language)
    marked = leaving.leave(connection, spoken, person, asked, now())
    marks = marks_shown(spoken, person, asked.step, marked)
    return Left(marks=marks, state=state_of(connection, study, participants.found(connection, code, asked.epoch), now()))


def choose(connection: Connection, study: Study, code: str, asked: Choosing, now: Clock) -> Chosen:
    """The choice as stored and, after the last of a block, what to show next."""
    person = participants.in_time(study, participants.found(connection, code, asked.epoch), now())
    made = game.choose(connection, study, person, asked, now())
    following = None
    if made.n_left == 0:
        following = state_of(connection, study, participants.found(connection, code, asked.epoch), now())
    return Chosen(**made._asdict(), position=made.arm, state=following)


def tell(connection: Connection, study: Study, code: str, asked: Telling, now: Clock) -> int:
    """The number of new events stored; a page that has been replaced may still report its own."""
    person = participants.found(connection, code, None)
    if asked.epoch > person.epoch:
        raise taken_over()
    if person.stage == Stage.WITHDRAWN:
        return 0
    numbers = [each.number for each in asked.events]
    of_page = (events.c.person == person.id, events.c.epoch == asked.epoch)
    known = set(connection.execute(select(events.c.number).where(*of_page, events.c.number.in_(numbers))).scalars())
    so_far = select(func.count()).select_from(events).where(events.c.person == person.id)
    room = max(0, MOST_EVENTS - connection.execute(so_far).scalar_one())
    unknown = {each.number: each.model_dump() for each in asked.events if each.number not in known}
    new = list(unknown.values())[:room]
    if new:
        page = {"person": person.id, "epoch": asked.epoch, "received_at": now()}
        connection.execute(insert(events), [{**row, **page} for row in new])
    return len(new)


def finish(connection: Connection, study: Study, code: str, asked: FromPage, now: Clock) -> State:
    """What to show once the debriefing has been read."""
    person = participants.found(connection, code, asked.epoch)
    at = now()
    return state_of(connection, study, participants.finish(connection, person, at), at)


def withdraw(connection: Connection, study: Study, code: str, asked: Withdrawing, now: Clock) -> State:
    """What to show to someone who leaves, with or without their data."""
    person = participants.found(connection, code, asked.epoch)
    at = now()
    return state_of(connection, study, participants.withdraw(connection, person, asked.delete, at), at)


def _state_in_time(connection: Connection, study: Study, person: Person, now: Clock) -> State:
    at = now()
    if participants.expired(person, study, at):
        return bare_state(study.speaking(person.language), Stage.EXPIRED, person.epoch)
    return state_of(connection, study, person, at)
