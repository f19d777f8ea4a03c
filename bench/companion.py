"""Measure the companion: one update after a choice on one core. `python -m bench.companion`, part of `make bench`.

Writes docs/benchmarks-companion.md. Simulated people play the paper's task (100 arms, 90 choices, correlated prior); each
choice is one update of the posterior and the prediction of the next choice. Two others do the same work in the same run: the
floor, one belief of one person updated by hand in NumPy, and what one would do without a companion, a fit of everything so
far after every choice.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path

# One core, also for XLA and BLAS: both ask for the number of cores when they are loaded.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from explorelab._support.checks import Floats
from explorelab._support.written_numbers import JsonObject

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "companion.json"
PAGE = HERE.parent / "docs" / "benchmarks-companion.md"
HORIZON = 90
AGENTS = ("stochastic-ucl", "situated-ucl")
POINTS = (64, 128, 512)
"""Those of advice in a study, of its assessments, and of `xl.companion`."""


def population(agent: str, n: int) -> tuple[list[int], list[list[tuple[int, float]]]]:
    """What n simulated people chose and won."""
    import explorelab as xl

    blank = xl.blank_choices(xl.tasks.landscape("B"), n, 1, HORIZON)
    rng = np.random.default_rng(0)
    params = {
        "prior_mean": rng.normal(40, 10, n),
        "prior_var": np.exp(rng.normal(np.log(200), 0.7, n)),
        "length_scale": np.exp(rng.normal(np.log(3), 0.4, n)),
        "temperature": np.exp(rng.normal(np.log(3), 0.4, n)),
    }
    played = xl.simulate_choices(blank, xl.agents.AGENTS[agent](**{k: float(v[0]) for k, v in params.items()}), params)
    each = [list(zip(played.arm[i].tolist(), played.reward[i].tolist(), strict=True)) for i in range(n)]
    return list(range(n)), each


def measure_updates(agent: str, n_points: int, n_people: int = 8) -> JsonObject:
    """Milliseconds of every update, compiling apart (the first person's block is not counted).

    When points are renewed depends on the person. So the first person's are renewed at every size for which programs are
    compiled.
    """
    import explorelab as xl
    from explorelab.companions.past import Trial
    from explorelab.companions.posterior import shape_of

    task = xl.tasks.landscape("B")
    _, each = population(agent, n_people + 1)
    took: list[float] = []
    processor: list[float] = []
    renewed, sizes = 0, set[tuple[int, ...]]()
    began = time.perf_counter()
    first = 0.0
    for number, trials in enumerate(each):
        mind = xl.companion(agent, None, task, n_points=n_points, seed=number)
        for arm, reward in trials:
            if not number and (size := shape_of(mind.scene, mind.past.after(Trial(arm)))) not in sizes:
                sizes.add(size)
                replace(mind, settings=mind.settings._replace(fewest=np.inf)).observe(arm, reward)
            start, start_cpu = time.perf_counter(), time.process_time()
            mind = mind.observe(arm, reward)
            mind.next_choice  # noqa: B018
            if number:
                took.append(1e3 * (time.perf_counter() - start))
                processor.append(1e3 * (time.process_time() - start_cpu))
        renewed += mind.posterior.n_renewed * bool(number)
        first = first or time.perf_counter() - began
    return {
        "agent": agent, "n_points": n_points, "n_updates": len(took), "first_block_s": round(first, 1),
        "median_ms": float(np.median(took)), "p99_ms": float(np.quantile(took, 0.99)), "most_ms": max(took),
        "processor_median_ms": float(np.median(processor)), "processor_p99_ms": float(np.quantile(processor, 0.99)),
        "mean_ms": float(np.mean(took)), "renewals_per_block": renewed / n_people,
    }  # fmt: skip


def measure_floor(repeats: int = 20) -> float:
    """Milliseconds of one belief's update and softmax in NumPy, by the covariance form, median over a block."""
    rng = np.random.default_rng(0)
    places = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), -1).reshape(-1, 2)
    prior = 200 * np.exp(-np.linalg.norm(places[:, None] - places, axis=2) / 3)
    took = []
    for _ in range(repeats):
        mean, covariance = np.full(100, 40.0), prior.copy()
        for t in range(1, HORIZON + 1):
            start = time.perf_counter()
            limit = mean + 2.0 * np.sqrt(np.diagonal(covariance))
            chance: Floats = np.exp((limit - limit.max()) / 3)
            chance /= chance.sum()
            arm = int(t * 37 % 100)
            row = covariance[arm] / np.sqrt(covariance[arm, arm] + 10)
            mean = mean + row * (rng.normal() + 40 - mean[arm]) / np.sqrt(covariance[arm, arm] + 10)
            covariance = covariance - np.outer(row, row)
            took.append(1e3 * (time.perf_counter() - start))
    return float(np.median(took))


