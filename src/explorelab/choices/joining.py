"""Several data sets as one, with the data set as a condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd

from explorelab._support import checks
from explorelab._support.door import door
from explorelab.choices.advice_given import AdviceGiven
from explorelab.choices.table import NOWHERE, Choices, Layout, no_advice
from explorelab.errors import InputError

CONDITION = "dataset"


@door
def join_choices(sets: Mapping[str, Choices]) -> Choices:
    """Several data sets as one; the condition `dataset` says which one a block is from.

    All must have the same arms. People of different data sets are different people: where two have the same label, the data
    set's name is put in front. A condition that a data set does not have is empty (NaN if it is a number) there.

    Parameters
    ----------
    sets
        The choices by the name of their data set.
    """
    if not all(isinstance(one, Choices) for one in sets.values()):
        raise InputError(f"sets must give choices by the name of their data set, got {checks.shown(sets)}.")
    if not sets:
        raise InputError("sets must have at least one data set, got none.")
    names, parts = list(map(str, sets)), list(sets.values())
    first = parts[0]
    for name, one in zip(names[1:], parts[1:], strict=True):
        _check_arms(names[0], first.layout, name, one.layout)
        if CONDITION in one.conditions or CONDITION in first.conditions:
            raise InputError(f"data sets to be joined must not have a column {CONDITION} already: rename it.")
    labels = _labels(names, parts)
    n_trials, n_arms = max(one.n_trials for one in parts), first.layout.n_arms
    starts = np.cumsum([0, *(one.n_participants for one in parts)])

    def joined(field: str, otherwise: object) -> np.ndarray:
        """row x trial, filled up."""
        return np.concatenate([_wide(getattr(one, field), n_trials, otherwise) for one in parts])

    def optional(field: str, otherwise: list[np.ndarray]) -> np.ndarray | None:
        """An array that some data sets do without."""
        if all(getattr(one, field) is None for one in parts):
            return None
        return np.concatenate(
            [
                other if getattr(one, field) is None else getattr(one, field)
                for one, other in zip(parts, otherwise, strict=True)
            ]
        )

    available = None
    if any(one.available is not None for one in parts):
        available = np.ones((sum(one.n_rows for one in parts), n_trials, n_arms), bool)
        at = np.cumsum([0, *(one.n_rows for one in parts)])
        for begin, one in zip(at, parts, strict=False):
            if one.available is not None:
                available[begin : begin + one.n_rows, : one.n_trials] = one.available
    missed = [_wide(np.zeros_like(one.present) if one.missed is None else one.missed, n_trials, False) for one in parts]
    return Choices(
        layout=first.layout,
        participants=tuple(label for own in labels for label in own),
        participant=np.concatenate([one.participant + start for one, start in zip(parts, starts, strict=False)]),
        block=np.concatenate([one.block for one in parts]),
        arm=joined("arm", NOWHERE),
        reward=joined("reward", 0.0),
        observed=joined("observed", False),
        scored=joined("scored", False),
        present=joined("present", False),
        available=available,
        advice=_advice(parts, n_trials),
        means=_means(parts, n_trials),
        start=optional("start", [np.full(one.n_rows, NOWHERE) for one in parts]),
        conditions={CONDITION: np.repeat(names, [one.n_rows for one in parts]).astype(object), **_conditions(parts)},
        exclusions=tuple(exclusion for one in parts for exclusion in one.exclusions),
        table=_table(names, parts, labels),
        source=", ".join(dict.fromkeys(one.source for one in parts if one.source)),
        note=" ".join(dict.fromkeys(one.note for one in parts if one.note)),
        missed=np.concatenate(missed) if any(one.missed is not None for one in parts) else None,
        players=first.players if len({one.players for one in parts}) == 1 else "people",
    )


def _wide(array: np.ndarray, n_trials: int, otherwise: object) -> np.ndarray:
    return np.pad(array, ((0, 0), (0, n_trials - array.shape[1])), constant_values=otherwise)  # type: ignore[call-overload]


def _advice(parts: list[Choices], n_trials: int) -> AdviceGiven | None:
    """What was suggested in any data set; nothing in those without advice."""
    if all(one.advice is None for one in parts):
        return None
    each = [no_advice((one.n_rows, one.n_trials)) if one.advice is None else one.advice for one in parts]
    blank = no_advice((sum(one.n_rows for one in parts), n_trials))
    for values, given in zip(blank, zip(*each, strict=True), strict=True):
        at = 0
        for own in given:
            values[at : at + len(own), : own.shape[1]] = own
            at += len(own)
    return blank


def _means(parts: list[Choices], n_trials: int) -> np.ndarray | None:
    """The means of all rows: trial by trial if those of any data set change."""
    given = [one.means for one in parts if one.means is not None]
    if len(given) < len(parts):
        return None
    if all(means.ndim == 2 for means in given):
        return np.concatenate(given)
    return np.concatenate([_by_trial(means, n_trials) for means in given])


def _by_trial(means: np.ndarray, n_trials: int) -> np.ndarray:
    if means.ndim == 2:
        return np.repeat(means[:, None], n_trials, axis=1)
    return np.pad(means, ((0, 0), (0, n_trials - means.shape[1]), (0, 0)), constant_values=np.nan)


def _check_arms(name: str, one: Layout, other_name: str, other: Layout) -> None:
    def told(layout: Layout) -> tuple[object, ...]:
        return layout.n_arms, layout.digest, layout.arm_names, layout.noise_var, layout.points

    words = ("numbers of arms", "places of arms", "names of arms", "reward noise", "points")
    for word, mine, theirs in zip(words, told(one), told(other), strict=True):
        if mine != theirs:
            detail = f": {mine} and {theirs}" if word in ("numbers of arms", "reward noise") else ""
            raise InputError(
                f"data sets to be joined must have the same arms, but {name} and {other_name} differ in the {word}{detail}."
            )


def _labels(names: list[str], parts: list[Choices]) -> list[list[str]]:
    """The labels of everyone, told apart between data sets."""
    counts = Counter(label for one in parts for label in one.participants)
    return [
        [label if counts[label] == 1 else f"{name}/{label}" for label in one.participants]
        for name, one in zip(names, parts, strict=True)
    ]


def _conditions(parts: list[Choices]) -> dict[str, np.ndarray]:
    names = dict.fromkeys(name for one in parts for name in one.conditions)
    return {name: _condition(name, parts) for name in names}


def _condition(name: str, parts: list[Choices]) -> np.ndarray:
    there = [one.conditions[name] for one in parts if name in one.conditions]
    numeric = all(np.issubdtype(values.dtype, np.number) or values.dtype == bool for values in there)
    missing: object = np.nan if numeric else ""
    columns = [one.conditions.get(name, np.full(one.n_rows, missing, None if numeric else object)) for one in parts]
    return np.concatenate(columns if numeric else [column.astype(object) for column in columns])


def _table(names: list[str], parts: list[Choices], labels: list[list[str]]) -> pd.DataFrame | None:
    if any(one.table is None for one in parts):
        return None
    frames = []
    for name, one, own in zip(names, parts, labels, strict=True):
        assert one.table is not None  # all have one
        renamed = dict(zip(one.participants, own, strict=True))
        frames.append(one.table.assign(participant=one.table.participant.map(renamed), **{CONDITION: name}))
    return pd.concat(frames, ignore_index=True)
