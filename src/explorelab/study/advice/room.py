"""The advisers of the people who are playing: led on with each job, forgotten after a while, made again when needed."""

from __future__ import annotations

import logging
from collections import OrderedDict

from explorelab.choices.advice_given import FAILED
from explorelab.study.advice.advisers import Advisers, Played, led_on, suggestion
from explorelab.study.advice.messages import Answer, Job, Moment, Told
from explorelab.study.advice.recipe import Recipe

MOST_PEOPLE = 120
"""People held in memory: personal advice takes about 18 MB for each on 100 squares."""
SILENT_S = 300.0
"""Whoever has not chosen for so long is forgotten, and led through again if they come back."""

log = logging.getLogger("explorelab.study.advice")


class Room:
    """The advisers of the people who are playing."""

    def __init__(self, advisers: Advisers) -> None:
        self._advisers = advisers
        self._people: OrderedDict[int, tuple[float, Played]] = OrderedDict()
        """By person: when they were last heard of, and their adviser; in the order of the former."""

    def __len__(self) -> int:
        return len(self._people)

    def answer(self, job: Job, now: float) -> Answer:
        """Lead the person's adviser on and ask it."""
        moment = job.moment
        self._forget(now)
        held = self._people.pop(moment.person)[1] if moment.person in self._people else None
        if moment.known == 0:
            held = self._advisers.new(moment.policy)
        if held is None or held.n != moment.known:
            return Answer(job.number, None, FAILED, again=True)
        try:
            held = led_on(held, moment)
            said = suggestion(held, moment)
        except Exception:  # one person's trouble must not end everyone's advice
            log.exception("advice could not be computed")
            return Answer(job.number, None, FAILED)
        self._people[moment.person] = (now, held)
        return Answer(job.number, said.arm, said.reason)

    def _forget(self, now: float) -> None:
        """Forget those who have been silent for long, and the one silent for longest where there are too many."""
        while self._people:
            number, (seen_at, _) = next(iter(self._people.items()))
            if len(self._people) < MOST_PEOPLE and now - seen_at < SILENT_S:
                return
            del self._people[number]


def warm_up(advisers: Advisers, recipe: Recipe) -> None:
    """Compile every program that a session needs, by playing one for each policy."""
    n_arms = recipe.tasks[0].n_arms
    for policy in recipe.policies:
        played, news = advisers.new(policy), tuple[Told, ...]()
        for block in range(recipe.n_blocks):
            for trial in range(recipe.horizon):
                moment = Moment(0, policy, block, trial, 0, None, played.n, news)
                played = led_on(played, moment)
                said = suggestion(played, moment)
                arm = (7 * trial + 3) % n_arms
                news = (Told(block, 0, arm, float(recipe.tasks[0].means[arm]), False, None, said.arm),)
