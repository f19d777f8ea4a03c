"""People's path through the study: arriving, consenting, finishing, withdrawing. Each function runs in one transaction."""

from __future__ import annotations

import json
import secrets
from hashlib import sha256

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from explorelab.study.config.design import Study
from explorelab.study.database.refusals import elsewhere, no_token, not_now, out_of_order, taken_over
from explorelab.study.database.store import remembered
from explorelab.study.database.tables import (
    Person,
    answers,
    assessments,
    blocks,
    choices,
    consents,
    deletions,
    events,
    people,
    visits,
)
from explorelab.study.session.assignment import assign
from explorelab.study.session.choice_fields import Cell
from explorelab.study.session.identity import Arrival, identity_of, keyed_identity, new_code, proven
from explorelab.study.session.pages.leaving import enter
from explorelab.study.session.pages.person_path import promised_path
from explorelab.study.session.stages import ENDED, PLACE_OPEN, UNDER_WAY, Stage
from explorelab.study.session.terms import offered

_PERSON = select(people).where(people.c.code == bindparam("of_code"))
_LOCKED = _PERSON.with_for_update()
NAMELESS: dict[str, Cell] = dict.fromkeys(
    ("platform_id", "platform_session", "platform_study", "submit_to", "first_session")
)


def arrive(connection: Connection, study: Study, arrival: Arrival, page: str, now: float) -> Person:
    """The person who has arrived: a known person continues, a new one is added. A new page replaces the last one.

    Someone who stayed away too long is returned unchanged; `expired` says so.
    """
    known = _named(connection, arrival.identity)
    if known is not None and not proven(arrival, known):
        if known.stage not in PLACE_OPEN:
            raise elsewhere()
        # Nobody has agreed under this ID: both may read on, and whoever agrees first gets it.
        arrival = arrival._replace(identity=identity_of("aside", f"{arrival.identity}:{arrival.browser}"))
        known = _named(connection, arrival.identity)
    if known is None:
        values: dict[str, Cell] = {
            **arrival._asdict(), "first_session": arrival.platform_session, "code": new_code(),
            "pilot": arrival.source == "pilot", "seed": secrets.randbits(62),
            "stage": Stage.CONSENT, "block": 0, "begun": False, "epoch": 1, "page": page, "points": 0.0,
            "arrived_at": now, "seen_at": now,
        }  # fmt: skip
        number = connection.execute(insert(people).values(values)).inserted_primary_key[0]  # type: ignore[index]
        return _row(connection, int(number))
    if known.page == page or expired(known, study, now):
        return known
    session = {"platform_session": arrival.platform_session, "submit_to": arrival.submit_to}
    if known.stage == Stage.CONSENT:
        session["language"] = arrival.language
    if known.first_session is None:
        session["first_session"] = arrival.platform_session
    if known.stage in ENDED:
        session = {}  # a bonus goes where it was earned, and deleted data do not come back
    changes: dict[str, Cell] = {
        **({name: value for name, value in session.items() if value}),
        "page": page,
        "epoch": known.epoch + 1,
        "seen_at": now,
    }
    _change(connection, known, **changes)
    return _row(connection, known.id)


def _named(connection: Connection, identity: str) -> Person | None:
    return connection.execute(select(people).where(people.c.identity == identity).with_for_update()).one_or_none()


def _make_room(connection: Connection, known: Person) -> None:
    """Release an ID under which someone came and never agreed; from consent on it is reserved, and others are refused."""
    if known.stage not in PLACE_OPEN:
        raise elsewhere()
    _change(connection, known, identity=identity_of("aside", known.code))


def _hold_place(connection: Connection, person: Person) -> None:
    """Reserve the person's ID; whoever agrees first gets it."""
    if person.platform_id is None:
        return
    secret = bytes.fromhex(remembered(connection, "secret"))
    identity = keyed_identity(identity_of(person.source, person.platform_id), secret)
    if person.identity != identity:
        holder = _named(connection, identity)
        if holder is not None:
            _make_room(connection, holder)
        _change(connection, person, identity=identity)


def expired(person: Person, study: Study, now: float) -> bool:
    """Whether someone who is taking part has stayed away too long."""
    return person.stage in UNDER_WAY and now - person.seen_at > 60 * study.server.return_within_minutes


