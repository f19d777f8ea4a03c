"""The process that computes advice: reads jobs from its standard input until that ends, and answers each.

It is a program of its own (`python -m explorelab.study.advice.adviser_process`), so nothing of the server is in it, and it
runs at low priority. The first message is the recipe of its advisers; before the first job it compiles all programs.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

from explorelab.study.advice.messages import READY, messages, packed

NICE = 10


def main() -> None:
    """Answer jobs until the server ends."""
    # The pipe is for answers alone; whatever prints, prints to the log.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends this process, by closing its input
    with suppress(OSError):
        os.nice(NICE)
    stream = messages(sys.stdin.buffer)
    recipe = next(stream)

    from explorelab.study.advice.advisers import Advisers
    from explorelab.study.advice.room import Room, warm_up

    advisers = Advisers(recipe)
    warm_up(advisers, recipe)
    room = Room(advisers)
    answers.write(packed(READY))
    answers.flush()
    for job in stream:
        answers.write(packed(room.answer(job, time.monotonic())))
        answers.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError, StopIteration):
        main()
