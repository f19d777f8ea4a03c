"""Trials that a file leaves out because they were missed, put back if the task file asks for it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorelab._support.counted import counted
from explorelab.choices.columns import as_numbers, codes_of

REFUSED, MISSED = "refused", "missed"
GAPS = {REFUSED: "a trial without a row is an error", MISSED: "a trial without a row was missed"}
MOST_PUT_BACK = 1_000_000


def without_gaps(frame: pd.DataFrame, rows: np.ndarray) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
    """The rows with one more, missed, for every number that is skipped between a block's first trial and its last.

    Blocks begin with the number with which most do. What cannot be read is left to the other checks.
    """
    if "trial" not in frame or "participant" not in frame:
        return frame, rows, []
    number, bad = as_numbers(frame["trial"])
    fine = ~bad & np.isfinite(number) & (number == np.floor(number)) & (number >= 0)
    who, _ = codes_of(frame["participant"])
    block = codes_of(frame["block"])[0] if "block" in frame else np.zeros(len(frame), int)
    keys = pd.DataFrame({"who": who, "block": block, "trial": number})[fine]
    blocks = keys.groupby(["who", "block"], sort=False).trial
    firsts = blocks.min()
    if firsts.empty:
        return frame, rows, []
    begins = 0 if (firsts == 0).any() else 1
    new: list[pd.DataFrame] = []
    after: list[int] = []
    for _, own in blocks:
        there = own.astype(np.int64)
        if there.max() - begins > MOST_PUT_BACK:
            continue
        skipped = np.setdiff1d(np.arange(min(begins, there.min()), there.max() + 1), there)
        if len(skipped):
            first = int(own.index[0])
            new.append(_missed(frame, own.index, first, skipped))
            after += [int(rows[first])] * len(skipped)
    if not new:
        return frame, rows, []
    if "missed" not in frame:
        frame = frame.assign(missed=0)
    added = pd.concat(new, ignore_index=True).reindex(columns=frame.columns)
    note = f"{counted(len(added), 'trial')} without a row taken for missed, in {counted(len(new), 'block')}."
    return pd.concat([frame.astype(object), added.astype(object)], ignore_index=True), np.r_[rows, after], [note]


def _missed(frame: pd.DataFrame, own: pd.Index, first: int, skipped: np.ndarray) -> pd.DataFrame:
    """Missed trials of one block, with what is the same on all its rows."""
    here = frame.loc[own]
    same = {
        name: frame.loc[first, name]
        for name in frame.columns
        if name not in ("trial", "missed", "arm", "x", "y", "reward") and here[name].astype(str).nunique(dropna=False) == 1
    }
    return pd.DataFrame({"trial": skipped, "missed": 1, **{name: [value] * len(skipped) for name, value in same.items()}})
