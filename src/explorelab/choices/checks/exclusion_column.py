"""The column that says why someone is left out, if the task file names one: rules that a study stated before it began."""

from __future__ import annotations

import numpy as np

from explorelab.choices.checks.look import Look, Problem


def left_out(look: Look, participant: np.ndarray) -> dict[int, str]:
    """Why participants are left out, by their index; whoever has a reason on any row is."""
    column = look.task.leave_out
    if not column:
        return {}
    if not look.has(column):
        message = f"expected a column {column!r}, which the task file names in leave_out, got none"
        look.problems.append(Problem(column, message))
        return {}
    said = look.frame[column].fillna("").astype(str).str.strip().to_numpy()
    found: dict[int, str] = {}
    for row in np.flatnonzero((said != "") & (participant >= 0)).tolist():
        found.setdefault(int(participant[row]), f"left out as the study's rules say: {said[row]}")
    return found
