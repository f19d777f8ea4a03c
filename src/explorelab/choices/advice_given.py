"""What was suggested to people while they chose, as their choices keep it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ARM_OF_STUDY = "advice_arm"
"""The condition with the kind of advice, one of which is `NONE`."""
LATE, NOT_ASKED, FAILED, NONE = "late", "not asked", "failed", "none"
"""Reasons that are not the adviser's own: not ready in time, not asked for, not computed, no advice in this condition."""


class AdviceGiven(NamedTuple):
    """What was suggested at each trial of each block (row x trial)."""

    arm: np.ndarray
    """The arm suggested, from 0; `NOWHERE` if there was none."""
    shown: np.ndarray
    """bool: the person saw it before they chose."""
    followed: np.ndarray
    """bool: it was shown, and they chose it (on the way to a goal, the goal counts, not the arm sampled)."""
    reason: np.ndarray
    """str: why something was suggested or not; empty where the data do not say."""

    def cut(self, rows: np.ndarray, n_trials: int) -> AdviceGiven:
        """The advice in some rows, for so many trials."""
        return AdviceGiven(*(values[rows][:, :n_trials] for values in self))

    @property
    def late(self) -> np.ndarray:
        """Where it was not shown because it was not ready in time or could not be computed."""
        return ~self.shown & np.isin(self.reason, (LATE, FAILED))

    @property
    def not_asked(self) -> np.ndarray:
        """Where nothing was shown because nobody asked, or advice begins with a later choice."""
        return ~self.shown & (self.reason == NOT_ASKED)
