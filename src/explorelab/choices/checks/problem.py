"""What is wrong with a file, or worth a look: where, what was expected, what came, and the likely cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorelab._support import checks
from explorelab._support.counted import plural

N_SHOWN = 5
"""How many rows of a kind are named; the others are counted."""


@dataclass(frozen=True)
class Problem:
    """All rows that are wrong in the same way in the same column: the first in full, a few more by number, a count."""

    column: str
    """Its name in the file; empty: the whole row, or the whole file."""
    message: str
    """What was expected, and what came."""
    row: int | None = None
    """The first such row, as the file numbers it (the header of a CSV file is row 1); None: no row in particular."""
    value: str = ""
    """What stands there."""
    cause: str = ""
    """The likely cause, and what to do; may be empty."""
    n: int = 1
    """How many rows, blocks or people this concerns."""
    n_rows: int = 0
    """Of how many; 0: not said."""
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

    def as_json(self) -> dict[str, Any]:
        """The same, as a table for JSON."""
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
    values: Callable[[int], Any],
    message: str | Callable[[int], str],
    cause: str = "",
    *,
    of: str = "rows",
    n_rows: int | None = None,
) -> list[Problem]:
    """One problem for all rows marked bad, or none; the message is about the first, whose value `{}` in it becomes."""
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
