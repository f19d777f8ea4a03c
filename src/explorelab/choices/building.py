"""Build `Choices` from rows that have passed the check."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorelab.choices.advice_given import AdviceGiven
from explorelab.choices.checks.advice_columns import ADVICE
from explorelab.choices.checks.look import Look, Trials
from explorelab.choices.checks.order import people_table
from explorelab.choices.checks.schema import conditions_of
from explorelab.choices.checks.values import MEASURES
from explorelab.choices.columns import as_numbers, as_text, codes_of_several, typed
from explorelab.choices.table import NOWHERE, Choices, Exclusion, no_advice


def build(look: Look, trials: Trials, source: str) -> Choices:
    """The arrays of every block: people in file order, blocks by number (or in file order)."""
    people = people_table(trials)
    exclusions = exclusions_of(trials, people)
    kept = ~people.excluded.to_numpy()[trials.participant]
    row, column, first = _places(trials, kept)
    shape = (len(first), int(column.max(initial=0)) + 1)
    seen = trials.observed[kept]
    missed = (trials.missed & ~trials.forced)[kept]

    def filled(values: np.ndarray, otherwise: float, dtype: type) -> np.ndarray:
        array: np.ndarray = np.full(shape, otherwise, dtype)
        array[row, column] = values
        return array

    names, _ = conditions_of(look, trials.group)
    who, of_row = np.unique(trials.participant[first], return_inverse=True)
    return Choices(
        layout=trials.layout,
        participants=tuple(trials.participants[i] for i in who),
        participant=of_row,
        block=np.array([trials.blocks[i] for i in trials.block[first]], dtype=str),
        arm=filled(np.where(seen, trials.arm[kept], NOWHERE), NOWHERE, np.int32),
        reward=filled(np.where(seen, trials.reward[kept], 0.0), 0.0, np.float64),
        observed=filled(seen, False, bool),
        scored=filled(trials.scored[kept], False, bool),
        present=filled(np.ones(len(row), bool), False, bool),
        missed=filled(missed, False, bool) if (missed & seen).any() else None,
        available=_available(trials, kept, row, column, shape),
        advice=_advice(trials, kept, row, column, shape),
        means=_means(look, first, shape[1]),
        start=_start(trials, first),
        conditions={name: typed(look.frame[name])[first] for name in names},
        exclusions=exclusions,
        table=_table(look, trials, kept),
        source=source,
        players=look.task.players,
        note=" ".join(part for part in (look.task.note, *look.inferred) if part),
    )


def exclusions_of(trials: Trials, people: pd.DataFrame) -> tuple[Exclusion, ...]:
    """Who is excluded, with how many trials, and why."""
    left_out = people[people.excluded]
    return tuple(
        Exclusion(trials.participants[i], "", int(n), reason)
        for i, n, reason in zip(left_out.index, left_out.n_trials, left_out.reason, strict=True)
    )


def _places(trials: Trials, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each kept row's position (row and column) in the arrays, and where each array row's block begins in the file."""
    participant, group, trial = trials.participant[kept], trials.group[kept], trials.trial[kept]
    rank = _block_ranks(trials)[trials.block[kept]] if _numbered(trials.blocks) else group
    order = np.lexsort((trial, rank, participant))
    begins = np.r_[True, np.diff(group[order]) != 0]
    row_of, column_of = np.empty(len(order), int), np.empty(len(order), int)
    row_of[order] = np.cumsum(begins) - 1
    column_of[order] = np.arange(len(order)) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
    return row_of, column_of, np.flatnonzero(kept)[order[begins]]


def _numbered(blocks: list[str]) -> bool:
    try:
        return all(np.isfinite(float(block)) for block in blocks)
    except ValueError:
        return False


def _block_ranks(trials: Trials) -> np.ndarray:
    return np.argsort(np.argsort([float(block) for block in trials.blocks], kind="stable"))


def _available(
    trials: Trials, kept: np.ndarray, row: np.ndarray, column: np.ndarray, shape: tuple[int, int]
) -> np.ndarray | None:
    """The available arms; all of them by default, and on trials that a block does not have."""
    if trials.available is None:
        return None
    codes, masks = trials.available
    available = np.ones((*shape, trials.layout.n_arms), bool)
    available[row, column] = masks[codes[kept]]
    return None if available.all() else available


def _advice(
    trials: Trials, kept: np.ndarray, row: np.ndarray, column: np.ndarray, shape: tuple[int, int]
) -> AdviceGiven | None:
    """What was suggested; nothing on trials that a block does not have."""
    if trials.advice is None:
        return None
    blank = no_advice(shape)
    for values, given in zip(blank, trials.advice, strict=True):
        values[row, column] = given[kept]
    return blank


def _means(look: Look, first: np.ndarray, n_trials: int) -> np.ndarray | None:
    """The means of every block (row x arm) or, where they change, of every trial (row x trial x arm)."""
    task = look.task
    by = task.columns_of_means
    known = task.paths or task.means
    if not known:
        return None
    if task.paths:
        known = {label: _to_length(path, n_trials) for label, path in task.paths.items()}
    if not by:
        return np.tile(known[""], (len(first), *(1 for _ in known[""].shape)))
    codes, labels = codes_of_several(look.frame[list(by)].iloc[first])
    return np.stack([known[label] for label in labels])[codes]


def _to_length(path: np.ndarray, n_trials: int) -> np.ndarray:
    """The means on so many trials, NaN beyond the end of the path."""
    means = np.full((n_trials, path.shape[1]), np.nan)
    means[: len(path)] = path[:n_trials]
    return means


def _start(trials: Trials, first: np.ndarray) -> np.ndarray | None:
    if trials.start is None or (trials.start[first] == NOWHERE).all():
        return None
    return trials.start[first]


def _table(look: Look, trials: Trials, kept: np.ndarray) -> pd.DataFrame:
    """The kept rows in file order, with one type per column; arms count from 0."""
    frame = look.frame.loc[kept]
    table = pd.DataFrame(
        {
            "participant": np.array(trials.participants, object)[trials.participant[kept]],
            "block": np.array(trials.blocks, object)[trials.block[kept]],
            "trial": trials.trial[kept],
            "arm": trials.arm[kept],
            "reward": trials.reward[kept],
        }
    )
    for name in frame.columns:
        if name in ("missed", "forced"):
            table[name] = getattr(trials, name)[kept]
        elif name in MEASURES:
            table[name] = as_numbers(frame[name])[0]
        elif name == "advised" and trials.layout.arm_names is None:
            table[name] = as_numbers(frame[name])[0] - look.task.first_arm
        elif name in ("available", "advised", "advice_reason"):
            table[name] = as_text(frame[name])
        elif name in ADVICE:
            table[name] = as_numbers(frame[name])[0]
        elif name not in table.columns and name != look.task.start:
            table[name] = typed(frame[name])
    return table
