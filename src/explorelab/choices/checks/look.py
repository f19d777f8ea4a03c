"""A file under examination: its rows, what is known of the task, and everything noticed so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from explorelab.choices.checks.problem import Problem, where
from explorelab.choices.table import Layout
from explorelab.choices.task_file import DataTask


@dataclass
class Trials:
    """The rows as arrays, in the order of the file; where a value could not be read there is a stand-in and a problem."""

    rows: np.ndarray
    """Their numbers in the file."""
    participant: np.ndarray
    """Index into `participants`."""
    participants: list[str]
    block: np.ndarray
    blocks: list[str]
    group: np.ndarray
    """Index of (participant, block): a number for each block that somebody played."""
    trial: np.ndarray
    readable: np.ndarray
    """Whether participant, block and trial are all there, so that the row has its place."""
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
    """The rows with columns by the names they have here, and what was noticed."""

    frame: pd.DataFrame
    rows: np.ndarray
    task: DataTask
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    inferred: list[str] = field(default_factory=list)
    """What was taken for granted about the task because nothing said it."""
    trials: Trials | None = None

    def called(self, column: str) -> str:
        """What the file calls this column."""
        return self.task.columns.get(column, column)

    def value(self, column: str, row: int) -> Any:
        """What stands in the file there, for a message."""
        value = self.frame[column].iloc[row]
        return value if isinstance(value, str) else "" if pd.api.types.is_scalar(value) and pd.isna(value) else str(value)

    def bad(self, column: str, mask: np.ndarray, message: str, cause: str = "") -> None:
        """Report the rows marked; `{}` in the message stands for the first one's value."""
        self.problems += where(self.called(column), mask, self.rows, lambda i: self.value(column, i), message, cause)

    def has(self, *columns: str) -> bool:
        """Whether the file has all of these columns."""
        return all(column in self.frame.columns for column in columns)
