"""How one person is doing: the form of their regret at the end of the block, what is still to be lost, and weaknesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from explorelab.companions.assessment.rest_of_block import (
    advised,
    curves,
    going_on,
    losses_so_far,
    shares,
    task_of,
    to_come,
)
from explorelab.companions.assessment.weaknesses import Weakness, weaknesses
from explorelab.tasks import Task

if TYPE_CHECKING:
    from explorelab.companions.live import Companion

N_FUTURES = 128
COURSE = (0.025, 0.5, 0.975)
"""Quantiles of the regret to come: the low end of the band, its middle and its high end."""


class Assessment(NamedTuple):
    """How a person is doing in a block."""

    t: int
    """Trials so far."""
    phenotype: dict[str, float]
    """Probability of each form of regret at the end of the block."""
    regret: float
    """Expected regret so far: the sum of m* - m_i over the arms chosen."""
    regret_to_come: float
    """Expected regret in the rest of the block if they go on as they do."""
    regret_if_advised: float
    """The same if they did what the adviser suggests."""
    weaknesses: dict[str, Weakness]
    course: tuple[tuple[float, ...], ...]
    """Observed regret after each trial of the block: low, middle and high of its 95 % band, which begins with what was."""


def phenotype(mind: Companion, n_futures: int = N_FUTURES) -> dict[str, float]:
    """Probability of each form of observed regret at the end of the block, and of none."""
    return shares(curves(mind, going_on(mind, n_futures)))


def assessed(
    mind: Companion, tasks: tuple[Task, ...] = (), n_futures: int = N_FUTURES, with_weaknesses: bool = True
) -> Assessment:
    """How the person is doing; `tasks` are the landscapes that the adviser's prior is made for, by default this one."""
    task = task_of(mind)
    tasks = tasks or (task,)
    ahead = going_on(mind, n_futures)
    regret = curves(mind, ahead)
    return Assessment(
        t=mind.past.t - 1,
        phenotype=shares(regret),
        regret=float(losses_so_far(task, mind.past.blocks[-1])[1].sum()),
        regret_to_come=to_come(mind, ahead),
        regret_if_advised=to_come(mind, advised(mind, tasks, n_futures)),
        weaknesses=weaknesses(mind, tasks) if with_weaknesses else {},
        course=tuple(map(tuple, np.quantile(regret, COURSE, axis=0).tolist())),
    )
