"""The figure of phenotypes: every curve with the mean, mean curves by phenotype, and how common each one is."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from explorelab.plots.style import BLUE, GREEN, GREY, INK, ORANGE, VERMILION, Drawing, Look, thousands, whole_ticks
from explorelab.regret import paper_people
from explorelab.regret.forms import FORMS, NONE, fitted_regret
from explorelab.regret.phenotype_summary import beside_paper

COLOURS = {"linear": BLUE, "power": VERMILION, "log": GREEN, NONE: GREY}
DASHES = {"linear": "-", "power": (0, (5, 1.5)), "log": (0, (1.2, 1.2))}
"""Distinguishable without colour too."""
MOST_CURVES = 400
"""Maximum number of single curves drawn; if there are more, an evenly spaced selection is drawn."""


def draw_phenotypes(result: xr.Dataset) -> Drawing:
    """(a) Single curves and their mean with its best fit, (b) means by phenotype with 95 % bands, (c) shares of each."""
    drawing = Drawing([["a", "b", "c"]], width=7.2, height=3.1, width_ratios=[1, 1, 0.92])
    _draw_curves(drawing, result)
    _draw_means(drawing, result)
    _draw_shares(drawing, result)
    drawing.axes["b"].set_ylabel("")
    drawing.axes["b"].set_ylim(drawing.axes["a"].get_ylim())
    return drawing


def draw_moving(result: xr.Dataset) -> Drawing:
    """Single curves and their mean with its band, without forms: for means that change."""
    drawing = Drawing([["a"]], width=4.6, height=3.1)
    few = np.unique(np.linspace(0, result.sizes["row"] - 1, min(MOST_CURVES, result.sizes["row"])).round().astype(int))
    axes = _regret_panel(drawing, "a", "", result)
    times = result["time"].values
    for row in few:
        drawing.line("a", times, result["regret"].values[row], f"row {row}", color=BLUE, lw=0.6,
                     alpha=float(np.clip(12 / few.size, 0.12, 0.5)))  # fmt: skip
    drawing.band("a", times, result["mean_low"], result["mean_high"], "mean, 95 % band", color=INK, alpha=0.2)
    drawing.line("a", times, result["mean_regret"], "mean", color=INK, lw=2.2, label="mean, 95 % band")
    axes.legend(loc="upper left", handlelength=1.8, borderaxespad=0.1)
    return drawing


def _regret_panel(drawing: Drawing, key: str, title: str, result: xr.Dataset) -> Axes:
    longest = int(result["n_trials"].max())
    axes = drawing.panel(key, title, "choice t", "observed regret", xlim=(0, longest))
    whole_ticks(axes.xaxis)
    if longest == 90:
        axes.set_xticks(range(0, 91, 30))
    thousands(axes.yaxis)
    return axes


def _draw_curves(drawing: Drawing, result: xr.Dataset) -> None:
    n = result.sizes["row"]
    few = np.unique(np.linspace(0, n - 1, min(MOST_CURVES, n)).round().astype(int))
    title = "(a) Every curve" if few.size == n else f"(a) {few.size} of {n} curves"
    axes = _regret_panel(drawing, "a", title, result)
    times, curves, labels = result["time"].values, result["regret"].values, result["label"].values
    faint = float(np.clip(12 / few.size, 0.12, 0.5))
    for row in few:
        drawing.line("a", times, curves[row], f"row {row}", color=COLOURS[labels[row]], alpha=faint, lw=0.6)
    drawing.line("a", times, result["mean_regret"], "mean", color=INK, lw=2.4, label="mean",
                 path_effects=[withStroke(linewidth=4.2, foreground="white")])  # fmt: skip
    _draw_mean_fit(drawing, result)
    axes.legend(loc="upper left", handlelength=1.8, borderaxespad=0.1, facecolor="white", framealpha=0.8, frameon=True,
                edgecolor="none")  # fmt: skip


def _draw_mean_fit(drawing: Drawing, result: xr.Dataset) -> None:
    """The form of the mean curve, if it has one."""
    best = result["mean_label"].item()
    if best == NONE:
        return
    shown = np.where(np.isnan(result["mean_regret"]), np.nan, _mean_fit(result, best))
    b, r2 = (float(result[name].sel(form=best)) for name in ("mean_b", "mean_r2"))
    words = f"{best} fit, b = {b:.2f}" if best == "power" else f"{best} fit, R² = {r2:.4f}"
    look = {"color": ORANGE, "ls": (0, (2.2, 1.6)), "lw": 1.4}
    drawing.line("a", result["time"].values, shown, f"best {best} fit to the mean", label=words, **look)


def _mean_fit(result: xr.Dataset, form: str) -> np.ndarray:
    fits = result[["mean_a", "mean_b"]].rename(mean_a="a", mean_b="b")
    with np.errstate(over="ignore", invalid="ignore"):
        return fitted_regret(fits, result["time"].values).sel(form=form).values


def _draw_means(drawing: Drawing, result: xr.Dataset) -> None:
    axes = _regret_panel(drawing, "b", "(b) Means by phenotype", result)
    times = result["time"].values
    for form in FORMS:
        one = result.sel(form=form)
        if not int(one["phenotype_n"]):
            continue
        low, high = one["phenotype_low"].values, one["phenotype_high"].values
        known = np.isfinite(low)  # not beyond the common length, nor for one person
        if known.any():
            drawing.band("b", times[known], low[known], high[known], f"{form}, 95 % band", color=COLOURS[form])
        label = f"{form} (n = {int(one['phenotype_n'])})"
        look = {"color": COLOURS[form], "ls": DASHES[form], "label": label}
        drawing.line("b", times, one["phenotype_mean"], f"{form}, mean", **look)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", handlelength=2.2, borderaxespad=0.1)
    else:
        axes.text(0.5, 0.5, "no curve has a form", transform=axes.transAxes, ha="center", color=GREY)


def _draw_shares(drawing: Drawing, result: xr.Dataset) -> None:
    axes = drawing.panel("c", "(c) Shares", "share (%)", "", xlim=(0, 108), ylim=(-0.5, 3.1), xticks=[0, 25, 50, 75, 100])
    rows = ("person", "people") if result.attrs["by"] == "participant" else ("block", "blocks")
    n = int(result["n_rows"].sum())
    sources: dict[str, tuple[str, float, dict[str, Look]]] = {
        "share": (f"this {rows[0]}" if n == 1 else f"these {n} {rows[1]}", 0.14, {"marker": "o", "ms": 4.5}),
        "paper": (f"paper, {paper_people.PEOPLE} people", -0.14, {"marker": "D", "ms": 4, "mfc": "white", "mew": 1.1}),
    }
    if not beside_paper(result):
        words, _, look = sources["share"]
        sources = {"share": (words, 0.0, look)}
    for source, (words, up, look) in sources.items():
        names = [f"{source}_low", source if source == "share" else "paper_share", f"{source}_high"]
        low, middle, high = (100 * result[name].values for name in names)
        for k, form in enumerate(FORMS if np.isfinite(middle).all() else ()):
            colour, height = (COLOURS[form] if source == "share" else GREY), 2 - k + up
            drawing.interval("c", low[k], high[k], height, f"{form}, {words}, 95 %", color=colour, lw=1.8)
            drawing.points("c", middle[k], height, f"{form}, {words}", color=colour, **look)
            beside: dict[str, Look] = {"x": high[k] + 2.5} if high[k] < 88 else {"x": low[k] - 2.5, "ha": "right"}
            axes.text(y=height, s=f"{middle[k]:.1f}", color=colour, va="center", fontsize=7.5, **beside)
        axes.plot([], [], color=INK if source == "share" else GREY, lw=1.8, label=words, **look)
    axes.set_yticks([2, 1, 0], FORMS)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.legend(loc="upper right", bbox_to_anchor=(1.02, 1.02), handlelength=1.6, borderaxespad=0)
