"""explorelab's public call against the floor, and how its cost grows with arms, steps and replicates."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import explorelab as xl
from bench import floor
from bench.work import LENGTH_SCALE, PRIOR_MEAN, PRIOR_VAR, WORKS, Work

ROUNDS = 5
REPLICATES = {"A": 8_192, "B": 16_384, "C": 16_384}
NUMPY_REPLICATES = 1_024

type Play = Callable[[int], Any]
"""A function that makes one whole call with results, given a seed."""


def problem(work: Work) -> tuple[xl.Agent, xl.Task]:
    """The work as an agent and a task of explorelab."""
    if work.name == "C":
        agent = xl.agents.deterministic_ucl(prior_mean=PRIOR_MEAN, prior_var=PRIOR_VAR, length_scale=LENGTH_SCALE)
        return agent, xl.tasks.landscape("B", noise_var=work.noise_sd**2)
    return xl.agents.deterministic_ucl(), xl.tasks.bandit(work.means, noise_var=work.noise_sd**2)


def against_floor(name: str, small: bool) -> dict[str, Any]:
    """Wall-clock and CPU time per decision of every way of doing this work, in alternating rounds."""
    work = WORKS[name]
    replicates = REPLICATES[name] // (16 if small else 1)
    agent, task = problem(work)
    start = time.perf_counter()
    first = xl.simulate(agent, task, work.horizon, replicates, keep="statistics")
    first_s = time.perf_counter() - start
    times = first.time.values.astype(np.int64)
    plain, tuned, in_numpy = _floors(name)
    ways: dict[str, tuple[int, Play]] = {
        "explorelab": (
            replicates,
            lambda seed: xl.simulate(agent, task, work.horizon, replicates, seed=seed, keep="statistics"),
        ),
        "explorelab, default arguments": (
            replicates,
            lambda seed: xl.simulate(agent, task, work.horizon, replicates, seed=seed),
        ),
    }
    for label, one in {**plain, **tuned}.items():
        ways[f"Numba, {label}"] = (replicates, lambda seed, one=one: one(work, times, replicates, seed))
    ways["NumPy"] = (NUMPY_REPLICATES, lambda seed: in_numpy(work, times, NUMPY_REPLICATES, seed))
    measured = _alternate(ways, work.horizon)
    floor_name = min((f"Numba, {label}" for label in plain), key=lambda label: measured[label]["best_ns"])
    compile_s = first_s - measured["explorelab"]["best_ns"] * 1e-9 * replicates * work.horizon
    return {
        "work": name,
        "replicates": replicates,
        "recorded_times": len(times),
        "first_call_s": first_s,
        "compile_s": compile_s,
        "ways": measured,
        "floor": floor_name,
        "ratio": measured["explorelab"]["best_ns"] / measured[floor_name]["best_ns"],
        "ratio_default": measured["explorelab, default arguments"]["best_ns"] / measured[floor_name]["best_ns"],
        "ratio_cpu": measured["explorelab"]["cpu_ns"] / measured[floor_name]["cpu_ns"],
        "agreement": _agreement(measured),
    }


def _floors(name: str) -> tuple[dict[str, floor.Floor], dict[str, floor.Floor], floor.Floor]:
    if name == "C":
        return floor.PLAIN_CORRELATED, floor.TUNED_CORRELATED, floor.correlated_numpy
    return floor.PLAIN_INDEPENDENT, floor.TUNED_INDEPENDENT, floor.independent_numpy


def _alternate(ways: dict[str, tuple[int, Play]], horizon: int, rounds: int = ROUNDS) -> dict[str, dict[str, Any]]:
    """Time every way once in each round, so that other load on the machine affects all of them alike."""
    for _, play in ways.values():
        play(0)
    wall: dict[str, list[float]] = {label: [] for label in ways}
    cpu: dict[str, list[float]] = {label: [] for label in ways}
    last: dict[str, Any] = {}
    for seed in range(rounds):
        for label, (replicates, play) in ways.items():
            cpu_start, start = time.process_time(), time.perf_counter()
            last[label] = play(seed)
            scale = 1e9 / (replicates * horizon)
            wall[label].append((time.perf_counter() - start) * scale)
            cpu[label].append((time.process_time() - cpu_start) * scale)
    return {
        label: {
            "best_ns": min(wall[label]),
            "median_ns": statistics.median(wall[label]),
            "cpu_ns": min(cpu[label]),
            "regret": _final(last[label])[0],
            "regret_se": _final(last[label])[1],
        }
        for label in ways
    }


def _final(result: Any) -> tuple[float, float]:
    if isinstance(result, floor.Statistics):
        return float(result.mean[-1]), float(result.se[-1])
    return float(result.regret_mean[-1]), float(result.regret_se[-1])


def _agreement(measured: dict[str, dict[str, Any]]) -> dict[str, float]:
    """How many standard errors each way's final regret lies from explorelab's."""
    ours = measured["explorelab"]
    return {
        label: (it["regret"] - ours["regret"]) / float(np.hypot(it["regret_se"], ours["regret_se"]))
        for label, it in measured.items()
        if not label.startswith("explorelab")
    }


# Growth ---------------------------------------------------------------------------------------------------------------

GROWTH: dict[str, list[tuple[int, int, int]]] = {
    "arms": [(n, 1_000, 4_096 if n <= 200 else 1_024) for n in (2, 5, 10, 20, 50, 100, 200, 500, 1_000)],
    "steps": [(10, t, max(1_024, min(65_536, 16_384_000 // t))) for t in (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)],
    "replicates": [(10, 1_000, 4**k) for k in range(9)],
}
"""For each figure: arms, steps, replicates."""


def growth(small: bool) -> dict[str, list[dict[str, float]]]:
    """Cost per decision as one of arms, steps and replicates grows."""
    plain = floor.PLAIN_INDEPENDENT["float32, fast maths"]
    result: dict[str, list[dict[str, float]]] = {}
    for grows, points in GROWTH.items():
        result[grows] = []
        for n_arms, horizon, replicates in points[:3] if small else points:
            work = Work("growth", np.linspace(0, 1, n_arms), 1.0, horizon)
            agent, task = problem(work)
            jax.clear_caches()
            start = time.perf_counter()
            times = xl.simulate(agent, task, horizon, replicates, keep="statistics").time.values.astype(np.int64)
            first_s = time.perf_counter() - start
            ways = {
                "explorelab": (replicates, _simulate(agent, task, horizon, replicates)),
                "numba": (replicates, _floor(plain, work, times, replicates)),
            }
            measured = _alternate(ways, horizon, rounds=3)
            ours, theirs = measured["explorelab"]["best_ns"], measured["numba"]["best_ns"]
            point = {"arms": n_arms, "steps": horizon, "replicates": replicates, "explorelab_ns": ours, "numba_ns": theirs}
            result[grows].append(point | {"compile_s": first_s - ours * 1e-9 * horizon * replicates})
    return result


def _simulate(agent: xl.Agent, task: xl.Task, horizon: int, replicates: int) -> Play:
    return lambda seed: xl.simulate(agent, task, horizon, replicates, seed=seed, keep="statistics")


def _floor(one: floor.Floor, work: Work, times: np.ndarray, replicates: int) -> Play:
    return lambda seed: one(work, times, replicates, seed)