def measure_refit(agent: str) -> float:
    """Seconds of a MAP fit of one person's block from two starts, compiled: the same knowledge without a companion."""
    import explorelab as xl

    blank = xl.blank_choices(xl.tasks.landscape("B"), 1, 1, HORIZON)
    built = xl.agents.AGENTS[agent](prior_mean=40.0, prior_var=200.0, length_scale=3.0, temperature=3.0)
    played = xl.simulate_choices(blank, built)
    xl.fit(played, agent, "map", n_starts=2)
    start = time.perf_counter()
    xl.fit(played, agent, "map", n_starts=2)
    return time.perf_counter() - start


def page(results: JsonObject) -> str:
    """The page as Markdown."""
    rows = [
        f"| {one['agent']} | {one['n_points']} | {one['processor_median_ms']:.1f} | {one['processor_p99_ms']:.0f} "
        f"| {one['median_ms']:.1f} | {one['p99_ms']:.0f} | {one['most_ms']:.0f} | "
        f"{one['renewals_per_block']:.1f} | {one['processor_median_ms'] / results['floor_ms']:.0f} x "
        f"| {one['first_block_s']:.0f} |"
        for one in results["updates"]
    ]
    refits = ", ".join(f"{agent} {seconds:.2f} s" for agent, seconds in results["refit_s"].items())
    return f"""# Benchmarks: the companion

<!-- Written by bench/companion.py (make bench): change that, not this. -->

One core, {results["people"]} people, load {results["load"]:.1f} before the run. After every choice of a simulated person
(100 arms, 90 choices, weak prior): the posterior of all parameters and the probability of each arm on the next trial. Now
and then the points are renewed; those updates are the slow ones, and they are counted. Compiling happens in a first block,
in which points are renewed at every size, and is shown apart. A study advises with 64 points and assesses with 128;
`xl.companion` takes 512. Processor time is what the update takes; by the clock it takes longer where others use the core.

| agent | points | processor, ms: p50 | p99 | clock, ms: p50 | p99 | most | renewals | p50 / floor | first block, s |
|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

The targets were 20 ms (p50) and 50 ms (p99). The floor is one belief of one person with known parameters, updated in
NumPy: {results["floor_ms"]:.3f} ms. Without a companion one would fit everything so far after each choice: {refits} each
time, once compiled (MAP, two starts, no predictions). Published amortised posteriors take 3.1 to 3.6 s after the fact
(Valentin et al. 2024).
"""


def main() -> None:
    """Measure, keep, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--render", action="store_true", help="Write the page from what was measured before.")
    given = parser.parse_args()
    if not given.render:
        results: JsonObject = {
            "load": os.getloadavg()[0],
            "people": given.people,
            "updates": [measure_updates(agent, n, given.people) for agent in AGENTS for n in POINTS],
            "floor_ms": measure_floor(),
            "refit_s": {agent: measure_refit(agent) for agent in AGENTS},
        }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    PAGE.write_text(page(json.loads(RESULTS.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
