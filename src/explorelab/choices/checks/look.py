"""A file being checked: its rows, what is known about the task, and all problems and warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from explorelab._support import checks
from explorelab._support.counted import plural
from explorelab._support.written_numbers import Json
from explorelab.choices.advice_given import AdviceGiven
from explorelab.choices.table import Layout
from explorelab.choices.task_file import DataTask

N_SHOWN = 5
"""How many rows of a kind are named; the rest are only counted."""


@dataclass(frozen=True)
class Problem:
    """All rows that are wrong in the same way in the same column: the first in full, a few more by number, a count."""

    column: str
    """Its name in the file; empty for the whole row or file."""
    message: str
    """What was expected, and what was found."""
    row: int | None = None
    """The first such row, as the file numbers it (the header of a CSV file is row 1); None for no particular row."""
    value: str = ""
    """The value found there."""
    cause: str = ""
    """The likely cause and what to do about it; may be empty."""
    n: int = 1
    """Number of rows, blocks or people affected."""
    n_rows: int = 0
    """Total number; 0 if not given."""
    rows: tuple[int, ...] = ()
    """The first few rows."""
    of: str = "rows"
    """What is counted."""

    def __str__(self) -> str:
        where = [f"row {self.row}"] if self.row is not None else []
        where += [f"column {self.column}"] if self.column else []
        count = ""
        if self.n > 1:
            more = f": {', '.join(map(str, self.rows))}{', ...' if self.n > len(self.rows) else ''}" if self.rows else ""
            count = f" ({self.n} {self.of}{f' of {self.n_rows}' if self.n_rows else ''}{more})"
        end = "" if (self.message + count).endswith("?") else "."
        return f"{', '.join(where)}{': ' if where else ''}{self.message}{count}{end}{self.cause and ' ' + self.cause}"

    def as_json(self) -> dict[str, Json]:
        """The problem as a dictionary for JSON."""
        return {
            "row": self.row,
            "column": self.column,
            "value": self.value,
            "message": self.message,
            "cause": self.cause,
            "count": self.n,
            "counted": self.of,
            "rows": list(self.rows),
        }


def where(
    column: str,
    bad: np.ndarray,
    rows: np.ndarray,
    values: Callable[[int], object],
    message: str | Callable[[int], str],
    cause: str = "",
    *,
    of: str = "rows",
    n_rows: int | None = None,
) -> list[Problem]:
    """One problem for all rows marked bad, or none; the message is about the first, whose value replaces `{}`."""
    at = np.flatnonzero(bad)
    if not len(at):
        return []
    at = at[np.argsort(rows[at], kind="stable")]
    value = values(int(at[0]))
    shown = str(value)
    return [
        Problem(
            column,
            message.replace("{}", _quoted(shown)) if isinstance(message, str) else message(int(at[0])),
            row=int(rows[at[0]]),
            value=shown,
            cause=cause,
            n=len(at),
            n_rows=len(rows) if n_rows is None else n_rows,
            rows=tuple(int(row) for row in rows[at[:N_SHOWN]]),
            of=of,
        )
    ]


def _quoted(value: str) -> str:
    """Numbers as they are, text in quotes."""
    try:
        float(value)
    except ValueError:
        return checks.shown(value) if value else "nothing"
    return value


def grouped(rows: np.ndarray) -> str:
    """The first few rows by number, for a sentence."""
    shown = ", ".join(str(row) for row in rows[:N_SHOWN].tolist())
    return f"{plural(len(rows), 'row')} {shown}{', ...' if len(rows) > N_SHOWN else ''}"


@dataclass
class Trials:
    """The rows as arrays, in file order; a value that could not be read has a placeholder and a problem."""

    rows: np.ndarray
    """Their numbers in the file."""
    participant: np.ndarray
    """Index into `participants`."""
    participants: list[str]
    block: np.ndarray
    blocks: list[str]
    group: np.ndarray
    """Index of (participant, block): a number for each block that someone played."""
    trial: np.ndarray
    readable: np.ndarray
    """Whether participant, block and trial are all given, so that the row has a place."""
    missed: np.ndarray
    forced: np.ndarray
    arm: np.ndarray
    """From 0; `NOWHERE` without one."""
    reward: np.ndarray
    """NaN without one."""
    layout: Layout
    available: tuple[np.ndarray, np.ndarray] | None = None
    """For each row an index into the masks (mask x arm)."""
    start: np.ndarray | None = None
    left_out: dict[int, str] = field(default_factory=dict)
    """Why participants are left out, as the file says, by their index."""
    advice: AdviceGiven | None = None
    """What was suggested, row by row; None if the file does not say."""

    @property
    def observed(self) -> np.ndarray:
        """Where an arm was sampled and its reward seen."""
        return (self.arm >= 0) & np.isfinite(self.reward)

    @property
    def scored(self) -> np.ndarray:
        """Where the person was free to choose and did."""
        return self.observed & ~self.missed & ~self.forced


@dataclass
class Look:
    """The rows, with columns under explorelab's names, and everything noticed about them."""

    frame: pd.DataFrame
    rows: np.ndarray
    task: DataTask
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    inferred: list[str] = field(default_factory=list)
    """What was assumed about the task because nothing said it."""
    trials: Trials | None = None

    def called(self, column: str) -> str:
        """What the file calls this column."""
        return self.task.columns.get(column, column)

    def value(self, column: str, row: int) -> str:
        """The value as written in the file, for a message."""
        value = self.frame[column].iloc[row]
        return value if isinstance(value, str) else "" if pd.api.types.is_scalar(value) and pd.isna(value) else str(value)

    def bad(self, column: str, mask: np.ndarray, message: str, cause: str = "") -> None:
        """Report the marked rows; `{}` in the message stands for the first one's value."""
        self.problems += where(self.called(column), mask, self.rows, lambda i: self.value(column, i), message, cause)

    def has(self, *columns: str) -> bool:
        """Whether the file has all of these columns."""
        return all(column in self.frame.columns for column in columns)
