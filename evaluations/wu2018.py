"""Which agent predicts real people best, and why: 80 people on an 11 x 11 grid (Wu et al. 2018). Writes docs/wu2018.md.

    python -m evaluations.wu2018 FOLDER [--only NAME ...] [--render]

FOLDER holds the data, which are not part of the project. Every round is left out once and predicted from the same person's
other rounds of the same horizon, the protocol of the published study. About half an hour on two cores; what was measured
is kept in evaluations/wu2018.json, and `--only` measures some models again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "wu2018.json"

MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "stochastic-ucl": ("stochastic-ucl", "em", {}),
    "stochastic-ucl+stay+travel+lapse, ml": ("stochastic-ucl+stay+travel+lapse", "ml", {}),
    "stochastic-ucl+stay+travel+lapse": ("stochastic-ucl+stay+travel+lapse", "em", {}),
    "situated-ucl, independent arms": ("situated-ucl", "em", {"length_scale": 0.0}),
    "situated-ucl, exponential kernel": ("situated-ucl", "em", {"kernel": "exponential"}),
    "situated-ucl": ("situated-ucl", "em", {}),
}
PUBLISHED = {"localised GP-UCB": (3, 0.376, 57488.84), "localised mean tracker": (3, 0.365, 58498.65)}


def measure(choices: Any, name: str) -> dict[str, Any]:
    """How well one model predicts left-out rounds."""
    from explorelab.comparison.left_out_blocks import cross_validate

    agent, method, fixed = MODELS[name]
    began, processor = time.perf_counter(), time.process_time()
    tree = cross_validate(choices, agent, method, within="horizon", fixed=fixed, n_starts=2 if method == "em" else 6)
    folds, people = (tree[name].to_dataset() for name in ("folds", "people"))
    return {
        "parameters": folds.sizes["parameter"],
        "method": method,
        "r2": float(people.r2.mean()),
        "r2_averaged": float(people.r2_averaged.mean()),
        "nll": float(folds.nll.sum()),
        "nll_averaged": float(folds.nll_averaged.sum()),
        "medians": {str(k): float(np.median(folds.estimate.sel(parameter=k))) for k in folds.parameter.values},
        "seconds": time.perf_counter() - began,
        "processor_s": time.process_time() - processor,
    }


def draw(choices: Any, stem: Path) -> None:
    """Draw people beside people simulated with and without habits, to show what the habits are for."""
    import explorelab as xl
    from explorelab.plots.style import BLUE, INK, VERMILION, Drawing, style

    checks = {
        name: xl.predictive_check(choices, name, xl.fit(choices, name, "em", n_starts=2), n_copies=40, seed=0)
        for name in ("stochastic-ucl", "situated-ucl")
    }
    with style():
        drawing = Drawing("ABCD", height=2.7)
        titles = {"A": ("repeat", "(a) Repeats", 100, "repeat the last square (%)"),
                  "B": ("unique", "(b) New squares", 100, "new squares so far (%)"),
                  "C": ("reward", "(c) Reward", 1, "reward")}  # fmt: skip
        for key, (what, title, factor, y) in titles.items():
            drawing.panel(key, title, "choice t", y)
            for colour, (name, check) in zip((VERMILION, BLUE), checks.items(), strict=True):
                band = (factor * check[f"{what}_{end}"].values for end in ("low", "high"))
                drawing.band(key, check["time"].values, *band, f"{name}, 95 %", color=colour)
                drawing.line(
                    key, check["time"].values, factor * check[f"{what}_simulated"].values, name, color=colour, label=name
                )
            drawing.line(
                key, check["time"].values, factor * check[f"{what}_human"].values, "people", color=INK, label="people"
            )
        drawing.panel("D", "(d) Walks", "squares walked", "share of choices (%)")
        for colour, (name, check) in zip((VERMILION, BLUE), checks.items(), strict=True):
            drawing.line("D", check["walk"].values, 100 * check["walk_simulated"].values, name, color=colour)
        drawing.line("D", check["walk"].values, 100 * check["walk_human"].values, "people", color=INK)
        handles, said = drawing.axes["A"].get_legend_handles_labels()
        drawing.figure.legend(handles, said, loc="outside upper right", ncols=3)
        drawing.figure.savefig(stem.with_suffix(".png"), dpi=150, metadata={"Software": None})
        drawing.data.to_csv(stem.with_suffix(".csv"), index=False, float_format="%.6g")


def page(results: dict[str, Any]) -> str:
    """The page as Markdown."""
    rows = [
        f"| {name} | {one['parameters']} | {one['method']} | {one['r2']:.3f} | {_averaged(one)} | {one['nll']:,.0f} |"
        for name, one in sorted(results.items(), key=lambda item: item[1]["r2"])
    ]
    rows = [
        f"| *{name} (published)* | {k} | ml | {r2:.3f} | | {nll:,.0f} |" for name, (k, r2, nll) in PUBLISHED.items()
    ] + rows
    medians = ", ".join(f"{name} {value:.3g}" for name, value in results["situated-ucl"]["medians"].items())
    return f"""# Which agent predicts people best

