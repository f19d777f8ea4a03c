"""Companions of the people who are playing: led through their choices, and asked how each is doing."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from explorelab._support.written_numbers import JsonObject, finite_or_none
from explorelab.agents.parameters import about
from explorelab.companions.assessment.one_person import assessed
from explorelab.companions.assessment.rest_of_block import LABELS
from explorelab.companions.assessment.weaknesses import SHOWN, Weakness
from explorelab.companions.live import Companion, companion, started
from explorelab.study.assessment.asked import Asked, Recipe
from explorelab.study.computing.pipe import Told, mask_of
from explorelab.study.computing.room import Room

MOST_OF_BAND = 24
"""Choices to come at which the band is told: it is drawn small."""


class Followed(NamedTuple):
    """A companion after some of a person's choices."""

    mind: Companion
    n: int = 0
    """Choices that it knows."""
    block: int = -1
    """The number of the block in play; -1 before the first."""
    n_blocks: int = 0


class Assessors:
    """Companions for people who play a study."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.new = cache(self._new)

    def room(self) -> Room[Followed]:
        """Room for the companions of the people who are playing."""
        return Room(lambda _: self.new(), self.go_on)

    def _new(self) -> Followed:
        """A companion for somebody who has not chosen yet."""
        recipe = self._recipe
        task = recipe.landscapes[0]
        return Followed(companion(recipe.agent, recipe.group, task, horizon=recipe.horizon, n_points=recipe.n_points))

    def go_on(self, followed: Followed, asked: Asked) -> tuple[Followed, JsonObject]:
        """The companion once it has been told what is new, and what it finds."""
        for told in asked.news:
            followed = _observed(_in_block(followed, told.block, told.start), told)
        followed = _in_block(followed, asked.block, asked.start)
        task = self._recipe.tasks[asked.landscape, asked.dynamic]
        followed = followed._replace(mind=replace(followed.mind, task=task, horizon=asked.n_trials))
        return followed, found(followed.mind, self._recipe)


def found(mind: Companion, recipe: Recipe) -> JsonObject:
    """What a companion finds of a person in the block that they play, as it is stored."""
    result = assessed(mind, recipe.landscapes)
    course, t = np.array(result.course), result.t
    n_trials = course.shape[1]
    later = np.unique(np.linspace(t, n_trials - 1, min(MOST_OF_BAND, n_trials - t)).round().astype(int))
    low, middle, high = course[:, later].round(1).tolist()
    return {
        "n_trials": n_trials,
        "regret": course[1, :t].round(1).tolist(),
        "later": (later + 1).tolist(),
        "low": low,
        "middle": middle,
        "high": high,
        "forms": {label: result.phenotype[label] for label in LABELS},
        "regret_to_come": round(result.regret_to_come, 1),
        "regret_if_advised": round(result.regret_if_advised, 1),
        "estimates": _estimates(mind),
        "weakness": _worst(result.weaknesses),
    }


def _estimates(mind: Companion) -> list[Any]:
    now = mind.estimates
    parts = ("estimate", "low", "high")
    return [
        {"parameter": about(name).in_words, **{part: finite_or_none(now[part].values[k]) for part in parts}}
        for k, name in enumerate(mind.scene.names)
    ]


def _worst(weaknesses: dict[str, Weakness]) -> JsonObject | None:
    """The most probable weakness; None if none is more probable than not."""
    name = max(weaknesses, key=lambda each: weaknesses[each].probability, default=None)
    if name is None or weaknesses[name].probability < SHOWN:
        return None
    worst = weaknesses[name]
    return {"name": name, "probability": worst.probability, "cost": round(worst.cost, 1), "sentence": worst.sentence}


def _in_block(followed: Followed, block: int, start: int) -> Followed:
    if followed.block == block:
        return followed
    mind = started(followed.mind, followed.n_blocks, start)
    return followed._replace(mind=mind, block=block, n_blocks=followed.n_blocks + 1)


def _observed(followed: Followed, told: Told) -> Followed:
    # All squares, if nobody says otherwise: the companion's task may still be that of the block before.
    available = np.ones(followed.mind.n_arms, bool) if told.near is None else mask_of(told.near, followed.mind.n_arms)
    mind = followed.mind.observe(
        told.arm, told.reward, available=available, missed=told.missed, advised=told.advised
    )  # fmt: skip
    return followed._replace(mind=mind, n=followed.n + 1)
