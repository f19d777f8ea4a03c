"""Do people without dopamine explore more in a directed way, or more at random? Three groups (Meder et al. 2025).

    python -m evaluations.meder2025 FOLDER [--only NAME ...] [--render]

FOLDER holds the data, which are not part of the project. Every model is fitted once, with effects of the group on its
parameters, and predicts left-out rounds. What was measured is kept in evaluations/meder2025.json; `--render` draws
docs/effects.png from it.
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
import pandas as pd

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "meder2025.json"
KNOWN = {"prior_mean": 0.0, "prior_var": 2500.0, "noise_var": 0.25}
"""A prior mean of 0, a prior sd of the largest reward (50), and a noise variance of 1e-4 of its square.

This is our reading of the published prior, from the sizes of the published estimates; it was not checked against the
authors' code, and it was chosen after the prior below had been tried.
"""
CENTRED = {"prior_mean": 25.0, "prior_var": 100.0, "noise_var": 0.25}
"""A prior around the middle of the rewards, which was tried first."""
HABITS = ("stickiness", "travel_cost")
MODELS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "GP-UCB": ("gp-ucb-constant", KNOWN, ["length_scale", "bonus", "temperature"]),
    "GP-UCB with habits": (
        "gp-ucb-constant+stay+travel+lapse",
        {**KNOWN, "kernel": "matern32"},
        ["length_scale", "bonus", "temperature", *HABITS],
    ),
    "GP-UCB, prior mean 25": ("gp-ucb-constant", CENTRED, ["length_scale", "bonus", "temperature"]),
    "GP-UCB, prior estimated": (
        "gp-ucb-constant",
        {"noise_var": 0.25},
        ["prior_mean", "length_scale", "bonus", "temperature"],
    ),
}
"""The published model, and the same with the kernel and the habits of `situated-ucl` but novelty, which a bonus contains;
then the published model with other priors, on which the answer depends. The figure shows the first two."""
GROUPS = ("control", "PD+", "PD-")


def people(folder: Path):
    """The choices of rounds 2 to 9, which the authors analyse; the first square of a round was revealed."""
    import explorelab as xl

    frame = pd.read_csv(folder / "choices.csv").query("2 <= round <= 9")
    frame = frame.assign(forced=(frame.trial == 0).astype(int)).rename(columns={"round": "block"})
    return xl.choices_from_frame(frame.drop(columns="reward_shown"), {"grid": [8, 8]})


def measure(choices, name: str, starts: int, cross: bool) -> dict[str, Any]:
    """One model's effects of the group, and how well it predicts left-out rounds."""
    import explorelab as xl

    agent, fixed, moved = MODELS[name]
    began = time.perf_counter()
    formulas = dict.fromkeys(moved, "C(group, contr.treatment('control'))")
    fit = xl.fit(choices, agent, "em", fixed=fixed, effects=formulas, n_starts=starts)
    found: dict[str, Any] = {
        "r2": float(fit["estimates"]["pseudo_r2"].mean()),
        "settled": bool(fit["group"]["converged"]),
        "weighed": True,
        "moved": fit["group"]["moved"].values.tolist(),
        "contrasts": xl.effects(fit, "group").to_dict("records"),
        "terms": xl.effects(fit).query("effect != 'Intercept'")[["parameter", "effect", "p", "p_term"]].to_dict("records"),
    }
    if cross:
        left_out = xl.cross_validate(choices, agent, "em", fixed=fixed, n_starts=2)["people"].to_dataset()
        group = np.array([choices.conditions["group"][choices.participant == i][0] for i in range(choices.n_participants)])
        found["left_out_r2"] = {each: float(left_out.r2.values[group == each].mean()) for each in GROUPS}
    return {**found, "seconds": time.perf_counter() - began}


