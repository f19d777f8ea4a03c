"""Figures of advice: regret with and without it, of simulated teams and of people in a study."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xarray as xr

from explorelab.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Drawing,
    Look,
    thousands,
    whole_ticks,
)  # fmt: skip
from explorelab.regret.advice_effect import EVERYONE, AdviceEffect

COLOURS = {"none": GREY, "impersonal": VERMILION, "personal": BLUE, "oracle": INK}
"""Other policies take the remaining colours."""
OTHERS = (GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1, 1.5)))
MARKERS = ("o", "D", "s", "^")
"""Arms of a study can be told apart without colour."""
INTERVAL = 1.959964


def colours_of(policies: Iterable[str]) -> dict[str, str]:
    """A colour for each policy, the same wherever it is drawn."""
    spare = iter(OTHERS)
    return {policy: COLOURS.get(policy) or next(spare, GREY) for policy in policies}


def draw_advice(effect: AdviceEffect) -> Drawing:
    """(a) Mean regret over time in each arm with 95 % bands; (b) differences from the first arm, overall and by form."""
    several = len(effect.arms) > 1
    drawing = Drawing([["a", "b"] if several else ["a"]], width=7.2 if several else 4.2, height=3.1)
    looks = {
        name: {"color": colour, "ls": DASHES[k % len(DASHES)], "marker": MARKERS[k % len(MARKERS)]}
        for k, (name, colour) in enumerate(colours_of(effect.arms).items())
    }
    _draw_curves(drawing, effect, looks)
    if several:
        _draw_differences(drawing, effect, looks)
    return drawing


def _draw_curves(drawing: Drawing, effect: AdviceEffect, looks: dict[str, dict[str, Look]]) -> None:
    several = len(effect.arms) > 1
    axes = drawing.panel(
        "a", f"{'(a) ' if several else ''}Regret by arm", "choice t", "mean observed regret", xlim=(0, effect.length)
    )
    whole_ticks(axes.xaxis)
    thousands(axes.yaxis)
    times = np.arange(1, effect.length + 1)
    everyone = effect.effects[effect.effects["phenotype"] == EVERYONE].set_index("arm")
    for name, band in effect.curves.items():
        look = looks[name]
        if not np.isfinite(band.mean).any():
            continue
        drawing.band("a", times, band.low, band.high, f"{name}, 95 % band", color=look["color"], alpha=0.16)
        drawing.line("a", times, band.mean, f"{name}, mean", color=look["color"], ls=look["ls"])
        mark = look if several and name != effect.reference else look | {"marker": ""}
        axes.plot([], [], ms=4.5, label=f"{name} (n = {everyone.loc[name, 'n_people']})", **mark)
    axes.legend(loc="upper left", handlelength=2.4, borderaxespad=0.1)


def _draw_differences(drawing: Drawing, effect: AdviceEffect, looks: dict[str, dict[str, Look]]) -> None:
    table, others = effect.effects, effect.arms[1:]
    kinds = list(dict.fromkeys(table["phenotype"]))
    axes = drawing.panel(
        "b", f"(b) Against {effect.reference}", "difference in regret at the end", "", ylim=(-0.6, len(kinds) - 0.4)
    )
    axes.axvline(0, color=INK, lw=0.9)
    for j, name in enumerate(others):
        look, up = looks[name], 0.44 * ((len(others) - 1) / 2 - j) / max(len(others) - 1, 1)
        for k, kind in enumerate(kinds):
            row = table[(table["phenotype"] == kind) & (table["arm"] == name)].iloc[0]
            height = len(kinds) - 1 - k + up
            words = f"{kind}, {name}"
            low, high = row["difference_low"], row["difference_high"]
            drawing.interval("b", low, high, height, f"{words}, 95 % interval", color=look["color"], lw=1.6)
            shape: dict[str, Look] = {"marker": look["marker"], "ms": 4.5, "color": look["color"]}
            shape |= {"mfc": look["color"] if np.isfinite(low) else "white"}
            drawing.points("b", row["difference"], height, words, **shape)
    axes.set_yticks(range(len(kinds) - 1, -1, -1), kinds)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    if len(kinds) > 1:
        axes.axhline(len(kinds) - 1.5, color=GREY, lw=0.6, ls=(0, (2, 2)))
    thousands(axes.xaxis)


def draw_team(result: xr.Dataset) -> Drawing:
    """Regret against the probability of following, a panel for each kind of person and a line for each policy."""
    kinds = [str(kind) for kind in result.kind.values]
    drawing = Drawing([kinds], width=2.4 * max(len(kinds), 2), height=3.0)
    colours = colours_of(str(policy) for policy in result.policy.values)
    for i, kind in enumerate(kinds):
        axes = drawing.panel(kind, f"({'abcdefgh'[i]}) {kind}", "probability of following", "regret" if i == 0 else "")
        for j, (policy, colour) in enumerate(colours.items()):
            at = result.sel(kind=kind, policy=policy)
            x = result.follow.values + 0.008 * (j - (len(colours) - 1) / 2)
            mean, wide = at["mean"].values, INTERVAL * at.standard_error.values
            style = (0, (4, 2)) if policy in ("none", "oracle") else "-"
            drawing.line(kind, x, mean, policy, color=colour, lw=1.3, ls=style, marker="o", ms=3, label=policy)
            drawing.interval(
                kind, mean - wide, mean + wide, x, f"95 % interval, {policy}", upright=True, color=colour, lw=1.0
            )
        here = result.sel(kind=kind)
        axes.set_ylim(0, 1.03 * float((here["mean"] + INTERVAL * here.standard_error).max()))
        axes.set_xticks(result.follow.values)
    drawing.axes[kinds[-1]].legend(frameon=False, fontsize=7.5)
    return drawing
