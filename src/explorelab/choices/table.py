"""People's choices as arrays: one row per block played, one column per trial."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape

import numpy as np
import pandas as pd

from explorelab._support.counted import counted, plural
from explorelab.choices.advice_given import AdviceGiven
from explorelab.tasks.places import distances_between, walks_between

N_IN_NOTEBOOK = 8
"""Rows that a notebook shows."""
NOWHERE = -1
"""The arm of a trial without one, and the position of a person who has not chosen yet."""


def no_advice(shape: tuple[int, int]) -> AdviceGiven:
    """Nothing suggested on any trial (row x trial)."""
    return AdviceGiven(
        np.full(shape, NOWHERE, np.int32), np.zeros(shape, bool), np.zeros(shape, bool), np.full(shape, "", object)
    )


PLAYERS = {
    "people": ("person", "people"),
    "robots": ("robot", "robots"),
    "simulated": ("simulated person", "simulated people"),
}
"""Who may have made the choices, by their name in a task file, with singular and plural."""


@dataclass(frozen=True)
class Exclusion:
    """Something in the file that is excluded from the analysis, and why."""

    participant: str
    block: str
    """Empty for all blocks of this participant."""
    n_trials: int
    reason: str


@dataclass(frozen=True, eq=False)
class Layout:
    """The arms: their number, places and reward noise."""

    n_arms: int
    places: np.ndarray | None = None
    """Place of each arm (arm x dimension), or None."""
    noise_var: float | None = None
    """Variance of a reward about its arm's mean, if known."""
    shape: tuple[int, int] | None = None
    """Width and height of a grid; arm number = x * height + y."""
    name: str = "task"
    arm_names: tuple[str, ...] | None = None
    """Names of the arms in files and tables; None if they have only numbers."""
    points: tuple[float, float] | None = None
    """The lowest and highest reward, if rewards were paid in whole points."""

    def __repr__(self) -> str:
        where = (
            f" on a grid of {self.shape[0]} x {self.shape[1]}"
            if self.shape
            else ""
            if self.places is None
            else " with places"
        )
        noise = "" if self.noise_var is None else f", noise of variance {self.noise_var:g}"
        return f"<Layout {self.name}: {counted(self.n_arms, 'arm')}{where}{noise}>"

    def label(self, arm: int, first: int = 0) -> str:
        """The arm's name, or its number counting from `first`."""
        return str(arm + first) if self.arm_names is None else self.arm_names[arm]

    @property
    def distances(self) -> np.ndarray | None:
        """Euclidean distance between every pair of arms, if they have places."""
        return None if self.places is None else distances_between(self.places)

    @property
    def walks(self) -> np.ndarray | None:
        """Distance along the axes between every pair of arms: on a grid, the number of squares moved."""
        return None if self.places is None else walks_between(self.places)

    @property
    def digest(self) -> str:
        """A few letters that differ between layouts whose arms lie in different places; empty if they have none."""
        if self.places is None:
            return ""
        return hashlib.sha256(np.round(self.places, 9).astype("<f8").tobytes()).hexdigest()[:12]


