"""What advisers are made from: sent to the processes that compute advice, and read by nobody else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from explorelab.study.config.design import Study
from explorelab.tasks import Task


class Recipe(NamedTuple):
    """What advisers are made from."""

    tasks: tuple[Task, ...]
    """The landscapes of the task blocks; an adviser knows what they are like, not which one is played."""
    horizon: int
    n_blocks: int
    policies: tuple[str, ...]
    agent: str | None
    group: Any
    prior: Mapping[str, float] | None
    n_points: int


def recipe_of(study: Study) -> Recipe:
    """The recipe of a study with advice."""
    advice = study.advice
    assert advice is not None
    tasks = tuple(study.landscapes[name] for name in study.task_landscapes)
    prior = None if advice.prior is None else dict(advice.prior)
    return Recipe(
        tasks, study.n_trials, study.n_task_blocks, advice.arms, advice.person, advice.group, prior, advice.n_points
    )
