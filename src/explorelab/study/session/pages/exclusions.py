"""Who is to be left out of analyses, by rules that a study states before it begins, in the table [exclude].

Nobody's data are dropped: exports say of each person which rules apply, and the files for analyses ask to leave them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, and_, case, func, select

from explorelab._support.checks import is_number
from explorelab._support.toml.toml_file import shown
from explorelab.errors import unknown_name
from explorelab.study.config.fields import Table, TomlFile
from explorelab.study.database.tables import blocks, choices, consents, people, visits
from explorelab.study.session.pages.page_kinds import KINDS
from explorelab.study.session.pages.page_types import Page
from explorelab.study.session.stages import PLAYED, Stage

TABLE = "exclude"
WHOLE = "study"
"""In faster_than: from consent to the last page, instead of a page's name."""
CHECKS, QUIZ, MISSED, FAST = "failed-checks", "failed-quiz", "missed", "too-fast"
RULES: Mapping[str, str] = {
    CHECKS: "failed too many attention checks",
    QUIZ: "failed the quiz as often as was allowed",
    MISSED: "let the time run out in too many choices",
    FAST: "was faster than anyone who reads and thinks",
}
"""What each word in exports means."""


@dataclass(frozen=True)
class Exclude:
    """The rules."""

    failed_checks: int | None = None
    """From how many failed attention checks on."""
    failed_quiz: bool = False
    missed: float | None = None
    """From which share of the task's choices without a click on."""
    faster_than: Mapping[str, float] = field(default_factory=dict)
    """Seconds by name of a page, or for the whole study."""


def read_exclude(toml: TomlFile, pages: Iterable[Page]) -> Exclude | None:
    """The rules of a study; None if it states none."""
    if TABLE not in toml.values:
        return None
    table = toml.table(TABLE, known=("failed_checks", "failed_quiz", "missed", "faster_than"))
    checks = table.whole("failed_checks", 1, 1000) if "failed_checks" in table.values else None
    missed = table.number("missed", 0.001, 1) if "missed" in table.values else None
    rules = Exclude(checks, table.truth("failed_quiz", False), missed, _faster_than(table, pages))
    if rules == Exclude():
        table.problem("", "must have at least one rule, got none.")
    asked = [("failed_checks", checks is not None, False), ("failed_quiz", rules.failed_quiz, True)]
    for key, wanted, judged in asked:
        if wanted and not any(KINDS[page.kind].asks and KINDS[page.kind].judges == judged for page in pages):
            table.problem(key, f"needs a page of kind {'quiz' if judged else 'form'!r}, got none in [[pages]].")
    return rules


def _faster_than(table: Table, pages: Iterable[Page]) -> dict[str, float]:
    value = table.values.get("faster_than", {})
    if not isinstance(value, dict) or not all(is_number(each) and 0 < each <= 86_400 for each in value.values()):
        wanted = f"must be a table of pages and seconds, such as {{{WHOLE} = 120}}, each above 0 and at most 86400"
        table.problem("faster_than", f"{wanted}, got {shown(value)}.")
        return {}
    known = [WHOLE, *(page.name for page in pages if not KINDS[page.kind].plays)]
    for name in value:
        if name not in known:
            place = (*table.at, "faster_than", name)
            table.toml.problem(place, f"{table.title} faster_than: {unknown_name('page', name, known)}")
    return {name: float(each) for name, each in value.items()}


def excluded(connection: Connection, rules: Exclude | None) -> dict[int, tuple[str, ...]]:
    """Which rules apply to each person, for those to whom any does."""
    if rules is None:
        return {}
    found: dict[int, set[str]] = {}
    for word, persons in (
        (CHECKS, _failed_checks(connection, rules.failed_checks)),
        (QUIZ, _failed_quiz(connection) if rules.failed_quiz else ()),
        (MISSED, _missed(connection, rules.missed)),
        (FAST, _too_fast(connection, rules.faster_than)),
    ):
        for person in persons:
            found.setdefault(person, set()).add(word)
    return {person: tuple(word for word in RULES if word in words) for person, words in found.items()}


def failed_checks(connection: Connection) -> dict[int, int]:
    """How many attention checks each person has failed, for those who have failed any."""
    n = func.sum(visits.c.n_wrong)
    query = select(visits.c.person, n).where(visits.c.passed.is_(None)).group_by(visits.c.person).having(n > 0)
    return {int(person): int(failed) for person, failed in connection.execute(query)}


def _failed_checks(connection: Connection, least: int | None) -> list[int]:
    return [] if least is None else [person for person, n in failed_checks(connection).items() if n >= least]


def _failed_quiz(connection: Connection) -> list[int]:
    """Whose last answers to a quiz were not all right, and who may not try again."""
    later = visits.alias()
    again = select(later.c.id).where(
        later.c.person == visits.c.person, later.c.step == visits.c.step, later.c.attempt > visits.c.attempt
    )
    beyond = (people.c.stage == Stage.SCREENED) | (people.c.step > visits.c.step)
    query = select(visits.c.person).join(people).where(visits.c.passed.is_(False), ~again.exists(), beyond)
    return [int(person) for person in connection.execute(query.distinct()).scalars()]


def _missed(connection: Connection, share: float | None) -> list[int]:
    if share is None:
        return []
    of_block = and_(blocks.c.person == choices.c.person, blocks.c.number == choices.c.block)
    missed = func.sum(case((choices.c.missed, 1), else_=0))
    query = select(choices.c.person, missed, func.count()).join(blocks, of_block).where(blocks.c.kind == "task")
    return [int(who) for who, n, made in connection.execute(query.group_by(choices.c.person)) if n >= share * made]


def _too_fast(connection: Connection, seconds: Mapping[str, float]) -> list[int]:
    """Who spent less time, by the server's clock, on a page that they saw for the first time, or in all."""
    found = []
    for name, least in seconds.items():
        if name == WHOLE:
            took = func.coalesce(people.c.finished_at, people.c.seen_at) - consents.c.at
            query = select(people.c.id).join(consents).where(people.c.stage.in_(PLAYED), took < least)
        else:
            took = visits.c.left_at - visits.c.shown_at
            query = select(visits.c.person).where(visits.c.page == name, visits.c.attempt == 1, took < least)
        found += [int(person) for person in connection.execute(query).scalars()]
    return found
