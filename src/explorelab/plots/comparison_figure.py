"""The figure of a comparison: how far apart agents are for each person, and how frequent each one is."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy.stats import beta

from explorelab.plots.style import BLUE, GREY, INK, PALE, VERMILION, Drawing
from explorelab.plots.words import probability

STRONG = 3.0
"""Log evidence beyond which one agent is clearly better for a person: 20 to 1 (Kass & Raftery 1995)."""


def draw_comparison(evidence: xr.DataArray, models: xr.Dataset, reference: str) -> Drawing:
    """(a) Everyone's log evidence for each agent relative to the reference; (b) frequencies with 95 % intervals."""
    names = [str(name) for name in models["model"].values[np.argsort(-models["lost_evidence"].values, kind="stable")]]
    drawing = Drawing([["a", "b"]], height=0.52 * len(names) + 1.15, width_ratios=[1.5, 1])
    _draw_differences(drawing, evidence, names, reference)
    _draw_frequencies(drawing, models, names)
    for axes in drawing.axes.values():
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
    places = np.arange(len(names))[::-1]
    drawing.axes["a"].set_yticks(places, [name.replace(":", "\n") for name in names])
    drawing.axes["b"].set_yticks(places, [""] * len(names))
    return drawing


def _draw_differences(drawing: Drawing, evidence: xr.DataArray, names: list[str], reference: str) -> None:
    axes = drawing.panel("a", "(a) Evidence, each person", f"log evidence beside {reference}", "")
    away = (evidence - evidence.sel(model=reference)).transpose("model", "participant")
    axes.axvspan(-STRONG, STRONG, color=PALE, alpha=0.6, lw=0)
    axes.axvline(0, color=GREY, lw=0.9)
    n = away.sizes["participant"]
    for row, name in enumerate(reversed(names)):
        values = np.sort(away.sel(model=name).values)
        if name == reference:
            axes.text(0, row, "reference", ha="center", va="center", fontsize=7.5, color=GREY,
                      bbox={"fc": "white", "ec": "none", "pad": 1.0})  # fmt: skip
            continue
        place = row + 0.66 * ((np.arange(n) + 0.5) / n - 0.5)
        for which, colour, words in ((values <= 0, BLUE, "reference better"), (values > 0, VERMILION, f"{name} better")):
            look = {"color": colour, "ms": float(np.clip(60 / n, 1.8, 4.5)), "mew": 0, "alpha": 0.75}
            drawing.points("a", values[which], place[which], f"{name}: {words}", **look)
    reach = max(10.0, float(np.abs(away).max()) * 1.3)
    axes.set_xscale("symlog", linthresh=STRONG, linscale=0.6)
    # If few decades are shown, the ends of the linear part are labelled too, so that no axis has 0 alone.
    near = [-STRONG, STRONG] if reach < 100 else []
    ticks = [-1000, -100, -10, *near, 0, 10, 100, 1000]
    low, high = float(away.min()) * 1.4, max(float(away.max()) * 1.6, 2 * STRONG)
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if abs(tick) <= reach]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "\u2212")))
    axes.set_xlim(min(low, -2 * STRONG), high)


def frequency_interval(models: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """95 % of the posterior of each agent's frequency."""
    alpha = models["alpha"].values
    low, high = beta.ppf([[0.025], [0.975]], alpha, alpha.sum() - alpha)
    return low, high


def _draw_frequencies(drawing: Drawing, models: xr.Dataset, names: list[str]) -> None:
    axes = drawing.panel("b", "(b) Frequency among people", "estimated share (%)", "", xlim=(0, 134))
    axes.set_xticks([0, 25, 50, 75, 100])
    low, high = frequency_interval(models)
    known = models.assign(low=("model", low), high=("model", high))
    for row, name in enumerate(reversed(names)):
        one = known.sel(model=name)
        ends, middle = (100 * float(one["low"]), 100 * float(one["high"])), 100 * float(one["frequency"])
        drawing.interval("b", *ends, row, f"{name}, 95 %", color=BLUE, lw=2)
        drawing.points("b", middle, row, name, color=BLUE, ms=5)
        axes.text(132, row, f"pxp {probability(one['protected_exceedance'])}", ha="right", va="center", fontsize=7.5,
                  color=INK)  # fmt: skip
