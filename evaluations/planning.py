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
EXPECTED = 60
"""What people expect of an arm not yet seen: as the paper's linear majority, they go on trying new squares."""
AGENTS = (
    f"kalman-value:prior_mean={EXPECTED}",
    f"delta-rule:prior_mean={EXPECTED}",
    f"restless-kalman:bonus=0:prior_mean={EXPECTED}:prior_var=225:decay_centre={EXPECTED}",
)
"""Whose learning slows down, whose never does, and who forgets."""
PEOPLE = {
    "prior_var": (225.0, 0.5), "temperature": (4.0, 0.4), "learning_rate": (0.4, 0.8), "drift_var": (25.0, 0.5),
    "decay": (0.9, 0.5),
}  # fmt: skip
"""Typical value and standard deviation on the parameter's own scale: log, log, logit, log, logit."""
CHOICES = 180
"""As in the paper: 90 on each of two landscapes."""
HORIZONS = (90, 30)
ARMS = (2, 4)
SPREADS = (8.0, 20.0)
"""Standard deviation of means."""
KEPT = (1.0, 0.95)
"""Share of its distance from the centre that a mean keeps from trial to trial: 1 for means that do not change."""
NOISE_SDS = (5.0, 15.0)
CENTRE = 30.0
RUNGS = (8, 24, 72)
"""Simulated people of each agent, in each round of the search."""
SEARCH_SEED, CONFIRM_SEED = 1000, 2000
CONFIRM = 200
STARTS = 2
PUBLISHED = {"usual": 0.66, "optimised": 0.87}
"""Shares of people identified rightly by Valentin et al. (2024), eLife 13, e86224."""


FACTORS = ("horizon", "arms", "spread", "kept", "noise_sd")
NEEDED = ("needed", "needed_low", "needed_high")


def family(design: dict[str, Any]):
    """The task of a design: every block draws its own means."""
    import explorelab as xl

    kept = 1 - 1e-9 if design["kept"] == 1.0 else design["kept"]
    step = design["spread"] * np.sqrt(1 - kept**2)
    name = f"{design['arms']} arms whose means {'stay' if design['kept'] == 1.0 else 'drift'}"
    how = {"decay": kept, "centre": CENTRE, "diffusion_sd": step, "noise_var": design["noise_sd"] ** 2, "points": None}
    return xl.tasks.restless(design["arms"], **how, name=name)


def candidates() -> list[dict[str, Any]]:
    """Every design of the family."""
    return [dict(zip(FACTORS, each, strict=True)) for each in product(HORIZONS, ARMS, SPREADS, KEPT, NOISE_SDS)]


def label(design: dict[str, Any]) -> str:
    """A design in words."""
    drift = "steady means" if design["kept"] == 1.0 else f"means that keep {design['kept']:g} a trial"
    return (
        f"{CHOICES // design['horizon']} blocks of {design['horizon']} choices, {design['arms']} arms, {drift}, "
        f"spread {design['spread']:g}, noise {design['noise_sd']:g}"
    )


def judged(designs: list[dict[str, Any]], n: int, seed: int) -> list[dict[str, Any]]:
    """Every design with the share of people identified rightly, the best first."""
    from explorelab.recovery.planning.plan_designs import PlannedDesign
    from explorelab.recovery.planning.plan_people import population_of
    from explorelab.recovery.planning.pooled_people import Pool, filled, judged_people

    made = [PlannedDesign(label(each), (family(each),), each["horizon"], CHOICES // each["horizon"]) for each in designs]
    crowds = [population_of(made[0].blank(1, seed), agent, None, own(agent)) for agent in AGENTS]
    pools = [
        Pool(judged_people, (design, crowd, AGENTS, "bic", "map", STARTS, seed), lambda found: False)
        for design in made
        for crowd in crowds
    ]
    found = iter(filled(pools, n, "search", None))
    right = [[float((next(found).argmin(1) == g).mean()) for g in range(len(AGENTS))] for _ in made]
    return sorted(
        ({**each, "right": float(np.mean(of)), "of": of} for each, of in zip(designs, right, strict=True)),
        key=lambda each: -each["right"],
    )


def own(agent: str) -> dict[str, tuple[float, float]]:
    """What is given about the parameters that an agent has free."""
    from explorelab.agents.agent_names import agent_of, parsed

    free = set(agent_of(agent).free) - set(parsed(agent).fixed)
    return {name: value for name, value in PEOPLE.items() if name in free}


def scores(one) -> dict[str, Any]:
    """What is kept of a design."""
    shares = {str(name): float(one["correct"].sel(generated=name)) for name in AGENTS}
    ends = {end: float(one[f"correct_all_{end}"]) for end in ("low", "high")}
    return {"right": float(one["correct_all"]), **ends, "of": shares, "people": int(one["simulated"].sum())}


def search() -> dict[str, Any]:
    """Successive halving, all designs on the same people."""
    rungs, left = [], candidates()
    for n in RUNGS:
        found = judged(left, n, SEARCH_SEED)
        rungs.append({"people": n, "designs": found})
        for each in found[:3]:
            print(f"{n} people: {each['right']:.3f} {label(each)}", flush=True)
        left = [{name: each[name] for name in FACTORS} for each in found[: max(2, len(found) // 5)]]
    return {"rungs": rungs, "winner": rungs[-1]["designs"][0]}


def confirm(winner: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The winner and the paper's design on people who had no part in the search."""
    import explorelab as xl

    told = {}
    for name, tasks, horizon in (
        ("paper", (xl.tasks.landscape("A"), xl.tasks.landscape("B")), 90),
        ("found", family(winner), winner["horizon"]),
    ):
        result = xl.plan(
            {name: tasks}, agents=AGENTS, horizon=horizon, n_blocks=CHOICES // horizon, typical=PEOPLE,
            n_simulations=CONFIRM, accuracy=0.001, n_starts=STARTS, seed=CONFIRM_SEED, resume=folder / name,
        )  # fmt: skip
        one = result.isel(design=0)
        told[name] = {
            **scores(one), "confusion": one["confusion"].values.tolist(), "sentence": str(one["sentence"].item()),
            "power": [[int(n), float(p), float(low), float(high)] for n, p, low, high in zip(
                one["people"].values, *(one[each].values for each in ("power", "power_low", "power_high")), strict=True)],
            "needed": [float(one[each]) if np.isfinite(one[each]) else None for each in NEEDED],
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
        told["search"] = search()
    if given.only in (None, "confirm"):
        told["confirm"] = confirm(told["search"]["winner"], given.parts)
    FILE.write_text(json.dumps(told, indent=1) + os.linesep, encoding="utf-8")


if __name__ == "__main__":
    main()
