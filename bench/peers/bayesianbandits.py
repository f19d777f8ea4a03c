"""bayesianbandits: `Agent.pull` and `Agent.update`, step by step; it has no simulator."""

from __future__ import annotations

import numpy as np
from bayesianbandits import Agent, Arm, NormalRegressor, UpperConfidenceBound

from bench.work import Work, measure, regret_of


def play(work: Work, horizon: int, replicates: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    arms = np.zeros((replicates, horizon), int)
    for r in range(replicates):
        learners = [Arm(i, learner=NormalRegressor(alpha=1e-2, beta=work.noise_sd**-2)) for i in range(len(work.means))]
        agent = Agent(learners, UpperConfidenceBound(alpha=0.99), random_seed=r)
        for t in range(horizon):
            (arm,) = agent.pull()
            agent.update(np.array([rng.normal(work.means[arm], work.noise_sd)]))
            arms[r, t] = arm
    return regret_of(work, arms)


measure("bayesianbandits", "bayesianbandits", "Bayes-UCB, fixed quantile, sampled", "Agent.pull, Agent.update", play)
