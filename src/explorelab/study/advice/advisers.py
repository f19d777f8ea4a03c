"""Advisers for a study: made from its settings, and led through a person's choices.

Advisers never change, and the same choices always lead to the same advice: whoever is forgotten is led through again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from explorelab.agents import Agent
from explorelab.agents.named.ucl import deterministic_ucl
from explorelab.choices.table import Layout
from explorelab.companions.advice import POLICIES, Adviser, Suggestion, adviser_for
from explorelab.companions.expert import KERNEL, prior_for
from explorelab.companions.live import Companion, companion
from explorelab.companions.past import Past, Trial
from explorelab.companions.posterior import shape_of
from explorelab.study.advice.messages import Answer, Moment
from explorelab.study.advice.recipe import Recipe
from explorelab.study.computing.pipe import Told, mask_of
from explorelab.study.computing.room import Room


class Played(NamedTuple):
    """An adviser after some of a person's choices."""

    adviser: Adviser
    n: int = 0
    """Choices that it knows."""
    block: int = -1
    """The number of the block in play; -1 before the first."""


class Advisers:
    """Advisers for people who have not chosen yet, one for each policy."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._noise_var = float(np.mean([task.noise.var for task in recipe.tasks])) or 1.0
        self.new = cache(self._new)

    def room(self) -> Room[Played]:
        """Room for the advisers of the people who are playing."""
        return Room(lambda moment: self.new(moment.policy), _advised)

    def _new(self, policy: str) -> Played:
        """An adviser for somebody who has not chosen yet."""
        recipe, task = self._recipe, self._recipe.tasks[0]
        layout = Layout(task.n_arms, task.places, self._noise_var)
        mind = self._mind if POLICIES[policy].personal else None
        return Played(adviser_for(policy, self._expert, layout, self._noise_var, recipe.horizon, mind))

    @property
    def _expert(self) -> Agent:
        prior = self._recipe.prior
        if prior is None:
            return prior_for(list(self._recipe.tasks))
        kernel = {"kernel": KERNEL} if "length_scale" in prior else {}
        return deterministic_ucl(**prior, **kernel, ties="random")  # type: ignore[arg-type]

    @property
    def _mind(self) -> Companion:
        recipe = self._recipe
        return companion(recipe.agent, recipe.group, recipe.tasks[0], horizon=recipe.horizon, n_points=recipe.n_points)


def led_on(played: Played, moment: Moment) -> Played:
    """The adviser once it has been told what is new, in the block that is being played."""
    for told in moment.news:
        played = _observed(_in_block(played, told.block, told.start), told)
    return _in_block(played, moment.block, moment.start)


def suggestion(played: Played, moment: Moment) -> Suggestion:
    """What the adviser suggests for the next choice."""
    return played.adviser.suggest(mask_of(moment.near, played.adviser.layout.n_arms))


def _advised(played: Played, moment: Moment) -> tuple[Played, Answer]:
    played = led_on(played, moment)
    said = suggestion(played, moment)
    return played, Answer(said.arm, said.reason)


def _in_block(played: Played, block: int, start: int) -> Played:
    if played.block == block:
        return played
    if played.block == -1:
        past = Past(starts=(start,))
        mind = played.adviser.mind
        adviser = replace(played.adviser, past=past, mind=None if mind is None else replace(mind, past=past))
    else:
        adviser = played.adviser.next_block(start)
    return played._replace(adviser=adviser, block=block)


def _observed(played: Played, told: Told) -> Played:
    available = mask_of(told.near, played.adviser.layout.n_arms)
    adviser = played.adviser.observe(
        told.arm, told.reward, available=available, missed=told.missed, advised=told.advised
    )  # fmt: skip
    return played._replace(adviser=adviser, n=played.n + 1)


def warm_up(advisers: Advisers, recipe: Recipe) -> None:
    """Compile every program that a session needs, by playing one for each policy.

    When points are renewed depends on the person, so here it is done at every size for which programs are compiled: whoever
    comes to one first must not wait, and with them everyone whom the process advises.
    """
    n_arms = recipe.tasks[0].n_arms
    for policy in recipe.policies:
        played, news, sizes = advisers.new(policy), tuple[Told, ...](), set[tuple[int, ...]]()
        for block in range(recipe.n_blocks):
            for trial in range(recipe.horizon):
                played = _renewing(played, sizes) if news else played
                moment = Moment(0, policy, block, trial, 0, None, played.n, news)
                played = led_on(played, moment)
                said = suggestion(played, moment)
                arm = (7 * trial + 3) % n_arms
                news = (Told(block, 0, arm, float(recipe.tasks[0].means[arm]), False, None, said.arm),)


def _renewing(played: Played, sizes: set[tuple[int, ...]]) -> Played:
    """The adviser, who renews the points of the person after the next choice if their number is of a new size."""
    mind = played.adviser.mind
    if mind is None:
        return played
    after = mind.past.after(Trial(0))
    size = shape_of(mind.scene, after)
    settings = mind.settings._replace(fewest=0.0 if size in sizes else np.inf)
    sizes.add(size)
    return played._replace(adviser=replace(played.adviser, mind=replace(mind, settings=settings)))
