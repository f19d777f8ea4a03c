"""The life of a process beside the server: reads jobs from its standard input until that ends, and replies to each.

It is a program of its own, so nothing of the server is in it, and it runs at low priority.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from explorelab.study.computing.pipe import READY, messages, packed
from explorelab.study.computing.room import Room


def reply_to_jobs(prepared: Callable[[Any], Room[Any]], nice: int) -> None:
    """Reply until the server ends. The first message is the recipe, from which the room is `prepared` before any job."""
    # The pipe is for replies alone; whatever prints, prints to the log.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends this process, by closing its input
    with suppress(OSError):
        os.nice(nice)
    with suppress(BrokenPipeError, StopIteration):
        stream = messages(sys.stdin.buffer)
        room = prepared(next(stream))
        replies.write(packed(READY))
        replies.flush()
        for job in stream:
            replies.write(packed(room.reply(job, time.monotonic())))
            replies.flush()
