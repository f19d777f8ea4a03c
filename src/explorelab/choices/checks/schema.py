"""The check of a file of choices: every problem, with its location and likely cause.

A file has one row per trial. Columns: participant, trial (from 0 or 1), arm (or x and y), reward; where they apply: block,
available (arms separated by spaces; empty for all), missed, forced (0 or 1), reaction_time_ms, advised (the arm that was
suggested; empty for none), advice_shown, followed (0 or 1), advice_reason. Every other column is a condition.
"""

from __future__ import annotations

import difflib

import numpy as np
import pandas as pd

from explorelab.choices.checks import arms, order, values
from explorelab.choices.checks.advice_columns import advice_of
from explorelab.choices.checks.column_names import ALSO_CALLED, COLUMNS, how_to_rename, near
from explorelab.choices.checks.exclusion_column import left_out
from explorelab.choices.checks.gaps import MISSED, without_gaps
from explorelab.choices.checks.look import Look, Problem, Trials
from explorelab.choices.raw import Raw, raw_of_frame
from explorelab.choices.task_file import AnyTask, DataTask, task_of

NEEDED = ("participant", "trial", "reward")


def problems(frame: pd.DataFrame, task: AnyTask = None) -> list[Problem]:
    """All problems of a table of choices; empty if it is fine. Rows count from 0, as `frame.iloc` does."""
    raw = raw_of_frame(frame)
    return look_at(raw, task_of(task)).problems


def look_at(raw: Raw, task: DataTask) -> Look:
    """The file examined: its problems, warnings and notes, and its rows as arrays."""
    frame, rows, notes = _renamed(raw, task), raw.rows, [*raw.notes, *task.notes]
    if task.gaps == MISSED:
        frame, rows, more = without_gaps(frame, rows)
        notes += more
    look = Look(frame, rows, task, [*raw.problems], notes=notes)
    _check_names(look, raw)
    if len(raw.rows) == 0:
        if not any(problem.row is not None for problem in look.problems):
            look.problems.append(Problem("", "expected a row for each trial, got a header and nothing below it"))
        return look
    look.trials = _read(look)
    return look


def _renamed(raw: Raw, task: DataTask) -> pd.DataFrame:
    """The rows with columns under explorelab's names; a column that another one replaces is left out (and reported)."""
    names = {called: name for name, called in task.columns.items() if called in raw.frame.columns}
    shadowed = [name for called, name in names.items() if name in raw.frame.columns and name != called and name not in names]
    return raw.frame.drop(columns=shadowed).rename(columns=names)


def _check_names(look: Look, raw: Raw) -> None:
    found = list(raw.frame.columns)
    for name, called in look.task.columns.items():
        if called not in found:
            hint = difflib.get_close_matches(called, found, n=1, cutoff=0.5)
            cause = f"The task file uses this column as {name}; did you mean {hint[0]!r}?" if hint else ""
            look.problems.append(Problem(called, f"expected a column {called!r}, got {_listed(found)}", cause=cause))
        elif name in found and name != called and name not in look.task.columns.values():
            message = f"expected one column for {name}, got {called!r}, which the task file names, and {name!r}"
            look.problems.append(Problem(name, message, value=name, cause="Leave out one of them, or rename it."))
    wanted = [name for name in NEEDED if not look.has(name)]
    wanted += ["arm"] if not look.has("arm") and not look.has("x", "y") else []
    for name in wanted:
        if name not in look.task.columns:
            what = "a column 'arm', or columns 'x' and 'y'," if name == "arm" else f"a column {name!r}"
            message = f"expected {what.rstrip(',')}, got {_listed(found)}"
            look.problems.append(Problem(name, message, cause=_cause_of_missing(name, look)))
    for name in ALSO_CALLED:
        open_to_it = name not in wanted and not look.has(name) and not (name == "arm" and look.has("x"))
        other = near(name, look.frame.columns) if open_to_it else ""
        if other:
            look.notes.append(f"Column {other!r} is a condition here; if it is {name}, {how_to_rename(name, other)}.")
    if not look.has("block") and "block" not in look.task.columns:
        look.notes.append("There is no column block: all trials of a participant are taken for one block.")


def _listed(names: list[str]) -> str:
    return ", ".join(names) if names else "no columns"


def _cause_of_missing(name: str, look: Look) -> str:
    other = near(name, look.frame.columns)
    if other:
        return f"Is it {other!r}? Then {how_to_rename(name, other)}."
    if len(look.frame.columns) == 1:
        return "There is a single column: is the file separated by something else than commas?"
    return ""


def _read(look: Look) -> Trials | None:
    """The rows as arrays, if they have the necessary columns; every column present is checked in any case."""
    participant, participants = values.labels(look, "participant")
    block, blocks = values.labels(look, "block")
    trial, known = values.trial_numbers(look)
    missed, forced = values.flags(look, "missed"), values.flags(look, "forced")
    arm, layout, available = arms.arms(look, missed, forced)
    reward = values.rewards(look, missed)
    for check in values.MEASURES.values():
        check(look)
    pairs = participant * max(len(blocks), 1) + block
    group = pd.factorize(pairs)[0]
    readable = known & (participant >= 0) & (block >= 0)
    trials = Trials(
        look.rows,
        participant,
        participants,
        block,
        blocks,
        group,
        trial,
        readable,
        missed,
        forced,
        arm,
        reward,
        layout,
        available,
        left_out=left_out(look, participant),
        advice=advice_of(look, arm, missed, layout),
    )
    if look.has("participant", "trial"):
        order.check_order(look, trials)
        values.check_means(look, group)
        trials.start = arms.start(look, group, layout)
    complete = look.has(*NEEDED) and (look.has("arm") or look.has("x", "y"))
    if not complete:
        return None
    order.look_at_people(look, trials)
    return trials


def conditions_of(look: Look, group: np.ndarray) -> tuple[list[str], list[str]]:
    """The names of further columns: those that are constant within each block, and those that are not."""
    apart = {look.task.leave_out} | ({look.task.start} if isinstance(look.task.start, str) else set())
    further = [str(name) for name in look.frame.columns if name not in COLUMNS and name not in apart]
    constant = [name for name in further if not values.varies_within(look, name, group).any()]
    return constant, [name for name in further if name not in constant]
