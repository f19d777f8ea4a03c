"""The figure of a plan: power against people for each design, with the answer marked."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.ticker import NullLocator

from explorelab.plots.style import GREY, PALETTE, Drawing

MOST_DESIGNS = len(PALETTE)
TITLES = {
    "effect": "Power of the test",
    "recover": "Studies that recover the parameter",
    "agents": "Studies that name the right agent, whichever it is",
}


def draw_plan(result: xr.Dataset) -> Drawing:
    """Power against people, a curve for each design with its 95 % band; a diamond where the wanted power is reached."""
    drawing = Drawing([["power"]], width=5.6, height=3.6)
    purpose = result.attrs["purpose"]
    axes = drawing.panel("power", TITLES[purpose], "people", "power", log="x", ylim=(0, 1.02))
    target = float(result.attrs["power"])
    axes.axhline(target, color=GREY, lw=1.0, ls=(0, (4, 2)), zorder=1)
    shown = list(range(min(result.sizes["design"], MOST_DESIGNS)))
    for d in shown:
        _draw_design(drawing, result.isel(design=d), PALETTE[d], several=len(shown) > 1)
    low, high = _reach(result, shown)
    axes.set_xlim(low, high)
    ticks = [n for n in (4, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if low <= n <= high]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(np.linspace(0, 1, 6), [f"{100 * p:.0f} %" for p in np.linspace(0, 1, 6)])
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=1 if _long(result, shown) else 2)
    return drawing


def _draw_design(drawing: Drawing, one: xr.Dataset, colour: str, several: bool) -> None:
    """A design's curve or points, its band, and where it reaches the wanted power."""
    name, target = str(one["design"].item()), float(one.attrs["power"])
    tried = np.isfinite(one["power"].values)
    people, power, low, high = (one[each].values[tried] for each in ("people", "power", "power_low", "power_high"))
    choices = f"{one['n_choices'].item()} choices"
    label = name if choices in name else f"{name} ({choices})"
    if "curve" in one:
        number = one["number"].values
        drawing.band("power", number, one["curve_low"].values, one["curve_high"].values, f"{name}, 95 %", color=colour)
        drawing.line("power", number, one["curve"].values, name, color=colour, label=label)
        size = 2.5 + 3.5 * np.sqrt(one["studies"].values[tried] / np.nanmax(one["studies"].values))
        for at, share, each in zip(people, power, size, strict=True):
            drawing.points("power", at, share, f"{name}, simulated", color=colour, ms=each, mew=0, alpha=0.55)
    else:
        drawing.band("power", people, low, high, f"{name}, 95 %", color=colour, alpha=0.13 if several else 0.2)
        drawing.line("power", people, power, name, color=colour, label=label, marker="o", ms=3.5)
    needed = one["needed"].item()
    if np.isfinite(needed):
        ends = [one[f"needed_{end}"].item() for end in ("low", "high")]
        top = float(one["number"].max()) if "curve" in one else float(people.max())
        drawing.interval("power", ends[0], min(ends[1], top), target, f"{name}, people needed, 95 %", color=colour, lw=2.4)
        drawing.points("power", needed, target, f"{name}, people needed", color="white", mec=colour, marker="D", ms=6.5,
                       mew=1.6, zorder=5)  # fmt: skip


def _reach(result: xr.Dataset, shown: list[int]) -> tuple[float, float]:
    """The numbers of people that are worth showing."""
    tried = result["people"].values[np.isfinite(result["power"].values[shown]).any(0)].astype(float)
    known = [value for name in ("needed", "needed_high") for value in result[name].values[shown] if np.isfinite(value)]
    ends = np.concatenate([tried, known])
    if "curve" in result:
        return max(4.0, float(ends.min()) / 3), float(ends.max()) * 2
    return float(ends.min()) * 0.93, float(ends.max()) * 1.07


def _long(result: xr.Dataset, shown: list[int]) -> bool:
    return max(len(str(result["design"].values[d])) for d in shown) > 24
