"""What is doubtful about a study's own pages: forms that ask for nothing, questions that nobody can answer, ways out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from explorelab.study.config.checking.findings import Finding
from explorelab.study.config.checking.written import toml_of
from explorelab.study.config.design import Study
from explorelab.study.session.pages.page_kinds import KINDS, LEAVE
from explorelab.study.session.pages.page_types import Form, Page, Question
from explorelab.study.session.pages.show_if import about_answers


def doubtful_forms(study: Study, folder: Path, within: str) -> Iterator[Finding]:
    """What is doubtful about the questions of the usual language: those of the others are the same but for their words."""
    for file, form in study.texts.forms.items():
        toml = toml_of(folder / within / file)
        kinds = {page.kind for page in study.pages if page.file == file}
        if "form" in kinds and not any(question.required for question in form.questions):
            sentence = "has no question that must be answered, so people can go on without reading it"
            yield Finding(f"{within}{file}", 1, "doubtful", "form", sentence)
        for number, question in enumerate(form.questions):
            if wrong := unanswerable(question):
                line = None if toml is None else toml.line_of(("questions", number, "name"))
                yield Finding(f"{within}{file}", line, "doubtful", "form", f"question {question.name!r} {wrong}")


def unanswerable(question: Question) -> str:
    """Why nobody can answer the question as it is meant, or everyone answers it the same."""
    low, high = question.least, question.most
    if question.kind == "number" and question.whole and low is not None and high is not None and math.ceil(low) > high:
        return f"can be answered by nobody: there is no whole number from {low:g} to {high:g}"
    if question.kind == "number" and low is not None and low == high:
        return f"has {low:g} as its only answer"
    if question.kind == "choice" and len(question.options) == 1:
        return "has only one option"
    if question.kind == "several" and low == len(question.options) and question.required:
        return "must be answered with all of its options"
    texts = [option.text.strip().casefold() for option in question.options if option.text.strip()]
    twice = next((text for number, text in enumerate(texts) if text in texts[:number]), None)
    return f"has two options that read the same: {twice!r}" if twice is not None else ""


def doubtful_pages(study: Study, folder: Path) -> Iterator[Finding]:
    """What is doubtful about the entries of [[pages]]."""
    toml = toml_of(folder / "study.toml")
    seen: dict[str, Form] = {}
    for page in study.pages:
        line = None if toml is None else toml.line_of(("pages", page.place))
        for sentence in (*_way_out(study, page), *_never(page, seen)):
            yield Finding("study.toml", line, "doubtful", "form", f"[[pages]] {page.place + 1} {sentence}")
        if page.file in study.texts.forms:
            seen[page.name] = study.texts.forms[page.file]


def _way_out(study: Study, page: Page) -> Iterator[str]:
    """People whom a quiz sends away need a code, if those who finish get one."""
    settings, completion = page.settings, study.completion
    sends_away = KINDS[page.kind].judges and settings.get("on_fail") == LEAVE
    if sends_away and not settings.get("code") and "prolific.co" in completion.redirect:
        yield "sends people away without a code, so that they cannot return to Prolific: set code to one for screening out"


def _never(page: Page, seen: dict[str, Form]) -> Iterator[str]:
    """A page for people who answered what nobody can."""
    for name, wish in about_answers(page.show_if).items():
        first, _, second = name.partition(".")
        form = seen.get(first)
        if form is None or not isinstance(wish, dict):
            continue
        question = next((each for each in form.questions if each.name == second), None)
        low, high = wish.get("at_least"), wish.get("at_most")
        beyond = question is not None and (
            (low is not None and question.most is not None and low > question.most)
            or (high is not None and question.least is not None and high < question.least)
        )
        if beyond or (low is not None and high is not None and low > high):
            yield f"is shown to nobody: no answer to {name} is within the bounds of show_if"
