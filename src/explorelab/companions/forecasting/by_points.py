"""One person predicted from points that are drawn once for all their choices."""

from __future__ import annotations

import jax
import numpy as np

from explorelab.choices.table import Choices
from explorelab.companions.forecasting.by_replay import foreseen_by_replay
from explorelab.companions.forecasting.foreseen import Foreseen, calibration, offers
from explorelab.companions.live import impossible
from explorelab.companions.posterior import Settings
from explorelab.companions.sampling.once import drawn_once, enough, person_of, predictions
from explorelab.companions.scene import Scene
from explorelab.fitting.likelihood import Block


def foreseen_by_points(
    choices: Choices, blocks: Block, scene: Scene, rows: np.ndarray, most: int, settings: Settings
) -> Foreseen:
    """Predictions of the person who played these rows; `most` is how many anybody played.

    Where the points are too few in spite of all that were added, a live companion answers.
    """
    person = person_of(blocks, rows, most)
    with jax.enable_x64(True):
        drawn = drawn_once(scene, person, settings.n_points, settings.seed)
        scored = choices.scored[rows]
        at = np.argwhere(scored)
        first = np.flatnonzero(~np.isfinite(drawn.log_evidence))
        if first.size:
            b, t = at[first[0] - 1]
            raise impossible(scene.agent.name, int(choices.arm[rows][b, t]), int(t) + 1)
        if not enough(drawn, settings.n_points):
            return foreseen_by_replay(choices, scene, rows, settings)
        probability = predictions(scene, person, drawn, settings.n_points)
    personal, group = np.full(scored.shape, np.nan), np.full(scored.shape, np.nan)
    personal[scored], group[scored] = np.diff(drawn.log_evidence), drawn.log_group
    counts = calibration(probability, choices.arm[rows][scored], offers(choices, rows)[scored])
    n_before = np.cumsum(scored).reshape(scored.shape)
    played = np.flip(np.maximum.accumulate(np.flip(choices.present[rows], 1), 1), 1)
    effective = np.where(played, drawn.n_effective[n_before], np.nan)
    return Foreseen(rows, personal, group, counts, effective, replayed=False)
