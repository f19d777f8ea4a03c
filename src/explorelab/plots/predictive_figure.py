"""The figure of a posterior predictive check: people and simulated groups."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab.plots.recovery_figures import LETTERS
from explorelab.plots.style import BLUE, GREY, INK, Drawing, Look, thousands, whole_ticks
from explorelab.regret.forms import FORMS

CURVES = {
    "regret": ("Regret", "observed regret", 1.0),
    "reward": ("Reward", "reward", 1.0),
    "repeat": ("Repeats", "repeat the last arm (%)", 100.0),
    "travel": ("Walks over time", "walk to the next arm", 1.0),
    "unique": ("New arms", "new arms so far (%)", 100.0),
}
HUMAN: dict[str, Look] = {"color": INK, "lw": 1.5}
SIMULATED: dict[str, Look] = {"color": BLUE, "lw": 1.3, "ls": (0, (4, 1.5))}


def draw_predictive(result: xr.Dataset) -> Drawing:
    """Regret, reward, repeats and walks over time, lengths of walks, shares of phenotypes: people and 95 % of copies.

    Phenotypes are left out if the result has none.
    """
    placed = "walk" in result.dims
    forms = ["phenotype"] if f"phenotype {FORMS[0]}" in result["statistic"].values else []
    keys = ["regret", *forms, "repeat", *(("travel", "walk") if placed else ("reward",)), "unique"]
    n_columns = 3
    rows = [keys[at : at + n_columns] for at in range(0, len(keys), n_columns)]
    rows = [[*row, *["."] * (n_columns - len(row))] for row in rows]
    drawing = Drawing(rows, height=2.35 * len(rows) + 0.3)
    for letter, key in zip(LETTERS, keys, strict=False):
        if key in CURVES:
            _draw_curve(drawing, result, key, letter)
        elif key == "walk":
            _draw_walks(drawing, result, letter)
        else:
            _draw_phenotypes(drawing, result, letter)
    handles, said = drawing.axes["regret"].get_legend_handles_labels()
    drawing.figure.legend(handles, said, loc="outside upper right", ncols=3, columnspacing=1.6)
    return drawing


def _draw_curve(drawing: Drawing, result: xr.Dataset, key: str, letter: str) -> None:
    title, name, factor = CURVES[key]
    axes = drawing.panel(key, f"({letter}) {title}", "choice t", name, xlim=(0, int(result["time"].max())))
    whole_ticks(axes.xaxis)
    low, high, mean, human = (factor * result[f"{key}_{part}"].values for part in ("low", "high", "simulated", "human"))
    times = result["time"].values
    known = np.isfinite(low)
    drawing.band(key, times[known], low[known], high[known], f"{title}, 95 % of copies", color=BLUE,
                 label="95 % of simulated groups")  # fmt: skip
    drawing.line(key, times, mean, f"{title}, simulated", label="simulated, mean", **SIMULATED)
    drawing.line(key, times, human, f"{title}, people", label="people", **HUMAN)
    if key == "regret":
        thousands(axes.yaxis)
    shown = np.concatenate([low, human])
    if not (shown < 0).any():  # nor where nothing is known
        axes.set_ylim(bottom=0)


def _draw_walks(drawing: Drawing, result: xr.Dataset, letter: str) -> None:
    far = result["walk"].values
    seen = result["walk_human"].values + result["walk_simulated"].values > 0.002
    shown = far <= far[seen].max(initial=1)
    parts = {part: 100 * result[f"walk_{part}"].values[shown] for part in ("low", "high", "simulated", "human")}
    far = far[shown]
    drawing.panel(
        "walk",
        f"({letter}) Lengths of walks",
        "walk to the next arm",
        "choices (%)",
        xlim=(-0.04 * far.max(), 1.04 * far.max()),
    )
    drawing.band("walk", far, parts["low"], parts["high"], "walks, 95 % of copies", color=BLUE)
    drawing.line("walk", far, parts["simulated"], "walks, simulated", **SIMULATED)
    drawing.line("walk", far, parts["human"], "walks, people", marker="o", ms=3, **HUMAN)
    drawing.axes["walk"].set_ylim(bottom=0)


def _draw_phenotypes(drawing: Drawing, result: xr.Dataset, letter: str) -> None:
    axes = drawing.panel("phenotype", f"({letter}) Phenotypes", "", "share of blocks (%)", xlim=(-0.6, len(FORMS) - 0.4))
    at = np.arange(len(FORMS))
    shares = result.sel(statistic=[f"phenotype {form}" for form in FORMS])
    low, high, mean, human = (100 * shares[part].values for part in ("low", "high", "simulated", "human"))
    drawing.interval("phenotype", low, high, at + 0.14, "95 % of copies", upright=True, color=BLUE, lw=5, alpha=0.3)
    drawing.points("phenotype", at + 0.14, mean, "simulated", color=BLUE, marker="D", ms=4.5, mfc="white", mew=1.2,
                   clip_on=False)  # fmt: skip
    drawing.points("phenotype", at - 0.14, human, "people", color=INK, ms=5, clip_on=False)
    axes.set_xticks(at, FORMS)
    top = np.nan_to_num(np.concatenate([high, human])).max()
    axes.set_ylim(0, max(100 * 0.05, 1.15 * float(top)))
    if np.isnan(human).all():
        axes.text(0.5, 0.5, "no curve of people has a form", transform=axes.transAxes, ha="center", color=GREY)
    axes.grid(visible=False, axis="x")
