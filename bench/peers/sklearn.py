"""scikit-learn: `GaussianProcessRegressor`, fitted to everything seen at each step, hyperparameters fixed."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from bench.work import CREDIBILITY_SCALE, LENGTH_SCALE, PLACES, PRIOR_MEAN, PRIOR_VAR, Work, measure, regret_of

# Nothing is fitted but the data: the hyperparameters are the work's.
KERNEL = ConstantKernel(PRIOR_VAR, "fixed") * Matern(LENGTH_SCALE, "fixed", nu=0.5)


def play(work: Work, horizon: int, replicates: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    arms = np.zeros((replicates, horizon), int)
    for r in range(replicates):
        rewards = np.zeros(horizon)
        mean, sd = np.full(100, PRIOR_MEAN), np.full(100, math.sqrt(PRIOR_VAR))
        for t in range(horizon):
            if t:
                process = GaussianProcessRegressor(KERNEL, alpha=work.noise_sd**2, optimizer=None)
                process.fit(PLACES[arms[r, :t]], rewards[:t] - PRIOR_MEAN)
                mean, sd = process.predict(PLACES, return_std=True)
            arm = int(np.argmax(mean - sd * ndtri(1 / (CREDIBILITY_SCALE * (t + 1)))))
            arms[r, t], rewards[t] = arm, rng.normal(work.means[arm], work.noise_sd)
    return regret_of(work, arms)


measure("scikit-learn", "scikit-learn", "UCL on a Gaussian process", "GaussianProcessRegressor.fit, predict", play)
