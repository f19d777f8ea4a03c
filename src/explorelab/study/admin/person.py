"""One person on the researcher's page: everything known about them except who they are, and how to delete it."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, select

from explorelab.study.admin.answers import Deleted, PersonBlock, PersonDetail, PersonEvent, PersonPage
from explorelab.study.admin.live_regret import form_of, panel_of, regret_of
from explorelab.study.admin.overview import place_of, plan_of
from explorelab.study.config.design import Study
from explorelab.study.database.refusals import Refused, invalid
from explorelab.study.database.tables import Person, answers, blocks, choices, consents, events, payments, people, visits
from explorelab.study.session.doubts import REASONS, doubted
from explorelab.study.session.pages.exclusions import RULES, excluded
from explorelab.study.session.participants import erased
from explorelab.study.session.stages import Stage
from explorelab.study.session.terms import bonus_of, terms_of

LAST_EVENTS = 50


def person_detail(connection: Connection, study: Study, code: str, now: float) -> PersonDetail:
    """The person with this code."""
    person = _found(connection, code)
    agreed_at = select(consents.c.at).where(consents.c.person == person.id, consents.c.agreed)
    paid = select(payments.c.id).where(payments.c.person == person.id)
    return PersonDetail(
        code=person.code, source=person.source, pilot=person.pilot, cell=person.cell or "", agent=person.agent,
        place=place_of(study, person, plan_of(study, person), now), epoch=person.epoch, points=person.points,
        bonus=bonus_of(study, person), currency=terms_of(study, person).payment.currency,
        in_payment_file=connection.execute(paid).first() is not None,
        arrived_at=person.arrived_at, consented_at=connection.execute(agreed_at).scalar(), seen_at=person.seen_at,
        finished_at=person.finished_at, deleted=_is_deleted(person),
        doubts=[REASONS[word] for word in doubted(connection, person.id).get(person.id, ())],
        excluded=[RULES[word] for word in excluded(connection, study.exclude).get(person.id, ())],
        pages=_pages(connection, person), blocks=_blocks(connection, study, person), events=_events(connection, person),
    )  # fmt: skip


def delete_person(connection: Connection, code: str, typed: str, now: float) -> Deleted:
    """Delete everything about the person except the bare row, if the code was typed correctly."""
    if typed != code:
        raise invalid(f"To delete {code}, type this code; got {typed!r}.")
    person = _found(connection, code, locked=True)
    if _is_deleted(person):
        raise Refused(409, "deleted", f"The data of {code} have already been deleted.")
    return Deleted(code=code, n_choices=erased(connection, person, "researcher", now))


def _found(connection: Connection, code: str, locked: bool = False) -> Person:
    query = select(people).where(people.c.code == code)
    person = connection.execute(query.with_for_update() if locked else query).one_or_none()
    if person is None:
        raise Refused(404, "unknown", f"Nobody has the code {code!r}.")
    return person


def _is_deleted(person: Person) -> bool:
    return bool(person.stage == Stage.WITHDRAWN and person.cell is None and person.seed == 0)


def _blocks(connection: Connection, study: Study, person: Person) -> list[PersonBlock]:
    made: dict[int, list[tuple[float, bool]]] = {}
    query = select(choices.c.block, choices.c.reward, choices.c.missed).where(choices.c.person == person.id)
    for number, drawn, missed in connection.execute(query.order_by(choices.c.block, choices.c.trial)):
        made.setdefault(number, []).append((drawn, missed))
    found = []
    for block in connection.execute(select(blocks).where(blocks.c.person == person.id).order_by(blocks.c.number)):
        rewards = np.array([drawn for drawn, _ in made.get(block.number, [])], np.float64)
        scene = study.scene(block)
        panel, line = panel_of(study, block)
        regret = None if scene is None else regret_of(scene, block, person.seed, rewards)
        found.append(
            PersonBlock(
                number=block.number, kind=block.kind, panel=panel, line=line, dynamic=block.dynamic, timing=block.timing,
                landscape=block.landscape,
                deadline_ms=block.deadline_ms, n_trials=block.n_trials, begun_at=block.begun_at,
                missed=sum(missed for _, missed in made.get(block.number, [])), points=round(float(rewards.sum()), 1),
                regret=[] if regret is None else regret.round(1).tolist(),
                form=None if regret is None else form_of(block, regret),
            )
        )  # fmt: skip
    return found


def _pages(connection: Connection, person: Person) -> list[PersonPage]:
    failed: dict[tuple[int, int], list[str]] = {}
    wrong = select(answers.c.step, answers.c.attempt, answers.c.question)
    wrong = wrong.where(answers.c.person == person.id, answers.c.passed.is_(False)).order_by(answers.c.id)
    for step, attempt, question in connection.execute(wrong):
        failed.setdefault((step, attempt), []).append(question)
    return [
        PersonPage(
            page=row.page, kind=row.kind, attempt=row.attempt, left_at=row.left_at, passed=row.passed,
            seconds=None if row.shown_at is None else round(row.left_at - row.shown_at, 1),
            wrong=failed.get((row.step, row.attempt), []),
        )
        for row in connection.execute(select(visits).where(visits.c.person == person.id).order_by(visits.c.id))
    ]  # fmt: skip


def _events(connection: Connection, person: Person) -> list[PersonEvent]:
    query = select(events).where(events.c.person == person.id).order_by(events.c.received_at.desc(), events.c.id.desc())
    return [
        PersonEvent(kind=row.kind, at=row.received_at, block=row.block, trial=row.trial, value=row.value)
        for row in connection.execute(query.limit(LAST_EVENTS))
    ]
