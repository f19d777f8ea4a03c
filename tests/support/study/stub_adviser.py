"""An adviser's process without an adviser: suggests the square named by person and trial, after so many seconds.

python tests/support/study/stub_adviser.py 0.5
"""

from __future__ import annotations

import sys
import time

from explorelab.study.advice.messages import Answer, Moment
from explorelab.study.computing.pipe import READY, Job, Reply, messages, packed

N_ARMS = 100


def suggested(moment: Moment) -> int:
    """What it suggests."""
    squares = range(N_ARMS) if moment.near is None else moment.near
    return squares[(7 * moment.person + 13 * moment.trial) % len(squares)]


def main() -> None:
    """Answer until the input ends. It knows what it has been told since it started."""
    stream, out = messages(sys.stdin.buffer), sys.stdout.buffer
    next(stream)
    out.write(packed(READY))
    out.flush()
    known: dict[int, int] = {}
    job: Job
    for job in stream:
        time.sleep(float(sys.argv[1]))
        moment = job.asked
        if moment.known != known.get(moment.person, 0) and moment.known:
            reply = Reply(job.number, again=True)
        else:
            known[moment.person] = moment.known + len(moment.news)
            reply = Reply(job.number, Answer(suggested(moment), "best"))
        out.write(packed(reply))
        out.flush()


if __name__ == "__main__":
    main()
