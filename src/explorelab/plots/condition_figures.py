"""Figures that compare the levels of conditions: curves, means, combinations, and differences in parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy

from explorelab.choices.conditions import Condition
from explorelab.plots.phenotype_figure import COLOURS
from explorelab.plots.recovery_figures import LETTERS
from explorelab.plots.style import BLUE, GREY, INK, PALETTE, Drawing, Look, thousands, whole_ticks
from explorelab.plots.words import name_of
from explorelab.regret.clusters import Band
from explorelab.regret.forms import FORMS

DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1, 1.5)))
MARKERS = ("o", "D", "s", "^", "v", "P")
"""Levels can be told apart without colour."""
MOST_CURVES = 6
"""Conditions that get curves."""
MOST_CELLS = 16
"""Combinations of levels beyond which they are not drawn."""
SHORT = 12
"""Letters of a parameter's name with which four panels fit side by side."""
LONGEST = 24
"""Letters of a name."""
GAP = 0.75
"""Rows between two conditions."""


def _words(text: str) -> str:
    """A name from a file as a figure can show it: not too long, and no formula between dollar signs."""
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…").replace("$", r"\$")


def _look(k: int) -> dict[str, Look]:
    return {"color": PALETTE[k % len(PALETTE)], "ls": DASHES[(k + k // len(PALETTE)) % len(DASHES)]}


def draw_condition_curves(bands: Mapping[str, Mapping[str, Band]], words: str) -> Drawing:
    """Mean curves at each level with 95 % bands, a panel for each condition; `words` name what is drawn."""
    shown = dict(list(bands.items())[:MOST_CURVES])
    columns = min(3, len(shown))
    keys = [f"curves {i}" for i in range(len(shown))]
    drawing = Drawing(_in_rows(keys, columns), width=(4.2, 6.4, 7.2)[columns - 1], height=2.9 * -(-len(keys) // columns))
    top, bottom = -np.inf, np.inf
    for i, (key, (condition, levels)) in enumerate(zip(keys, shown.items(), strict=True)):
        letter = f"({LETTERS[i]}) " if len(shown) > 1 else ""
        axes = drawing.panel(key, f"{letter}By {_words(condition)}", "choice t", "" if i % columns else words)
        for k, (level, band) in enumerate(levels.items()):
            times = np.arange(1, len(band.mean) + 1)
            if not np.isfinite(band.mean).any():
                continue
            drawing.band(key, times, band.low, band.high, f"{level}, 95 % band", color=_look(k)["color"], alpha=0.16)
            drawing.line(key, times, band.mean, f"{level}, mean", label=_words(level), **_look(k))
            ends = np.concatenate([band.mean, band.low, band.high])
            top, bottom = max(top, float(np.nanmax(ends))), min(bottom, float(np.nanmin(ends)))
        axes.set_xlim(0, max(len(band.mean) for band in levels.values()))
        whole_ticks(axes.xaxis)
        thousands(axes.yaxis)
        axes.legend(loc="best", handlelength=2.4, borderaxespad=0.1, fontsize=8.5 if len(levels) < 6 else 6.5)
    if np.isfinite(top):
        for axes in drawing.axes.values():
            axes.set_ylim(bottom - 0.03 * (top - bottom), top + 0.03 * (top - bottom))
    return drawing


def _in_rows(keys: Sequence[str], columns: int) -> list[list[str]]:
    """The panels row by row, the last row filled up."""
    rows = [list(keys[at : at + columns]) for at in range(0, len(keys), columns)]
    return [[*row, *["."] * (columns - len(row))] for row in rows]


def _places(conditions: Sequence[Condition]) -> dict[tuple[str, str], float]:
    """The height of every level, the first condition at the top."""
    places, at = {}, 0.0
    for condition in conditions:
        for level in condition.levels:
            places[condition.name, level] = -at
            at += 1
        at += GAP
    return places


def draw_condition_levels(
    conditions: Sequence[Condition],
    means: pd.DataFrame,
    words: str,
    phenotypes: Mapping[str, pd.DataFrame],
    frequencies: pd.DataFrame,
) -> Drawing:
    """A row for each level of each condition: (a) the outcome, (b) phenotypes, (c) frequencies of agents, with intervals."""
    places = _places(conditions)
    names = {"a": ("Mean", words), "b": ("Phenotypes", "share of blocks (%)"), "c": ("Agents", "estimated share (%)")}
    there = {"a": True, "b": bool(phenotypes), "c": len(frequencies) > 0}
    panels = [key for key in names if there[key]]
    height = max(2.2, 0.32 * -min(places.values()) + 1.45)
    drawing = Drawing([panels], width=(4.4, 6.2, 7.2)[len(panels) - 1], height=height)
    for letter, key in zip(LETTERS, panels, strict=False):
        title, x = names[key]
        axes = drawing.panel(key, f"({letter}) {title}" if len(panels) > 1 else title, x, "")
        axes.set_ylim(min(places.values()) - 0.6, 1.15)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(list(places.values()), [_words(level) for _, level in places] if key == "a" else [""] * len(places))
    _name_conditions(drawing, conditions, places)
    _draw_points(drawing, "a", means, places, 1.0, 0.0, {"color": BLUE, "ms": 4.5}, "")
    thousands(drawing.axes["a"].xaxis)
    _draw_shares(drawing, places, phenotypes, frequencies)
    for key in panels[1:]:
        drawing.axes[key].set_xlim(-3, 103)
        drawing.axes[key].set_xticks([0, 25, 50, 75, 100])
        _legend_below(drawing, key, 1 if key == "c" else 3)
    return drawing


def _name_conditions(drawing: Drawing, conditions: Sequence[Condition], places: Mapping[tuple[str, str], float]) -> None:
    """The name of each condition above its levels."""
    look: dict[str, Look] = {"ha": "right", "va": "center", "fontsize": 8.5, "weight": "bold", "color": INK}
    for condition in conditions:
        above = places[condition.name, condition.levels[0]] + 0.62
        drawing.axes["a"].annotate(_words(condition.name), (0, above), xycoords=("axes fraction", "data"), xytext=(-4, 0),
                                   textcoords="offset points", **look)  # fmt: skip


def _draw_shares(
    drawing: Drawing,
    places: Mapping[tuple[str, str], float],
    phenotypes: Mapping[str, pd.DataFrame],
    frequencies: pd.DataFrame,
) -> None:
    """Shares of phenotypes and frequencies of agents, one above the other at each level."""
    for k, form in enumerate(FORMS if phenotypes else ()):
        look: dict[str, Look] = {"color": COLOURS[form], "ms": 4, "marker": MARKERS[k]}
        _draw_points(drawing, "b", phenotypes[form], places, 100.0, 0.22 * (1 - k), look, form)
    models = list(dict.fromkeys(frequencies["model"])) if len(frequencies) else []
    for k, model in enumerate(models):
        one = frequencies[frequencies["model"] == model].rename(columns={"frequency": "mean"})
        up = 0.6 * ((len(models) - 1) / 2 - k) / max(len(models), 2)
        look = {"color": _look(k)["color"], "ms": 4, "marker": MARKERS[k % len(MARKERS)]}
        _draw_points(drawing, "c", one, places, 100.0, up, look, str(model))


def _legend_below(drawing: Drawing, key: str, columns: int) -> None:
    """The legend of a panel under the name of its axis."""
    axes = drawing.axes[key]
    below = offset_copy(axes.transAxes, drawing.figure, y=-36, units="points")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, handlelength=0.8, columnspacing=1.0,
                borderaxespad=0.0, fontsize=7.5, ncols=columns, handletextpad=0.3)  # fmt: skip


def _draw_points(
    drawing: Drawing, key: str, table: pd.DataFrame, places: Mapping[tuple[str, str], float], unit: float, up: float,
    look: dict[str, Look], label: str,
) -> None:  # fmt: skip
    """A point with its interval at every level."""
    named = {"label": label} if label else {}
    heights = np.array([places[one] for one in zip(table["condition"], table["level"], strict=True)]) + up
    mean, low, high = (unit * table[name].to_numpy(float) for name in ("mean", "low", "high"))
    sure = np.isfinite(low)
    words = label or "mean"
    drawing.interval(key, low[sure], high[sure], heights[sure], f"{words}, 95 % interval", color=look["color"], lw=1.5)
    drawing.points(key, mean[sure], heights[sure], words, **look, **named)
    drawing.points(key, mean[~sure], heights[~sure], f"{words}, one person", **{**look, "mfc": "white"})


def can_draw_cells(cells: pd.DataFrame, conditions: Sequence[Condition]) -> bool:
    """Whether the combinations of levels are few enough to be drawn."""
    n = int(np.prod([len(each.levels) for each in conditions]))
    return 2 <= len(conditions) <= 4 and n <= MOST_CELLS and len(cells) > 0


def draw_condition_cells(cells: pd.DataFrame, conditions: Sequence[Condition], words: str) -> Drawing:
    """The mean in every combination of levels: one condition along the axis, one by colour, the others as panels."""
    along, by, *others = sorted(conditions, key=lambda each: -len(each.levels))
    kinds = list(product(*(each.levels for each in others)))
    keys = [f"cell {k}" for k in range(len(kinds))]
    drawing = Drawing([keys], width=min(7.2, max(4.4, 3.1 * len(keys) + 0.6)), height=2.9)
    low, high = (float(np.nanmin(cells[["mean", "low"]])), float(np.nanmax(cells[["mean", "high"]])))
    room = 0.06 * (high - low) or 1.0
    for i, (key, kind) in enumerate(zip(keys, kinds, strict=True)):
        named = ", ".join(_words(f"{each.name} {level}") for each, level in zip(others, kind, strict=True))
        title = f"({LETTERS[i]}) {named}" if named else ""
        axes = drawing.panel(key, title, _words(along.name), "" if i else words, ylim=(low - room, high + room))
        there = cells
        for each, level in zip(others, kind, strict=True):
            there = there[there[each.name] == level]
        for k, level in enumerate(by.levels):
            _draw_cell_line(
                drawing, key, there[there[by.name] == level], along, k, len(by.levels), _words(f"{by.name} {level}")
            )
        axes.set_xticks(range(len(along.levels)), [_words(level) for level in along.levels])
        axes.set_xlim(-0.5, len(along.levels) - 0.5)
        axes.grid(visible=False, axis="x")
        thousands(axes.yaxis)
        if i:
            axes.tick_params(labelleft=False)
    handles, said = drawing.axes[keys[0]].get_legend_handles_labels()
    drawing.figure.legend(handles, said, loc="outside upper right", ncols=4, columnspacing=1.6)
    return drawing


def _draw_cell_line(drawing: Drawing, key: str, table: pd.DataFrame, along: Condition, k: int, n: int, label: str) -> None:
    place = table[along.name].map({level: i for i, level in enumerate(along.levels)}).to_numpy(float)
    order = np.argsort(place)
    x, table = place[order] + 0.16 * (k - (n - 1) / 2) / max(n - 1, 1), table.iloc[order]
    mean, low, high = (table[name].to_numpy(float) for name in ("mean", "low", "high"))
    look = _look(k)
    drawing.interval(key, low, high, x, f"{label}, 95 % interval", upright=True, color=look["color"], lw=1.4)
    drawing.line(key, x, mean, label, marker=MARKERS[k % len(MARKERS)], ms=4.5, lw=1.1, color=look["color"], ls=look["ls"],
                 label=label)  # fmt: skip


def draw_contrasts(table: pd.DataFrame) -> Drawing:
    """Differences in standard units with 95 % intervals, a panel for each parameter, the same contrasts in every row.

    `table` has the columns parameter, contrast, difference, low and high.
    """
    names, contrasts = list(dict.fromkeys(table["parameter"])), list(dict.fromkeys(table["contrast"]))
    columns = min(4 if max(len(name_of(name)) for name in names) < SHORT else 3, len(names))
    rows = _in_rows(names, columns)
    each = 0.28 * len(contrasts) + 0.95
    drawing = Drawing(rows, width=min(7.2, 2.2 + 1.9 * columns), height=max(1.9, each * len(rows)))
    places = dict(zip(contrasts, range(len(contrasts) - 1, -1, -1), strict=True))
    for i, name in enumerate(names):
        one = table[table["parameter"] == name]
        bottom = i + columns >= len(names)
        axes = drawing.panel(name, f"({LETTERS[i]}) {name_of(name)}", "standard units" if bottom else "", "")
        axes.axvline(0, color=INK, lw=0.9)
        heights = np.array([places[contrast] for contrast in one["contrast"]], float)
        low, high = one["low"].to_numpy(float), one["high"].to_numpy(float)
        clear = (low > 0) | (high < 0)
        for which, colour, words in ((clear, BLUE, "excludes 0"), (~clear, GREY, "includes 0, or unknown")):
            drawing.interval(name, low[which], high[which], heights[which], f"{words}, 95 %", color=colour, lw=1.6)
            drawing.points(name, one["difference"].to_numpy(float)[which], heights[which], words, color=colour, ms=4.5)
        _rows_of(axes, places, labelled=i % columns == 0)
    return drawing


def _rows_of(axes: Axes, places: Mapping[str, int], labelled: bool) -> None:
    axes.set_ylim(-0.6, len(places) - 0.4)
    names = [name.replace("$", r"\$") if labelled else "" for name in places]
    axes.set_yticks(list(places.values()), names)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