def draw(found: dict[str, Any], file: Path) -> None:
    """Each group's mean of each parameter, with its interval, for the first two models."""
    from explorelab.plots.style import BLUE, INK, VERMILION, Drawing, style

    shown = ["length_scale", "bonus", "temperature"]
    with style():
        drawing = Drawing("ABC", height=2.7)
        for key, parameter in zip("ABC", shown, strict=True):
            title = f"({key.lower()}) {parameter.replace('_', ' ').capitalize()}"
            axes = drawing.panel(key, title, "", "mean of people, 95 %")
            for shift, colour, (name, one) in zip((-0.12, 0.12), (VERMILION, BLUE), found.items(), strict=False):
                rows = {row["effect"]: row for row in one["contrasts"] if row["parameter"] == parameter}
                for at, group in enumerate(GROUPS):
                    row = rows[f"group: {group}"]
                    middle, low, high = (row[end] for end in ("natural", "natural_low", "natural_high"))
                    axes.errorbar(
                        at + shift, middle, [[middle - low], [high - middle]], fmt="o", color=colour, capsize=3,
                        label=name if at == 0 else None,
                    )  # fmt: skip
            axes.set_xticks(range(len(GROUPS)), GROUPS, color=INK)
            axes.set_xlim(-0.5, len(GROUPS) - 0.5)
            axes.set_ylim(0, 1.15 * axes.get_ylim()[1])
        drawing.axes["C"].legend(frameon=False, loc="lower right")
        drawing.figure.savefig(file, dpi=200)


def table(found: dict[str, Any]) -> list[str]:
    """Differences between groups, as lines of a page."""
    pairs = ["PD- against control", "PD- against PD+", "PD+ against control"]
    lines = ["| model | parameter | " + " | ".join(pairs) + " | p (all groups) |", "|" + "---|" * 6]
    for name in (name for name in MODELS if name in found):
        one = found[name]
        joint = {row["parameter"]: row["p_term"] for row in one["terms"]}
        for parameter in joint:
            rows = {row["effect"]: row for row in one["contrasts"] if row["parameter"] == parameter}
            cells = [_difference(rows, pair) for pair in pairs]
            lines.append("| " + " | ".join([name + _doubts(one), parameter, *cells, f"{joint[parameter]:.3g}"]) + " |")
    return lines


def _doubts(one: dict[str, Any]) -> str:
    """Marks of a fit by an earlier `em`, and of one whose group did not settle."""
    return ("" if one.get("weighed") else " †") + ("" if one["settled"] else " (not settled)")


def _difference(rows: dict[str, dict[str, Any]], pair: str) -> str:
    """A difference in standard units with its interval, whichever way round it was computed."""
    first, second = pair.split(" against ")
    row, sign = rows.get(f"group: {pair}"), 1
    if row is None:
        row, sign = rows[f"group: {second} against {first}"], -1
    low, high = sorted((sign * row["low"], sign * row["high"]))
    return f"{sign * row['estimate']:+.2f} ({low:+.2f} to {high:+.2f})"


def main() -> None:
    """Run the evaluation from the command line."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--only", nargs="*", choices=list(MODELS))
    ask.add_argument("--render", action="store_true", help="draw the figure from what was measured")
    ask.add_argument("--starts", type=int, default=4)
    ask.add_argument("--without-prediction", action="store_true", help="leave out the prediction of left-out rounds")
    ask.add_argument("--results", type=Path, default=RESULTS)
    told = ask.parse_args()
    found = json.loads(told.results.read_text()) if told.results.exists() else {}
    if not told.render:
        choices = people(told.folder)
        for name in told.only or MODELS:
            found[name] = measure(choices, name, told.starts, not told.without_prediction)
            told.results.write_text(json.dumps(found, indent=1) + "\n")
            print(f"{name}: {found[name]['seconds']:.0f} s", file=sys.stderr, flush=True)
    if told.results == RESULTS:
        from evaluations.effects import write_table

        draw(found, ROOT / "docs" / "effects.png")
        write_table(table(found), "groups")


if __name__ == "__main__":
    main()
