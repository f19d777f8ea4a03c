"""What is known of the people who are playing: led on with each job, forgotten after a while, made again when needed."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

from explorelab.errors import InputError
from explorelab.study.computing.pipe import Job, Reply

MOST_PEOPLE = 120
"""People held in memory: personal advice takes about 10 MB for each on 100 squares."""
SILENT_S = 300.0
"""Whoever has not been asked about for so long is forgotten, and led through again if they come back."""
COULD_NOT = "It could not be computed; the server's log says why."

log = logging.getLogger("explorelab.study")


class Held(Protocol):
    """What is known of a person."""

    @property
    def n(self) -> int:
        """After how many of their choices."""


class Room[Known: Held]:
    """The people who are playing. `new` makes what is known at first, and `go_on` leads it on and answers.

    Both are given what is asked, which has the number of the `person` and how many of their choices are `known`.
    """

    def __init__(self, new: Callable[[Any], Known], go_on: Callable[[Known, Any], tuple[Known, Any]]) -> None:
        self._new, self._go_on = new, go_on
        self._people: OrderedDict[int, tuple[float, Known]] = OrderedDict()
        """By person: when they were last asked about, and what is known; in the order of the former."""

    def __len__(self) -> int:
        return len(self._people)

    def reply(self, job: Job, now: float) -> Reply:
        """Lead on what is known of the person, and answer."""
        asked = job.asked
        self._forget(now)
        held = self._people.pop(asked.person)[1] if asked.person in self._people else None
        try:
            if asked.known == 0:
                held = self._new(asked)
            if held is None or held.n != asked.known:
                return Reply(job.number, again=True)
            held, answer = self._go_on(held, asked)
        except InputError as error:
            log.error("Something could not be computed: %s", error)
            return Reply(job.number, trouble=str(error))
        except Exception:  # one person's trouble must not be everyone's
            log.exception("Something could not be computed.")
            return Reply(job.number, trouble=COULD_NOT)
        self._people[asked.person] = (now, held)
        return Reply(job.number, answer)

    def _forget(self, now: float) -> None:
        """Forget those who have been silent for long, and the one silent for longest where there are too many."""
        while self._people:
            number, (seen_at, _) = next(iter(self._people.items()))
            if len(self._people) < MOST_PEOPLE and now - seen_at < SILENT_S:
                return
            del self._people[number]
