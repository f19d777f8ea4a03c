"""Figures on the human task: its landscapes, and agents that behave like the people who played it."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from explorelab.agents.named.ucl import stochastic_ucl
from explorelab.paper.exhibit import Effort, Exhibit, exhibit
from explorelab.plots.style import BLUE, GREEN, GREY, INK, VERMILION, Drawing, thousands
from explorelab.plots.words import number, percent, whole
from explorelab.regret.forms import FORMS, fit_regret_curves, fitted_regret, shares
from explorelab.tasks.task import TRAINING_PEAK, landscape

MEAN_LABELS = {"A": (6, 23), "B": (4.6, 37), "training": (8.7, 8)}
"""Where each profile has room for the label of its mean."""


def landscapes(effort: Effort) -> Exhibit:
    """Mean rewards of the two landscapes and of the training one, as profiles and as surfaces."""
    tasks = {"A": landscape("A"), "B": landscape("B"), "training": landscape("training")}
    drawing = Drawing(
        [["A", "B", "training"], ["surface A", "surface B", "surface training"]], height=4.6, height_ratios=[1, 1.2]
    )
    row = TRAINING_PEAK[1]
    for name, task in tasks.items():
        surface = task.means.reshape(10, 10)
        title = f"Landscape {name}" if len(name) == 1 else f"Training (y = {row + 1})"
        axes = drawing.panel(name, title, "x", "mean reward", ylim=(-4, 106), xticks=[1, 4, 7, 10])
        drawing.line(name, np.arange(1, 11), surface[:, row], "profile", color=BLUE, marker="o", ms=3.5)
        axes.axhline(task.means.mean(), color=GREY, lw=1, ls=":")
        axes.text(*MEAN_LABELS[name], f"mean {task.means.mean():g}", color=GREY, ha="center", va="center", fontsize=8)
        below = f"surface {name}"
        square = drawing.panel(below, "", "x", "y", xticks=[1, 4, 7, 10], yticks=[1, 4, 7, 10], aspect="equal")
        square.grid(visible=False)
        colours = drawing.cells(below, surface, cmap="viridis", vmin=0, vmax=100)
    for later in ("B", "training", "surface B", "surface training"):
        drawing.axes[later].set_ylabel("")
    bar = drawing.figure.colorbar(colours, ax=[drawing.axes[f"surface {name}"] for name in tasks], shrink=0.85, pad=0.02)
    bar.set_label("mean reward")
    a, b = (tasks[name].means.reshape(10, 10)[:, 0] for name in "AB")
    finding = (
        f"A has mean {a.mean():g}, its only maximum, {a.max():g}, at x = {a.argmax() + 1}, and is concave (every second "
        f"difference is {np.diff(a, 2).max():g} or less). B has mean {b.mean():g}, a local maximum of {b[0]:g} at x "
        "= 1 and the "
        f"global one, {b.max():g}, at x = {b.argmax() + 1}; ten squares share it. Training is 0 except for one square "
        "of 100."
    )
    differs = (
        "The paper's values were printed only in a figure that the source lacks. These satisfy every stated fact, but are "
        "not the original numbers. A 10 × 10 grid has no centre square: the training peak is one of the middle four."
    )
    settings = {"Noise": "whole numbers −5 to 5, variance 10", "Seed": "none (nothing is random)"}
    return exhibit(drawing, finding.replace("-", "−"), differs, settings, tasks=(tasks["A"],))


AGENTS: dict[str, dict[str, Any]] = {
    "linear": {"prior_mean": 30, "prior_var": 1000, "temperature": 4},
    "log": {"prior_mean": 200, "prior_var": 10, "length_scale": 4, "temperature": 1},
}
"""The paper's two examples (section V.C): mu_0, sigma_0^2, lambda (0 for the first) and upsilon."""

LOOKS = {"linear": BLUE, "log": GREEN}


def linear_and_log(effort: Effort) -> Exhibit:
    """Observed regret of the two example agents with best fits, and how often each form fits best."""
    task, horizon = landscape("B"), effort.horizon(90, 36)
    regret = {
        name: effort.simulate(stochastic_ucl(**given), task, horizon, 2000, keep="replicates")["observed_regret"]
        for name, given in AGENTS.items()
    }
    fits = {
        (name, how): fit_regret_curves(curves, power=how) for name, curves in regret.items() for how in ("raw", "log-log")
    }
    drawing = Drawing([["a", "b"]], height=3.5, width_ratios=[1.25, 1])
    axes = drawing.panel(
        "a", "(a) Two agents", "choice t", "observed regret", xlim=(0, horizon), xticks=range(0, horizon + 1, 30)
    )
    thousands(axes.yaxis)
    for name, curves in regret.items():
        _draw_example(drawing, name, curves, [fits[name, "raw"], fits[name, "log-log"]])
    axes.fill_between(
        [], [], color=GREY, alpha=0.25, lw=0, label=f"middle 80 % of {whole(regret['log'].sizes['replicate'])}"
    )
    axes.legend(loc="upper left")
    _draw_shares(drawing, fits)
    return exhibit(drawing, *_what_was_found(regret, fits), _settings(effort, regret), tasks=(task,))


