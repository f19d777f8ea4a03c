"""The values of single columns: labels, trial numbers, flags, rewards, reaction times, landscapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from explorelab.choices.checks.look import Look, Problem
from explorelab.choices.columns import as_flags, as_numbers, codes_of, codes_of_several

LARGEST_TRIAL = 2**31


def labels(look: Look, column: str) -> tuple[np.ndarray, list[str]]:
    """For each row the index of its label (-1 if it has none), and the labels in file order."""
    if not look.has(column):
        return np.zeros(len(look.rows), np.int64), ["1"]
    codes, names = codes_of(look.frame[column])
    if "" in names:
        look.bad(column, codes == names.index(""), f"expected a label for the {column}, got nothing")
        empty = names.index("")
        codes = np.where(codes == empty, -1, codes - (codes > empty))
        names.remove("")
    _check_look_alikes(look, column, codes, names)
    return codes, names


def _check_look_alikes(look: Look, column: str, codes: np.ndarray, names: list[str]) -> None:
    """Report labels that are the same number written differently, such as 1 and 1.0."""
    seen: dict[float, str] = {}
    for code, name in enumerate(names):
        number = _as_number(name)
        if number is None:
            continue
        first = seen.setdefault(number, name)
        if first != name:
            message = f"expected one way to write the {column} {first}, got {{}} as well"
            look.bad(
                column,
                codes == code,
                message,
                f"Are {first!r} and {name!r} the same {column}? Then write them the same way.",
            )


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def trial_numbers(look: Look) -> tuple[np.ndarray, np.ndarray]:
    """The number of each trial, and a mask of those that are valid."""
    n = len(look.rows)
    if not look.has("trial"):
        return np.zeros(n, np.int64), np.zeros(n, bool)
    numbers, bad = as_numbers(look.frame["trial"])
    empty = np.isnan(numbers) & ~bad
    look.bad("trial", empty, "expected the number of the trial, got nothing")
    with np.errstate(invalid="ignore"):
        odd = bad | (~empty & ~((numbers >= 0) & (numbers < LARGEST_TRIAL) & (numbers == np.floor(numbers))))
    look.bad("trial", odd, "expected a whole number from 0 or 1, got {}")
    known = ~(empty | odd)
    return np.where(known, numbers, 0).astype(np.int64), known


def flags(look: Look, column: str) -> np.ndarray:
    """Where an optional column says yes."""
    if not look.has(column):
        return np.zeros(len(look.rows), bool)
    yes, bad = as_flags(look.frame[column])
    look.bad(column, bad, "expected 0 or 1 (or true, false, yes, no), got {}")
    return yes


def rewards(look: Look, missed: np.ndarray) -> np.ndarray:
    """The reward of each row; NaN if it has none, which is allowed only on a missed trial."""
    if not look.has("reward"):
        return np.full(len(look.rows), np.nan)
    numbers, bad = as_numbers(look.frame["reward"])
    commas = bad.any() and "," in str(look.value("reward", int(np.flatnonzero(bad)[0])))
    cause = "Is this a decimal comma? Write 12.5, not 12,5." if commas else ""
    look.bad("reward", bad, "expected a number, got {}", cause)
    look.bad("reward", np.isinf(numbers), "expected a finite number, got {}")
    empty = np.isnan(numbers) & ~bad & ~missed
    cause = "Was the trial missed? Set missed to 1 there."
    look.bad(
        "reward", empty, "expected a number, got {}", cause if look.has("missed") else f"{cause[:-1]} (a column of its own)."
    )
    return np.where(np.isfinite(numbers), numbers, np.nan)


def check_reaction_times(look: Look) -> None:
    """Report reaction times that are not valid times."""
    column = "reaction_time_ms"
    if not look.has(column):
        return
    times, bad = as_numbers(look.frame[column])
    look.bad(column, bad | np.isinf(times), "expected a time in milliseconds, got {}")
    look.bad(column, times < 0, "expected a time of at least 0 ms, got {}", "Was the clock read before the trial began?")
    known = times[np.isfinite(times) & (times >= 0)]
    if len(known) and 0 < np.median(known) < 20:
        message = f"half of the reaction times are below {np.median(known):.3g} ms"
        look.warnings.append(
            Problem(look.called(column), message, cause="Are they in seconds? They should be in milliseconds.")
        )


MEASURES: dict[str, Callable[[Look], None]] = {
    "reaction_time_ms": check_reaction_times,
}
"""Columns of numbers that are kept in the table and that no fit reads, each with its check."""


def varies_within(look: Look, column: str, group: np.ndarray) -> np.ndarray:
    """Where a row's value differs from that in the first row of its block."""
    codes, _ = codes_of(look.frame[column])
    first = pd.Series(codes).groupby(group).transform("first").to_numpy()
    return codes != first


def check_means(look: Look, group: np.ndarray) -> None:
    """Report blocks whose landscape the task file does not know, and those that last longer than their means."""
    columns = look.task.columns_of_means
    for column in columns:
        if not look.has(column):
            message = f"expected a column {column!r}, by which the task file gives means, got none"
            look.problems.append(Problem(column, message))
            return
        message = "expected one value within a block, as means depend on it, got also {}"
        look.bad(column, varies_within(look, column, group), message)
    known_means = look.task.paths or look.task.means
    if not known_means:
        return
    codes, names = (np.zeros(len(look.frame), int), [""]) if not columns else codes_of_several(look.frame[list(columns)])
    unknown = np.array([name not in known_means for name in names])
    if columns:
        known = "; ".join(list(known_means)[:8]) if len(columns) > 1 else ", ".join(list(known_means)[:8])
        look.bad(columns[-1], unknown[codes], f"expected a value that the task file gives means for ({known}), got {{}}")
    if look.task.paths and not unknown.any():
        lengths = np.array([len(look.task.paths[name]) for name in names])[codes]
        place = pd.Series(group).groupby(group).cumcount().to_numpy()
        beyond = place == lengths
        known = str(lengths[beyond.argmax()]) if beyond.any() else ""
        look.bad("trial", beyond, f"expected no more trials than the task file gives means for ({known}), got {{}}")
