"""Hierarchical Bayes on a GPU: `python -m bench.nuts_gpu [--people 326] [--draws 1000]`, one JSON object to standard output.

326 simulated people on a grid of 10 x 10 arms, 90 choices each, four free parameters of stochastic-ucl, four chains of 1 000
draws after as many of warm-up. The target is ten minutes, everything included except the simulation. If the variable OUT is
set, the object is also written as nuts_gpu.json into that folder. Without ArviZ, NumPyro's diagnostics are used instead
(split R-hat and effective sample size, neither rank-normalised).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import explorelab as xl
from explorelab.choices.table import Choices, Layout
from explorelab.fitting.bayes import beginning, nuts, posterior_groups
from explorelab.fitting.model import prepare

TRIALS = 90
NOISE_VAR = 10.0


def someone(rng: np.random.Generator) -> dict[str, float]:
    """One person's parameters in natural units."""
    return {
        "prior_mean": float(rng.normal(45, 10)),
        "prior_var": float(np.exp(rng.normal(np.log(200), 0.6))),
        "length_scale": float(np.exp(rng.normal(np.log(3), 0.4))),
        "temperature": float(np.exp(rng.normal(np.log(3), 0.5))),
    }


def simulated(n_people: int, seed: int) -> tuple[Choices, dict[str, np.ndarray]]:
    """The choices of this many people, one block each, and their true parameters."""
    rng, task = np.random.default_rng(seed), xl.tasks.landscape("B", noise_var=NOISE_VAR)
    true = [someone(rng) for _ in range(n_people)]
    runs = [
        xl.simulate(
            xl.agents.stochastic_ucl(**params), task, TRIALS, 1, seed=i, keep="trajectories", device="cpu", progress=False
        )
        for i, params in enumerate(true)
    ]
    everywhere = np.ones((n_people, TRIALS), bool)
    choices = Choices(
        layout=Layout(task.n_arms, places=np.asarray(task.places), noise_var=NOISE_VAR, shape=(10, 10)),
        participants=tuple(f"p{i:03d}" for i in range(n_people)),
        participant=np.arange(n_people),
        block=np.full(n_people, "1"),
        arm=np.concatenate([run.choice.values for run in runs]).astype(np.int32),
        reward=np.concatenate([run.reward.values for run in runs]).astype(float),
        observed=everywhere,
        scored=everywhere,
        present=everywhere,
    )
    return choices, {name: np.array([params[name] for params in true]) for name in true[0]}


def diagnosed(choices: Choices, fitted: Any, drawn: nuts.Draw, depth: int) -> dict[str, Any]:
    """The largest R-hat and the smallest effective sample size, by ArviZ if it is installed, otherwise by NumPyro."""
    posterior = posterior_groups.posterior_table(choices, fitted, drawn, False)
    if importlib.util.find_spec("arviz_stats"):
        from explorelab.fitting.bayes.convergence import examined

        report = examined(posterior, posterior_groups.stats_table(drawn), depth)
        found = {"max_r_hat": report.r_hat, "min_ess": report.ess_bulk, "min_ess_tail": report.ess_tail}
        return {**found, "e_bfmi": report.bfmi, "convergence": report.told, "diagnostics": "arviz_stats"}
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    arrays = [np.asarray(variable) for variable in posterior.data_vars.values()]
    return {
        "max_r_hat": float(max(np.max(split_gelman_rubin(array)) for array in arrays)),
        "min_ess": float(min(np.min(effective_sample_size(array)) for array in arrays)),
        "diagnostics": "numpyro",
    }


def recovered(fitted: Any, true: dict[str, np.ndarray], posterior: Any) -> dict[str, Any]:
    """For each parameter, how often the 95 % interval holds the truth, and the rank correlation of medians with it."""
    found = {}
    for dimension in fitted.space:
        draws = posterior[dimension.name].values.reshape(-1, len(true[dimension.name]))
        low, median, high = np.quantile(draws, [0.025, 0.5, 0.975], axis=0)
        truth = true[dimension.name]
        rank = np.corrcoef(np.argsort(np.argsort(median)), np.argsort(np.argsort(truth)))[0, 1]
        covered = ((low <= truth) & (truth <= high)).mean()
        found[dimension.name] = {"covered": float(covered), "rank_correlation": float(rank)}
    return found


def measure(given: argparse.Namespace) -> dict[str, Any]:
    choices, true = simulated(given.people, given.seed)
    fitted = prepare(choices, "stochastic-ucl")
    settings = nuts.Settings(given.warmup, given.target_accept, given.max_tree_depth, False)
    began = time.perf_counter()
    begun = beginning.begin(choices, fitted, seed=given.seed, progress=False)
    first_fit = time.perf_counter() - began
    print(f"first fit {first_fit:.0f} s", file=sys.stderr, flush=True)
    points = beginning.starting(begun, settings, given.chains, given.seed)
    drawn = nuts.run_chains(fitted, begun.known, points, settings, given.draws, given.seed, given.progress)
    sampling = time.perf_counter() - began - first_fit
    n_steps = int(drawn.n_steps.sum())
    posterior = posterior_groups.posterior_table(choices, fitted, drawn, False)
    return {
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "people": given.people,
        "chains": given.chains,
        "warmup": given.warmup,
        "draws": given.draws,
        "parameters": [dimension.name for dimension in fitted.space],
        "seconds": first_fit + sampling,
        "first_fit_s": first_fit,
        "sampling_s": sampling,
        "divergences": int(drawn.diverging.sum()),
        "steps_per_draw": n_steps / drawn.n_steps.size,
        "largest_tree": int(np.ceil(np.log2(drawn.n_steps.max() + 1))),
        **diagnosed(choices, fitted, drawn, given.max_tree_depth),
        "recovery": recovered(fitted, true, posterior),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=326)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--warmup", type=int, help="as many as draws unless told otherwise")
    parser.add_argument("--target-accept", type=float, default=0.9)
    parser.add_argument("--max-tree-depth", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--progress", action="store_true", default=None)
    given = parser.parse_args()
    given.warmup = given.draws if given.warmup is None else given.warmup
    found = json.dumps(measure(given), indent=1)
    print(found, flush=True)
    if folder := os.environ.get("OUT"):
        (Path(folder) / "nuts_gpu.json").write_text(found + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
