"""Figures on block UCL: regret, transition cost, and moves along a graph."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import xarray as xr

from explorelab import theory
from explorelab.agents.named.ucl import block_ucl
from explorelab.paper.exhibit import Effort, Exhibit, exhibit, spread
from explorelab.plots.style import BLUE, GREEN, INK, VERMILION, Drawing, Look
from explorelab.plots.words import number, percent, whole
from explorelab.tasks import Task, landscape, on_graph, profile, with_costs

HORIZON, QUICK_HORIZON, RUNS = 2**14 - 1, 2**9 - 1, 250


class Prior(TypedDict):
    """A prior with one mean for all arms."""

    prior_mean: float
    prior_var: float


PRIOR: Prior = {"prior_mean": 200, "prior_var": 1e6}
GRAPH_PRIOR: Prior = {"prior_mean": 40, "prior_var": 1e6}


def _settings(effort: Effort, prior: str, task: str, horizon: int) -> dict[str, str]:
    return {
        "Agent": f"block UCL, {prior}, σ₀² = 10⁶, uncorrelated, K = √(2πe), a = 1",
        "Task": task,
        "Horizon": f"T = {whole(horizon)}",
        "Replicates": str(effort.replicates(RUNS)),
        "Seed": str(effort.seed),
    }


def _mean_and_spread(drawing: Drawing, key: str, runs: xr.Dataset, name: str, curve: str, colour: str, **look: Look) -> None:
    mean, sd = runs[f"{name}_mean"], spread(runs, name)
    drawing.band(key, runs["time"], mean - sd, mean + sd, f"{curve}, mean ± 1 sd", color=colour, alpha=0.3)
    drawing.line(key, runs["time"], mean, f"{curve}, mean", color=colour, **look)


def block_regret(effort: Effort) -> Exhibit:
    """Regret of block UCL on landscape B and the published bound."""
    task, horizon = landscape("B", noise_var=1.0), effort.horizon(HORIZON, QUICK_HORIZON)
    runs = {ties: effort.simulate(block_ucl(**PRIOR, ties=ties), task, horizon, RUNS) for ties in ("random", "lowest")}
    times = runs["random"]["time"].values
    bound = theory.all_bounds("block", task.means, task.noise.var, times)["published_regret"]
    drawing = Drawing([["a"]], width=6.2, height=3.7)
    axes = drawing.panel("a", "", "choice t", "cumulative expected regret", log="xy", xlim=(1, horizon), ylim=(20, 2e5))
    drawing.line("a", times, bound, "published bound", color=VERMILION, ls="--", label="published bound")
    _mean_and_spread(drawing, "a", runs["random"], "regret", "ties at random", BLUE, label="ties at random, ± 1 sd")
    _mean_and_spread(drawing, "a", runs["lowest"], "regret", "lowest arm of ties", GREEN, ls=":", label="lowest of ties")
    axes.legend(loc="lower right")
    last = {ties: (float(run["regret_mean"][-1]), float(spread(run, "regret")[-1])) for ties, run in runs.items()}
    settled = _first_time_at(runs["random"], 0.999)
    finding = (
        f"At T = {whole(horizon)} the mean regret is {whole(last['random'][0])} (sd {whole(last['random'][1])} over "
        f"{effort.replicates(RUNS)} runs, {number(100 * last['random'][1] / last['random'][0], 2)} % of it); the bound is "
        f"{number(float(bound[-1]) / last['random'][0], 2)} times as large. Nearly all of it comes from first visits: "
        "99.9 % has been "
        f"lost by t = {whole(settled)}. With the lowest arm taken among ties it is {whole(last['lowest'][0])}, "
        f"sd {number(last['lowest'][1], 2)}."
    )
    differs = (
        "The paper plots the same quantities and says that the variance is small, which is true. It does not say how ties "
        f"are broken, which changes the regret by {percent(abs(last['random'][0] / last['lowest'][0] - 1))}: ten "
        "squares tie for every mean. The published proof of the bound has a gap (appendix G)."
    )
    settings = _settings(effort, "μ₀ = 200", "landscape B, 10 × 10, Gaussian noise of variance 1", horizon)
    return exhibit(drawing, finding, differs, settings, tasks=(task,))


def _first_time_at(runs: xr.Dataset, share: float) -> int:
    mean = runs["regret_mean"].values
    return int(runs["time"].values[np.argmax(mean >= share * mean[-1])])


def block_cost(effort: Effort) -> Exhibit:
    """Transition cost of block UCL, with and without tied best arms, and the published bound."""
    horizon = effort.horizon(HORIZON, QUICK_HORIZON)
    tied, single = with_costs(landscape("B", noise_var=1.0)), with_costs(profile("B", 1.0))
    agent = block_ucl(**PRIOR, ties="random")
    drawing = Drawing([["a", "b"]], height=3.5)
    paths = effort.simulate(agent, tied, horizon, RUNS, keep="trajectories")["choice"].values
    times = np.unique(np.geomspace(2, horizon, 150).round().astype(int))
    total, among_best = _costs_of(paths, tied, times)
    bound = _bound_below_best(tied, times)
    _draw_tied(drawing, times, total, among_best, bound)
    alone = effort.simulate(agent, single, horizon, RUNS, times=times.tolist())
    promised = theory.all_bounds("block", single.means, single.noise.var, times, costs=_costs(single))["published_cost"]
    _draw_single(drawing, alone, promised)
    for axes in drawing.axes.values():
        axes.set_xlim(2, horizon)
    finding, differs = _about_costs(total, among_best, bound, alone, promised, paths, tied)
    where = "(a) landscape B, 10 × 10, ten best arms; (b) its profile, 10 arms, one best arm; Gaussian noise of variance 1"
    settings = _settings(effort, "μ₀ = 200, ties at random", f"{where}; cost = distance", horizon)
    return exhibit(drawing, finding, differs, settings, tasks=(tied,))


def _costs(task: Task) -> np.ndarray:
    assert task.costs is not None  # both tasks here have been given costs
    return task.costs.mean


def _costs_of(paths: np.ndarray, task: Task, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cost of all moves, and of moves from one best arm to another, by run and time."""
    before, after = paths[:, :-1], paths[:, 1:]
    paid = _costs(task)[before, after]
    best = task.gaps == 0
    both = paid * (best[before] & best[after])
    at = times - 2
    return np.cumsum(paid, axis=1)[:, at], np.cumsum(both, axis=1)[:, at]


