"""SMPyBandits: `Evaluator(configuration).startAllEnv()` and its cumulated regret."""

from __future__ import annotations

import contextlib
import io
import math
import warnings

import matplotlib as mpl
import numpy as np

from bench.work import Work, measure

mpl.use("Agg")
warnings.simplefilter("ignore")
with contextlib.redirect_stdout(io.StringIO()):
    from SMPyBandits.Arms import Gaussian
    from SMPyBandits.Environment import Evaluator
    from SMPyBandits.Policies import UCB


def play(work: Work, horizon: int, replicates: int) -> np.ndarray:
    arms = [Gaussian(mean, work.noise_sd, -math.inf, math.inf) for mean in work.means]
    configuration = {
        "horizon": horizon,
        "repetitions": replicates,
        # Several jobs seed themselves with NumPy integers, which `random.seed` no longer takes from Python 3.11 on.
        "n_jobs": 1,
        "verbosity": 0,
        "environment": [arms],
        "policies": [{"archtype": UCB, "params": {}}],
    }
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        evaluator = Evaluator(configuration)
        evaluator.startAllEnv()
        # It keeps the mean over repetitions alone.
        return evaluator.getCumulatedRegret(0)[-1:]


measure("SMPyBandits", "SMPyBandits", "UCB1", "Evaluator.startAllEnv", play)
