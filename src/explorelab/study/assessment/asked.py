"""What the process that assesses people is made from, and what it is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from explorelab.study.computing.pipe import Told
from explorelab.study.config.blocks.boards import DYNAMICS
from explorelab.study.config.blocks.own_design import not_advisable
from explorelab.study.config.design import Study
from explorelab.tasks import Task

AGENT = "stochastic-ucl"
"""The model of a person in a study without advice."""
N_POINTS = 128
"""Points that carry the estimate of a person."""


class Recipe(NamedTuple):
    """What companions are made from."""

    tasks: Mapping[tuple[str, str], Task]
    """By landscape and dynamic."""
    landscapes: tuple[Task, ...]
    """Those of the task blocks: an adviser knows what they are like, not which one is played."""
    horizon: int
    agent: str | None
    group: Any
    n_points: int = N_POINTS


class Asked(NamedTuple):
    """A person to assess, in the last task block that they have begun."""

    person: int
    block: int
    start: int
    landscape: str
    dynamic: str
    n_trials: int
    known: int
    """Choices before the news, which should be known already."""
    news: tuple[Told, ...]


def recipe_of(study: Study) -> Recipe:
    """The recipe for a study: the model of a person and the group are those of its advice, if it gives any."""
    # Under neighbour and travel, a sample is never further away than the next square.
    tasks: dict[tuple[str, str], Task] = {
        (name, dynamic): scene.task if dynamic == "standard" else replace(scene.task, moves=scene.board.moves)
        for name, scene in study.scene_of_task.items()
        for dynamic in DYNAMICS
        if dynamic == "standard" or scene.board.has_neighbours
    }
    landscapes = tuple(study.landscapes[name] for name in study.task_landscapes)
    return Recipe(tasks, landscapes, study.n_trials, *_model(study))


def why_not_assessed(study: Study) -> str:
    """Why a companion cannot assess people in this study, in a sentence; empty if it can."""
    if study.design is None:
        return ""
    first = next(iter(study.counting_scenes.values()))
    for name, scene in study.counting_scenes.items():
        if wrong := not_advisable(scene, first):
            return f"There is no assessment in this study: {wrong} (block {name!r})."
    return ""


def maker_of(study: Study) -> str:
    """A word for what assesses, which is another if another agent or group would."""
    agent, group = _model(study)
    parts = [str(agent), str(N_POINTS), "" if group is None else _digest(group)]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:32]


def model_of(study: Study) -> str:
    """The name of the agent that models people."""
    agent, group = _model(study)
    return agent or str(group.attrs.get("agent", ""))


def _model(study: Study) -> tuple[str | None, Any]:
    """The agent that models people (None: the group's) and the group that they are from."""
    return (AGENT, None) if study.advice is None else (study.advice.person, study.advice.group)


def _digest(group: Any) -> str:
    """Of the group's distribution."""
    table = group["group"].to_dataset()
    return hashlib.sha256(table["z_mean"].values.tobytes() + table["z_covariance"].values.tobytes()).hexdigest()
