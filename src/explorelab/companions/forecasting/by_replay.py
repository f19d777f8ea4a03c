"""One person predicted by a live companion that meets them for the first time, choice by choice.

Dear, as its points are renewed again and again, but sure: where points drawn once are too few, and to check them.
"""

from __future__ import annotations

import jax
import numpy as np
from scipy.special import logsumexp

from explorelab.choices.table import Choices
from explorelab.companions.forecasting.foreseen import EDGES, Foreseen, calibration
from explorelab.companions.live import Companion, begun, observed, started
from explorelab.companions.past import offered, past_blocks
from explorelab.companions.posterior import Settings
from explorelab.companions.sampling import points as compiled
from explorelab.companions.scene import Scene
from explorelab.fitting.likelihood import blocks_of


def foreseen_by_replay(choices: Choices, scene: Scene, rows: np.ndarray, settings: Settings) -> Foreseen:
    """Predictions of the person who played these rows."""
    mind = begun(scene, settings, choices.n_trials)
    shape = len(rows), choices.n_trials
    personal, effective, counts = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros((3, len(EDGES) - 1))
    group = _by_group(choices, mind, rows)
    for b, (start, trials) in enumerate(past_blocks(choices, rows)):
        mind = started(mind, b, start)
        for t, trial in enumerate(trials):
            if trial.scored:
                p = mind.predict(trial.available)
                personal[b, t] = np.log(p[trial.arm])
                counts += calibration(p[None], np.array([trial.arm]), offered(trial, len(p))[None])
            mind = observed(mind, trial)
            effective[b, t] = mind.posterior.n_effective
    return Foreseen(rows, personal, group, counts, effective, replayed=True)


def _by_group(choices: Choices, mind: Companion, rows: np.ndarray) -> np.ndarray:
    """Log-probability of each choice, averaged over the group."""
    blocks = jax.tree.map(lambda x: x[rows], blocks_of(choices))
    with jax.enable_x64(True):
        each = np.asarray(compiled.log_likelihoods_at(mind.scene.model, mind.scene.numbers, blocks, mind.posterior.points.z))
    averaged = logsumexp(each, axis=0) - np.log(len(each))
    return np.where(choices.scored[rows], averaged, np.nan)
