"""Figures of recovery: true and estimated parameters, and how often each model is mistaken for another."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator

from explorelab._support.rounding import spread
from explorelab.plots.style import BLUE, FULL_WIDTH, GREY, INK, VERMILION, Drawing, Look

COLUMNS = 4
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def draw_recovery(result: xr.Dataset) -> Drawing:
    """True against estimated values of every parameter, all cross-correlations, and rank correlation and coverage."""
    names = [str(name) for name in result["parameter"].values]
    rows = [[*names[at : at + COLUMNS], *["."] * (at + COLUMNS - len(names))] for at in range(0, len(names), COLUMNS)]
    rows = rows if len(rows) > 1 else [names]
    below = 1.5 + 0.3 * len(names)
    # Nested, so that the names of one part take no room from the other.
    heights = [1.95 * len(rows), below]
    drawing = Drawing([[rows], [[["between", "summary"]]]], height=sum(heights), height_ratios=heights)
    for i, name in enumerate(names):
        axes = _draw_parameter(drawing, result.sel(parameter=name), name, LETTERS[i])
        if i % COLUMNS:
            axes.set_ylabel("")
    _draw_between(drawing, result, names, LETTERS[len(names)])
    _draw_summary(drawing, result, names, LETTERS[len(names) + 1])
    return drawing


def words(name: str) -> str:
    """A parameter's name with spaces."""
    return name.replace("_", " ")


def _draw_parameter(drawing: Drawing, one: xr.Dataset, name: str, letter: str) -> Axes:
    true, estimate = one["true"].values, one["estimate"].values
    log = "xy" if one["scale"].item() == "log" and max(true.max(), estimate.max()) > 8 * true.min() else ""
    axes = drawing.panel(name, f"({letter}) {words(name)}", "true", "estimate", log=log)
    low, high = _reach(np.concatenate([true, estimate]), bool(log))
    covered = one["covered"].values
    for inside, colour, what in ((covered, BLUE, "covered"), (~covered, VERMILION, "not covered")):
        first, last = (np.clip(one[end].values[inside], low, high) for end in ("low", "high"))
        look: dict[str, Look] = {"color": colour, "lw": 0.6, "alpha": 0.25}
        drawing.interval(name, first, last, true[inside], f"95 % interval, {what}", upright=True, **look)
        drawing.points(name, true[inside], estimate[inside], what, color=colour, ms=2.2, mew=0)
    drawing.line(name, [low, high], [low, high], "estimate = true", color=GREY, lw=0.8, ls=(0, (4, 2)), zorder=0)
    axes.set(xlim=_reach(true, bool(log)), ylim=(low, high))
    if log:
        _log_ticks(axes.xaxis, *axes.get_xlim())
        _log_ticks(axes.yaxis, low, high)
    rank, coverage = float(one["rank_correlation"]), float(one["coverage"])
    said = f"ρ = {signed(rank)}\n{100 * coverage:.0f} % covered"
    axes.text(0.04, 0.97, said, transform=axes.transAxes, va="top", fontsize=7.5,
              bbox={"fc": "white", "ec": "none", "alpha": 0.75, "pad": 1.2})  # fmt: skip
    return axes


def signed(value: float) -> str:
    """Two digits, with a true minus, and none before zero."""
    text = f"{value:.2f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def _log_ticks(axis: Axis, low: float, high: float) -> None:
    """Label powers of ten, and ticks between them if there are few."""
    if high < 40 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _reach(values: np.ndarray, log: bool) -> tuple[float, float]:
    """A little beyond all values."""
    line = np.log(values) if log else values
    low, high = line.min(), line.max()
    room = 0.06 * (high - low) if spread(line) else 1.0
    ends = np.array([low - room, high + room])
    first, last = np.exp(ends) if log else ends
    return float(first), float(last)


def _draw_between(drawing: Drawing, result: xr.Dataset, names: list[str], letter: str) -> None:
    title = f"({letter}) Rank correlations"
    heat_table(drawing, "between", title, result["cross_correlation"].values, [words(n) for n in names], "true", "estimate",
               centred=True)  # fmt: skip


def _draw_summary(drawing: Drawing, result: xr.Dataset, names: list[str], letter: str) -> None:
    axes = drawing.panel("summary", f"({letter}) Recovery", "", "", xlim=(min(0.0, float(result["rank_low"].min())), 1.03))
    places = np.arange(len(names))[::-1].astype(float)
    looks: dict[str, tuple[str, str, float, dict[str, Look]]] = {
        "rank": ("rank correlation ρ", "rank_correlation", 0.14, {"marker": "o", "ms": 4.5, "color": BLUE}),
        "coverage": ("coverage", "coverage", -0.14, {"marker": "D", "ms": 4, "mfc": "white", "mew": 1.2, "color": INK}),
    }
    for key, (label, middle, up, look) in looks.items():
        low, high = (result[f"{key}_{end}"].values for end in ("low", "high"))
        drawing.interval("summary", low, high, places + up, f"{label}, 95 %", color=look["color"], lw=1.6)
        drawing.points("summary", result[middle].values, places + up, label, label=label, **look)
    axes.axvline(0.95, color=GREY, lw=0.8, ls=(0, (1.5, 2)))
    axes.set_yticks(places, [words(name) for name in names])
    axes.set_ylim(-0.5, len(names) - 0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.13), ncols=2, handlelength=0.9, columnspacing=1.4)


def draw_models(result: xr.Dataset) -> Drawing:
    """Confusion, P(best fitted | generated by), beside inversion, P(generated by | best fitted), in per cent."""
    names = [str(name) for name in result["generated"].values]
    size = max(2.6, 0.45 * len(names) + 1.7)
    drawing = Drawing([["confusion", "inversion"]], width=min(FULL_WIDTH, 2.3 * size), height=size)
    titles = {
        "confusion": "(a) Confusion\nP(best fitted | generated), %",
        "inversion": "(b) Inversion\nP(generated | best fitted), %",
    }
    for key, title in titles.items():
        heat_table(drawing, key, title, 100 * result[key].values, names, "generated by", "best fitted", spread=(0, 100))
    drawing.axes["inversion"].set(ylabel="", yticklabels=[])
    return drawing


def heat_table(
    drawing: Drawing,
    key: str,
    title: str,
    values: np.ndarray,
    names: list[str],
    rows: str,
    columns: str,
    centred: bool = False,
    spread: tuple[float, float] = (-1, 1),
) -> Axes:
    """A table of numbers on colours, `values[row][column]`, the first row above; its diagonal is bold."""
    axes = drawing.panel(key, title, columns, rows)
    axes.grid(visible=False)
    colours = "RdBu" if centred else "Blues"
    drawing.cells(key, values.T, cmap=colours, vmin=spread[0], vmax=spread[1])
    middle = sum(spread) / 2
    reach = max(spread[1] - middle, 1e-12)
    for i, along in enumerate(values):
        for j, value in enumerate(along):
            dark = abs(value - (0 if centred else spread[0])) > (0.62 * reach if centred else 1.1 * reach)
            said = "–" if np.isnan(value) else signed(float(value)) if centred else f"{value:.0f}"
            axes.text(j + 1, i + 1, said, ha="center", va="center", fontsize=7.5 if len(values) > 3 else 8.5,
                      color="white" if dark else INK, fontweight="bold" if i == j else "normal")  # fmt: skip
    at = np.arange(1, len(names) + 1)
    axes.set_xticks(at, names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(at, names)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes
