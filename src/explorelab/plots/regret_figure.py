"""The figure of a simulation: regret over time with its band and bounds, and transition cost if moves cost."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab._support.counted import counted
from explorelab.plots.style import GREEN, GREY, INK, PALETTE, Drawing, thousands, whole_ticks
from explorelab.simulation.summary import each_setting, in_words
from explorelab.tasks.noise import is_gaussian

BOUNDS = {
    "published": ("published bound", INK, "--"),
    "corrected": ("corrected bound", GREY, "-."),
}


def regret_figure(runs: xr.Dataset, bounds: xr.Dataset | None = None) -> Drawing:
    """Regret with a band of two standard errors for each setting, and a second panel of transition cost where moves cost."""
    costly = bool((runs.cost_mean > 0).any())
    panels = {"regret": "Cumulative expected regret"} | ({"cost": "Cumulative transition cost"} if costly else {})
    drawing = Drawing([list(panels)], height=3.6)
    long = runs.attrs["horizon"] > 1000
    for quantity, name in panels.items():
        tall = _far_above(runs[f"{quantity}_mean"], bounds, quantity)
        axes = drawing.panel(quantity, name, "time", quantity, log=("x" if long else "") + ("y" if tall else ""))
        if not tall:
            thousands(axes.yaxis)
        if not long:
            whole_ticks(axes.xaxis, 8)
        for i, (setting, one) in enumerate(each_setting(runs)):
            label = in_words(setting) or "mean ± 2 standard errors"
            mean, se = one[f"{quantity}_mean"].values, np.nan_to_num(one[f"{quantity}_se"].values)
            look = {"color": PALETTE[i % len(PALETTE)], "ls": ("-", "--", ":")[i // len(PALETTE) % 3]}
            drawing.band(quantity, one.time, mean - 2 * se, mean + 2 * se, label, color=look["color"])
            drawing.line(quantity, one.time, mean, label, label=label, **look)
        _draw_bounds(drawing, quantity, bounds)
        if not tall:
            axes.set_ylim(bottom=0)
        axes.legend()
    drawing.figure.suptitle(_title(runs), fontsize=8.5, color=GREY, x=0.01, ha="left")
    return drawing


def _draw_bounds(drawing: Drawing, quantity: str, bounds: xr.Dataset | None) -> None:
    if bounds is None:
        return
    for source, (label, colour, dashes) in BOUNDS.items():
        bound = bounds[f"{source}_{quantity}"]
        if np.isfinite(bound).any():
            drawing.line(quantity, bound.time, bound.values, label, label=label, color=colour, ls=dashes, lw=1.2)
    if quantity == "regret":
        lower = bounds["lai_robbins_regret"]
        of_its_own = is_gaussian(bounds.attrs["noise"])
        label = "Lai-Robbins (asymptotic)" if of_its_own else "Lai-Robbins (asymptotic, Gaussian noise)"
        drawing.line(quantity, lower.time, lower.values, label, label=label, color=GREEN, ls=":", lw=1.4)


def _far_above(mean: xr.DataArray, bounds: xr.Dataset | None, quantity: str) -> bool:
    """Whether a bound would press the curve against the axis, so that only a logarithmic scale shows both."""
    if bounds is None or not float(mean.max()) > 0:
        return False
    # a bound that does not apply is NaN, which must not hide the other one
    highest = max(float(bounds[f"{source}_{quantity}"].fillna(0.0).max()) for source in BOUNDS)
    return highest > 10 * float(mean.max())


def _title(runs: xr.Dataset, width: int = 115) -> str:
    replicates = counted(runs.attrs["replicates"], "replicate")
    several = f"{counted(runs.sizes['agent'], 'agent')} on the same random numbers" if "agent" in runs.dims else ""
    texts = [f"{several or runs.attrs['agent']}, {replicates}", runs.attrs["task"].strip("<>")]
    texts += [runs.attrs["note"]] if "note" in runs.attrs else []
    return "\n".join(text if len(text) <= width else text[: width - 1] + "…" for text in texts)
