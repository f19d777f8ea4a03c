"""The paper, its findings about people, and whether choices were made in its task."""

from __future__ import annotations

import numpy as np

from explorelab.choices.table import Choices
from explorelab.tasks.task import PROFILES, landscape

NAME = "Reverdy, Srivastava & Leonard (2014)"
"""The paper's name where it is first mentioned."""
SHARES = {"linear": 0.592, "power": 0.193, "log": 0.215}
"""The share of people with each phenotype (section V.B)."""
PEOPLE = 326
EXPONENT = 0.9
"""Exponent of the power law that best fits the mean curve of its people."""
TRIALS = 90


def is_its_task(choices: Choices) -> bool:
    """Whether every block has 90 choices on one of the paper's landscapes, as far as is known.

    Shares of phenotypes depend on the arms and the number of choices, so the paper's cannot be compared with other tasks'.
    """
    known = np.stack([landscape(name).means for name in PROFILES])
    if choices.means is None or choices.n_trials != TRIALS or choices.layout.n_arms != known.shape[1]:
        return False
    alike = np.isclose(choices.means[:, None], known[None]).all(2)
    return bool(alike.any(1).all())
