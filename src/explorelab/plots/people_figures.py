"""Figures of what people did and of fits to them."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from explorelab._support.rounding import spread
from explorelab.agents.scales import SCALES
from explorelab.choices.table import Choices
from explorelab.plots.recovery_figures import LETTERS, heat_table
from explorelab.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PALE, Drawing, Look, whole_ticks
from explorelab.plots.words import name_of, named
from explorelab.recovery.behaviour import Each
from explorelab.regret.clusters import band_of_known
from explorelab.regret.observed import yardsticks

MOST_BINS = 24


def draw_data(choices: Choices, each: Each) -> Drawing:
    """(a) Reward and (b) repeated choices over time, means with 95 % bands; (c) how many arms people tried."""
    drawing = Drawing([["a", "b", "c"]], height=2.75)
    axes = drawing.panel("a", "(a) Reward", "choice t", "mean reward", xlim=(0, choices.n_trials))
    whole_ticks(axes.xaxis)
    known = yardsticks(choices)
    if known is not None:
        for value, words in ((known.best, "best arm"), (known.random, "random choice")):
            drawing.line("a", [0, choices.n_trials], [value, value], words, color=GREY, lw=1, ls=(0, (4, 2)))
            axes.annotate(words, (1, value), (-2, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
                          ha="right", va="bottom", fontsize=7.5, color=GREY)  # fmt: skip
    _mean_over_time(drawing, "a", each.curves["reward"], choices.participant, BLUE, "reward")
    axes = drawing.panel("b", "(b) Repeats", "choice t", "repeat the last arm (%)", xlim=(0, choices.n_trials))
    whole_ticks(axes.xaxis)
    _mean_over_time(drawing, "b", 100 * each.curves["repeat"], choices.participant, GREEN, "repeats")
    axes.set_ylim(0, min(axes.get_ylim()[1], 103))  # a band from normal theory may exceed 100 %
    tried = distinct_arms(choices)
    _histogram(drawing, "c", tried.astype(float), "(c) Arms tried", "different arms in a block", "blocks", whole=True)
    return drawing


def distinct_arms(choices: Choices) -> np.ndarray:
    """Number of different arms sampled in each block."""
    seen = np.zeros((choices.n_rows, choices.layout.n_arms), bool)
    row, trial = np.nonzero(choices.observed)
    seen[row, choices.arm[row, trial]] = True
    return seen.sum(1)


def _mean_over_time(drawing: Drawing, key: str, curves: np.ndarray, who: np.ndarray, colour: str, what: str) -> None:
    """The mean of the known values at each time, with its band if there is more than one person."""
    mean, low, high = band_of_known(curves, who)
    times = np.arange(1, curves.shape[1] + 1)
    known = np.isfinite(low)
    if known.any():
        drawing.band(key, times[known], low[known], high[known], f"{what}, 95 % band", color=colour)
    drawing.line(key, times, mean, f"{what}, mean", color=colour)


def _histogram(drawing: Drawing, key: str, values: np.ndarray, title: str, x: str, y: str, whole: bool = False) -> None:
    low, high = values.min(), values.max()
    if whole:
        width = max(1, int(np.ceil((high - low + 1) / MOST_BINS)))
        edges = np.arange(low - 0.5, high + width, width)
    else:
        room = 0.5 if high == low else 0.0
        edges = np.linspace(low - room, high + room, min(MOST_BINS, max(6, values.size // 4)) + 1)
    axes = drawing.panel(key, title, x, y)
    counts = np.histogram(values, edges)[0]
    corners = np.repeat(edges, 2)[1:-1]
    heights = np.repeat(counts, 2)
    drawing.band(key, corners, np.zeros(heights.size), heights, y, color=BLUE, alpha=0.55)
    axes.set_ylim(bottom=0)
    whole_ticks(axes.yaxis)
    if whole:
        whole_ticks(axes.xaxis)


def draw_estimates(table: xr.Dataset, space: xr.Dataset, group: xr.Dataset | None) -> Drawing:
    """For each parameter how people are distributed, and below it everyone's estimate with its 95 % interval, sorted.

    `table` has the estimates, and whether each is `identified`.
    """
    names = [str(name) for name in table["parameter"].values]
    columns = min(len(names), 2 if len(names) <= 4 else 3)
    bands = [names[at : at + columns] for at in range(0, len(names), columns)]
    rows: list[list[str]] = []
    for band in bands:
        gaps = ["."] * (columns - len(band))
        rows += [[*(f"{name} group" for name in band), *gaps], [*band, *gaps]]
    tall = 1.5 if table.sizes["participant"] < 12 else 2.1
    drawing = Drawing(rows, height=(tall + 1.15) * len(bands), height_ratios=[0.42, 1] * len(bands))
    for i, name in enumerate(names):
        one, dimension = table.sel(parameter=name), space.sel(parameter=name)
        ours = None if group is None else group.sel(parameter=name)
        _draw_group(drawing, one, dimension, name, LETTERS[i], ours)
        _draw_people(drawing, one, dimension, name)
        drawing.axes[f"{name} group"].sharex(drawing.axes[name])
        drawing.axes[f"{name} group"].tick_params(labelbottom=False)
    _legend(drawing, names[0], group is not None, table.sizes["participant"])
    return drawing


def _legend(drawing: Drawing, first: str, learned: bool, n: int) -> None:
    handles, said = drawing.axes[first].get_legend_handles_labels()
    more, words = drawing.axes[f"{first} group"].get_legend_handles_labels() if learned else ([], [])
    drawing.figure.legend([*handles, *more], [*said, *words], loc="outside upper right", ncols=4, columnspacing=1.4,
                          handlelength=1.6, markerscale=4.5 / _size(n))  # fmt: skip


def _reach(one: xr.Dataset, dimension: xr.Dataset) -> tuple[float, float, bool]:
    """Ends of the axis: a little beyond all estimates and most of their intervals, on the parameter's own scale."""
    log = dimension["scale"].item() == "log"
    most = np.quantile(one["low"].values, 0.25), np.quantile(one["high"].values, 0.75)
    values = np.append(one["estimate"].values, np.clip(most, float(dimension["low"]), float(dimension["high"])))
    line = np.log(values) if log else values
    room = 0.06 * np.ptp(line) if spread(line) else 0.5
    ends = np.array([line.min() - room, line.max() + room])
    low, high = np.exp(ends) if log else ends
    return float(low), float(high), log


