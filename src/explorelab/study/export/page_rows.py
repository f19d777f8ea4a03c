"""Rows about a study's own pages: when people saw them, what they answered, what was asked, and who is to be left out."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlalchemy import Connection, Select, select

from explorelab.study.config.design import Study
from explorelab.study.database.tables import AnyRow, answers, people, visits
from explorelab.study.export.rows import Included, streamed
from explorelab.study.session.choice_fields import Cell

PAGES = (
    "participant", "page_name", "page_kind", "step", "attempt", "shown_at", "left_at", "page_elapsed_ms", "passed",
    "n_wrong", "epoch",
)  # fmt: skip
ANSWERS = (
    "participant", "page_name", "page_kind", "step", "attempt", "question", "question_kind", "question_text", "answer",
    "answer_text", "passed", "score", "counted", "answered_ms", "shown_at", "received_at",
)  # fmt: skip
QUESTIONS = (
    "page_name", "page_kind", "question", "question_kind", "question_text", "options", "required", "expected", "least",
    "most", "score",
)  # fmt: skip
EXCLUDED = "excluded"
"""The column that says why someone is to be left out."""


def with_pages(connection: Connection, study: Study) -> bool:
    """Whether the study has pages of its own, or had when someone came."""
    return bool(study.pages) or connection.execute(select(visits.c.id).limit(1)).first() is not None


def page_rows(connection: Connection, included: Included) -> Iterator[tuple[Cell, ...]]:
    """A row of `PAGES` for each page that someone has left."""
    query = select(people.c.code, *visits.c).select_from(included.of(visits)).where(included.who)
    for row in streamed(connection, query.order_by(visits.c.person, visits.c.id)):
        yield (
            row.code, row.page, row.kind, row.step + 1, row.attempt, row.shown_at, row.left_at, row.elapsed_ms, row.passed,
            row.n_wrong, row.epoch,
        )  # fmt: skip


def answer_rows(connection: Connection, included: Included, study: Study) -> Iterator[tuple[Cell, ...]]:
    """A row of `ANSWERS` for each answer to each question."""
    texts = _option_texts(study)
    for row in streamed(connection, answers_query(included).order_by(answers.c.person, answers.c.id)):
        given = json.loads(row.answer)
        words = texts.get((row.language or study.texts.language, row.page, row.question), {})
        yield (
            row.code, row.page, row.page_kind, row.step + 1, row.attempt, row.question, row.kind, row.text, written(given),
            in_words(given, words), row.passed, row.score, row.points, row.answered_ms, row.shown_at, row.received_at,
        )  # fmt: skip


def answers_query(included: Included) -> Select[AnyRow]:
    """Answers with their person and their page."""
    of_visit = (
        (visits.c.person == answers.c.person) & (visits.c.step == answers.c.step) & (visits.c.attempt == answers.c.attempt)
    )
    joined = included.of(answers).join(visits, of_visit)
    about = (people.c.code, people.c.pilot, people.c.language, visits.c.kind.label("page_kind"), visits.c.shown_at)
    return select(*about, *answers.c).select_from(joined).where(included.who)


def written(given: AnyRow) -> Cell:
    """An answer in a cell: several options as JSON."""
    return json.dumps(given, ensure_ascii=False) if isinstance(given, list) else given


def in_words(given: AnyRow, texts: Mapping[str, str]) -> str:
    """The words that people read beside the options they chose; empty for other answers."""
    chosen = given if isinstance(given, list) else [] if given is None else [str(given)]
    return "; ".join(texts[value] for value in chosen if texts.get(value))


def _option_texts(study: Study) -> dict[tuple[str, str, str], dict[str, str]]:
    """The words of all options, by language, page and question."""
    return {
        (spoken.texts.language, page.name, question.name): dict(question.options)
        for spoken in (study.versions or {"": study}).values()
        for page in spoken.pages if page.file in spoken.texts.forms
        for question in spoken.texts.forms[page.file].questions
    }  # fmt: skip


def question_rows(study: Study) -> Iterator[tuple[Cell, ...]]:
    """A row of `QUESTIONS` for each question, in the study's usual language."""
    for page in study.pages:
        for asked in study.texts.forms[page.file].questions if page.file in study.texts.forms else ():
            expected = None if asked.expected is None else json.dumps(list(asked.expected), ensure_ascii=False)
            options = json.dumps(dict(asked.options), ensure_ascii=False) if asked.options else None
            yield (
                page.name, page.kind, asked.name, asked.kind, asked.text, options, asked.required, expected, asked.least,
                asked.most, asked.score,
            )  # fmt: skip


def add_exclusions(folder: Path, why: Mapping[str, tuple[str, ...]], left_out: bool) -> None:
    """Say in each file of choices, by the code of the person, why someone is to be left out, and ask for it if wished."""
    for task in sorted(folder.glob("*.toml")):
        file = task.with_suffix(".csv")
        if not file.is_file():
            continue
        with (
            file.open(encoding="utf-8", newline="") as source,
            (folder / "more.csv").open("w", encoding="utf-8", newline="") as out,
        ):
            rows, more = csv.reader(source), csv.writer(out, lineterminator="\n")
            head = next(rows)
            who = head.index("participant")
            more.writerow([*head, EXCLUDED])
            more.writerows([*row, " ".join(why.get(row[who], ()))] for row in rows)
        (folder / "more.csv").replace(file)
        if left_out:
            text = task.read_text(encoding="utf-8")
            task.write_text(text.replace("[task]\n", f'[task]\nleave_out = "{EXCLUDED}"\n', 1), encoding="utf-8")