def found(connection: Connection, code: str, epoch: int | None, locked: bool = True) -> Person:
    """The person with this code, at their last page; in a transaction that writes, nobody else changes them meanwhile."""
    person = connection.execute(_LOCKED if locked else _PERSON, {"of_code": code}).one_or_none()
    if person is None:
        raise no_token()
    if epoch is not None and epoch != person.epoch:
        raise taken_over()
    return person


def in_time(study: Study, person: Person, now: float) -> Person:
    """The person, unless they stayed away too long and their place in the design has been given to someone else."""
    if expired(person, study, now):
        raise not_now("You have been away too long to continue this study.")
    return person


def version_of(text: str) -> str:
    """The identifier of a version of a text."""
    return sha256(text.encode()).hexdigest()


def consent(connection: Connection, study: Study, person: Person, agreed: bool, version: str, now: float) -> Person:
    """The person after their answer; repeating the same answer changes nothing."""
    text = study.speaking(person.language).texts.pages[Stage.CONSENT]
    earlier = connection.execute(select(consents).where(consents.c.person == person.id)).one_or_none()
    if earlier is not None:
        if earlier.agreed != agreed:
            raise not_now("You have already answered the consent question; to stop taking part, withdraw.")
        return person
    if person.stage != Stage.CONSENT:
        raise not_now("Consent is not asked for at this stage.")
    if version != version_of(text):
        raise out_of_order("The text has changed since it was shown: reload the page.")
    if agreed:
        _hold_place(connection, person)
    connection.execute(insert(consents).values(person=person.id, agreed=agreed, at=now, version=version, text=text))
    if agreed:
        cell = assign(connection, study, person.pilot, now)
        plan = json.dumps([block._asdict() for block in study.plan(cell)])
        path = promised_path(study, cell)
        _change(
            connection, person, stage=Stage.INSTRUCTIONS, cell=cell.name, plan=plan, terms=offered(study), path=path,
            seen_at=now,
        )  # fmt: skip
        if path is not None:
            enter(connection, study, _row(connection, person.id), now)
    else:
        # There is nothing to pay, so the platform's IDs need not be kept.
        _change(connection, person, stage=Stage.DECLINED, seen_at=now, **NAMELESS)
    return _row(connection, person.id)


def finish(connection: Connection, person: Person, now: float) -> Person:
    """The person at the end; they have read the debriefing."""
    if person.stage == Stage.FINISHED:
        return person
    if person.stage != Stage.DEBRIEFING:
        raise not_now("There are choices left to make before the end.")
    _change(connection, person, stage=Stage.FINISHED, finished_at=now, seen_at=now)
    return _row(connection, person.id)


def withdraw(connection: Connection, person: Person, erase: bool, now: float) -> Person:
    """The person after leaving; if they wish, with everything of theirs deleted."""
    if person.stage == Stage.DECLINED:
        raise not_now("Nothing is kept of someone who declined.")
    if erase and (person.stage != Stage.WITHDRAWN or person.cell is not None):
        erased(connection, person, "participant", now)
    connection.execute(delete(assessments).where(assessments.c.person == person.id))
    if person.stage in PLACE_OPEN and person.platform_id is not None:
        _make_room(connection, person)
    _change(connection, person, stage=Stage.WITHDRAWN, seen_at=now)
    return _row(connection, person.id)


def erased(connection: Connection, person: Person, by: str, now: float) -> int:
    """Delete everything about a person but the bare row, which prevents taking part again; returns how many choices."""
    counted = select(func.count()).select_from(choices).where(choices.c.person == person.id)
    n_choices = int(connection.execute(counted).scalar_one())
    for table in (choices, events, blocks, visits, answers, consents, assessments):
        connection.execute(delete(table).where(table.c.person == person.id))
    _change(
        connection, person, stage=Stage.WITHDRAWN, cell=None, plan=None, terms=None, points=0.0, bonus=None, seed=0,
        agent=None, block=0, begun=False, path=None, step=0, step_at=None, **NAMELESS,
    )  # fmt: skip
    connection.execute(insert(deletions).values(at=now, by=by, n_choices=n_choices))
    return n_choices


def _row(connection: Connection, number: int) -> Person:
    return connection.execute(select(people).where(people.c.id == number)).one()


def _change(connection: Connection, person: Person, **values: Cell) -> None:
    connection.execute(update(people).where(people.c.id == person.id).values(values))
