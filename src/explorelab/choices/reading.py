"""Read choices from a file or a table and check them; nothing is dropped without being listed and counted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from explorelab._support.door import door
from explorelab._support.written_numbers import Json
from explorelab.choices.building import build
from explorelab.choices.checks.look import Look, Problem, Trials
from explorelab.choices.checks.schema import conditions_of, look_at
from explorelab.choices.formats.any_file import read_any
from explorelab.choices.formats.psych_ds import own_file
from explorelab.choices.joining import join_choices
from explorelab.choices.raw import Raw, raw_of_frame
from explorelab.choices.table import Choices, Exclusion
from explorelab.choices.task_file import AnyTask, DataTask, columns_of, gaps_of, task_of
from explorelab.errors import InputError

MOST_LISTED = 20
"""How many problems an error message lists; the rest are only counted."""


@dataclass(frozen=True)
class CheckReport:
    """The result of checking a file of choices."""

    source: str
    problems: Sequence[Problem] = ()
    """What must be fixed."""
    warnings: Sequence[Problem] = ()
    """What is allowed but worth a look."""
    exclusions: Sequence[Exclusion] = ()
    """What is excluded from the analysis."""
    notes: Sequence[str] = ()
    """How the file was understood."""
    counts: dict[str, int] = field(default_factory=dict)
    """Numbers of participants, blocks, and trials (all, scored, missed, forced and, if there was advice, with advice shown
    and followed); empty if rows could not be read."""
    choices: Choices | None = None
    """The choices, if there are no problems."""

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def message(self) -> str:
        """All problems in one message: a sentence if there is only one, otherwise a list."""
        sentences = [f"{problem}" for problem in self.problems[:MOST_LISTED]]
        if len(self.problems) == 1:
            only = self.problems[0]
            joined = ", " if only.row is not None or only.column else ": "
            return f"{self.source}{joined}{sentences[0]}" if not sentences[0].startswith(self.source) else sentences[0]
        more = len(self.problems) - MOST_LISTED
        lines = [f"{self.source}: {len(self.problems)} problems:", *(f"  - {sentence}" for sentence in sentences)]
        return "\n".join([*lines, f"  and {more} more."] if more > 0 else lines)

    def as_json(self) -> dict[str, Json]:
        """The report as a dictionary for JSON."""
        return {
            "source": self.source,
            "ok": self.ok,
            "counts": self.counts,
            "problems": [problem.as_json() for problem in self.problems],
            "warnings": [warning.as_json() for warning in self.warnings],
            "exclusions": [vars(exclusion) for exclusion in self.exclusions],
            "notes": list(self.notes),
        }


type AnyPath = str | os.PathLike[str]


@door
def read_choices(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    task: AnyTask = None,
    *,
    columns: Mapping[str, str] | None = None,
    gaps: Literal["refused", "missed"] | None = None,
) -> Choices:
    """The choices in a file; raises an error that lists everything wrong with it.

    Read are CSV and Parquet, text files of hBayesDM, jsPsych's JSON (.json), transcripts in the form of Psych-201 (.jsonl),
    and Psych-DS folders. Several files are joined, with the condition `dataset`; see `join_choices`.

    A missed trial (missed = 1) is not scored, and is learned from only if it has an arm and a reward. A forced trial is
    learned from but not scored.

    Parameters
    ----------
    path
        File with one row per trial, a Psych-DS folder, or several of them.
    task
        Description of the arms: a TOML file (by default the one next to the data, choices.toml for choices.csv), a table
        of the same settings, or a task that can be simulated. Without any, the arms are inferred, and the choices' `note`
        says so.
    columns
        The file's names of columns that differ from the names here, such as {"participant": "subjID", "arm": "choice"}.
    gaps
        What it means that a trial number is skipped: "refused" is an error, "missed" a trial that was missed.
    """
    return _choices(check_choices(path, task, columns=columns, gaps=gaps))


@door
def check_choices(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    task: AnyTask = None,
    *,
    columns: Mapping[str, str] | None = None,
    gaps: Literal["refused", "missed"] | None = None,
) -> CheckReport:
    """Check a file of choices and return problems, warnings, exclusions, notes, counts and, if it is fine, the choices.

    Parameters
    ----------
    path
        File or folder to check, or several of them.
    task
        Description of the task, as in `read_choices`.
    columns, gaps
        How the file is written, as in `read_choices`.
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    reports = [_checked(Path(one), task, columns, gaps) for one in paths]
    return reports[0] if len(reports) == 1 else _together(paths, reports)


def _checked(path: Path, task: AnyTask, columns: Mapping[str, str] | None, gaps: str | None) -> CheckReport:
    source = os.fspath(path)
    try:
        file = own_file(path) if path.is_dir() else path
        known = task_of(task, file)
        known = replace(
            known,
            columns=known.columns if columns is None else columns_of(columns),
            gaps=known.gaps if gaps is None else gaps_of(gaps),
        )
        raw = read_any(file, known.columns)
        return _report(look_at(raw, _with_own(known, raw.task)), source)
    except InputError as error:
        return CheckReport(source, [Problem("", str(error).rstrip("."))])


