"""What a person has done so far, as a companion remembers it: trial by trial, and as padded arrays for compiled programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.counted import each_of
from explorelab.agents.factors import Learner
from explorelab.agents.playing import room_for
from explorelab.choices.table import NOWHERE, Choices
from explorelab.errors import InputError
from explorelab.fitting.likelihood import Block


class Trial(NamedTuple):
    """One trial."""

    arm: int = NOWHERE
    """The arm sampled; `NOWHERE` if there was none."""
    reward: float = 0.0
    observed: bool = True
    """Whether an arm was sampled and its reward seen, so that it is learned from."""
    scored: bool = True
    """Whether the person was free to choose and did."""
    available: tuple[bool, ...] | None = None
    """Which arms could be chosen; None for all."""
    advised: int = NOWHERE
    """The arm that was suggested; `NOWHERE` if none was."""


class Details(TypedDict, total=False):
    """What a trial may have besides its arm and reward, as `Companion.observe` describes it."""

    available: Sequence[bool] | np.ndarray | None
    forced: bool
    missed: bool
    advised: int | None
    unseen: bool


class Past(NamedTuple):
    """The blocks that a person has played; the last one goes on."""

    blocks: tuple[tuple[Trial, ...], ...] = ((),)
    starts: tuple[int, ...] = (NOWHERE,)
    """Where the person stood before each block."""

    @property
    def t(self) -> int:
        """The time of the next trial of this block, from 1."""
        return len(self.blocks[-1]) + 1

    @property
    def position(self) -> int:
        """The arm that the person was on last in this block."""
        return next((trial.arm for trial in reversed(self.blocks[-1]) if trial.arm != NOWHERE), self.starts[-1])

    @property
    def n_scored(self) -> int:
        """Number of free choices."""
        return sum(trial.scored for block in self.blocks for trial in block)

    def after(self, trial: Trial) -> Past:
        """The past with one more trial."""
        return self._replace(blocks=(*self.blocks[:-1], (*self.blocks[-1], trial)))

    def with_block(self, start: int = NOWHERE) -> Past:
        """The past with a new block."""
        return Past((*self.blocks, ()), (*self.starts, start))


def checked_trial(
    n_arms: int,
    arm: Unchecked,
    reward: Unchecked,
    available: Unchecked = None,
    forced: bool = False,
    missed: bool = False,
    advised: Unchecked = None,
    unseen: bool = False,
) -> Trial:
    """A trial as a caller describes it, checked; see `Companion.observe`."""
    if forced and missed:
        raise InputError("a trial is forced or missed, not both.")
    offer = checked_offer(n_arms, available)
    suggested = checked_advice(n_arms, advised, offer)
    if arm is None:
        if not missed:
            raise InputError("arm must be the arm that was chosen, got None: pass missed=True if there was none.")
        return Trial(observed=False, scored=False, available=offer, advised=suggested)
    at = checked_arm(n_arms, "arm", arm)
    if unseen and reward is not None:
        raise InputError(f"a reward that was not seen must be left out, got {checks.shown(reward)}.")
    value = 0.0 if unseen else float(checks.scalar("reward", reward))
    if offer is not None and not offer[at]:
        raise InputError(f"a chosen arm must be available, got {at}, which is not.")
    free = not (forced or missed) and n_arms > 1 and (offer is None or sum(offer) > 1)
    return Trial(at, value, not unseen, free, offer, suggested)


def checked_arm(n_arms: int, name: str, arm: Unchecked) -> int:
    """The arm, or `NOWHERE` for None."""
    return NOWHERE if arm is None else checks.whole(name, arm, at_least=0, at_most=n_arms - 1)


def checked_advice(n_arms: int, advised: Unchecked, offer: tuple[bool, ...] | None) -> int:
    """The arm that was suggested, or `NOWHERE` for None; one that was not on offer could not be followed."""
    arm = checked_arm(n_arms, "advised", advised)
    return arm if arm == NOWHERE or offer is None or offer[arm] else NOWHERE


def checked_offer(n_arms: int, available: Unchecked) -> tuple[bool, ...] | None:
    """Which arms are available, or None for all."""
    if available is None:
        return None
    offer = np.asarray(available)
    if offer.dtype != bool or offer.shape != (n_arms,) or not offer.any():
        raise InputError(
            f"available must have a truth value for {each_of(n_arms, 'arm')}, one of them true, "
            f"got {checks.shown(available)}."
        )
    return tuple(map(bool, offer))


def offered(trial: Trial, n_arms: int) -> np.ndarray:
    """Which arms were available."""
    return np.ones(n_arms, bool) if trial.available is None else np.array(trial.available)


def past_blocks(choices: Choices, rows: np.ndarray) -> list[tuple[int, list[Trial]]]:
    """Some rows of the choices as blocks for a companion: where each starts, and its trials."""
    return [
        (
            NOWHERE if choices.start is None else int(choices.start[row]),
            [_trial(choices, row, t) for t in _times(choices, row)],
        )
        for row in rows
    ]


def _times(choices: Choices, row: int) -> range:
    return range(int(np.flatnonzero(choices.present[row])[-1]) + 1) if choices.present[row].any() else range(0)


def _trial(choices: Choices, row: int, t: int) -> Trial:
    available = None if choices.available is None else tuple(map(bool, choices.available[row, t]))
    at = row, t
    return Trial(
        int(choices.arm[at]), float(choices.reward[at]), bool(choices.observed[at]), bool(choices.scored[at]), available
    )


class Arrays(NamedTuple):
    """Blocks filled up to sizes that few programs have to be compiled for."""

    blocks: Block
    weight: np.ndarray
    """1 for a block, 0 for what fills the array up."""
    advised: np.ndarray
    """block x trial: the arm suggested, or `NOWHERE`."""


def arrays_of(past: Past, learner: Learner, n_arms: int) -> Arrays:
    """The past as arrays: numbers of blocks are powers of two, numbers of trials those that a belief has room for."""
    longest = max(len(block) for block in past.blocks)
    n_trials = min(room_for(learner, n_arms, max(longest, 1)), _power_of_two(max(longest, 32)))
    n_blocks = _power_of_two(len(past.blocks))
    shape = n_blocks, n_trials
    arm, reward = np.zeros(shape, np.int32), np.zeros(shape)
    observed, scored = np.zeros(shape, bool), np.zeros(shape, bool)
    position, advised = np.full(shape, NOWHERE, np.int32), np.full(shape, NOWHERE, np.int32)
    available = np.ones((*shape, n_arms), bool)
    for b, (start, trials) in enumerate(zip(past.starts, past.blocks, strict=True)):
        here = start
        for t, trial in enumerate(trials):
            position[b, t], advised[b, t] = here, trial.advised
            arm[b, t], reward[b, t], observed[b, t], scored[b, t] = max(trial.arm, 0), *trial[1:4]
            available[b, t] = True if trial.available is None else trial.available
            here = trial.arm if trial.arm != NOWHERE else here
        position[b, len(trials) :] = here
    weight = (np.arange(n_blocks) < len(past.blocks)).astype(float)
    return Arrays(Block(arm, reward, observed, scored, position, available), weight, advised)  # type: ignore[arg-type]


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()
