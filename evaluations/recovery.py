"""Which parameters of the stochastic UCL agent the paper's experiment recovers, and what design would recover the rest.

    python -m evaluations.recovery                      # simulate, refit, write docs/recovery.md and docs/recovery.png
    python -m evaluations.recovery --save found.json    # simulate and refit alone, for instance on a GPU
    python -m evaluations.recovery --load found.json    # write the page from what was saved

500 people in each of 42 conditions: 8 minutes on a GPU; on a few cores use `--n 100 --only paper`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import explorelab as xl
from explorelab.choices.table import Choices
from explorelab.recovery.designs import blank_choices
from explorelab.recovery.parameter_recovery import recover_parameters
from explorelab.tasks import Task

PARAMETERS = ("prior_mean", "prior_var", "length_scale", "temperature")

POPULATIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "between": {
        "prior_mean": (30, 200),
        "prior_var": (10, 1000),
        "length_scale": (0.1, 4, "real"),
        "temperature": (1, 4),
    },
    "linear": {
        "prior_mean": (10, 50),
        "prior_var": (500, 2000),
        "length_scale": (0.1, 0.5, "real"),
        "temperature": (3, 5.33),
    },
    "log": {
        "prior_mean": (150, 250),
        "prior_var": (5, 20),
        "length_scale": (3, 5.33),
        "temperature": (0.75, 1.33),
    },
}
"""People spread evenly between the paper's two examples (section V.C), and people like each of them."""

SPACE = {
    "prior_mean": {"centre": 115.0, "spread": 75.0, "low": -300.0, "high": 600.0},
    "prior_var": {"centre": 100.0, "spread": 1.7, "low": 0.01, "high": 1e5},
    "length_scale": {"centre": 1.0, "spread": 1.2, "low": 0.05, "high": 60.0},
    "temperature": {"centre": 2.0, "spread": 1.0, "low": 0.01, "high": 200.0},
}
"""A prior about as wide as all three populations together: the same for every design, so that only designs differ."""


def rough(name: str) -> Task:
    """The squares of a landscape in random order: the same rewards, with unrelated neighbours."""
    task = xl.tasks.landscape(name)
    means = np.random.default_rng(1).permutation(task.means).reshape(10, 10)
    return xl.tasks.with_noise(xl.tasks.grid(means, name=f"rough {name}"), xl.tasks.integer_noise(5))


def quiet(name: str) -> Task:
    """A landscape with less noise: -1, 0 or 1."""
    return xl.tasks.with_noise(xl.tasks.landscape(name), xl.tasks.integer_noise(1))


def small(name: str, factor: float = 1.0) -> Task:
    """Every other square of a landscape, 5 x 5, with rewards multiplied by `factor` and the same noise."""
    means = factor * xl.tasks.landscape(name).means.reshape(10, 10)[::2, ::2]
    return xl.tasks.with_noise(xl.tasks.grid(means, name=f"small {name}"), xl.tasks.integer_noise(5))


def high(name: str) -> Task:
    """A landscape with rewards 2.5 times as high, up to 150, and the same noise."""
    task = xl.tasks.landscape(name)
    return xl.tasks.with_noise(
        xl.tasks.grid(2.5 * task.means.reshape(10, 10), name=f"high {name}"), xl.tasks.integer_noise(5)
    )


SMOOTH = [xl.tasks.landscape("A"), xl.tasks.landscape("B")]
ROUGH = [rough("A"), rough("B")]