def _with_own(known: DataTask, own: DataTask | None) -> DataTask:
    """What is known of the task, with what the file's format says where nothing else does."""
    if own is None:
        return known
    layout = known.layout if known.layout is not None else own.layout
    return replace(known, layout=layout, first_arm=known.first_arm or own.first_arm, note=known.note or own.note)


def _together(paths: Sequence[AnyPath], reports: list[CheckReport]) -> CheckReport:
    """One report on several files."""
    sources = [os.fspath(path) for path in paths]
    source = ", ".join(sources)
    if not reports:
        return CheckReport("", [Problem("", "expected at least one file of choices, got none")])
    problems, warnings = (
        [replace(one, message=f"{report.source}: {one.message}") for report in reports for one in getattr(report, kind)]
        for kind in ("problems", "warnings")
    )
    exclusions = [one for report in reports for one in report.exclusions]
    notes = [f"{report.source}: {note}" for report in reports for note in report.notes]
    there = [report.choices for report in reports if report.choices is not None]
    if len(there) < len(reports):
        return CheckReport(source, problems, warnings, exclusions, notes)
    try:
        joined = join_choices(dict(zip(_names(sources), there, strict=True)))
    except InputError as error:
        return CheckReport(source, [Problem("", str(error).rstrip("."))], notes=notes)
    names = dict.fromkeys(name for report in reports for name in report.counts if name != "arms")
    counts = {name: sum(report.counts.get(name, 0) for report in reports) for name in names} | {"arms": joined.layout.n_arms}
    return CheckReport(source, problems, warnings, exclusions, notes, counts, joined)


def _names(sources: list[str]) -> list[str]:
    """A short name for each file: its stem, or as much of its path as tells them apart."""
    parts = [Path(source).with_suffix("").parts for source in sources]
    if len(set(parts)) < len(parts):
        raise InputError("expected different files to join, got one of them twice.")
    for n in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-n:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return sources


@door
def choices_from_frame(frame: pd.DataFrame, task: AnyTask = None, source: str = "table") -> Choices:
    """The choices in a table, checked in the same way as a file; messages number rows as `frame.iloc` does.

    Parameters
    ----------
    frame
        Table with one row per trial and the columns of a file of choices.
    task
        Description of the task, as in `read_choices`.
    source
        Name of the table in messages.
    """
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"frame must be a pandas DataFrame, got {type(frame).__name__}.")
    return _choices(_report(look_at(_raw(frame, source), task_of(task)), source))


def _raw(frame: pd.DataFrame, source: str) -> Raw:
    return raw_of_frame(frame, source)


def _choices(report: CheckReport) -> Choices:
    if report.choices is None:
        raise InputError(report.message())
    return report.choices


def _report(look: Look, source: str) -> CheckReport:
    trials = look.trials
    choices = build(look, trials, source) if trials is not None and not look.problems else None
    notes = [*look.inferred, *look.notes]
    if trials is not None and choices is not None:
        notes += _more_notes(look, trials)
    return CheckReport(
        source,
        _by_row(look.problems),
        look.warnings,
        choices.exclusions if choices is not None else (),
        notes,
        _counts(trials, choices) if trials is not None else {},
        choices,
    )


def _by_row(problems: list[Problem]) -> list[Problem]:
    """Problems of the whole file first, then by first row."""
    return sorted(problems, key=lambda problem: -1 if problem.row is None else problem.row)


def _more_notes(look: Look, trials: Trials) -> list[str]:
    notes = []
    varying = conditions_of(look, trials.group)[1]
    if varying:
        notes.append(f"Columns that vary within a block are kept in the table, not as conditions: {', '.join(varying)}.")
    lost = trials.missed & ~trials.observed & np.isfinite(trials.reward) & (trials.reward != 0)
    if lost.any():
        notes.append(f"Missed trials with a reward but no arm: {lost.sum()}; nothing is learned from them.")
    return notes


def _counts(trials: Trials, choices: Choices | None) -> dict[str, int]:
    counts = {
        "participants": len(trials.participants),
        "blocks": int(trials.group.max(initial=-1)) + 1,
        "trials": len(trials.rows),
        "missed": int(trials.missed.sum()),
        "forced": int(trials.forced.sum()),
        "scored": int(trials.scored.sum()),
        "arms": trials.layout.n_arms,
    }
    if trials.advice is not None:
        counts |= {"advised": int(trials.advice.shown.sum()), "followed": int(trials.advice.followed.sum())}
    if choices is not None:
        counts["excluded"] = len(choices.exclusions)
    return counts
