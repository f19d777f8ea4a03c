"""Leaving a page: its answers are checked, judged and stored, and the person goes on, back, or out.

What people change before they leave a page stays in their browser; what has arrived here stays as it is. A repeated request
gets the same outcome, and one with other answers to a page that has been left is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection, insert, select, update

from explorelab.study.config.design import Study
from explorelab.study.database.refusals import invalid, not_now, out_of_order
from explorelab.study.database.tables import AnyRow, Person, answers, people, visits
from explorelab.study.session import game
from explorelab.study.session.choice_fields import Cell
from explorelab.study.session.pages.form_file import question_named
from explorelab.study.session.pages.page_kinds import GO_ON, KINDS
from explorelab.study.session.pages.page_types import Answer, Form, Page, Question, Step
from explorelab.study.session.pages.person_path import Onward, n_visits, onward, steps_of
from explorelab.study.session.pages.question_kinds import checked, counted, is_right
from explorelab.study.session.questions import Leaving
from explorelab.study.session.stages import Stage
from explorelab.study.session.terms import terms_of

NO_QUESTIONS = Form("", "", ())


class Marked(NamedTuple):
    """What became of a page with questions that all had to be answered rightly."""

    passed: bool | None
    """None for pages where that does not matter."""
    wrong: tuple[str, ...]
    """The questions that were not answered rightly, in their order."""


def page_named(study: Study, name: str) -> Page:
    """The page of this name, as the study has it now."""
    found = next((page for page in study.pages if page.name == name), None)
    if found is None:
        raise not_now("This study has changed since you started and cannot be continued.")
    return found


def form_of(study: Study, step: Step) -> Form:
    """The questions of a page; none if it does not ask any."""
    return study.texts.forms[page_named(study, step.page).file] if KINDS[step.kind].asks else NO_QUESTIONS


def leave(connection: Connection, study: Study, person: Person, report: Leaving, now: float) -> Marked:
    """Store that the person leaves the page, with their answers; if that was stored before, return what became of it."""
    steps = steps_of(person)
    if steps is None or report.step >= len(steps):
        raise out_of_order("There is no such page on the way through this study.")
    step = steps[report.step]
    form = form_of(study, step)
    kept = connection.execute(_visit(person, report)).one_or_none()
    if kept is not None:
        return _as_before(connection, person, form, kept, report)
    attempt = n_visits(connection, person, person.step) + 1
    if person.stage != Stage.PAGE or (report.step, report.attempt) != (person.step, attempt):
        raise out_of_order(f"Page {report.step}, for the {report.attempt}. time, is not the one that is shown.")
    given = _checked(form, report.answers)
    since_s = now - (person.seen_at if person.step_at is None else person.step_at)
    early = "" if person.pilot else KINDS[step.kind].early(step.settings, since_s)
    if early:
        raise invalid(early)
    marked = _marked(step, form, given)
    _store(connection, person, step, report, form, given, marked, now)
    _go_on(connection, study, person, steps, report.attempt, marked, now)
    return marked


def _visit(person: Person, report: Leaving) -> AnyRow:
    of_page = (visits.c.person == person.id, visits.c.step == report.step, visits.c.attempt == report.attempt)
    return select(visits).where(*of_page)


def _as_before(connection: Connection, person: Person, form: Form, kept: AnyRow, report: Leaving) -> Marked:
    """The outcome that is stored, if the answers are the same as then."""
    of_visit = (answers.c.person == person.id, answers.c.step == kept.step, answers.c.attempt == kept.attempt)
    rows = connection.execute(select(answers).where(*of_visit).order_by(answers.c.number)).all()
    before = {row.question: json.loads(row.answer) for row in rows}
    if {**dict.fromkeys(before), **_checked(form, report.answers)} != before:
        raise out_of_order("This page has been left already, with other answers.")
    return Marked(kept.passed, tuple(row.question for row in rows if row.passed is False))


def _checked(form: Form, given: Mapping[str, Answer]) -> dict[str, Answer]:
    """An answer to every question; refused if there are others, or some that cannot be given."""
    for name in given:
        if question_named(form, name) is None:
            raise invalid(f"The page has no question {name!r}.")
    return {question.name: checked(question, given.get(question.name)) for question in form.questions}


def _marked(step: Step, form: Form, given: Mapping[str, Answer]) -> Marked:
    wrong = tuple(each.name for each in form.questions if is_right(each, given[each.name]) is False)
    return Marked(not wrong if KINDS[step.kind].judges else None, wrong)


def _store(
    connection: Connection, person: Person, step: Step, report: Leaving, form: Form, given: Mapping[str, Answer],
    marked: Marked, now: float,
) -> None:  # fmt: skip
    about = {"person": person.id, "step": report.step, "page": step.page, "attempt": report.attempt}
    connection.execute(
        insert(visits).values(
            **about, kind=step.kind, shown_at=person.step_at, left_at=now, elapsed_ms=report.elapsed_ms,
            passed=marked.passed, n_wrong=len(marked.wrong), epoch=person.epoch,
        )
    )  # fmt: skip
    rows = [
        about | _row(number, question, given[question.name], report.times.get(question.name), now)
        for number, question in enumerate(form.questions)
    ]
    if rows:
        connection.execute(insert(answers), rows)


def _row(number: int, question: Question, answer: Answer, answered_ms: float | None, now: float) -> dict[str, Cell]:
    return {
        "number": number, "question": question.name, "kind": question.kind, "text": question.text,
        "answer": json.dumps(answer, ensure_ascii=False), "passed": is_right(question, answer),
        "score": question.score, "points": counted(question, answer), "answered_ms": answered_ms, "received_at": now,
    }  # fmt: skip


def _go_on(
    connection: Connection, study: Study, person: Person, steps: tuple[Step, ...], attempt: int, marked: Marked, now: float
) -> None:
    """The person after a page: at the next one, back at an earlier one, or out."""
    here = steps[person.step]
    if marked.passed is False and attempt < _whole(here.settings["attempts"]):
        change(connection, study, person, Onward(Stage.PAGE, _back(steps, person.step), person.block), now)
    elif marked.passed is False and here.settings["on_fail"] != GO_ON:
        change(connection, study, person, Onward(Stage.SCREENED, person.step, person.block), now)
    else:
        plan = game.plans(study, person)
        change(connection, study, person, onward(connection, person, plan, person.step + 1, person.block), now)


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value


def _back(steps: tuple[Step, ...], number: int) -> int:
    """The step to which someone is sent back from a quiz: the page it names, or the last text before it."""
    named = steps[number].settings["back_to"]
    earlier = [n for n in range(number) if steps[n].kind == "text" and named in ("", steps[n].page)]
    return earlier[-1] if earlier else number


def enter(connection: Connection, study: Study, person: Person, now: float) -> None:
    """Someone who has just agreed goes to their first page."""
    change(connection, study, person, onward(connection, person, game.plans(study, person), 0, 0), now)


def change(connection: Connection, study: Study, person: Person, to: Onward, now: float) -> None:
    """Put the person there."""
    last = to.stage == Stage.DEBRIEFING
    values: dict[str, Cell] = {"stage": to.stage, "step": to.step, "block": to.block, "begun": False, "step_at": now}
    values |= {"seen_at": now} | ({"bonus": terms_of(study, person).payment.bonus(person.points)} if last else {})
    connection.execute(update(people).where(people.c.id == person.id).values(values))
