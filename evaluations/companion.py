"""How often a companion's intervals hold the truth, for simulated people drawn from the group.

    python -m evaluations.companion [--people 500] [--processes 2] [--agent stochastic-ucl]

Writes evaluations/companion.json. People play one block of 90 choices on the paper's landscape B, with parameters from the
weak prior of a fit, which is also what the companion expects. At each time, 95 % intervals should hold the truth for 95 % of
people, and the rank of the truth among the points should be uniform (Talts et al. 2018, "Validating Bayesian inference
algorithms with simulation-based calibration").
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.stats import kstest

from explorelab._support.checks import Floats
from explorelab._support.written_numbers import JsonObject

RESULTS = Path(__file__).resolve().parent / "companion.json"
HORIZON = 90
TIMES = (10, 30, 90)


def people(numbers: Sequence[int], agent: str, times: Sequence[int], n_points: int) -> tuple[Floats, Floats, Floats]:
    """For some people: whether each interval holds the truth, the truth's rank, and the effective number of points.

    Arrays over person, time and parameter; the last one over person and time.
    """
    import explorelab as xl
    from explorelab.companions.live import companion
    from explorelab.fitting.results import on_natural_scale

    task = xl.tasks.landscape("B")
    blank = xl.blank_choices(task, 1, 1, HORIZON)
    holds, ranks, effective = [], [], []
    for number in numbers:
        mind = companion(agent, None, task, horizon=HORIZON, n_points=n_points, seed=number)
        rng = np.random.default_rng(np.random.SeedSequence([number, 11]))
        low, high = np.asarray(mind.scene.numbers.low), np.asarray(mind.scene.numbers.high)
        z = np.clip(rng.standard_normal(len(low)), low, high)
        natural = on_natural_scale(mind.scene.space, z)
        truth = dict(zip(mind.scene.names, natural, strict=True))
        units = {name: float(mind.scene.agent.params[name]) for name in mind.scene.names}
        played = xl.simulate_choices(blank, xl.agents.AGENTS[agent](**units), truth, seed=number, progress=False)
        for t in range(max(times)):
            mind = mind.observe(int(played.arm[0, t]), float(played.reward[0, t]))
            if t + 1 in times:
                found = mind.estimates
                holds.append((found.low.values <= natural) & (natural <= found.high.values))
                points, weight = np.asarray(mind.posterior.points.z), mind.posterior.weight
                ranks.append(weight @ (points < z))
                effective.append(float(found.n_effective))
    shape = len(numbers), len(times), -1
    return np.reshape(holds, shape).astype(float), np.reshape(ranks, shape), np.reshape(effective, shape[:2])


def calibration(
    n_people: int = 500, times: Sequence[int] = TIMES, agent: str = "stochastic-ucl", n_points: int = 512, processes: int = 2
) -> JsonObject:
    """Coverage of 95 % intervals with its standard error, and tests of uniform ranks, at each time."""
    parts = [list(range(n_people))[k::processes] for k in range(processes)]
    work = partial(people, agent=agent, times=tuple(times), n_points=n_points)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        done = list(pool.map(work, parts))
    holds, ranks, effective = (np.concatenate(x) for x in zip(*done, strict=True))
    by_person = holds.mean(2)
    return {
        "agent": agent,
        "n_people": n_people,
        "n_points": n_points,
        "times": list(times),
        "coverage": by_person.mean(0).tolist(),
        "coverage_error": (by_person.std(0, ddof=1) / np.sqrt(n_people)).tolist(),
        "coverage_by_parameter": holds.mean(0).tolist(),
        "rank_p_values": [
            [float(kstest(ranks[:, t, p], "uniform").pvalue) for p in range(ranks.shape[2])] for t in range(ranks.shape[1])
        ],
        "median_n_effective": np.median(effective, 0).tolist(),
        "lowest_n_effective": np.quantile(effective, 0.01, axis=0).tolist(),
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=500)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--points", type=int, default=512)
    parser.add_argument("--agent", action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    kept = json.loads(given.out.read_text()) if given.out.exists() else {}
    for agent in given.agent or ["stochastic-ucl"]:
        began = time.perf_counter()
        found = calibration(given.people, agent=agent, processes=given.processes, n_points=given.points)
        kept[agent] = {**found, "seconds": round(time.perf_counter() - began, 1)}
        print(json.dumps(kept[agent], indent=1), flush=True)
        given.out.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
