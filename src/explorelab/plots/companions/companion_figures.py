"""Figures of companions: how well choices were predicted, and what became known of people as they played."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from explorelab.plots.phenotype_figure import COLOURS, DASHES
from explorelab.plots.recovery_figures import LETTERS
from explorelab.plots.style import BLUE, GREY, INK, ORANGE, VERMILION, Drawing, Look, thousands, whole_ticks
from explorelab.plots.words import name_of
from explorelab.regret.forms import FORMS

KNOWING: dict[str, tuple[str, dict[str, Look]]] = {
    "": ("the person too", {"color": BLUE}),
    "_group": ("the group alone", {"color": ORANGE, "ls": (0, (5, 1.5))}),
    "_table": ("moves of others", {"color": GREY, "ls": (0, (1.2, 1.2))}),
}
"""Forecasts by what they know: the ending of their variables, their name, and their look, which needs no colour."""

MOST_PARAMETERS = 6
"""Drawn of one person."""


def draw_forecast(found: xr.Dataset) -> Drawing:
    """(a) Nats a choice over time for forecasts that know more and less, (b) the same for each person, (c) calibration."""
    drawing = Drawing([["a", "b", "c"]], height=2.9, width_ratios=[1.15, 1, 1])
    _draw_over_time(drawing, found)
    _draw_people(drawing, found)
    _draw_calibration(drawing, found)
    handles, said = drawing.axes["a"].get_legend_handles_labels()
    drawing.figure.legend(handles, said, loc="outside upper right", ncols=3, columnspacing=1.6, title="Predicted from")
    return drawing


def _draw_over_time(drawing: Drawing, found: xr.Dataset) -> None:
    times = found["trial"].values
    axes = drawing.panel("a", "(a) Over a block", "choice t", "nats a choice", xlim=(0, int(times.max())))
    whole_ticks(axes.xaxis)
    for ending, (name, look) in KNOWING.items():
        total = float(found.attrs[f"nats_per_choice{ending}"])
        drawing.line("a", times, found[f"nats_by_trial{ending}"], name, label=f"{name} ({total:.2f})", lw=1.4, **look)
    axes.set_ylim(bottom=0)


def _draw_people(drawing: Drawing, found: xr.Dataset) -> None:
    n = found.sizes["participant"]
    axes = drawing.panel("b", "(b) Each person", "people, sorted", "", xlim=(0, n + 1))
    axes.set_xticks([])
    axes.grid(visible=False, axis="x")
    order = np.argsort(found["nats"].values, kind="stable")
    at, size = np.arange(1, n + 1), float(np.clip(70 / n, 1.5, 4.5))
    own, group = found["nats"].values[order], found["nats_group"].values[order]
    drawing.interval("b", own, group, at, "from the group to the person", upright=True, color=GREY, lw=0.7, alpha=0.6)
    drawing.points("b", at, group, KNOWING["_group"][0], color=ORANGE, ms=size, marker="D", mfc="white", mew=0.9)
    drawing.points("b", at, own, KNOWING[""][0], color=BLUE, ms=size, mew=0)
    axes.set_ylim(bottom=0)


def _draw_calibration(drawing: Drawing, found: xr.Dataset) -> None:
    axes = drawing.panel("c", "(c) Calibration", "predicted probability", "came true", log="xy")
    predicted, observed, n = (found[name].values for name in ("predicted", "observed", "n_predictions"))
    shown = (n > 0) & (predicted > 0)
    predicted, observed, n = predicted[shown], observed[shown], n[shown]
    # Of choices that came true with probability p, 95 % of the shares lie within two standard errors.
    error = 1.96 * np.sqrt(predicted * (1 - predicted) / n)
    low = min(1e-3, predicted.min() / 1.5)
    axes.set(xlim=(low, 1.3), ylim=(low, 1.3))
    drawing.line("c", [low, 1], [low, 1], "as predicted", color=GREY, lw=1, ls=(0, (4, 2)))
    ends = np.maximum(observed - error, low), np.minimum(observed + error, 1.3)
    seen = observed > 0
    drawing.interval("c", ends[0][seen], ends[1][seen], predicted[seen], "95 %", upright=True, color=BLUE, lw=1.2, alpha=0.5)
    drawing.points("c", predicted[seen], observed[seen], "came true", color=BLUE, ms=4, mew=0)


def draw_assessment(found: xr.Dataset) -> Drawing:
    """(a) How early the final form is known, (b) regret to come alone and advised, (c) how common each weakness is."""
    drawing = Drawing([["a", "b", "c"]], height=2.9, width_ratios=[1, 1, 1.1])
    _draw_forms(drawing, found)
    _draw_to_come(drawing, found)
    _draw_weaknesses(drawing, found)
    return drawing


def _draw_forms(drawing: Drawing, found: xr.Dataset) -> None:
    times = found["trial"].values
    axes = drawing.panel(
        "a", "(a) Final form", "choice t", "probability given to it (%)", xlim=(0, int(times.max())), ylim=(0, 103)
    )
    whole_ticks(axes.xaxis)
    labels = found["label"].values
    for form in FORMS:
        own = found["form_probability"].sel(form=form).values[labels == form]
        known = np.isfinite(own).any(0) if own.size else np.zeros(times.size, bool)
        if not known.any():
            continue
        mean = 100 * np.nanmean(own[:, known], axis=0)
        look = {"color": COLOURS[form], "ls": DASHES[form], "label": f"{form} (n = {len(own)})"}
        drawing.line("a", times[known], mean, f"{form}, mean", **look)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", borderaxespad=0.1)
    else:
        axes.text(0.5, 0.5, "no curve has a form", transform=axes.transAxes, ha="center", color=GREY)


def _draw_to_come(drawing: Drawing, found: xr.Dataset) -> None:
    times = found["trial"].values
    axes = drawing.panel("b", "(b) Regret to come", "choice t", "expected regret", xlim=(0, int(times.max())))
    whole_ticks(axes.xaxis)
    thousands(axes.yaxis)
    looks: dict[str, tuple[str, dict[str, Look]]] = {
        "regret_to_come": ("as they go on", {"color": BLUE}),
        "regret_if_advised": ("advised", {"color": ORANGE, "ls": (0, (5, 1.5))}),
    }
    for name, (words, look) in looks.items():
        values = found[name].values
        known = np.isfinite(values).any(0)
        mean = np.nanmean(values[:, known], axis=0)
        drawing.line("b", times[known], mean, f"{words}, mean", label=words, **look)
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper right", borderaxespad=0.1)


def _draw_weaknesses(drawing: Drawing, found: xr.Dataset) -> None:
    names = [str(name) for name in found["weakness"].values]
    axes = drawing.panel("c", "(c) Weaknesses", "people (%)", "", xlim=(0, 108), xticks=[0, 25, 50, 75, 100])
    share = 100 * found["weakness_probability"].mean("participant").values
    at = np.arange(len(names))[::-1]
    drawing.bars("c", at, np.zeros(len(names)), share, "expected share of people", color=BLUE, height=0.6)
    for place, value in zip(at.tolist(), share.tolist(), strict=True):
        inside = value > 85
        axes.text(value - 2 if inside else value + 2, place, f"{value:.0f}", va="center", ha="right" if inside else "left",
                  fontsize=7.5, color="white" if inside else INK)  # fmt: skip
    axes.set_yticks(at, [name.replace(" of neigh", " of\nneigh").replace("prior too", "prior\ntoo") for name in names])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    if not names:
        axes.text(
            0.5, 0.5, "none is defined for this agent", transform=axes.transAxes, ha="center", color=GREY, fontsize=8.5
        )


def draw_person(found: xr.Dataset, row: int, truth: Mapping[str, float] | None = None) -> Drawing:
    """One block of a person: regret, the probability of each form and of the choices made, and parameters with intervals."""
    names = [str(name) for name in found["parameter"].values][:MOST_PARAMETERS]
    n_rows = -(-len(names) // 4)
    rows = [["regret", "forms", "choices"], *(part.tolist() for part in np.array_split(names, max(n_rows, 1)) if part.size)]
    # A mosaic for each row, so that rows may have different numbers of panels.
    drawing = Drawing([[[row]] for row in rows], height=2.4 + 2.1 * n_rows)
    one, times = found.isel(row=row), found["trial"].values
    played = np.isfinite(one["observed_regret"].values)
    _draw_regret(drawing, one, times, played)
    _draw_form_areas(drawing, one, times)
    _draw_choices(drawing, one, times)
    for letter, name in zip(LETTERS[3:], names, strict=False):
        _draw_parameter(drawing, one.sel(parameter=name), times[played], played, name, letter, (truth or {}).get(name))
    return drawing


def _time_panel(drawing: Drawing, key: str, title: str, y: str, times: np.ndarray, log: str = "") -> Axes:
    axes = drawing.panel(key, title, "choice t", y, log=log, xlim=(0, int(times.max())))
    whole_ticks(axes.xaxis)
    return axes


def _draw_regret(drawing: Drawing, one: xr.Dataset, times: np.ndarray, played: np.ndarray) -> None:
    axes = _time_panel(drawing, "regret", "(a) Regret", "observed regret", times)
    thousands(axes.yaxis)
    lost = one["observed_regret"].values
    drawing.line("regret", times[played], lost[played], "observed", color=INK, label="so far")
    to_come = one["regret_to_come"].values
    known = np.isfinite(to_come)
    words = "expected at the end"
    drawing.line("regret", times[known], (lost + to_come)[known], words, color=BLUE, ls=(0, (5, 1.5)), lw=1.3, label=words)
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper right", borderaxespad=0.1)


def _draw_form_areas(drawing: Drawing, one: xr.Dataset, times: np.ndarray) -> None:
    axes = _time_panel(drawing, "forms", "(b) Final form of regret", "probability (%)", times)
    probability = 100 * one["form_probability"].values
    known = np.isfinite(probability).all(1)
    for k, form in enumerate(FORMS):
        look = {"color": COLOURS[form], "ls": DASHES[form], "label": form}
        drawing.line("forms", times[known], probability[known, k], form, **look)
    axes.set(ylim=(-2, 128), yticks=range(0, 101, 20))
    axes.legend(loc="upper center", ncols=3, columnspacing=1.0, handlelength=1.6, borderaxespad=0.1)


def _draw_choices(drawing: Drawing, one: xr.Dataset, times: np.ndarray) -> None:
    axes = _time_panel(drawing, "choices", "(c) The choice made", "predicted probability", times, log="y")
    drawing.points("choices", times, one["probability"].values, "predicted", color=BLUE, ms=3, mew=0)
    axes.set_ylim(top=1.4)


def _draw_parameter(
    drawing: Drawing, one: xr.Dataset, times: np.ndarray, played: np.ndarray, name: str, letter: str, truth: float | None
) -> None:
    middle, low, high = (one[part].values[played] for part in ("estimate", "low", "high"))
    log = bool((low > 0).all() and high.max() > 20 * low.min())
    _time_panel(drawing, name, f"({letter}) {name_of(name)[0].upper()}{name_of(name)[1:]}", "", times, "y" if log else "")
    drawing.band(name, times, low, high, "95 % interval", color=BLUE)
    drawing.line(name, times, middle, "estimate", color=BLUE)
    if truth is not None:
        drawing.line(
            name, [0, times[-1]], [truth, truth], "true value", color=VERMILION, lw=1.2, ls=(0, (4, 2)), label="true"
        )
        if letter == LETTERS[3]:
            drawing.axes[name].legend(loc="best", borderaxespad=0.1)
