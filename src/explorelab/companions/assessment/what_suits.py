"""What suits a landscape: the expert's prior, and the temperature at which little is lost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from explorelab.agents.factors import Agent
from explorelab.companions.expert import prior_for
from explorelab.tasks import Task

LOST_AT_BEST = 0.05
"""Of what random choice loses: what a person may lose by temperature alone before it counts."""


@lru_cache(maxsize=64)
def expert_for(tasks: tuple[Task, ...]) -> Agent:
    """UCL with the prior of such landscapes."""
    return prior_for(list(tasks))


@lru_cache(maxsize=64)
def references(tasks: tuple[Task, ...]) -> Mapping[str, float]:
    """What suits these landscapes: variance and length scale of the prior, and temperature."""
    suits = expert_for(tasks).params
    found = {name: float(suits[name]) for name in ("prior_var", "length_scale") if name in suits}
    return found | {"temperature": float(np.median([_temperature(task) for task in tasks]))}


def _temperature(task: Task) -> float:
    """The temperature at which somebody who knows all means loses `LOST_AT_BEST` of what random choice loses."""
    gaps = task.gaps
    if not gaps.any():
        return np.inf

    def too_much(log_temperature: float) -> float:
        return float(softmax(-gaps / np.exp(log_temperature)) @ gaps - LOST_AT_BEST * gaps.mean())

    middle = np.log(gaps.max())
    return float(np.exp(brentq(too_much, middle - 20, middle + 5)))
