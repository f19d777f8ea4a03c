"""Checks of blocks and people: complete and ordered trials, blocks of the right length, people with something to fit."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorelab._support.counted import counted, plural
from explorelab.choices.checks.column_names import how_to_rename, near
from explorelab.choices.checks.look import N_SHOWN, Look, Problem, Trials, where

FEWEST_TRIALS = 2


def check_order(look: Look, trials: Trials) -> None:
    """Report trials that occur twice, that are missing, and blocks of the wrong length."""
    at = np.flatnonzero(trials.readable)
    if not len(at):
        return
    at = at[np.lexsort((trials.trial[at], trials.group[at]))]
    group, trial = trials.group[at], trials.trial[at]
    first = np.r_[True, group[1:] != group[:-1]]
    step = np.r_[1, np.diff(trial)]
    rows = trials.rows[at]

    def report(bad: np.ndarray, message: str, cause: str) -> None:
        def told(i: int) -> str:
            return message.format(trial=trial[i], before=trial[i - 1], of=_whose(trials, at[i]))

        mask, n_rows = bad & ~first, len(trials.rows)
        look.problems.extend(where(look.called("trial"), mask, rows, lambda i: int(trial[i]), told, cause, n_rows=n_rows))

    report(
        step == 0,
        "expected each trial of a block once, got trial {trial} of {of} again",
        _cause_of_twice(look),
    )
    report(
        step > 1,
        "expected every trial of a block, got trial {trial} of {of} right after trial {before}",
        'Was a missed trial left out? Keep its row, with missed = 1, or set gaps = "missed" in the task file.',
    )
    _check_first(look, trials, at[first])
    _check_length(look, trials, at, first)


def _cause_of_twice(look: Look) -> str:
    if look.has("block"):
        return "Are two blocks under one label, or was the file put together twice?"
    other = near("block", look.frame.columns)
    asked = f"Is {other!r} the block? Then {how_to_rename('block', other)}." if other else "Add a column block."
    return f"There is no column block, so all trials of a participant form one block. {asked}"


def _whose(trials: Trials, i: int) -> str:
    return f"participant {trials.participants[trials.participant[i]]}, block {trials.blocks[trials.block[i]]}"


def _check_first(look: Look, trials: Trials, at: np.ndarray) -> None:
    """Report blocks whose first trial is neither 0 nor 1, and warn where some begin with 0 and others with 1."""
    trial, rows = trials.trial[at], trials.rows[at]

    def report(mask: np.ndarray, message: str, cause: str) -> list[Problem]:
        def told(i: int) -> str:
            return message.format(trial=trial[i], of=_whose(trials, at[i]))

        return where(look.called("trial"), mask, rows, lambda i: int(trial[i]), told, cause, of="blocks", n_rows=len(at))

    look.problems += report(
        trial > 1,
        "expected the first trial of a block to be 0 or 1, got {trial} for {of}",
        "Do trial numbers continue from block to block, or are the first trials missing? Count from 0 or 1 in each block.",
    )
    from_0, from_1 = trial == 0, trial == 1
    if from_0.any() and from_1.any():
        few, many = (from_0, 1) if from_0.sum() < from_1.sum() else (from_1, 0)
        cause = "Is the first trial missing there?" if many == 0 else ""
        look.warnings += report(few, f"other blocks begin with trial {many}, but {{of}} with trial {{trial}}", cause)


def _check_length(look: Look, trials: Trials, at: np.ndarray, first: np.ndarray) -> None:
    """Report blocks with more trials than the horizon, and warn of those with fewer."""
    horizon = look.task.horizon
    if horizon is None:
        return
    begins = np.flatnonzero(first)
    length = np.diff(np.r_[begins, len(at)])
    rows, n_blocks = trials.rows[at[begins]], len(begins)

    def report(mask: np.ndarray, cause: str) -> list[Problem]:
        def told(i: int) -> str:
            expected = f"expected {counted(horizon, 'trial')} in a block (the horizon)"
            return f"{expected}, got {length[i]} for {_whose(trials, at[begins[i]])}"

        return where("", mask, rows, lambda i: int(length[i]), told, cause, of="blocks", n_rows=n_blocks)

    look.problems += report(length > horizon, "The horizon is how many rows a block has, forced and missed ones included.")
    look.warnings += report(length < horizon, "Such a block stays in.")


def look_at_people(look: Look, trials: Trials) -> None:
    """Warn about people with nothing to fit, and people who always chose the same arm."""
    people = people_table(trials)
    unfit = people[people.unfit & ~people.index.isin(list(trials.left_out))]
    for participant, n_trials, reason in zip(unfit.index, unfit.n_trials, unfit.reason, strict=True):
        if len(unfit) <= N_SHOWN:
            name, n = trials.participants[participant], counted(n_trials, "trial")
            look.warnings.append(Problem("", f"participant {name} is excluded, with {n}: {reason}", value=name))
    if len(unfit) > N_SHOWN:
        names = ", ".join(trials.participants[i] for i in unfit.index[:N_SHOWN])
        look.warnings.append(
            Problem("", f"participants {names}, ... are excluded, with nothing to fit", n=len(unfit), of="participants")
        )
    same = people[(people.n_scored >= FEWEST_TRIALS) & (people.least == people.most) & ~people.excluded]
    if len(same) and trials.layout.n_arms > 1:
        names = ", ".join(trials.participants[i] for i in same.index[:N_SHOWN]) + (", ..." if len(same) > N_SHOWN else "")
        who = plural(len(same), "participant")
        arm = f"arm {trials.layout.label(int(same.most.iloc[0]), look.task.first_arm)}" if len(same) == 1 else "one arm"
        message = f"{who} {names} chose {arm} in every trial, and {plural(len(same), 'stays', 'stay')} in"
        look.warnings.append(Problem("", message, value=names, n=len(same), n_rows=len(people), of="participants"))
    if not look.problems and people.excluded.all():
        message = "expected at least one participant with two trials and a free choice, got none"
        cause = "The file says that everyone is to be left out." if trials.left_out else "There is nothing to fit."
        look.problems.append(Problem("", message, cause=cause))


def people_table(trials: Trials) -> pd.DataFrame:
    """For each participant: trials, scored choices, the smallest and largest arm, and whether and why they are left out."""
    scored = trials.scored
    known = trials.participant >= 0
    n = len(trials.participants)
    table = pd.DataFrame(
        {
            "n_trials": np.bincount(trials.participant[known], minlength=n),
            "n_scored": np.bincount(trials.participant[known], scored[known], minlength=n).astype(int),
        }
    )
    use = scored & known
    arms = pd.Series(trials.arm[use]).groupby(trials.participant[use])
    table["least"], table["most"] = arms.min().reindex(table.index), arms.max().reindex(table.index)
    short, unscored = table.n_trials < FEWEST_TRIALS, table.n_scored == 0
    table["reason"] = np.where(short, "a single trial: nothing to fit", "no choice that was free and made: nothing to fit")
    table["unfit"] = short | unscored
    for who, reason in trials.left_out.items():
        table.loc[who, "reason"] = reason
    table["excluded"] = table.unfit | table.index.isin(list(trials.left_out))
    return table