<!-- Written by evaluations/wu2018.py: change that, not this. -->

80 people on an 11 x 11 grid, 19 200 choices (Wu et al. 2018, Nature Human Behaviour 2, 915-924, experiment 2). Each round is
left out once and predicted from the same person's other rounds of the same horizon, 640 folds, as published. R2 = 1 - nLL /
(n log 121), mean over people; `averaged` predicts with the posterior instead of only the estimates; nLL is the sum at the
estimates. Under `em` the group's prior is learned in each fold from training rounds only.

| model | parameters | method | R2 | averaged | nLL |
|---|---|---|---|---|---|
{chr(10).join(rows)}

**situated-ucl** is the paper's stochastic UCL with a correlated prior (Matern 3/2) for someone with a position: a walk
costs the logarithm of its length, the last square and untried squares are attractive, and some choices lapse. All
parameters are fitted for each person: prior mean, prior variance, length scale, temperature, stickiness, travel cost,
novelty, lapse. Medians over folds: {medians}.

![Repeats, new squares, reward and walks of people and of both models](wu2018.png)

Simulated with each person's own estimates (40 copies of the group): the plain stochastic UCL repeats squares too early and
too rarely, returns to old squares too soon and jumps across the grid; people mostly step to a neighbouring square, which
the cost of walking and the attraction of new and last squares reproduce (a, b, d; the bend at 21 is where short rounds end).
Neither model reproduces how well people do early and how little they gain late (c): people find good squares faster than the
models and then leave them more often.

Its median novelty is large and its prior variance small: the attraction of new squares replaces much of the uncertainty
bonus, and the two should be read together. {_ahead(results["situated-ucl"])}
"""


def _ahead(one: dict[str, Any]) -> str:
    return (
        f"At the estimates it predicts {one['people_ahead']} of 80 people better than the published localised GP-UCB does."
        if "people_ahead" in one
        else ""
    )


def _averaged(one: dict[str, Any]) -> str:
    return "" if np.isnan(one["r2_averaged"]) else f"{one['r2_averaged']:.3f}"


def main() -> int:
    """Measure what is asked for and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(MODELS), default=None)
    parser.add_argument("--render", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--figure", action="store_true", help="draw the figure again")
    given = parser.parse_args()
    from explorelab.choices.wu2018 import load_wu2018

    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in () if given.render else given.only or MODELS:
        results[name] = measure(load_wu2018(given.folder), name)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(name, results[name], flush=True)
    if given.figure or not (given.render or given.only):
        draw(load_wu2018(given.folder), ROOT / "docs" / "wu2018")
    (ROOT / "docs" / "wu2018.md").write_text(page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
