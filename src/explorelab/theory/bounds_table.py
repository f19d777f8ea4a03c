"""All bounds for one task and one algorithm, as one labelled table."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr

from explorelab._support.checks import Floats
from explorelab._support.door import door
from explorelab.errors import InputError, unknown_name
from explorelab.tasks.noise import is_gaussian
from explorelab.theory._checks import Times, checked_costs, checked_means, checked_n_between, checked_times
from explorelab.theory.arm_sums import cost_of_transitions, gaps, lai_robbins_visits, regret_of_visits
from explorelab.theory.quantile import BETA, CREDIBILITY_SCALE
from explorelab.theory.remainder import check_epsilon
from explorelab.theory.sources import THEOREMS, Bound, Source, corrected_source, misfit_of, published_source

NO_NOISE = "Without reward noise there is nothing to bound."

type AlgorithmName = Literal["deterministic", "stochastic", "block", "graphical"]


class _Column(NamedTuple):
    """One variable of the table: its numbers and notes on them."""

    values: Floats
    long_name: str
    valid_when: str
    does_not_apply: str = ""


@door
def all_bounds(
    algorithm: AlgorithmName,
    means: npt.ArrayLike,
    noise_var: float,
    times: npt.ArrayLike,
    *,
    power: float = 1.0,
    scale: float = CREDIBILITY_SCALE,
    beta: float = BETA,
    epsilon: float | None = None,
    costs: npt.ArrayLike | None = None,
    graph: bool = False,
    n_between: int | None = None,
    pull: float = 0.0,
    noise: str = "gaussian",
    misfit: str = "",
    void: str = "",
) -> xr.Dataset:
    """A table of every bound for one algorithm on one task, over `time` and `arm`.

    Variables: `lai_robbins_visits`, `lai_robbins_regret`, and `published_` and `corrected_` with each of `visits`,
    `regret`, `transitions` and `cost`. Each has the attributes `long_name` and `valid_when`, and where numbers are
    missing for a reason (NaN), `does_not_apply` gives that reason. Visits of best arms are always NaN: nothing bounds
    them. No bound on visits or transitions exceeds T, their largest possible number. Without noise (`noise_var` 0) there is
    nothing to bound.

    Parameters
    ----------
    algorithm
        "deterministic", "stochastic", "block" or "graphical".
    means
        True mean reward of each arm.
    noise_var
        Variance of the reward noise.
    times
        One horizon or an array of them.
    power, scale
        a and K of the agent's alpha_t = 1/(K t^a).
    beta
        Factor of the published bounds.
    epsilon
        Epsilon of appendix G; by default the best for the largest time.
    costs
        Mean cost of each move, `costs[from, to]`.
    graph
        Whether the task restricts moves, which only "graphical" is made for.
    n_between
        For "graphical" only; see `corrected.graphical_visits`.
    pull
        How strongly the prior draws estimates, from `prior_error`.
    noise
        Kind of reward noise; the Lai-Robbins bound is for Gaussian noise, and says so for any other.
    misfit
        A sentence on why the theorems do not cover the agent; every upper bound is then missing, for that reason.
    void
        A sentence on why there is no bound at all, not even a lower one.
    """
    if algorithm not in THEOREMS:
        raise unknown_name("algorithm", algorithm, THEOREMS)
    theorems = THEOREMS[algorithm]
    truth, horizons = checked_means(means), np.atleast_1d(checked_times(times))
    if horizons.ndim != 1:
        raise InputError(f"times must be one horizon or a list of them, got shape {horizons.shape}.")
    if not (math.isfinite(power) and power > 0):
        raise InputError(f"power must be a positive number, got {power}.")
    if epsilon is not None:
        check_epsilon(epsilon)  # even if no bound uses it
    between = checked_n_between(n_between, truth.size) if theorems.walks else None
    prices = None if costs is None else checked_costs(costs, truth.size)

    nothing = void or (NO_NOISE if noise_var == 0 else "")
    misfit = nothing or misfit or misfit_of(theorems, scale, graph)
    bounds = _lai_robbins(truth, noise_var, horizons, noise, nothing)
    for name, source in {
        "published": published_source(theorems, misfit, power, beta),
        "corrected": corrected_source(theorems, misfit, power, pull, epsilon, between, int(horizons.max())),
    }.items():
        parts = _visits_and_regret(source, theorems.walks, truth, noise_var, horizons)
        parts |= _transitions_and_cost(source, theorems.title, truth, noise_var, horizons, prices)
        for quantity, bound in parts.items():
            title = f"{name} upper bound on the {bound.long_name}"
            bounds[f"{name}_{quantity}"] = bound._replace(long_name=title)
    return _table(bounds, truth, horizons, {"algorithm": algorithm, "noise": noise, "noise_var": noise_var, "power": power})


def _lai_robbins(means: Floats, noise_var: float, times: Times, noise: str, why_not: str) -> dict[str, _Column]:
    when = (
        "Holds for any uniformly good algorithm in the limit of long horizons: the leading term of a lower bound, "
        "so a yardstick, not a bound, at finite T."
    )
    of_what = "asymptotic"
    if not is_gaussian(noise):
        of_what += ", for Gaussian noise"
        when += f" It is for Gaussian noise of the same variance; with {noise} noise the true limit differs."
    visits = np.full((times.size, means.size), np.nan) if why_not else lai_robbins_visits(means, noise_var, times)
    visits = np.minimum(visits, times[:, np.newaxis])
    regret = np.full(times.size, np.nan) if why_not else regret_of_visits(means, visits)
    name = f"Lai-Robbins lower bound ({of_what}) on the expected"
    return {
        "lai_robbins_visits": _Column(visits, f"{name} visits to an arm", when, why_not),
        "lai_robbins_regret": _Column(regret, f"{name} regret", when, why_not),
    }


def _visits_and_regret(source: Source, walks: bool, means: Floats, noise_var: float, times: Times) -> dict[str, _Column]:
    why_not = source.why_not or (_tied(means) if walks else "")
    visits, why_not = _apply(source, source.visits, source.least if walks else 1, means, noise_var, times, why_not)
    # if every arm is a best arm the regret is 0 whatever the visits, unless the bound is void
    void = bool(why_not) & np.isnan(visits).all(axis=1)
    regret = np.where(void, np.nan, regret_of_visits(means, visits))
    return {
        "visits": _Column(visits, "expected visits to an arm", source.valid_when, why_not),
        "regret": _Column(regret, "expected regret", source.valid_when, why_not),
    }


def _transitions_and_cost(
    source: Source, title: str, means: Floats, noise_var: float, times: Times, costs: Floats | None
) -> dict[str, _Column]:
    none = "" if source.transitions else f"The paper has no bound on the transitions of {title}."
    moves, why_not = _apply(source, source.transitions, source.least, means, noise_var, times, source.why_not or none)
    if not (source.why_not or none):
        # with ties, the arms below the best keep their bounds: the numbers stay, and the sentence is added
        why_not = " ".join(filter(None, (why_not, _tied(means))))
    if costs is None:
        cost, why_no_cost = np.full(times.size, np.nan), why_not or "No transition costs were given."
    else:
        cost, why_no_cost = cost_of_transitions(costs, moves), why_not
    return {
        "transitions": _Column(moves, "expected transitions into an arm", source.valid_when, why_not),
        "cost": _Column(cost, "expected cost of transitions", source.valid_when, why_no_cost),
    }


def _apply(
    source: Source, bound: Bound | None, least: int, means: Floats, noise_var: float, times: Times, why_not: str
) -> tuple[Floats, str]:
    """The bound at the times it covers, capped at T, and NaN elsewhere, with the reason."""
    values = np.full((times.size, means.size), np.nan)
    if why_not or bound is None:
        return values, why_not
    covered = (times >= least) & (times <= source.most)
    if covered.any():
        values[covered] = np.minimum(bound(means, noise_var, times[covered]), times[covered, np.newaxis])
    too_short = f"The bound needs T >= {least}, because it contains log log T." if (times < least).any() else ""
    too_long = (
        f"The bound is computed for T <= {source.most:,} only: it adds up over blocks."
        if (times > source.most).any()
        else ""
    )
    return values, " ".join(filter(None, (too_short, too_long)))


def _tied(means: Floats) -> str:
    n_best = int((gaps(means) == 0).sum())
    if n_best == 1:
        return ""
    return (
        f"{n_best} arms tie for the best, and the bound on transitions does not cover moves from one best arm to "
        "another, which can be most of the moves."
    )


def _table(bounds: dict[str, _Column], means: Floats, times: Times, attrs: dict[str, object]) -> xr.Dataset:
    variables = {}
    for name, bound in bounds.items():
        notes = {"long_name": bound.long_name, "valid_when": bound.valid_when}
        if bound.does_not_apply:
            notes["does_not_apply"] = bound.does_not_apply
        variables[name] = (("time", "arm")[: bound.values.ndim], bound.values, notes)
    gap = ("arm", gaps(means), {"long_name": "expected loss of one choice of the arm against the best"})
    return xr.Dataset(variables, {"time": times, "arm": np.arange(means.size), "gap": gap}, attrs)
