"""A design that tells three agents apart better than the paper's own, with as many choices, found by successive halving.

    python -m evaluations.planning            # search, then confirm on other people, and write the page's table and figure
    python -m evaluations.planning --only confirm    # or one step: search, confirm, page

People are those of `PEOPLE` in every design. Designs of few arms with drifting means (see `candidates`) compete on the same
simulated people: all of them on a few, the best third on three times as many, and so on. The winner and the paper's
design are then compared on people whose seeds had no part in the search.
"""

from __future__ import annotations

import argparse
import json
import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_suffix(".json")
DOCS = Path(__file__).parents[1] / "docs"
AGENTS = ("kalman-value", "kalman-ucb", "delta-rule")
PEOPLE = {
    "prior_mean": (30.0, 8.0), "prior_var": (225.0, 0.5), "bonus": (1.0, 0.3), "temperature": (4.0, 0.4),
    "learning_rate": (0.4, 0.8),
}  # fmt: skip
"""Typical value and standard deviation on the parameter's own scale: real, log, real, log, logit."""
CHOICES = 180
"""As in the paper: 90 on each of two landscapes."""
HORIZONS = (90, 30, 15)
ARMS = (2, 4, 8)
SPREADS = (8.0, 20.0)
"""Standard deviation of means."""
KEPT = (1.0, 0.9)
"""Share of its distance from the centre that a mean keeps from trial to trial: 1 for means that do not change."""
NOISE_SDS = (3.0, 12.0)
CENTRE = 30.0
RUNGS = (16, 48, 144)
"""Simulated people of each agent, in each round of the search."""
SEARCH_SEED, CONFIRM_SEED = 1000, 2000
CONFIRM = 400
PUBLISHED = {"usual": 0.66, "optimised": 0.87}
"""Shares of people identified rightly by Valentin et al. (2024), eLife 13, e86224."""


def family(arms: int, spread: float, kept: float, noise_sd: float):
    """A task of the family: every block draws its own means."""
    import explorelab as xl

    steady = kept == 1.0
    decay = 1 - 1e-9 if steady else kept
    step = spread * np.sqrt(1 - decay**2)
    return xl.tasks.restless(
        arms, decay=decay, centre=CENTRE, diffusion_sd=step, noise_var=noise_sd**2, points=None, name="arms"
    )


def candidates() -> list[dict[str, Any]]:
    """Every design of the family."""
    names = ("horizon", "arms", "spread", "kept", "noise_sd")
    return [dict(zip(names, each, strict=True)) for each in product(HORIZONS, ARMS, SPREADS, KEPT, NOISE_SDS)]


def label(design: dict[str, Any]) -> str:
    """A design in words."""
    drift = "steady means" if design["kept"] == 1.0 else f"means that keep {design['kept']:g} a trial"
    return (
        f"{CHOICES // design['horizon']} blocks of {design['horizon']} choices, {design['arms']} arms, {drift}, "
        f"spread {design['spread']:g}, noise {design['noise_sd']:g}"
    )


def judged(designs: list[dict[str, Any]], n: int, seed: int, folder: Path) -> list[dict[str, Any]]:
    """Every design with the share of people identified rightly."""
    found = []
    for horizon in sorted({each["horizon"] for each in designs}):
        here = [each for each in designs if each["horizon"] == horizon]
        tasks = {label(each): family(*(each[name] for name in ("arms", "spread", "kept", "noise_sd"))) for each in here}
        result = planned(tasks, horizon, CHOICES // horizon, n, seed, folder / f"{n}-{seed}-{horizon}")
        found += [{**each, **scores(result.isel(design=d))} for d, each in enumerate(here)]
    return sorted(found, key=lambda each: -each["right"])


def planned(tasks, horizon: int, n_blocks: int, n: int, seed: int, folder: Path):
    """The plan of these designs, with every person simulated."""
    import explorelab as xl

    return xl.plan(
        tasks, agents=AGENTS, horizon=horizon, n_blocks=n_blocks, typical=PEOPLE, n_simulations=n, accuracy=0.001,
        people=[4] if n < CONFIRM else None, n_starts=2, seed=seed, resume=folder,
    )  # fmt: skip


def scores(one) -> dict[str, Any]:
    """What is kept of a design."""
    shares = {str(name): float(one["correct"].sel(generated=name)) for name in AGENTS}
    ends = {end: float(one[f"correct_all_{end}"]) for end in ("low", "high")}
    return {"right": float(one["correct_all"]), **ends, "of": shares, "people": int(one["simulated"].sum())}


def search(folder: Path) -> dict[str, Any]:
    """Successive halving, all designs on the same people."""
    rungs, left = [], candidates()
    for number, n in enumerate(RUNGS):
        found = judged(left, n, SEARCH_SEED, folder)
        rungs.append(found)
        for each in found[:3]:
            print(f"{n} people: {each['right']:.3f} {label(each)}", flush=True)
        many = max(2, len(found) // 3) if number else len(found) // 5
        left = [{name: each[name] for name in ("horizon", "arms", "spread", "kept", "noise_sd")} for each in found[:many]]
    return {"rungs": rungs, "winner": rungs[-1][0]}


def confirm(winner: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The winner, the paper's design and a usual one on people who had no part in the search."""
    import explorelab as xl

    paper = {"the paper's, A and B": (xl.tasks.landscape("A"), xl.tasks.landscape("B"))}
    told = {}
    for name, tasks, horizon in (
        ("paper", paper, 90),
        ("found", {"found": family(*(winner[key] for key in ("arms", "spread", "kept", "noise_sd")))}, winner["horizon"]),
    ):
        result = planned(tasks, horizon, CHOICES // horizon, CONFIRM, CONFIRM_SEED, folder / f"confirm-{name}")
        one = result.isel(design=0)
        told[name] = {
            **scores(one), "confusion": one["confusion"].values.tolist(), "sentence": str(one["sentence"].item()),
            "needed": [float(one[each]) for each in ("needed", "needed_low", "needed_high")],
        }  # fmt: skip
        print(f"{name}: {told[name]['right']:.3f} ({told[name]['low']:.3f} to {told[name]['high']:.3f})", flush=True)
    return told


def main() -> None:
    """Run the evaluation from the command line."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--only", choices=["search", "confirm", "page"])
    ask.add_argument("--parts", type=Path, default=Path("planning.parts"), help="folder for what is finished")
    given = ask.parse_args()
    given.parts.mkdir(exist_ok=True)
    told = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    if given.only in (None, "search"):
        told["search"] = search(given.parts)
    if given.only in (None, "confirm"):
        told["confirm"] = confirm(told["search"]["winner"], given.parts)
    FILE.write_text(json.dumps(told, indent=1) + os.linesep, encoding="utf-8")


if __name__ == "__main__":
    main()
