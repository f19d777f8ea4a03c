"""The process that assesses people: `python -m explorelab.study.assessment.assessor_process`."""

from __future__ import annotations

from typing import Any

from explorelab.study.computing.process_main import reply_to_jobs
from explorelab.study.computing.room import Room

NICE = 19
"""Lower than everything else: advice must be ready in time, and an assessment may wait."""


def prepared(recipe: Any) -> Room[Any]:
    """The companions of everyone; programs are compiled as they are needed."""
    from explorelab.study.assessment.assessors import Assessors

    return Assessors(recipe).room()


if __name__ == "__main__":
    reply_to_jobs(prepared, NICE)
