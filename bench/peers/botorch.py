"""BoTorch: `SingleTaskGP` with fixed hyperparameters and `optimize_acqf_discrete` over the arms, at each step."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf_discrete
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.means import ConstantMean
from scipy.special import ndtri

from bench.work import CREDIBILITY_SCALE, LENGTH_SCALE, PLACES, PRIOR_MEAN, PRIOR_VAR, Work, measure, regret_of

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
torch.set_default_dtype(torch.float64)


def _model(places: torch.Tensor, rewards: torch.Tensor, noise_var: float) -> SingleTaskGP:
    mean, kernel = ConstantMean(), ScaleKernel(MaternKernel(nu=0.5))
    mean.initialize(constant=PRIOR_MEAN)
    kernel.outputscale, kernel.base_kernel.lengthscale = PRIOR_VAR, LENGTH_SCALE
    known = torch.full_like(rewards, noise_var)
    return SingleTaskGP(places, rewards, known, covar_module=kernel, mean_module=mean, outcome_transform=None).eval()


def play(work: Work, horizon: int, replicates: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    places = torch.as_tensor(PLACES)
    arms = np.zeros((replicates, horizon), int)
    for r in range(replicates):
        rewards = np.zeros((horizon, 1))
        for t in range(horizon):
            arm = 0
            if t:
                model = _model(places[arms[r, :t]], torch.as_tensor(rewards[:t]), work.noise_sd**2)
                beta = float(ndtri(1 / (CREDIBILITY_SCALE * (t + 1))) ** 2)
                best, _ = optimize_acqf_discrete(UpperConfidenceBound(model, beta=beta), q=1, choices=places)
                arm = int(best[0, 0] * 10 + best[0, 1])
            arms[r, t], rewards[t] = arm, rng.normal(work.means[arm], work.noise_sd)
    return regret_of(work, arms)


measure("BoTorch", "botorch", "UCL on a Gaussian process", "SingleTaskGP, optimize_acqf_discrete", play)
