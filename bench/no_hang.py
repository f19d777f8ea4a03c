"""Does a batched gradient through linear algebra finish? `no_hang.py [--runs N] [PYTHON ...]`.

Older XLA can deadlock on two cores in batched Cholesky factors and triangular solves. The gradient of the likelihood of 326
people (90 trials, 100 arms, correlated belief) is such a computation: it is run many times, each time in its own process
with a time limit, under each Python named. It needs only JAX.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LIMIT_S = 120
PEOPLE, TRIALS, SIDE = 326, 90, 10


def compute() -> None:
    """The gradient once, compiled and run; prints its time and a number that must be finite."""
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular
    from jax.scipy.special import ndtri

    jax.config.update("jax_enable_x64", True)
    n_arms = SIDE * SIDE
    places = jnp.stack(jnp.divmod(jnp.arange(n_arms), SIDE), axis=1).astype(float)
    distances = jnp.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
    arm_key, reward_key = jax.random.split(jax.random.key(0))
    arms = jax.random.randint(arm_key, (PEOPLE, TRIALS), 0, n_arms)
    rewards = 40 + 10 * jax.random.normal(reward_key, (PEOPLE, TRIALS))
    quantile = -ndtri(1 / (4.13 * jnp.arange(1, TRIALS + 1)))

    def log_likelihood(params, arm, reward):
        """Softmax over upper credible limits; the belief at every trial from one Cholesky factor of all that was seen."""
        prior_mean, log_var, log_scale, log_temperature = params
        prior = jnp.exp(log_var) * jnp.exp(-distances / jnp.exp(log_scale))
        factor = jnp.linalg.cholesky(prior[arm][:, arm] + 10.0 * jnp.eye(TRIALS))
        rows = solve_triangular(factor, prior[arm], lower=True)
        surprise = solve_triangular(factor, reward - prior_mean, lower=True)
        before = jnp.tril(jnp.ones((TRIALS, TRIALS)), -1)
        mean = prior_mean + before @ (rows * surprise[:, None])
        sd = jnp.sqrt(jnp.maximum(jnp.diag(prior) - before @ rows**2, 1e-12))
        log_probs = jax.nn.log_softmax((mean + sd * quantile[:, None]) / jnp.exp(log_temperature))
        return jnp.take_along_axis(log_probs, arm[:, None], axis=1).sum()

    gradient = jax.jit(jax.vmap(jax.value_and_grad(log_likelihood)))
    params = jnp.tile(jnp.array([40.0, 4.0, 1.0, 1.0]), (PEOPLE, 1))
    start = time.perf_counter()
    value, slope = jax.block_until_ready(gradient(params, arms, rewards))
    first_s = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(3):
        jax.block_until_ready(gradient(params, arms, rewards))
    said = {"first_s": first_s, "again_s": (time.perf_counter() - start) / 3}
    print("RESULT " + json.dumps(said | {"finite": bool(jnp.isfinite(value).all() & jnp.isfinite(slope).all())}))


def check(python: str, runs: int, limit_s: float = LIMIT_S) -> dict[str, Any]:
    """How many of the runs under this Python finished in time, and how long they took."""
    asked = subprocess.run([python, "-c", "import jax; print(jax.__version__)"], capture_output=True, text=True, check=True)
    ended, seconds, version, finite = 0, [], asked.stdout.strip(), True
    for _ in range(runs):
        start = time.perf_counter()
        try:
            done = subprocess.run([python, __file__, "--once"], capture_output=True, text=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            continue
        said = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        if done.returncode or not said:
            raise SystemExit(f"the gradient failed:\n{done.stderr[-2000:]}")
        result = json.loads(said[-1].removeprefix("RESULT "))
        finite, ended = finite and result["finite"], ended + 1
        seconds.append((time.perf_counter() - start, result["again_s"]))
    return {
        "jax": version,
        "runs": runs,
        "ended": ended,
        "limit_s": limit_s,
        "finite": finite,
        "slowest_process_s": max((whole for whole, _ in seconds), default=None),
        "fastest_gradient_s": min((again for _, again in seconds), default=None),
    }


HEADER = """\
| JAX | runs that ended | within, s each | slowest, s | one gradient, compiled, s |
|---|---|---|---|---|"""


def row(it: dict[str, Any]) -> str:
    """One line of the table."""
    slowest, fastest = it["slowest_process_s"], it["fastest_gradient_s"]
    took = f"{slowest:.1f} | {fastest:.2f}" if it["ended"] else "- | -"
    return f"| {it['jax']} | {it['ended']} of {it['runs']} | {it['limit_s']:.0f} | {took} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--once", action="store_true", help="run the gradient in this process")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("python", nargs="*", type=Path, default=[Path(sys.executable)])
    given = parser.parse_args()
    if given.once:
        compute()
        return
    print(HEADER)
    for python in given.python:
        it = check(str(python), given.runs)
        print(row(it), flush=True)


if __name__ == "__main__":
    main()
