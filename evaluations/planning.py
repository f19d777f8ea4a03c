"""A design that tells three agents apart better than the paper's own, with as many choices, found by successive halving.

    python -m evaluations.planning            # search, then confirm on other people, and write the page's table and figure
    python -m evaluations.planning --only paper    # or one step: search, paper, found, page

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
EXPECTED = (60, 80)
"""What people expect of an arm not yet seen: as the paper's linear majority, they go on trying new squares. The search is
for the first."""
PEOPLE = {
    "prior_var": (225.0, 0.5), "temperature": (4.0, 0.4), "learning_rate": (0.4, 0.8), "drift_var": (25.0, 0.5),
    "decay": (0.9, 0.5),
}  # fmt: skip
"""Typical value and standard deviation on the parameter's own scale: log, log, logit, log, logit."""
CHOICES = 180
"""As in the paper: 90 on each of two landscapes."""
HORIZONS = (90,)
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
CONFIRM = 112
GROUPS = (4, 8, 16, 32, 56)
"""Numbers of people, all alike, whom group selection is to name."""
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


def agents_of(expected: int) -> list[str]:
    """Those whose learning slows down, whose never does, and who forget."""
    mean = f"prior_mean={expected}"
    return [
        f"kalman-value:{mean}", f"delta-rule:{mean}",
        f"restless-kalman:bonus=0:{mean}:prior_var=225:decay_centre={expected}",
    ]  # fmt: skip


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

    agents = agents_of(EXPECTED[0])
    made = [PlannedDesign(label(each), (family(each),), each["horizon"], CHOICES // each["horizon"]) for each in designs]
    crowds = [population_of(made[0].blank(1, seed), agent, None, own(agent)) for agent in agents]
    pools = [
        Pool(judged_people, (design, crowd, tuple(agents), "bic", "map", STARTS, seed), lambda found: False)
        for design in made
        for crowd in crowds
    ]
    found = iter(filled(pools, n, "search", None))
    right = [[float((next(found).argmin(1) == g).mean()) for g in range(len(agents))] for _ in made]
    return sorted(
        ({**each, "right": float(np.mean(of)), "of": of} for each, of in zip(designs, right, strict=True)),
        key=lambda each: -each["right"],
    )


def own(agent: str) -> dict[str, tuple[float, float]]:
    """What is given about the parameters that an agent has free."""
    from explorelab.agents.agent_names import agent_of, parsed

    free = set(agent_of(agent).free) - set(parsed(agent).fixed)
    return {name: value for name, value in PEOPLE.items() if name in free}


def scores(one, agents: list[str]) -> dict[str, Any]:
    """What is kept of a design."""
    columns = ("correct_low", "correct", "correct_high")
    shares = {name: [float(one[each].values[g]) for each in columns] for g, name in enumerate(agents)}
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


def confirm(name: str, expected: int, winner: dict[str, Any], folder: Path) -> dict[str, Any]:
    """One of the two designs on people who had no part in the search."""
    import explorelab as xl

    agents = agents_of(expected)
    paper = (xl.tasks.landscape("A"), xl.tasks.landscape("B"))
    horizon = 90 if name == "paper" else winner["horizon"]
    result = xl.plan(
        {name: paper if name == "paper" else family(winner)}, agents=agents, horizon=horizon, n_blocks=CHOICES // horizon,
        typical=PEOPLE, people=GROUPS, n_simulations=CONFIRM, accuracy=0.001, n_starts=STARTS, seed=CONFIRM_SEED,
        resume=folder / f"{name}-{expected}",
    )  # fmt: skip
    one = result.isel(design=0)
    columns = (one["people"].values, *(one[each].values for each in ("power", "power_low", "power_high")))
    told = {
        **scores(one, agents), "confusion": one["confusion"].values.tolist(), "sentence": str(one["sentence"].item()),
        "power": [[int(n), float(p), float(low), float(high)] for n, p, low, high in zip(*columns, strict=True)],
        "needed": [float(one[each]) if np.isfinite(one[each]) else None for each in NEEDED],
    }  # fmt: skip
    print(f"{name}, {expected} expected: {told['right']:.3f} ({told['low']:.3f} to {told['high']:.3f})", flush=True)
    return told


def keep(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Write one part of the results beside the others."""
    told = {**kept(), name: found}
    FILE.write_text(json.dumps(told, indent=1) + os.linesep, encoding="utf-8")
    return told


def kept() -> dict[str, Any]:
    """What has been found so far."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


SHORT = ("learning slows down", "learning never slows", "forgets")
DESIGNS = {"paper": "the paper's design", "found": "the design found"}


def draw(told: dict[str, Any]):
    """Shares of people identified rightly in both designs, and how often group selection names the right agent."""
    from explorelab.plots.style import BLUE, GREY, VERMILION, Drawing

    drawing = Drawing([["people", "groups"]], height=3.3, width_ratios=[1.15, 1])
    colours = {"paper": VERMILION, "found": BLUE}
    axes = drawing.panel("people", "(a) People identified rightly", "share of people", "", xlim=(0, 1.02))
    rows = ("everyone", *SHORT)
    places = np.arange(len(rows))[::-1].astype(float)
    for up, (name, label_) in zip((0.13, -0.13), DESIGNS.items(), strict=True):
        one = told[f"{name}, {EXPECTED[0]}"]
        low, middle, high = (
            np.array([one[end], *(each[i] for each in one["of"].values())]) for i, end in enumerate(("low", "right", "high"))
        )
        drawing.interval("people", low, high, places + up, f"{label_}, 95 %", color=colours[name], lw=2)
        drawing.points("people", middle, places + up, label_, color=colours[name], ms=5, label=label_)
    axes.axvline(1 / 3, color=GREY, lw=0.8, ls=(0, (1.5, 2)))
    axes.set_yticks(places, rows)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.grid(visible=False, axis="y")
    axes.legend(loc="lower left", frameon=True, facecolor="white", edgecolor="none", framealpha=1)
    axes = drawing.panel("groups", "(b) Groups named rightly", "people, all alike", "probability", log="x", ylim=(0, 1.03))
    for name, label_ in DESIGNS.items():
        people, power, low, high = np.array(told[f"{name}, {EXPECTED[0]}"]["power"]).T
        drawing.band("groups", people, low, high, f"{label_}, 95 %", color=colours[name])
        drawing.line("groups", people, power, label_, color=colours[name], marker="o", ms=3.5)
    axes.set_xticks(GROUPS, [str(n) for n in GROUPS])
    axes.minorticks_off()
    return drawing


def page(told: dict[str, Any]) -> None:
    """The figure of docs/planning.md, and its table between the marks."""
    from explorelab.plots.style import write_figure

    write_figure(lambda: draw(told), DOCS / "planning.png", dpi=150)
    lines = ["| people expect | design | identified rightly | " + " | ".join(SHORT) + " |", "|---:" + "|---" * 5 + "|"]
    for expected, (name, label_) in product(EXPECTED, DESIGNS.items()):
        one = told.get(f"{name}, {expected}")
        if one is not None:
            cells = [percent(one["low"], one["right"], one["high"]), *(percent(*each) for each in one["of"].values())]
            lines.append("| " + " | ".join([str(expected), label_, *cells]) + " |")
    file = DOCS / "planning.md"
    before, _, rest = file.read_text(encoding="utf-8").partition("<!-- designs -->\n")
    after = rest.partition("<!-- end -->")[2]
    told_now = "\n".join([before + "<!-- designs -->", *lines, "<!-- end -->"]) + after
    file.write_text(told_now, encoding="utf-8")
    print(label(told["search"]["winner"]))


def percent(low: float, middle: float, high: float) -> str:
    """A share with its interval, in per cent."""
    return f"{100 * middle:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def main() -> None:
    """Run the evaluation from the command line."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--only", choices=["search", "paper", "found", "page"])
    ask.add_argument("--parts", type=Path, default=Path("planning.parts"), help="folder for what is finished")
    ask.add_argument("--expected", type=int, choices=EXPECTED, help="only people who expect so much")
    given = ask.parse_args()
    given.parts.mkdir(exist_ok=True)
    if given.only in (None, "search"):
        keep("search", search())
    for name, expected in product(DESIGNS, EXPECTED):
        if given.only in (None, name) and given.expected in (None, expected):
            found = confirm(name, expected, kept().get("search", {}).get("winner", {}), given.parts)
            keep(f"{name}, {expected}", found)
    if given.only in (None, "page"):
        page(kept())


if __name__ == "__main__":
    main()