DESIGNS: dict[str, tuple[str, list[Task], int, int]] = {
    "paper": ("the paper's: A and B, T = 90", SMOOTH, 2, 90),
    "short": ("one block, A", SMOOTH[:1], 1, 90),
    "4 blocks": ("4 blocks, A and B twice", SMOOTH, 4, 90),
    "8 blocks": ("8 blocks, A and B four times", SMOOTH, 8, 90),
    "T = 180": ("A and B, T = 180", SMOOTH, 2, 180),
    "quiet": ("A and B, noise −1 to 1", [quiet("A"), quiet("B")], 2, 90),
    "rough": ("A and B with squares shuffled", ROUGH, 2, 90),
    "mixed": ("A, B and both shuffled", [*SMOOTH, *ROUGH], 4, 90),
    "25 arms": ("5 × 5 squares of A and B", [small("A"), small("B")], 2, 90),
    "high": ("A and B, rewards × 2.5", [high("A"), high("B")], 2, 90),
    "high, T = 180": ("A and B, rewards × 2.5, T = 180", [high("A"), high("B")], 2, 180),
    "25 arms, high": ("5 × 5 squares, rewards × 2.5", [small("A", 2.5), small("B", 2.5)], 2, 90),
    "25 arms, high, 8 blocks": ("5 × 5 squares, rewards × 2.5, 8 blocks", [small("A", 2.5), small("B", 2.5)], 8, 90),
}
"""For each design: a description, tasks, blocks, trials per block."""


def blocks_of(name: str) -> Choices:
    """The design for one person."""
    _, tasks, blocks, horizon = DESIGNS[name]
    return blank_choices(tasks, 1, blocks, horizon)


def conditions(only: str | None) -> list[tuple[str, str, str, str]]:
    """Design, population, method and space of every condition, the paper's design first."""
    every = [("paper", who, "map", "wide") for who in POPULATIONS]
    every += [("paper", "between", "ml", "wide")]
    every += [(name, who, "map", "wide") for name in DESIGNS if name != "paper" for who in POPULATIONS]
    every += [("paper", "between", "map", "default"), ("paper", "between", "em", "wide")]
    return [each for each in every if only is None or each[0] == only]


def recover(name: str, who: str, method: str, space: str, n: int, starts: int) -> dict[str, Any]:
    """The recovery of n simulated people's parameters in one condition."""
    agent: Any = xl.agents.stochastic_ucl(prior_mean=100, prior_var=100, length_scale=1, temperature=2)
    how: dict[str, Any] = {"within": POPULATIONS[who], "space": SPACE if space == "wide" else None}
    began = time.perf_counter()
    result = recover_parameters(
        blocks_of(name),
        agent,
        None,
        n,
        method,
        **how,
        n_starts=starts,
        noise="integer",
        seed=0,
        progress=sys.stderr.isatty(),
    )
    took = time.perf_counter() - began
    return {"design": name, "people": who, "method": method, "space": space, "seconds": took, "result": result.to_dict()}


def dataset(found: list[dict[str, Any]], name: str, who: str, method: str = "map", space: str = "wide") -> xr.Dataset | None:
    """One condition's result, if it was tried."""
    key = {"design": name, "people": who, "method": method, "space": space}
    at = [each for each in found if all(each[part] == value for part, value in key.items())]
    return xr.Dataset.from_dict(at[0]["result"]) if at else None


def run(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The results of every condition, saved as they come in."""
    found: list[dict[str, Any]] = []
    for name, who, method, space in conditions(arguments.only):
        one = recover(name, who, method, space, arguments.n, arguments.starts)
        found.append(one)
        ranks = one["result"]["data_vars"]["rank_correlation"]["data"]
        coverage = one["result"]["data_vars"]["coverage"]["data"]
        print(name, who, method, space, f"{one['seconds']:.0f} s", np.round(ranks, 3), np.round(coverage, 3), flush=True)
        if arguments.save:
            Path(arguments.save).write_text(json.dumps(found))
    return found


def main() -> None:
    """Parse, run or load, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=500, help="simulated people in each condition")
    parser.add_argument("--starts", type=int, default=4, help="starts of every fit")
    parser.add_argument("--only", choices=list(DESIGNS), help="one design alone")
    parser.add_argument("--save", help="write what was found to this file, and no page")
    parser.add_argument("--load", help="take what was found from this file")
    arguments = parser.parse_args()
    found = json.loads(Path(arguments.load).read_text()) if arguments.load else run(arguments)
    if not arguments.save:
        from evaluations.recovery_page import write_page

        write_page(found, Path(__file__).parents[1] / "docs")


if __name__ == "__main__":
    main()
