"""What was found in a study's folder: problems with file and line, how long the study takes, what it pays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from explorelab._support.counted import counted
from explorelab.cli.tables.terminal_table import print_table

if TYPE_CHECKING:
    from explorelab.study.config.checking.check_folder import Checked
    from explorelab.study.config.checking.findings import Level
    from explorelab.study.config.checking.length import Length
    from explorelab.study.config.checking.pay import Pay

TITLES: dict[Level, str] = {
    "wrong": "wrong: the study cannot be served",
    "to fill in": "to fill in: until then the study is not served to the public",
    "doubtful": "doubtful: is this meant?",
}


def print_checked(found: Checked, folder: Path, as_json: bool) -> None:
    """Print what was found, or one JSON object."""
    if as_json:
        typer.echo(json.dumps(_json(found), indent=2, ensure_ascii=False))
        return
    for level, title in TITLES.items():
        lines = [str(each) for each in found.findings if each.level == level]
        if lines:
            typer.echo("\n".join([title, *(f"  {line}" for line in lines), ""]))
    if found.lengths:
        _print_lengths(found.lengths)
    if found.pay is not None:
        typer.echo(_paid(found.pay))
    typer.echo(f"{folder}: {_verdict(found)}")


def _verdict(found: Checked) -> str:
    counts = [(sum(each.level == level for each in found.findings), level) for level in TITLES]
    told = [f"{counted(n, 'thing')} {level}" for n, level in counts if n]
    return f"{', '.join(told)}." if told else "nothing wrong or doubtful."


def _print_lengths(takes: Sequence[Length]) -> None:
    rows = [
        (
            each[0].language,
            _named(each),
            f"{each[0].playing_s / 60:.1f}",
            f"{each[-1].reading_s / 60:.1f}",
            f"{each[-1].answering_s / 60:.1f}",
            str(each[-1].rounded),
        )
        for each in _alike(takes)
    ]
    title = "How many minutes people take"
    headings = ("language", "condition", "choosing", "reading", "answering", "in all")
    print_table(Console(), headings, rows, title=title, words=(0, 1), plain=True)
    typer.echo("")


def _alike(takes: Sequence[Length]) -> Iterator[list[Length]]:
    """Conditions of a language that take about the same time, those that take longest last."""

    def key(one: Length) -> tuple[str, float, int, float]:
        return one.language, round(one.playing_s / 60, 1), round(one.reading_s / 60), round(one.answering_s / 60, 1)

    order = {one.language: number for number, one in enumerate(takes)}
    for _, alike in groupby(sorted(takes, key=lambda one: (order[one.language], *key(one), one.reading_s)), key):
        yield list(alike)


def _named(alike: Sequence[Length]) -> str:
    names = [one.condition for one in alike]
    return ", ".join(names) if len(names) <= 2 else f"{counted(len(names), 'condition')}, such as {names[0]}"


def _paid(pay: Pay) -> str:
    demanded = "" if pay.least is None else f"; at least {pay.least:.2f} is demanded"
    hourly = f"{pay.per_hour:.2f} an hour{demanded}"
    return f"Everyone who finishes is paid {pay.base:.2f} {pay.currency}: {hourly}. A bonus is extra.\n"


def _json(found: Checked) -> dict[str, object]:
    return {
        "ready": found.is_ready,
        "findings": [each._asdict() for each in found.findings],
        "lengths": [{**each._asdict(), "minutes": round(each.minutes, 2)} for each in found.lengths],
        "pay": None if found.pay is None else found.pay._asdict(),
    }