def _bound_below_best(task: Task, times: np.ndarray) -> np.ndarray:
    """The published bound on cost with the tied best arms counted as one, which is all that its proof covers.

    sum over arms below the best of (c_i^max + c_*^max) E[s_i], + c_*^max, with the dearest of the best arms as *.
    """
    into = theory.all_bounds("block", task.means, task.noise.var, times)["published_transitions"].values
    dearest = _costs(task).max(axis=0)
    below, best = task.gaps > 0, task.gaps == 0
    return np.asarray(((dearest[below] + dearest[best].max()) * into[:, below]).sum(axis=1) + dearest[best].max())


def _draw_tied(drawing: Drawing, times: np.ndarray, total: np.ndarray, among: np.ndarray, bound: np.ndarray) -> None:
    drawing.panel("a", "(a) Ten best arms tie", "choice t", "cumulative transition cost", log="xy", ylim=(0.3, 2e5))
    drawing.line("a", times, bound, "published bound, without moves among best arms", color=VERMILION, ls="--")
    mean, sd = total.mean(0), total.std(0)
    drawing.band("a", times, np.maximum(mean - sd, 1e-3), mean + sd, "all moves, mean ± 1 sd", color=BLUE, alpha=0.3)
    drawing.line("a", times, mean, "all moves, mean", color=BLUE)
    outside = (total - among).mean(0)
    drawing.line("a", times, outside, "moves that the bound covers, mean", color=GREEN, ls="-.")
    shown = among.mean(0) > 0
    drawing.line("a", times[shown], among.mean(0)[shown], "moves among best arms, mean", color=INK, ls=":")
    drawing.say("a", 0.98, 1.6 * bound[-1], "bound, without moves among best arms", VERMILION)
    drawing.say("a", 0.66, 1.1 * mean[-1], "all moves, ± 1 sd", BLUE)
    drawing.say("a", 0.98, 0.45 * outside[-1], "covered by\nthe bound", GREEN, va="top")
    drawing.say("a", 0.6, 2.2, "among\nbest arms", INK)


def _draw_single(drawing: Drawing, runs: xr.Dataset, bound: xr.DataArray) -> None:
    drawing.panel("b", "(b) One best arm", "choice t", "", log="xy", ylim=(0.3, 2e5))
    drawing.line("b", runs["time"], bound, "published bound", color=VERMILION, ls="--")
    _mean_and_spread(drawing, "b", runs, "cost", "all moves", BLUE)
    drawing.say("b", 0.98, 1.6 * float(bound[-1]), "published bound", VERMILION)
    drawing.say("b", 0.98, 1.6 * float(runs["cost_mean"][-1]), "all moves, ± 1 sd", BLUE)


