"""The process that computes advice: `python -m explorelab.study.advice.adviser_process`."""

from __future__ import annotations

from typing import Any

from explorelab.study.computing.process_main import reply_to_jobs
from explorelab.study.computing.room import Room

NICE = 10


def prepared(recipe: Any) -> Room[Any]:
    """The advisers of everyone, with all programs compiled."""
    from explorelab.study.advice.advisers import Advisers, warm_up

    advisers = Advisers(recipe)
    warm_up(advisers, recipe)
    return advisers.room()


if __name__ == "__main__":
    reply_to_jobs(prepared, NICE)