def _size(n: int) -> float:
    """Size of a point, given the number of points."""
    return float(np.clip(60 / n, 1.2, 4.5))


def _fine_ticks(axis: Axis, low: float, high: float) -> None:
    """Label ticks of a logarithmic axis between powers of ten too, if it spans few of them."""
    if high < 300 * low:
        axis.set_major_locator(LogLocator(subs=(1, 3) if high > 20 * low else (1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _draw_people(drawing: Drawing, one: xr.Dataset, dimension: xr.Dataset, name: str) -> None:
    low, high, log = _reach(one, dimension)
    curved = log and high > 4 * low
    axes = drawing.panel(name, "", named(name), "people, sorted", log="x" if curved else "")
    if curved:
        _fine_ticks(axes.xaxis, low, high)
    order = np.argsort(one["estimate"].values, kind="stable")
    place = np.empty(order.size)
    place[order] = np.arange(1, order.size + 1)
    sure = one["identified"].values.astype(bool)
    size = _size(order.size)
    width = float(np.clip(120 / order.size, 0.35, 1.6))
    for which, colour, words in ((sure, BLUE, "identified"), (~sure, ORANGE, "not identified")):
        ends = [np.clip(one[end].values[which], low, high) for end in ("low", "high")]
        look: dict[str, Look] = {"color": colour, "lw": width, "alpha": 0.35}
        drawing.interval(name, ends[0], ends[1], place[which], f"{words}, 95 % interval", **look)
        drawing.points(name, one["estimate"].values[which], place[which], words, color=colour, ms=size, mew=0, label=words)
    axes.set(xlim=(low, high), ylim=(0, order.size + 1))
    axes.grid(visible=False, axis="y")
    middle = float(np.median(one["estimate"].values))
    drawing.line(name, [middle, middle], [0, order.size + 1], "median", color=INK, lw=0.9, ls=(0, (4, 2)), label="median")
    axes.set_yticks([])


def _draw_group(
    drawing: Drawing, one: xr.Dataset, dimension: xr.Dataset, name: str, letter: str, group: xr.Dataset | None
) -> None:
    """A histogram on the parameter's own scale, and the normal distribution that the group was found to have."""
    key = f"{name} group"
    low, high, log = _reach(one, dimension)
    curved = log and high > 4 * low
    axes = drawing.panel(key, f"({letter}) {name_of(name)}", "", "people", log="x" if curved else "")
    values = one["estimate"].values
    n_bins = min(MOST_BINS, max(6, values.size // 3))
    edges = np.geomspace(low, high, n_bins + 1) if curved else np.linspace(low, high, n_bins + 1)
    counts = np.histogram(values, edges)[0]
    corners, heights = np.repeat(edges, 2)[1:-1], np.repeat(counts, 2)
    drawing.band(key, corners, np.zeros(heights.size), heights, "people", color=PALE, alpha=1.0)
    if group is not None:
        x = np.geomspace(low, high, 200) if curved else np.linspace(low, high, 200)
        density = _group_density(x, edges, dimension, group) * values.size
        drawing.line(key, x, density, "group distribution", color=GREEN, lw=1.3, label="group distribution")
    axes.set_ylim(bottom=0)
    axes.grid(visible=False)
    axes.set_yticks([])
    axes.set_ylabel("")
    axes.spines["left"].set_visible(False)


def _group_density(x: np.ndarray, edges: np.ndarray, dimension: xr.Dataset, group: xr.Dataset) -> np.ndarray:
    """The expected count per person in a histogram bin around each x, under the group's distribution."""
    from scipy.stats import norm

    scale = SCALES[dimension["scale"].item()]
    centre, unit = float(dimension["centre"]), float(dimension["spread"])

    def standard(values: np.ndarray) -> np.ndarray:
        return (np.asarray(scale.to_line(values), float) - float(scale.to_line(centre))) / unit

    even = np.allclose(np.diff(edges), edges[1] - edges[0])
    half = (edges[1] - edges[0]) / 2 if even else np.sqrt(edges[1] / edges[0])
    first, last = (x - half, x + half) if even else (x / half, x * half)
    if dimension["scale"].item() == "log":
        first = np.maximum(first, 1e-300)
    at = norm.cdf((standard(np.stack([first, last])) - float(group["z_mean"])) / float(group["z_sd"]))
    return at[1] - at[0]


def draw_diagnostics(table: xr.Dataset) -> Drawing:
    """(a) How estimates of one person trade off, averaged over people; (b) how many starts end at the best point."""
    names = [str(name) for name in table["parameter"].values]
    drawing = Drawing([["a", "b"]], height=max(2.6, 0.5 * len(names) + 1.5), width_ratios=[1, 1])
    labels = [name_of(name) for name in names]
    heat_table(drawing, "a", "(a) Trade-off within a person", mean_trade_off(table), labels, "", "", centred=True)
    starts = table.sizes["start"]
    reached = np.rint(table["starts_at_best"].values * starts).astype(int)
    counts = np.bincount(reached, minlength=starts + 1)[1:]
    axes = drawing.panel("b", "(b) Starts that reach the best point", "people", "")
    at = np.arange(1, starts + 1)
    drawing.bars("b", at, np.zeros(starts), counts, "people", color=BLUE, height=0.7)
    for place, count in zip(at.tolist(), counts.tolist(), strict=True):
        axes.text(count, place, f" {count}", va="center", fontsize=7.5, color=INK)
    axes.set_yticks(at, [f"{k} of {starts}" for k in at])
    axes.set_xlim(0, 1.12 * max(1, int(counts.max())))
    axes.grid(visible=False, axis="y")
    whole_ticks(axes.xaxis, 6)
    return drawing


def mean_trade_off(table: xr.Dataset) -> np.ndarray:
    """The correlation of every pair of one person's estimates, averaged over people."""
    return table["correlation"].mean("participant").transpose("parameter", "parameter_2").values
