"""The paper, its findings about people, and whether choices were made in its task."""

from __future__ import annotations

from collections.abc import Mapping

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
ENDS: Mapping[str, tuple[float, float]] = {
    "prior_mean": (30.0, 200.0),
    "prior_var": (1000.0, 10.0),
    "length_scale": (0.0, 4.0),
    "temperature": (4.0, 1.0),
}
"""The linear and the logarithmic example (section V.C); a length scale of 0 is independent arms."""
ON_LOG_SCALE = ("prior_var", "temperature")
SCATTER = 0.2
"""Standard deviation of the logarithm of every parameter about the line between the two agents."""


def on_the_line(name: str, place: np.ndarray) -> np.ndarray:
    """A parameter at places between the linear (0) and the logarithmic agent (1)."""
    first, last = ENDS[name]
    if name in ON_LOG_SCALE:
        return np.exp((1 - place) * np.log(first) + place * np.log(last))
    return (1 - place) * first + place * last


def is_its_task(choices: Choices) -> bool:
    """Whether every block has 90 choices on one of the paper's landscapes, as far as is known.

    Shares of phenotypes depend on the arms and the number of choices, so the paper's cannot be compared with other tasks'.
    """
    known = np.stack([landscape(name).means for name in PROFILES])
    if (
        choices.means is None
        or choices.means_change
        or choices.n_trials != TRIALS
        or choices.layout.n_arms != known.shape[1]
    ):
        return False
    alike = np.isclose(choices.means[:, None], known[None]).all(2)
    return bool(alike.any(1).all())
