"""Text files of hBayesDM's bandit tasks: subjID, choice (from 1), and outcome, or gain and loss.

Trials are in the order of rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from explorelab.choices.checks.look import Problem, where
from explorelab.choices.columns import as_numbers
from explorelab.choices.raw import Raw
from explorelab.choices.task_file import DataTask

PARTICIPANT, ARM, OUTCOME, GAIN, LOSS = "subjID", "choice", "outcome", "gain", "loss"


def fits(frame: pd.DataFrame, columns: Mapping[str, str]) -> bool:
    """Whether these are the columns of such a file, and nobody says otherwise."""
    names = set(frame.columns)
    paid = OUTCOME in names or {GAIN, LOSS} <= names
    return {PARTICIPANT, ARM} <= names and paid and not names & {"participant", "trial", "arm", "reward"} and not columns


def as_choices(raw: Raw) -> Raw:
    """The same rows under explorelab's names: arms still from 1, as the task says, and trials numbered."""
    frame = raw.frame.rename(columns={PARTICIPANT: "participant", ARM: "arm"})
    if OUTCOME in frame:
        frame, what = frame.rename(columns={OUTCOME: "reward"}), OUTCOME
    else:
        frame["reward"], problems = _net(raw)
        raw.problems += problems
        what = f"{GAIN} less {LOSS} (whose sign does not matter)"
    by = ["participant", "block"] if "block" in frame else ["participant"]
    frame["trial"] = frame.groupby(by, sort=False).cumcount() + 1
    raw.notes.append(
        f"The columns are those of hBayesDM: {PARTICIPANT} is the participant, {ARM} the arm, counted from 1, and the "
        f"reward is {what}. Trials are numbered in the order of rows."
    )
    raw.frame, raw.task = frame, DataTask(first_arm=1)
    return raw


def _net(raw: Raw) -> tuple[np.ndarray, list[Problem]]:
    (gain, no_gain), (loss, no_loss) = as_numbers(raw.frame[GAIN]), as_numbers(raw.frame[LOSS])
    problems: list[Problem] = []
    for name, bad in ((GAIN, no_gain), (LOSS, no_loss)):
        problems += where(name, bad, raw.rows, raw.frame[name].to_numpy(object).item, "expected a number, got {}")
    return gain - np.abs(loss), problems
