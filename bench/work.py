"""The work that every library does, and how it is timed. Runs in each library's own environment, so it uses only NumPy."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

CREDIBILITY_SCALE = math.sqrt(2 * math.pi * math.e)
BUDGET_S = 4.0
"""Seconds for one repeat; there are `REPEATS` of them, and the fastest counts."""
REPEATS = 3
MOST_REPLICATES = 1000


class Work(NamedTuple):
    """A bandit with Gaussian rewards, and the number of steps."""

    name: str
    means: np.ndarray
    noise_sd: float
    horizon: int


_PROFILE = (35.0, 27.0, 20.0, 15.0, 13.0, 17.0, 25.0, 38.0, 50.0, 60.0)
PLACES = np.stack(np.divmod(np.arange(100), 10), axis=1).astype(float)
PRIOR_MEAN, PRIOR_VAR, LENGTH_SCALE, CORRELATED_NOISE_VAR = 200.0, 10.0, 4.0, 10.0
"""The prior of the correlated work: exponential kernel, and a mean so high that every arm is worth a look."""

WORKS = {
    "A": Work("A", np.linspace(0, 1, 10), 1.0, 10_000),
    "B": Work("B", np.linspace(0, 1, 100), 1.0, 1_000),
    "C": Work("C", np.repeat(_PROFILE, 10), math.sqrt(CORRELATED_NOISE_VAR), 90),
}

Play = Callable[[Work, int, int], np.ndarray]
"""(work, horizon, replicates) -> the expected regret of each replicate, by the library's own call."""


def measure(library: str, package: str, policy: str, call: str, play: Play) -> None:
    """Time `play` on the works named on the command line and print one line of JSON for each."""
    for name in sys.argv[1:]:
        work = WORKS[name]
        horizon, replicates = _size(work, play)
        seconds, regret = math.inf, np.zeros(0)
        for _ in range(REPEATS):
            began = time.perf_counter()
            regret = play(work, horizon, replicates)
            seconds = min(seconds, time.perf_counter() - began)
        result = {
            "library": library,
            "version": version(package),
            "policy": policy,
            "call": call,
            "work": name,
            "horizon": horizon,
            "replicates": replicates,
            "ns_per_decision": seconds * 1e9 / (horizon * replicates),
            "regret": float(np.mean(regret)),
            "regret_se": float(np.std(regret, ddof=1) / math.sqrt(len(regret))) if len(regret) > 1 else None,
        }
        print("RESULT " + json.dumps(result), flush=True)


def _size(work: Work, play: Play) -> tuple[int, int]:
    """The whole horizon and as many replicates as the budget allows, or part of one replicate if it allows none."""
    probe = min(work.horizon, len(work.means) + 20)
    play(work, probe, 1)
    per_decision = _seconds(work, play, probe, 1) / probe
    if per_decision * work.horizon > BUDGET_S:
        return max(probe, int(BUDGET_S / per_decision)), 1
    replicates = 1
    # The fixed cost of a call is spread over more and more replicates, until they fill the budget.
    while (seconds := _seconds(work, play, work.horizon, replicates)) < BUDGET_S / 2 and replicates < MOST_REPLICATES:
        replicates = min(MOST_REPLICATES, max(replicates + 1, int(replicates * min(8.0, BUDGET_S / seconds))))
    return work.horizon, replicates


def _seconds(work: Work, play: Play, horizon: int, replicates: int) -> float:
    began = time.perf_counter()
    play(work, horizon, replicates)
    return time.perf_counter() - began


def regret_of(work: Work, arms: np.ndarray) -> np.ndarray:
    """Expected regret of each replicate from the arms it chose (replicate x time)."""
    return (work.means.max() - work.means[np.asarray(arms)]).sum(axis=-1)