def _draw_example(drawing: Drawing, name: str, curves: xr.DataArray, fits: list[xr.Dataset]) -> None:
    low, high = curves.quantile([0.1, 0.9], dim="replicate").values
    drawing.band("a", curves["time"], low, high, f"{name} agent, middle 80 %", color=LOOKS[name])
    as_named = (fits[0]["label"] == name) & (fits[1]["label"] == name)
    example = int(as_named.argmax("replicate"))
    fitted = fitted_regret(fits[0].isel(replicate=example), curves["time"].values).sel(form=name)
    drawing.line(
        "a", curves["time"], curves[example], f"{name} agent {example}", color=LOOKS[name], label=f"{name} agent, one run"
    )
    drawing.line("a", curves["time"], fitted, f"best {name} fit to agent {example}", color=INK, ls="--", lw=1.2,
                 label="best fit" if name == "log" else None)  # fmt: skip


def _draw_shares(drawing: Drawing, fits: dict[tuple[str, str], xr.Dataset]) -> None:
    axes = drawing.panel("b", "(b) Form that fits best", "share of agents (%)", "", xlim=(0, 100), ylim=(-0.5, 3.5))
    axes.grid(visible=False)
    colours = {"linear": BLUE, "power": VERMILION, "log": GREEN}
    places = np.array([3.0, 2.2, 0.8, 0.0])
    found = [shares(fit) for fit in fits.values()]
    start = np.zeros(len(found))
    for form in FORMS:
        length = 100 * np.array([share[form] for share in found])
        drawing.bars("b", places, start, length, form, color=colours[form], height=0.62, label=form, edgecolor="white")
        for place, begin, long in zip(places, start, length, strict=True):
            if long > 5:
                axes.text(begin + long / 2, place, f"{long:.0f}", color="white", ha="center", va="center", fontweight="bold")
        start = start + length
    axes.set_yticks(places, [f"{name} agent\n{how} fit" for name, how in fits])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.42, -0.17), ncols=3, columnspacing=1.2, handlelength=1.0)


def _what_was_found(regret: dict[str, xr.DataArray], fits: dict[tuple[str, str], xr.Dataset]) -> tuple[str, str]:
    last = {name: curves.isel(time=-1) for name, curves in regret.items()}
    third = float((last["log"] < last["linear"] / 3).mean())
    best = {key: shares(fit)[key[0]] for key, fit in fits.items()}
    exponent = float(fits["linear", "raw"]["b"].sel(form="power").median())
    error = {name: float(values.std(ddof=1) / np.sqrt(values.size)) for name, values in last.items()}
    finding = (
        f"After {regret['log'].sizes['time']} choices the log agent has lost {whole(last['log'].mean())} ± "
        f"{number(error['log'], 2)} (standard error) and "
        f"the linear agent {whole(last['linear'].mean())} ± {number(error['linear'], 2)}; it loses under a third in "
        f"{percent(third)} of pairs. The linear agent is labelled linear in {percent(best['linear', 'raw'])} of runs "
        f"if the power law is fitted on the raw scale (its median exponent is then {number(exponent)}) and in "
        f"{percent(best['linear', 'log-log'])} if it is fitted as log R on log t; the log agent is labelled log in "
        f"{percent(best['log', 'raw'])} and {percent(best['log', 'log-log'])}."
    )
    differs = (
        "The paper shows one simulated agent of each kind. Its labels are single examples, not what its three-way rule "
        "typically gives: fitted on the raw scale, most linear agents are called power. The curves drawn here are the first "
        "that bear the paper's label under both fits. The paper does not say how it fitted the power law."
    )
    return finding, differs


def _settings(effort: Effort, regret: dict[str, xr.DataArray]) -> dict[str, str]:
    return {
        "Agents": "stochastic UCL, constant temperature υ; linear: μ₀ = 30, σ₀² = 1000, λ = 0, υ = 4; "
        "log: μ₀ = 200, σ₀² = 10, λ = 4, υ = 1; K = √(2πe), a = 1",
        "Task": f"landscape B, 10 × 10 squares, noise −5 to 5, T = {regret['log'].sizes['time']}",
        "Replicates": str(regret["log"].sizes["replicate"]),
        "Seed": str(effort.seed),
    }
