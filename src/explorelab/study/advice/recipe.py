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
    prior = None if advice.prior is None else dict(advice.prior)
    return Recipe(*_blocks_of(study), advice.arms, advice.person, advice.group, prior, advice.n_points)


def _blocks_of(study: Study) -> tuple[tuple[Task, ...], int, int]:
    """The tasks of blocks with advice, the choices in the longest of them, and how many of them someone plays."""
    if study.design is None:
        return tuple(study.landscapes[name] for name in study.task_landscapes), study.n_trials, study.n_task_blocks
    advised = [plan for plan in study.design.every_plan if plan.advice]
    tasks = {plan.landscape: study.landscapes[plan.landscape] for plan in advised}
    n_blocks = sum(bool(plan.advice) for plan in study.plan(study.cells[-1]))
    return tuple(tasks.values()), max(plan.n_trials for plan in advised), n_blocks
