"""MABWiser: `predict` and `partial_fit`, step by step. Its own simulator replays logged decisions and draws no rewards."""

from __future__ import annotations

import numpy as np
from mabwiser.mab import MAB, LearningPolicy

from bench.work import Work, measure, regret_of


def play(work: Work, horizon: int, replicates: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    arms = np.zeros((replicates, horizon), int)
    n_arms = len(work.means)
    for r in range(replicates):
        mab = MAB(list(range(n_arms)), LearningPolicy.UCB1(alpha=1.0))
        first = rng.normal(work.means, work.noise_sd)
        mab.fit(np.arange(n_arms), first)
        arms[r, :n_arms] = np.arange(n_arms)
        for t in range(n_arms, horizon):
            arm = mab.predict()
            mab.partial_fit([arm], [rng.normal(work.means[arm], work.noise_sd)])
            arms[r, t] = arm
    return regret_of(work, arms)


measure("MABWiser", "mabwiser", "UCB1", "MAB.predict, MAB.partial_fit", play)
