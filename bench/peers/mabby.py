"""mabby: `Simulation(...).run` with the regret metrics."""

from __future__ import annotations

import math

import numpy as np
from mabby import Bandit, GaussianArm, Metric, Simulation
from mabby.strategies import UCB1Strategy

from bench.work import Work, measure


def play(work: Work, horizon: int, replicates: int) -> np.ndarray:
    bandit = Bandit([GaussianArm(loc=mean, scale=work.noise_sd) for mean in work.means.tolist()], seed=0)
    simulation = Simulation(bandit, strategies=[UCB1Strategy(alpha=math.sqrt(2))], seed=0)
    stats = simulation.run(trials=replicates, steps=horizon, metrics=[Metric.CUM_REGRET])
    (agent,) = simulation.agents
    # It keeps the mean over trials alone.
    return stats[agent][Metric.CUM_REGRET][-1:]


measure("mabby", "mabby", "UCB1", "Simulation.run", play)
