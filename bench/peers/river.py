"""river: `bandit.evaluate` on a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from river import bandit

from bench.work import Work, measure, regret_of


class GaussianBandit(gymnasium.Env):
    """The least environment that `evaluate` takes: it draws a reward and ends at the horizon."""

    def __init__(self, work: Work, horizon: int) -> None:
        self.means, self.noise_sd, self.horizon = work.means.tolist(), work.noise_sd, horizon
        self.action_space = gymnasium.spaces.Discrete(len(work.means))
        self.observation_space = gymnasium.spaces.Discrete(1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.left = self.horizon
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        return 0, self.means[action] + self.noise_sd * self.np_random.standard_normal(), False, self.left == 0, {}


def play(work: Work, horizon: int, replicates: int) -> np.ndarray:
    trace = bandit.evaluate([bandit.UCB(delta=1, seed=0)], GaussianBandit(work, horizon), n_episodes=replicates, seed=0)
    arms = np.fromiter((step["arm"] for step in trace), int, horizon * replicates)
    return regret_of(work, arms.reshape(replicates, horizon))


measure("river", "river", "UCB1", "bandit.evaluate", play)
