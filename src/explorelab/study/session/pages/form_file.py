"""Reads the questions of a form or a quiz from their TOML file, and compares them between languages."""

from __future__ import annotations

import re
from pathlib import Path

from explorelab._support.checks import Unchecked
from explorelab._support.toml.toml_file import shown
from explorelab.errors import unknown_name
from explorelab.study.config.fields import Problems, Table, TomlFile, read_toml
from explorelab.study.database.refusals import Refused
from explorelab.study.session.pages.page_types import Answer, Form, Question
from explorelab.study.session.pages.question_kinds import QUESTION_KINDS, checked

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
NAMED = "1 to 40 of a-z, 0-9, - and _, a letter or digit first"
MOST_QUESTIONS = 100
MOST_MARKDOWN = 20_000
MOST_BYTES = 60_000
"""What all answers of a page may take in a request, a little less than its limit."""
EVERY = ("name", "kind", "text", "required", "expected", "feedback", "score")
"""Settings of every question."""


def read_form(file: Path, problems: Problems, *, quiz: bool) -> Form:
    """The questions in a file; in a quiz each has an answer that is expected."""
    toml = read_toml(file, problems)
    if toml is None:
        return Form("", "", ())
    toml.only("setting", toml.values, ("title", "intro", "questions"))
    top = Table(toml, "", (), toml.values, True)
    entries = toml.values.get("questions")
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        toml.problem(("questions",), f"expected questions, each below a line [[questions]], got {shown(entries)}.")
        entries = []
    if len(entries) > MOST_QUESTIONS:
        toml.problem(("questions",), f"a page may have at most {MOST_QUESTIONS} questions, got {len(entries)}.")
    questions = tuple(_question(toml, number, entry, quiz) for number, entry in enumerate(entries))
    _check_names(toml, questions)
    if (size := sum(map(_bytes, questions))) > MOST_BYTES:
        toml.problem(
            ("questions",), f"the answers of a page may take {MOST_BYTES} bytes, got up to {size}: shorten texts with most."
        )
    return Form(markdown(top, "title", ""), markdown(top, "intro", ""), questions)


def markdown(table: Table, key: str, default: str | None = None) -> str:
    """A text in Markdown, of any number of lines."""
    value = table.value(key, default)
    if value is None or value == default:
        return default or ""
    if not isinstance(value, str) or not value.strip() or len(value) > MOST_MARKDOWN or "\0" in value:
        table.problem(key, f"must be text of 1 to {MOST_MARKDOWN} characters, got {shown(value)}.")
        return ""
    return value


def _question(toml: TomlFile, number: int, values: dict[str, Unchecked], quiz: bool) -> Question:
    table = Table(toml, f"question {number + 1}", ("questions", number), values, True)
    kind = table.name("kind", "kind of question", QUESTION_KINDS)
    name = table.text("name", 40)
    if name and not NAME.fullmatch(name):
        table.problem("name", f"must be {NAMED}, got {name!r}.")
    text = markdown(table, "text")
    if kind not in QUESTION_KINDS:
        return Question(name=name, kind=kind, text=text)
    about = QUESTION_KINDS[kind]
    toml.only(f"setting of a question of kind {kind!r}", values, (*EVERY, *about.keys), table.at)
    question = Question(
        name=name, kind=kind, text=text, required=table.truth("required", True), feedback=markdown(table, "feedback", ""),
        score=table.text("score", 40, ""), **about.read(table),
    )  # fmt: skip
    expected = _expected(table, question)
    if quiz and expected is None:
        table.problem("", "of a quiz must say which answer is expected, got no setting expected.")
    if quiz and not question.required:
        table.problem("required", "must be true in a quiz, got false.")
    if question.score and kind == "text":
        table.problem("score", "is for answers that count something, got one of kind 'text'.")
    return Question(**{**question.__dict__, "expected": expected})


def _expected(table: Table, question: Question) -> tuple[Answer, ...] | None:
    """The right answers, checked like those of people; None if there is no setting."""
    if "expected" not in table.values:
        return None
    value = table.values["expected"]
    several = question.kind == "several"
    listed = isinstance(value, list) and not several
    found: list[Answer] = []
    for each in value if listed else [value]:
        try:
            found.append(checked(question, each if _is_answer(each) else None))
        except Refused:
            found.append(None)
        if found[-1] is None:
            table.problem("expected", f"must be an answer that people can give, got {shown(each)}.")
    if not found:
        table.problem("expected", "must have at least one answer, got an empty list.")
    return tuple(found)


def _is_answer(value: Unchecked) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _check_names(toml: TomlFile, questions: tuple[Question, ...]) -> None:
    names = [question.name for question in questions]
    for number, name in enumerate(names):
        if name and name in names[:number]:
            toml.problem(("questions", number, "name"), f"each question must have a name of its own, got {name!r} twice.")


def _bytes(question: Question) -> int:
    """The most that an answer takes in a request: JSON may write a character in six bytes."""
    own = len(question.name) * 2 + 60
    if question.kind == "text":
        return own + 6 * int(question.most or 0)
    return own + sum(len(option.value.encode()) + 4 for option in question.options)


# Languages ------------------------------------------------------------------------------------------------------------


def structure(form: Form) -> list[list[object]]:
    """What must be the same in all languages, and for everyone who is taking part: everything but wording."""
    return [
        [
            question.name, question.kind, question.required, [option.value for option in question.options], question.least,
            question.most, question.whole, list(question.expected or ()), question.score, dict(question.points),
            question.reverse,
        ]
        for question in form.questions
    ]  # fmt: skip


def check_same(file: Path, form: Form, usual: Form, language: str, problems: Problems) -> None:
    """Note where a form differs in more than its words from that in the study's usual language."""
    if not form.questions or not usual.questions:
        return  # what is wrong has been said
    names, wanted = ([question.name for question in each.questions] for each in (form, usual))
    if names != wanted:
        missing = [name for name in wanted if name not in names]
        more = [name for name in names if name not in wanted]
        what = (
            f"lacks {missing[0]!r}"
            if missing
            else f"has {more[0]!r}, which {language} lacks"
            if more
            else "has another order"
        )
        problems.add(file, 1, f"must have the same questions as in {language}, but {what}.")
        return
    for question, mine, its in zip(form.questions, structure(form), structure(usual), strict=True):
        if mine != its:
            problems.add(
                file, 1,
                f"question {question.name!r} must be the same as in {language} except for its words; give options names, "
                'options = {yes = "Ja"}, and let kind, bounds and expected answers be equal.',
            )  # fmt: skip


def question_named(form: Form, name: str) -> Question | None:
    """The question of that name."""
    return next((question for question in form.questions if question.name == name), None)


def unknown_question(name: str, form: Form) -> str:
    """A sentence that suggests the closest question."""
    return str(unknown_name("question", name, [question.name for question in form.questions]))
