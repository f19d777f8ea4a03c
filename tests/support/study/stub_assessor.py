"""An assessor's process without companions: finds at once how many choices it was told of, in this process's life.

python tests/support/study/stub_assessor.py 0.5     each takes half a second
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from explorelab.study.assessment.asked import Asked
from explorelab.study.computing.pipe import READY, Job, Reply, messages, packed


def program(seconds: float = 0.0) -> tuple[str, ...]:
    """The command that runs it."""
    # Without its folder on the path: that has an operator.py.
    return (sys.executable, "-P", __file__, str(seconds))


def found(asked: Asked) -> dict[str, Any]:
    """What it finds: the process's number is the regret to come, so that tests know which one it was."""
    n = asked.known + len(asked.news)
    return {
        "n_trials": asked.n_trials, "regret": [float(n)], "later": [asked.n_trials], "low": [1.0], "middle": [2.0],
        "high": [3.0], "forms": {"linear": 0.1, "power": 0.2, "log": 0.6, "none": 0.1},
        "regret_to_come": float(os.getpid()), "regret_if_advised": 1.0,
        "estimates": [{"parameter": "temperature", "estimate": 2.0, "low": 1.0, "high": 4.0}], "weakness": None,
    }  # fmt: skip


def main() -> None:
    """Answer until the input ends."""
    stream, out = messages(sys.stdin.buffer), sys.stdout.buffer
    next(stream)
    out.write(packed(READY))
    out.flush()
    known: dict[int, int] = {}
    job: Job
    for job in stream:
        time.sleep(float(sys.argv[1]))
        asked: Asked = job.asked
        if asked.known != known.get(asked.person, 0) and asked.known:
            reply = Reply(job.number, again=True)
        else:
            known[asked.person] = asked.known + len(asked.news)
            reply = Reply(job.number, found(asked))
        out.write(packed(reply))
        out.flush()


def running() -> list[int]:
    """The numbers of those that this process has started."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    found = [int(number) for file in children for number in file.read_text().split()]
    return [number for number in found if b"stub_assessor" in Path(f"/proc/{number}/cmdline").read_bytes()]


if __name__ == "__main__":
    main()
