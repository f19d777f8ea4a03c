"""Decisions per second on a GPU through the public call: `python -m bench.gpu FOLDER [--device gpu]`.

Writes `gpu.md` (to be kept as bench/gpu.md, which the page of benchmarks includes) and `gpu.json` into the folder. Each
work is run once to compile and then three times, of which the best counts; no new work is begun once the time is up.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

BUDGET_S = 330.0
REPEATS = 3

WORKS: list[dict[str, Any]] = [
    {"work": "10 independent arms, 10 000 steps", "arms": 10, "horizon": 10_000, "replicates": [1 << 18, 1 << 20, 1 << 22]},
    {"work": "100 independent arms, 1 000 steps", "arms": 100, "horizon": 1_000, "replicates": [1 << 18, 1 << 20]},
    {"work": "100 correlated arms, 90 steps", "arms": None, "horizon": 90, "replicates": [1 << 16, 1 << 18, 1 << 20]},
]
"""Smaller numbers of replicates first: the largest is skipped when time runs short."""


def missing() -> list[str]:
    """Packages that explorelab needs and that are not installed."""
    needed = ("jax", "jaxtyping", "matplotlib", "networkx", "numpy", "pandas", "rich", "scipy", "typer", "xarray")
    return [name for name in needed if importlib.util.find_spec(name) is None]


def measure(device: str, scale: int) -> list[dict[str, Any]]:
    """Every work that fits the time."""
    import numpy as np

    import explorelab as xl

    began, found = time.perf_counter(), []
    for it in WORKS:
        if it["arms"] is None:
            agent = xl.agents.deterministic_ucl(prior_mean=200, prior_var=10, length_scale=4)
            task = xl.tasks.landscape("B", noise_var=10.0)
        else:
            agent, task = xl.agents.deterministic_ucl(), xl.tasks.bandit(np.linspace(0, 1, it["arms"]))
        for replicates in (max(2, r // scale) for r in it["replicates"]):
            decisions = replicates * it["horizon"]
            likely = (REPEATS + 1) * decisions * found[-1]["ns"] * 1e-9 + 30 if found else 0.0
            if time.perf_counter() - began + likely > BUDGET_S:
                print(f"left out, no time: {it['work']}, {replicates:,} replicates", flush=True)
                continue
            seconds: list[float] = []
            for seed in range(REPEATS + 1):
                start = time.perf_counter()
                ds = xl.simulate(agent, task, it["horizon"], replicates, seed=seed, keep="statistics", device=device)
                seconds.append(time.perf_counter() - start)
            best = min(seconds[1:])
            found.append(
                {
                    "work": it["work"],
                    "replicates": replicates,
                    "compile_s": seconds[0] - best,
                    "best_s": best,
                    "ns": best * 1e9 / decisions,
                    "decisions_per_s": decisions / best,
                    "agents_per_s": replicates / best,
                    "regret": float(ds.regret_mean[-1]),
                    "regret_se": float(ds.regret_se[-1]),
                }
            )
            print(json.dumps(found[-1]), flush=True)
    return found


def page(found: list[dict[str, Any]], about: dict[str, str]) -> str:
    """The results as Markdown."""
    lines = [
        f"Measured on {about['date']} (UTC) on one {about['device']} with JAX {about['jax']}: "
        '`xl.simulate(..., device="gpu", keep="statistics")`, results included, best of three calls, compiling apart.',
        "",
        "| work | replicates | ns per decision | decisions a second | agents a second | compiling, s | regret at the end |",
        "|---|---|---|---|---|---|---|",
    ]
    for it in found:
        lines.append(
            f"| {it['work']} | {it['replicates']:,} | {it['ns']:.3g} | {it['decisions_per_s']:.2e} | "
            f"{it['agents_per_s']:,.0f} | {it['compile_s']:.1f} | {it['regret']:.2f} ± {it['regret_se']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--scale", type=int, default=1, help="divide the replicates by this, to try the script out")
    given = parser.parse_args()
    if absent := missing():
        print(f"not installed here: {', '.join(absent)}", file=sys.stderr)
        return 1
    import jax

    about = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": jax.devices(given.device)[0].device_kind,
        "jax": jax.__version__,
    }
    print(json.dumps(about), flush=True)
    found = measure(given.device, given.scale)
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "gpu.json").write_text(json.dumps({**about, "results": found}, indent=1) + "\n")
    (given.folder / "gpu.md").write_text(page(found, about))
    return 0


if __name__ == "__main__":
    sys.exit(main())
