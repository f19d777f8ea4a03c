"""Measure fits of people, and write docs/benchmarks-people.md with its figure: `make bench` runs this after bench/run.py.

Everything is measured in one run: our fit of more and more people, the whole process's memory, the same estimates by NumPy
and SciPy for a few people as the floor to beat, and the leave-one-round-out refit of a published model, if its data lie
beside the project.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from bench import people_bayes

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WU2018 = ROOT.parent / "shared" / "data" / "wu2018"
RESULTS = HERE / "people.json"
PEOPLE = (41, 82, 163, 326)
STARTS = 10


def population(n: int) -> Any:
    """n simulated people with different parameters on the paper's task: 100 arms, 90 choices."""
    import explorelab as xl
    from explorelab.recovery.designs import blank_choices
    from explorelab.recovery.simulated_choices import simulate_choices

    rng = np.random.default_rng(0)
    params = {
        "prior_mean": rng.normal(60, 20, n),
        "prior_var": np.exp(rng.normal(np.log(100), 0.7, n)),
        "length_scale": np.exp(rng.normal(np.log(3), 0.4, n)),
        "temperature": np.exp(rng.normal(np.log(2), 0.4, n)),
    }
    empty = blank_choices(xl.tasks.landscape("B"), n, horizon=90)
    agent = xl.agents.stochastic_ucl(prior_mean=60, prior_var=100, length_scale=3, temperature=2)
    return simulate_choices(empty, agent, params, seed=0)


def measure_fit(n: int) -> dict[str, Any]:
    """Seconds and memory of the MAP fit of n people in this process, compiled code included and by itself."""
    from explorelab.fitting.fit_people import fit

    people = population(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began, processor = time.perf_counter(), time.process_time()
    tree = fit(people, "stochastic-ucl", "map", n_starts=STARTS)
    first = time.perf_counter() - began
    used = time.process_time() - processor
    table = tree["estimates"].to_dataset()
    return {
        "people": n,
        "seconds": first,
        "processor_s": used,
        "before_mib": before,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "starts_at_best": float(table.starts_at_best.mean()),
        "log_likelihood": float(table.log_likelihood.sum()),
    }


def measure_numpy(n: int) -> dict[str, Any]:
    """Seconds for n people by NumPy and SciPy: likelihood in Cholesky form, L-BFGS-B, numerical gradients, 10 starts."""
    from scipy.optimize import minimize
    from scipy.stats import norm

    from explorelab.fitting.model import prepare
    from explorelab.fitting.results import on_natural_scale
    from explorelab.fitting.search.best import starting_points
    from explorelab.fitting.search.solve import limits

    people = population(n)
    fitted = prepare(people, "stochastic-ucl")
    low, high = limits(fitted.space)
    points = starting_points(STARTS, low, high, 0)
    distances, noise_var = people.layout.distances, people.layout.noise_var
    quantile = norm.isf(1 / (np.sqrt(2 * np.pi * np.e) * np.arange(1, 91)))

    def objective(z: np.ndarray, arm: np.ndarray, reward: np.ndarray) -> float:
        prior_mean, prior_var, length_scale, temperature = on_natural(z)
        cov = prior_var * np.exp(-distances / length_scale)
        cross = cov[arm]
        factor = np.linalg.cholesky(cross[:, arm] + noise_var * np.eye(90))
        solved = solve_lower(factor, np.column_stack([cross, reward - prior_mean]))
        rows, news = solved[:, :-1], solved[:, -1:]
        mean = prior_mean + np.cumsum(rows * news, axis=0) - rows * news
        var = prior_var - (np.cumsum(rows**2, axis=0) - rows**2)
        logits = (mean + quantile[:, None] * np.sqrt(np.maximum(var, 0))) / temperature
        top = logits.max(1)
        chosen = logits[np.arange(90), arm] - top - np.log(np.exp(logits - top[:, None]).sum(1))
        return 0.5 * z @ z - chosen.sum()

    from scipy.linalg import solve_triangular

    def solve_lower(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
        return solve_triangular(factor, right, lower=True, check_finite=False)

    centres = np.array([d.centre for d in fitted.space])
    spreads = np.array([d.spread for d in fitted.space])
    on_log = np.array([d.scale == "log" for d in fitted.space])

    def on_natural(z: np.ndarray) -> np.ndarray:
        return np.where(on_log, centres * np.exp(np.where(on_log, spreads * z, 0.0)), centres + spreads * z)

    np.testing.assert_allclose(on_natural(points[1]), on_natural_scale(fitted.space, points[1]), rtol=1e-6)
    one = time.perf_counter()
    for _ in range(50):
        objective(points[1], people.arm[0], people.reward[0])
    one = (time.perf_counter() - one) / 50
    began, lowest = time.perf_counter(), []
    for who in range(n):
        ends = [
            minimize(
                objective, start, (people.arm[who], people.reward[who]), "L-BFGS-B", bounds=list(zip(low, high, strict=True))
            )
            for start in points
        ]
        lowest.append(min(end.fun for end in ends))
    return {
        "people": n,
        "seconds": time.perf_counter() - began,
        "evaluation_ms": 1e3 * one,
        "objective": float(np.sum(lowest)),
    }


def measure_refit() -> dict[str, Any]:
    """Seconds for the leave-one-round-out refit of the localised GP-UCB of Wu et al. (2018): 640 folds, 3 parameters."""
    from explorelab.comparison.left_out_blocks import cross_validate
    from tests.support.wu2018_models import model, rescaled_choices, space

    choices = rescaled_choices()
    began, processor = time.perf_counter(), time.process_time()
    how = {"within": "horizon", "space": space("LRBFUCB"), "free": tuple(space("LRBFUCB")), "n_starts": 4}
    tree = cross_validate(choices, model("LRBFUCB"), "ml", **how)
    folds, people = (tree[name].to_dataset() for name in ("folds", "people"))
    return {
        "folds": folds.sizes["fold"],
        "seconds": time.perf_counter() - began,
        "processor_s": time.process_time() - processor,
        "mean_r2": float(people.r2.mean()),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


MEASURES = {
    "fit": measure_fit,
    "numpy": measure_numpy,
    "refit": lambda _: measure_refit(),
    "bayes": people_bayes.measure_bayes,
    "nuts": people_bayes.measure_nuts,
    "delta": people_bayes.measure_delta,
    "peer": people_bayes.measure_peer,
}
SAMPLED, SAMPLED_PEOPLE = ("bayes", "nuts", "delta", "peer"), 40


def by_itself(what: str, n: int) -> dict[str, Any]:
    """The measurement in its own process, so that memory and compilation are its own too."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.people", "--measure", what, str(n)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "N"), help="one measurement, printed as JSON")
    parser.add_argument("--small", action="store_true", help="few people, to try the script out; writes nothing")
    parser.add_argument("--render", action="store_true", help="measure nothing, write the page from what is kept")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(MEASURES[given.measure[0]](int(given.measure[1]))))
        return 0
    from bench import people_page

    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not given.render:
        sizes = (4, 8) if given.small else PEOPLE
        results["load"] = os.getloadavg()[0]
        results["fits"] = [by_itself("fit", n) for n in sizes]
        results["numpy"] = by_itself("numpy", 2 if given.small else 8)
        for what in SAMPLED:
            results[what] = by_itself(what, 4 if given.small else SAMPLED_PEOPLE)
        if WU2018.is_dir() and not given.small:
            results["refit"] = by_itself("refit", 0)
    if given.small:
        print(json.dumps(results, indent=1))
        return 0
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    people_page.write(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