@dataclass(frozen=True, eq=False)
class Choices:
    """Every trial of every person. Rows are blocks (each a fresh start), columns are trials.

    Rows are sorted by participant and block. Trials that a block does not have are neither observed nor scored.
    """

    layout: Layout
    participants: tuple[str, ...]
    """Labels of the participants, in the order of results."""
    participant: np.ndarray
    """Index of the participant who played each row (int)."""
    block: np.ndarray
    """The label of each row's block (str), unique within a participant."""
    arm: np.ndarray
    """row x trial, int32, from 0; `NOWHERE` on a trial without one."""
    reward: np.ndarray
    """row x trial, float64; 0 where none was seen."""
    observed: np.ndarray
    """row x trial, bool: an arm was sampled and its reward seen, so it is learned from."""
    scored: np.ndarray
    """row x trial, bool: the person was free to choose and did, so a model must explain it; never if only one arm
    was on offer, which is uninformative."""
    present: np.ndarray
    """row x trial, bool: the trial exists (a missed one without a reward is present, but neither observed nor scored)."""
    available: np.ndarray | None = None
    """row x trial x arm, bool; None if every arm was available at every trial."""
    means: np.ndarray | None = None
    """The true mean rewards of each row, where known; regret needs them: row x arm, or row x trial x arm if they change."""
    start: np.ndarray | None = None
    """Arm where the person stood before each row's first trial (int, `NOWHERE` if none); None if there is none at all."""
    conditions: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Further columns that are constant within a block, one value per row."""
    exclusions: Sequence[Exclusion] = ()
    table: pd.DataFrame | None = None
    """The tidy rows that this was made from, without excluded ones, in file order."""
    source: str = ""
    """Where it came from, for reports."""
    note: str = ""
    missed: np.ndarray | None = None
    """row x trial, bool: the person gave no answer. If an arm was sampled anyway (observed), it is the previous one, or one
    that the task picked; other trials that are observed but not scored are forced. None if no missed trial was sampled."""
    advice: AdviceGiven | None = None
    """What was suggested at each trial; None if the data do not say. No fit uses it."""
    players: str = "people"
    """Who made the choices: one of `PLAYERS`. The condition `pilot` distinguishes robots among people."""

    def __repr__(self) -> str:
        n_trials, n_arms = int(self.present.sum()), self.layout.n_arms
        counts = ((self.n_participants, "participant"), (self.n_rows, "block"), (n_trials, "trial"), (n_arms, "arm"))
        people, blocks, trials, arms = (f"{n:,} {plural(n, word)}" for n, word in counts)
        parts = [people, blocks, f"{trials}, {int(self.scored.sum()):,} of them scored", arms]
        parts += [f"{len(self.exclusions)} left out"] if self.exclusions else []
        return f"<Choices{f' from {self.source}' if self.source else ''}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """For notebooks: the summary, and the first rows."""
        from explorelab.choices.writing import frame_of

        first = frame_of(self.rows(slice(0, 1))).head(N_IN_NOTEBOOK) if self.n_rows else pd.DataFrame()
        return f"<p>{escape(repr(self)[1:-1])}</p>{first.to_html(index=False, na_rep='')}"

    def __post_init__(self) -> None:
        """Treat trials with only one arm on offer as forced, so that they are not scored."""
        if self.layout.n_arms < 2 and self.scored.any():
            object.__setattr__(self, "scored", np.zeros_like(self.scored))
        elif self.available is not None:
            object.__setattr__(self, "scored", self.scored & (self.available.sum(2) > 1))

    @property
    def means_change(self) -> bool:
        """Whether the means are known trial by trial."""
        return self.means is not None and self.means.ndim == 3

    @property
    def n_participants(self) -> int:
        """Number of participants."""
        return len(self.participants)

    @property
    def n_rows(self) -> int:
        """Number of blocks, over all participants."""
        return len(self.participant)

    @property
    def n_trials(self) -> int:
        """Number of trials in the longest block."""
        return int(self.arm.shape[1])

    @property
    def n_scored(self) -> np.ndarray:
        """Number of scored choices of each participant."""
        return np.bincount(self.participant, self.scored.sum(1), self.n_participants).astype(int)

    def rows(self, keep: np.ndarray | Sequence[int] | slice) -> Choices:
        """The choices in these rows only (a mask or indices), with the participants that have any."""
        at = np.arange(self.n_rows)[keep]
        who, renumbered = np.unique(self.participant[at], return_inverse=True)
        n_trials = int(self.present[at].sum(1).max(initial=1))

        def cut(array: np.ndarray | None) -> np.ndarray | None:
            return None if array is None else array[at]

        return replace(
            self,
            participants=tuple(self.participants[i] for i in who),
            participant=renumbered,
            block=self.block[at],
            **{name: getattr(self, name)[at][:, :n_trials] for name in ("arm", "reward", "observed", "scored", "present")},
            missed=None if self.missed is None else self.missed[at][:, :n_trials],
            available=None if self.available is None else self.available[at][:, :n_trials],
            advice=None if self.advice is None else self.advice.cut(at, n_trials),
            means=cut(self.means if self.means is None or self.means.ndim == 2 else self.means[:, :n_trials]),
            start=cut(self.start),
            conditions={name: values[at] for name, values in self.conditions.items()},
        )
