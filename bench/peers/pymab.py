"""pymab: `Experiment(...).run()`, whose policies run in Rust, and the regret from its result."""

from __future__ import annotations

import numpy as np
from pymab import BanditEnvironment, Experiment, ExperimentConfig, GaussianReward
from pymab.policies import GaussianBayesianUCBPolicy

from bench.work import Work, measure


def play(work: Work, horizon: int, replicates: int) -> np.ndarray:
    experiment = Experiment(
        environment=BanditEnvironment(work.means, GaussianReward(work.noise_sd)),
        policies={"bayes-ucb": GaussianBayesianUCBPolicy(n_arms=len(work.means), prior_precision=0.01, quantile=0.999)},
        config=ExperimentConfig(horizon=horizon, n_replicates=replicates, seed=0),
    )
    return experiment.run().cumulative_regret_by_replicate[:, -1, 0]


measure("pymab", "pymab", "Gaussian Bayes-UCB, fixed quantile", "Experiment.run", play)
