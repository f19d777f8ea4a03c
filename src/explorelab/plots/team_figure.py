"""Figure of simulated teams: regret with and without advice, for each kind of person."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILION, Drawing

COLOURS = {"none": GREY, "impersonal": VERMILION, "personal": BLUE, "oracle": INK}
"""Other policies take the remaining colours."""
OTHERS = (GREEN, PURPLE, ORANGE, SKY)
INTERVAL = 1.959964


def draw_team(result: xr.Dataset) -> Drawing:
    """Regret against the probability of following, a panel for each kind of person and a line for each policy."""
    kinds = [str(kind) for kind in result.kind.values]
    drawing = Drawing([kinds], width=2.4 * max(len(kinds), 2), height=3.0)
    spare = iter(OTHERS)
    colours = {str(policy): COLOURS.get(str(policy)) or next(spare, GREY) for policy in result.policy.values}
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
        axes.set_ylim(0, 1.08 * float(np.nanmax(result.regret.sel(kind=kind).mean("person"))))
        axes.set_xticks(result.follow.values)
    drawing.axes[kinds[-1]].legend(frameon=False, fontsize=7.5)
    return drawing
