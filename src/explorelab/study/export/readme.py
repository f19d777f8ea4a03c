"""The README of an export: what each file contains, who is included and who is not."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from explorelab._support.counted import counted, plural
from explorelab._support.written_numbers import Json
from explorelab.study.config.design import Study
from explorelab.study.export.cells import moment
from explorelab.study.export.rows import LeftOut
from explorelab.study.session.doubts import REASONS
from explorelab.study.session.pages.exclusions import RULES

WHO = {"without": ("person", "people"), "with": ("person or robot", "people and robots"), "only": ("robot", "robots")}
"""Singular and plural for whoever is in an export, by the option `pilots`."""

WHY_TWICE = (
    "Psych-DS wants tables under `data/`; `explorelab` reads a `choices.csv` with a `choices.toml` beside it. So the task "
    "blocks are in both: `choices.csv` has what analyses need, `data/` has every column of everything. "
    "`.psychdsignore` tells validators to skip the copy."
)

NUMBERED = "Squares are numbered from 0 (column times height plus row, the top row first)"
NUMBERED_ARMS = (
    "Blocks with other arms than those of `choices.csv` have files of their own (`choices-NAME.csv`), and so have means "
    "that change (`choices-means.csv`). Arms are numbered from 0 (on a grid, column times height plus row)"
)

RUN_AGAIN = (
    "- `materials/study/`: the current version of the study, without the address of its database: `explorelab study serve` "
    "on a copy of this folder runs it again."
)


def about(study: Study, description: str, span: tuple[float | None, float | None]) -> dict[str, Json]:
    """What dataset_description.json says about the data set as a whole."""
    told: dict[str, Json] = {"name": study.title or study.name, "description": description}
    told["inLanguage"] = list(study.languages) if study.versions else study.texts.language
    first, last = (moment(value)[:10] for value in span)
    return told | ({"temporalCoverage": f"{first}/{last}"} if first else {})


def description(study: Study, n_people: int, pilots: str, notes: list[str]) -> str:
    """The data in a few sentences."""
    tried = " from a pilot" if pilots == "only" else ""
    where = (
        f"on a grid of {study.width} x {study.height} squares with hidden rewards" if study.design is None else "in bandits"
    )
    return " ".join(
        [
            f"Choices of {counted(n_people, *WHO[pilots])}{tried} {where}:",
            "every choice, click and interruption, with the conditions.",
            "The participants table says what each person was promised, and in which currency.",
            *notes,
        ]
    )


def readme(
    study: Study,
    told: str,
    tables: Mapping[str, tuple[str, int]],
    n_task: int,
    n_short: int,
    out: LeftOut,
    pilots: str,
    doubts: str,
) -> str:
    """The text of README.md; `tables` gives the file and the number of rows of each table."""
    meaning = {
        "participants": "everyone who agreed to take part",
        "consents": "when they agreed, and to which text",
        "blocks": "the blocks that were begun, with their conditions",
        "choices": "every choice, training included, with every click and all times",
        "events": "what browsers reported: hidden pages, lost connections, pauses",
        "landscapes": "what the squares were worth" if study.design is None else "what the arms were worth",
        "arms": "what people saw of them",
        "pages": "the study's own pages that were left, with their times",
        "answers": "every answer to every question, with the question's text",
        "questions": "what was asked on each page, with the options and the answers that were expected",
    }
    files = [f"- `data/{name}`: {meaning[table]} ({counted(n, 'row')})." for table, (name, n) in tables.items()]
    short = (
        f" {n_short} of these blocks {plural(n_short, 'is', 'are')} shorter than planned because someone stopped halfway."
    )
    others = {"without": ("only", "from a pilot"), "only": ("without", "who took part")}.get(pilots)
    reasons = [
        f"{out.declined} declined",
        f"{out.withdrawn} left before agreeing or asked for their data to be deleted",
        f"{out.undecided} came but did not answer",
        *([f"{counted(out.pilots, *WHO[others[0]])} {others[1]}"] if others else []),
    ]
    lines = [
        f"# {study.title or study.name}",
        told,
        "## Files",
        f"- `choices.csv`: the choices of the task blocks ({counted(n_task, 'row')}), with `choices.toml`, for "
        f"`explorelab check`, `fit` and `report`.{short if n_short else ''}",
        "- `doubted.csv`: people who may not have played by hand or in time, and why.",
        *files,
        "- `materials/`: every consent text that someone agreed to, and the current version of the other texts.",
        *([RUN_AGAIN] if study.files else []),
        "- `dataset_description.json`: what every column holds, with its unit.",
        "- `checksums.sha256`: of every file; `sha256sum --check checksums.sha256`.",
        WHY_TWICE,
        "## Who is included",
        "Everyone who agreed to take part and did not ask for their data to be deleted, including those who stopped "
        f"halfway. Not included: {'; '.join(reasons)}. None of these files contains platform IDs.",
        doubts,
        "## How to read it",
        f"{NUMBERED if study.design is None else NUMBERED_ARMS}, blocks and trials from 1. Times are "
        "UTC. `choices.csv` has one row for each trial; a trial without a click has `missed` 1: it is not scored, but "
        "models learn from its reward. Text that a spreadsheet would run as a formula starts with an apostrophe.",
    ]  # fmt: skip
    return "\n".join(_spaced(lines)) + "\n"


def doubts_told(n: int, doubted: str) -> str:
    """Who is doubted, and what that means for choices.csv."""
    words = "; ".join(f"{word}: {meaning}" for word, meaning in REASONS.items())
    if not n:
        return f"There is no sign that anyone did not play by hand and in time ({words})."
    some = counted(n, "person", "people")
    are = plural(n, "is", "are")
    where = f"{are} not in `choices.csv`" if doubted == "without" else f"{are} still in `choices.csv`"
    return f"{some} may not have played by hand or in time and {where}; `doubted.csv` lists them ({words})."


def exclusions_told(n: int, excluded: str) -> str:
    """To whom the rules apply that the study stated before, and what that means for choices.csv."""
    words = "; ".join(f"{word}: {meaning}" for word, meaning in RULES.items())
    if not n:
        return f"The study's rules leave nobody out ({words})."
    some, apply = counted(n, "person", "people"), "leave" if excluded == "without" else "would leave"
    asks = "asks `fit` and `report` to leave them out, and they say so" if excluded == "without" else "keeps them"
    return (
        f"The rules that the study stated before {apply} out {some}: the column `excluded` says why ({words}). Their data "
        f"are in every file; `choices.toml` {asks}."
    )


def _spaced(lines: list[str]) -> list[str]:
    """Paragraphs separated by empty lines, but not between list items."""
    spaced = [lines[0]]
    for before, line in pairwise(lines):
        spaced += [line] if before.startswith("- ") and line.startswith("- ") else ["", line]
    return spaced
