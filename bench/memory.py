"""The peak memory of a simulation, measured in its own process: `memory.py ARMS HORIZON REPLICATES`."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

LIMIT = 1 << 30
"""The memory limit of `simulate` by default, in bytes."""


def peak_bytes() -> int:
    """The largest resident set of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss if it can be avoided: on Linux a child's starts at what its parent held when it was forked.
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    n_arms, horizon, replicates = (int(word) for word in sys.argv[1:])
    import explorelab as xl

    task = xl.tasks.bandit(np.linspace(0, 1, n_arms))
    xl.simulate(xl.agents.deterministic_ucl(), task, 10, 10)
    before = peak_bytes()
    start = time.perf_counter()
    result = xl.simulate(xl.agents.deterministic_ucl(), task, horizon, replicates)
    seconds = time.perf_counter() - start
    said = {
        "arms": n_arms,
        "horizon": horizon,
        "replicates": replicates,
        "peak_bytes": peak_bytes(),
        "before_bytes": before,
        "seconds": seconds,
        "kept_each_replicate": "replicate" in result.dims,
        "result_bytes": int(result.nbytes),
        "within_limit": peak_bytes() < LIMIT,
    }
    print("RESULT " + json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
