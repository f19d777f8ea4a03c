"""Scenes: what a block is played on. The task, the board, and what people see of rewards; here rewards are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from explorelab._support.checks import Floats
from explorelab.study.config.blocks.boards import Board, Dynamic
from explorelab.tasks import Task
from explorelab.tasks.changes import CHANGES, drawn_paths
from explorelab.tasks.noise import noise_kind

type Rewards = Literal["points", "money", "hidden"]

REWARDS: tuple[Rewards, ...] = ("points", "money", "hidden")
OUTCOME_MS = 1000
"""How long an outcome is looked at without a deadline, if the study does not say it."""
NOISE = 2_000_000
"""Added to the arm in the seed of its own noise: no trial is so large, and neither is the seed of a start."""
INSTEAD = 1_500_000
"""Used instead of an arm in the seed of what is sampled where someone missed a choice and cannot stay."""
MOST_PATHS = 2000
"""Paths of means kept in memory."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What a block is played on."""

    task: Task
    board: Board
    rewards: Rewards = "points"
    foregone: bool = False
    """Whether the rewards of the other arms are shown too."""
    outcome_ms: int = OUTCOME_MS
    """Without a deadline: how long an outcome is looked at before the next choice."""
    own_noise: bool = False
    """Whether every arm has noise of its own on each trial. The paper's design draws one number for whichever is chosen."""
    name: str = ""
    """The block's name in study.toml; empty in the paper's design."""

    @property
    def shows_rewards(self) -> bool:
        """Whether people see what they get."""
        return self.rewards != "hidden"

    @property
    def closes(self) -> bool:
        """Whether arms are closed on some trials, because they are blocked or another is forced."""
        return self.task.available is not None or self.task.forced is not None

    def on_offer(self, trial: int) -> tuple[int, ...] | None:
        """The arms on offer on this trial (from 0), whether or not a choice is forced; None for all."""
        table = self.task.available
        if table is None or trial >= len(table) or table[trial].all():
            return None
        return tuple(np.flatnonzero(table[trial]).tolist())

    def forced(self, trial: int) -> int | None:
        """The arm that must be taken on this trial; None where the choice is free."""
        arms = self.task.forced
        if arms is None or trial >= len(arms) or arms[trial] < 0:
            return None
        return int(arms[trial])

    def choosable(self, trial: int) -> tuple[int, ...] | None:
        """The arms that may be chosen on this trial, whatever the dynamic says; None for all."""
        forced = self.forced(trial)
        return self.on_offer(trial) if forced is None else (forced,)

    def allowed(self, dynamic: Dynamic, position: int, trial: int) -> tuple[int, ...] | None:
        """The arms that may be clicked on this trial by someone at this position; None for all."""
        # Nothing is forced or blocked where the dynamic limits choices: study.toml cannot say so.
        return self.choosable(trial) or self.board.allowed(dynamic, position)

    def kept(self, goal: int, trial: int, *seed: int) -> int:
        """What is sampled if nobody clicks: the arm chosen last or, if it is not on offer, another one at random."""
        on_offer = self.choosable(trial)
        if on_offer is None or goal in on_offer:
            return goal
        return int(np.random.default_rng([*seed, trial, INSTEAD]).choice(on_offer))

    def means(self, seed: int, block: int, n_trials: int) -> Floats:
        """The mean of each arm (trial x arm) in the block of this number of the person with this seed."""
        change = self.task.change
        if change is None:
            return np.broadcast_to(self.task.means, (n_trials, self.task.n_arms))
        if not CHANGES[change.kind].random:
            seed = block = 0
        return _drawn(self, seed if change.own_paths else 0, block if change.own_paths else 0, n_trials)

    def best(self, seed: int, block: int, n_trials: int) -> Floats:
        """The largest mean among the arms on offer on each trial of that block."""
        means = np.array(self.means(seed, block, n_trials))
        if self.task.available is not None:
            table = self.task.available[:n_trials]
            means[: len(table)][~table] = -np.inf
        return means.max(1)

    def reward(self, arm: int, seed: int, block: int, trial: int, n_trials: int) -> float:
        """A reward from this arm, always the same for the same seed, block and trial."""
        task = self.task
        mean = float(task.means[arm] if task.change is None else self.means(seed, block, n_trials)[trial, arm])
        own = (NOISE + arm,) if self.own_noise else ()
        return paid(task, mean, seed, block, trial, *own)

    def every_reward(self, seed: int, block: int, trial: int, n_trials: int) -> list[float]:
        """The rewards of all arms on a trial."""
        return [self.reward(arm, seed, block, trial, n_trials) for arm in range(self.board.n_arms)]


@lru_cache(maxsize=MOST_PATHS)
def _drawn(scene: Scene, seed: int, block: int, n_trials: int) -> Floats:
    change = scene.task.change
    assert change is not None
    return drawn_paths(change, scene.task.n_arms, n_trials, np.array([block]), seed)[0]


def reward(task: Task, arm: int, *seed: int) -> float:
    """A reward from this arm, always the same for the same seed; a whole number if means and noise are whole."""
    return paid(task, float(task.means[arm]), *seed)


def paid(task: Task, mean: float, *seed: int) -> float:
    """A reward with this mean, in whole points if that is how the task pays."""
    drawn = mean + noise_kind(task.noise.kind).draw(task.noise.scale, np.random.default_rng(seed))
    if task.points is None:
        return float(drawn)
    low, high = task.points
    return float(min(max(np.round(drawn), low), high))
