"""What a browser is sent of a page: its text and questions, never which answers are expected."""

from __future__ import annotations

from functools import lru_cache

from sqlalchemy import Connection, select

from explorelab.study.config.design import Study, Texts
from explorelab.study.config.markdown import to_html
from explorelab.study.config.texts import texts_for
from explorelab.study.database.tables import Person, visits
from explorelab.study.session.pages.leaving import Marked, form_of, page_named
from explorelab.study.session.pages.page_kinds import KINDS, ClockShown, ScoreShown, Shown
from explorelab.study.session.pages.page_types import Form, Question, Step
from explorelab.study.session.pages.person_path import n_visits, steps_of
from explorelab.study.session.pages.picture_files import ADDRESS
from explorelab.study.session.pages.sent import Sent
from explorelab.study.session.terms import terms_of


class OptionShown(Sent):
    """One possible answer."""

    value: str
    text: str


class QuestionShown(Sent):
    """One question."""

    name: str
    kind: str
    html: str
    required: bool
    options: list[OptionShown]
    least: float | None
    most: float | None
    whole: bool
    lines: int


class FormShown(Sent):
    """The questions of a page."""

    title: str
    intro: str
    """HTML."""
    questions: list[QuestionShown]


class PageShown(Sent):
    """The page that is shown."""

    step: int
    """Its place on the person's way, from 0."""
    attempt: int
    """For which time it is shown, from 1."""
    name: str
    kind: str
    html: str
    form: FormShown | None
    clock: ClockShown | None
    score: ScoreShown | None
    attempts_left: int | None
    """For those who have been sent back by a quiz: how often they may still try; null for everyone else."""


class Mark(Sent):
    """A question that was not answered rightly."""

    question: str
    feedback: str
    """HTML; empty for none."""


class MarksShown(Sent):
    """What became of a page."""

    passed: bool | None
    """Null where answers are neither right nor wrong."""
    wrong: list[Mark]
    """In their order; only where it matters for going on."""


def html_of(text: str, texts: Texts) -> str:
    """A text in Markdown as HTML, with the pictures of its language."""
    return _html(text, tuple((called, f"{ADDRESS}/{name}") for called, name in texts.pictures.items())) if text else ""


@lru_cache(maxsize=1024)
def _html(text: str, pictures: tuple[tuple[str, str], ...]) -> str:
    return to_html(text, pictures)


def page_shown(connection: Connection, study: Study, person: Person, now: float) -> PageShown:
    """The page where this person is."""
    steps = steps_of(person) or ()
    step = steps[person.step]
    page = page_named(study, step.page)
    terms = terms_of(study, person)
    text = texts_for(study, terms.payment).more.get(page.file, "")
    since_s = max(0.0, now - (person.seen_at if person.step_at is None else person.step_at))
    extras = KINDS[step.kind].extras(step.settings, Shown(person.points, terms.payment, since_s))
    return PageShown(
        step=person.step, attempt=n_visits(connection, person, person.step) + 1, name=step.page, kind=step.kind,
        html=html_of(text, study.texts), form=_form(form_of(study, step), study.texts) if KINDS[step.kind].asks else None,
        clock=extras.clock, score=extras.score, attempts_left=_attempts_left(connection, person, steps),
    )  # fmt: skip


def marks_shown(study: Study, person: Person, number: int, marked: Marked) -> MarksShown:
    """What became of the page with this number; of a failed attention check nothing is said."""
    if marked.passed is None:
        return MarksShown(passed=None, wrong=[])
    steps = steps_of(person) or ()
    feedback = {
        question.name: html_of(question.feedback, study.texts) for question in form_of(study, steps[number]).questions
    }
    return MarksShown(passed=marked.passed, wrong=[Mark(question=name, feedback=feedback[name]) for name in marked.wrong])


def _form(form: Form, texts: Texts) -> FormShown:
    questions = [_question(each, texts) for each in form.questions]
    return FormShown(title=form.title, intro=html_of(form.intro, texts), questions=questions)


def _question(question: Question, texts: Texts) -> QuestionShown:
    return QuestionShown(
        name=question.name, kind=question.kind, html=html_of(question.text, texts), required=question.required,
        options=[OptionShown(value=option.value, text=option.text) for option in question.options],
        least=question.least, most=question.most, whole=question.whole, lines=question.lines,
    )  # fmt: skip


def _attempts_left(connection: Connection, person: Person, steps: tuple[Step, ...]) -> int | None:
    last = select(visits.c.step, visits.c.attempt, visits.c.passed).where(visits.c.person == person.id)
    row = connection.execute(last.order_by(visits.c.id.desc()).limit(1)).one_or_none()
    if row is None or row.passed is not False or row.step < person.step:
        return None
    attempts = steps[row.step].settings["attempts"]
    assert isinstance(attempts, int)
    return attempts - int(row.attempt)


def way_out(person: Person) -> str:
    """The code for those who have failed a quiz; empty if it has none."""
    return str((steps_of(person) or ())[person.step].settings.get("code", ""))