def _about_costs(
    total: np.ndarray, among: np.ndarray, bound: np.ndarray, alone: xr.Dataset, promised: xr.DataArray,
    paths: np.ndarray, task: Task,
) -> tuple[str, str]:  # fmt: skip
    moves = paths[:, 1:] != paths[:, :-1]
    best = task.gaps == 0
    free = moves & best[paths[:, 1:]] & best[paths[:, :-1]]
    n_moves, n_free = moves.sum(1).mean(), free.sum(1).mean()
    early = free[:, : paths.shape[1] // 4].sum(1).mean()
    exponent = np.log(n_free / early) / np.log(4) if early else np.nan
    cost, sd = float(alone["cost_mean"][-1]), float(spread(alone, "cost")[-1])
    finding = (
        f"(a) On the grid the mean cost is {whole(total[:, -1].mean())} (sd {whole(total[:, -1].std())}); "
        f"{whole(n_free)} of {whole(n_moves)} transitions go from one best arm to another, and their number still "
        f"grows, like T to the power {number(exponent, 2)} over the last two doublings. The bound, "
        f"{whole(bound[-1])}, leaves them out; "
        f"the moves that it covers cost {whole((total - among)[:, -1].mean())}. (b) With a single best arm, "
        f"where it applies in full, the cost is {number(cost)} (sd {number(sd, 2)}) in "
        f"{number(alone['transitions_mean'][-1], 2)} "
        f"transitions, and the bound {whole(promised[-1])}, {whole(float(promised[-1]) / cost)} times as much."
    )
    differs = (
        "The paper draws the bound over the grid's cost without saying that its ten best arms tie. The proof takes one best "
        "arm: it does not cover moves among best arms, which are most of the moves here. At that rate they "
        "would eventually exceed it, as it only grows like log log T."
    )
    return finding, differs


def graphical(effort: Effort) -> Exhibit:
    """Regret of graphical block UCL on a line of ten arms, and the published bound."""
    horizon = effort.horizon(HORIZON, QUICK_HORIZON)
    task = on_graph(profile("B", 6.25))
    runs = {ties: effort.simulate(block_ucl(**GRAPH_PRIOR, ties=ties), task, horizon, RUNS) for ties in ("lowest", "random")}
    times = runs["lowest"]["time"].values
    bound = theory.all_bounds("graphical", task.means, task.noise.var, times, graph=True)["published_regret"]
    drawing = Drawing([["a"]], width=6.2, height=3.7)
    axes = drawing.panel("a", "", "choice t", "cumulative expected regret", log="xy", xlim=(1, horizon), ylim=(10, 3e5))
    drawing.line("a", times, bound, "published bound", color=VERMILION, ls="--", label="published bound")
    _mean_and_spread(drawing, "a", runs["random"], "regret", "ties at random", BLUE, label="ties at random, ± 1 sd")
    _mean_and_spread(drawing, "a", runs["lowest"], "regret", "lowest arm of ties", GREEN, ls="-.", label="lowest of ties")
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.64))
    last = {ties: (float(run["regret_mean"][-1]), float(spread(run, "regret")[-1])) for ties, run in runs.items()}
    early = float(runs["random"]["regret_mean"].interp(time=32)) / last["random"][0]
    finding = (
        f"At T = {whole(horizon)} the mean regret is {whole(last['random'][0])} (sd {whole(last['random'][1])}) with "
        "ties at "
        f"random and {whole(last['lowest'][0])} (sd {number(last['lowest'][1], 2)}) with the lowest arm; the bound is "
        f"{whole(float(bound[-1]) / last['lowest'][0])} times the latter. {percent(early)} has been lost by t = 32: "
        "with gaps of four or more noise standard deviations, walking past every arm is nearly all the exploration there is."
    )
    differs = (
        "As in the paper, regret is far below the bound, which counts every change of goal as a visit to every arm. "
        "The paper does not say how ties are broken: at the start all arms tie, and the lowest-first rule walks the line "
        "from its start."
    )
    settings = _settings(
        effort, "μ₀ = 40", "profile B on a line graph of 10 arms, start at the first, noise variance 6.25", horizon
    )
    return exhibit(drawing, finding, differs, settings, tasks=(task,))
