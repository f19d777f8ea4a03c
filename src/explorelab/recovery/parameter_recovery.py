"""Parameter recovery: people with known parameters are simulated on the same blocks and refitted in the same way."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import norm, rankdata

from explorelab._support import checks
from explorelab._support.checks import Floats, Variables
from explorelab._support.door import door
from explorelab._support.rounding import spread
from explorelab._support.work.units import long_work
from explorelab.agents import Agent
from explorelab.agents.factors import Argument
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.fit_people import fit as fit_agent
from explorelab.fitting.known import Known
from explorelab.fitting.spaces import FieldValue, standard
from explorelab.recovery.designs import repeated
from explorelab.recovery.simulated_choices import simulate_choices
from explorelab.recovery.truth import Within, known_of, true_parameters
from explorelab.regret.clusters import wilson


@door
@long_work
def recover_parameters(
    choices: Choices,
    agent: str | Agent | None = None,
    fit: xr.DataTree | None = None,
    n_people: int = 100,
    method: str | None = None,
    *,
    within: Within | None = None,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Argument] | None = None,
    space: Mapping[str, Mapping[str, FieldValue]] | None = None,
    n_starts: int = 10,
    noise: str = "gaussian",
    seed: int = 0,
    progress: bool | None = None,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """How well the parameters of simulated people, who play these blocks (or `blank_choices`), are recovered.

    Over person and parameter: `true`, `estimate`, `low`, `high` (95 % interval), `covered`, `at_bound`, `identified`.
    Over parameter: `rank_correlation` (Spearman) of true and estimated values with `rank_low`, `rank_high`; `pearson`,
    `bias` and `rmse` on the parameter's own `scale` (logarithms, log-odds or natural units); `coverage` of the intervals
    with `coverage_low`, `coverage_high` (Wilson); `share_at_bound`, `share_identified`. Over pairs of parameters:
    `estimate_correlation` and `true_correlation`, rank correlations among estimates and among true values, and
    `cross_correlation` of each true parameter with each estimate: off the diagonal, one parameter is mistaken for another.
    The attribute `warning` says whether the fit failed to converge; it is empty if all is well.

    Parameters
    ----------
    choices
        Choices whose blocks the simulated people play, real or from `blank_choices`.
    agent
        Agent or its name; by default the agent of the fit.
    fit
        Fit whose estimates are the true parameters, each person's in turn; without it they are drawn from the prior.
    n_people
        Number of simulated people.
    method
        "ml", "map" or "em"; by default the fit's, or "map". The search space is the fit's own.
    within
        Parameters whose true values are drawn evenly from a range instead, as in `{"temperature": (1, 4)}`.
    free, fixed, space
        Which parameters to estimate, which values to fix, and where to search, as in `fit`; only without a fit.
    n_starts
        Number of starting points per person.
    noise
        Noise of simulated rewards: "gaussian" or "integer", or one added with `add_noise`.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    executor
        Where the work is done: any object with the interface of `concurrent.futures`, such as `xl.workers(4)` or a Dask
        client's `get_executor()`; by default here. The result does not depend on it.
    resume
        Folder for what is finished, from which a run that was stopped goes on; by default nothing is kept.
    """
    n_people, seed = (
        checks.whole("n_people", n_people, at_least=4, at_most=checks.MANY),
        checks.whole("seed", seed, at_least=0),
    )
    known = known_of(choices, agent, fit, free, fixed, space)
    if not known.space:
        raise InputError(f"{known.agent.name} has no free parameters to recover.")
    method = method or ("map" if fit is None else str(fit.attrs["method"]))
    truth = true_parameters(known, choices, n_people, seed, within)
    blocks = repeated(choices, truth.who)
    people = simulate_choices(blocks, known.agent, truth.params, seed, noise=noise, progress=progress)
    how: dict[str, Any] = {"free": known.names, "space": known.changes, "n_starts": n_starts, "seed": seed}
    again = fit_agent(people, known.agent, method, **how, progress=progress)  # type: ignore[arg-type]  # checked there
    result = recovered(known, truth.params, again["estimates"].to_dataset())
    given = "range" if within else "prior" if fit is None else "estimates"
    told = {"agent": known.agent.name, "method": method, "n": n_people, "seed": seed, "starts": n_starts, "truth": given}
    return result.assign_attrs(**told, source=choices.source, warning=known.warning)


def recovered(known: Known, true: Mapping[str, np.ndarray], found: xr.Dataset) -> xr.Dataset:
    """True values and estimates, and summary statistics of each parameter."""
    names = list(known.names)
    truth = np.stack([true[name] for name in names], axis=1)
    found = found.sel(parameter=names, parameter_2=names)
    low, high, estimate = (found[name].values for name in ("low", "high", "estimate"))
    covered = (low <= truth) & (truth <= high)
    each = ("person", "parameter")
    scale = np.array([dimension.spread for dimension in known.space])
    on_scale = [scale * standard(known.space, _columns(names, values)) for values in (truth, estimate)]
    variables = {
        "true": (each, truth, {"long_name": "true value"}),
        "estimate": (each, estimate, {"long_name": "estimate"}),
        "low": (each, low, {"long_name": "95 % interval, lower end"}),
        "high": (each, high, {"long_name": "95 % interval, upper end"}),
        "covered": (each, covered),
        "at_bound": (each, found["at_bound"].values.astype(bool)),
        "identified": (each, found["identified"].values.astype(bool)),
        "scale": ("parameter", [dimension.scale for dimension in known.space]),
        **_summary(truth, estimate, on_scale, covered),
        "share_at_bound": ("parameter", found["at_bound"].values.mean(0)),
        "share_identified": ("parameter", found["identified"].values.mean(0)),
        **_between(truth, estimate),
    }
    people = np.arange(1, len(truth) + 1)
    return xr.Dataset(variables, {"person": people, "parameter": names, "parameter_2": names})


def _columns(names: list[str], values: np.ndarray) -> dict[str, np.ndarray]:
    return {name: values[:, i] for i, name in enumerate(names)}


def _summary(truth: Floats, estimate: Floats, on_scale: list[Floats], covered: np.ndarray) -> Variables:
    n, k = truth.shape
    rank = np.array([correlated(rankdata(truth[:, i]), rankdata(estimate[:, i])) for i in range(k)])
    rank_low, rank_high = rank_interval(rank, n)
    off = on_scale[1] - on_scale[0]
    coverage = covered.mean(0)
    ends = np.array([wilson(share, n) for share in coverage])
    columns = {
        "rank_correlation": rank,
        "rank_low": rank_low,
        "rank_high": rank_high,
        "pearson": np.array([correlated(on_scale[0][:, i], on_scale[1][:, i]) for i in range(k)]),
        "bias": off.mean(0),
        "rmse": np.sqrt((off**2).mean(0)),
        "coverage": coverage,
        "coverage_low": ends[:, 0],
        "coverage_high": ends[:, 1],
    }
    return {name: ("parameter", values) for name, values in columns.items()}


def _between(truth: Floats, estimate: Floats) -> Variables:
    """Rank correlations of every pair of parameters."""
    ranks = {"true": rankdata(truth, axis=0), "estimate": rankdata(estimate, axis=0)}

    def table(rows: str, columns: str) -> tuple[tuple[str, str], Floats]:
        k = truth.shape[1]
        pairs = [[correlated(ranks[rows][:, i], ranks[columns][:, j]) for j in range(k)] for i in range(k)]
        return (("parameter", "parameter_2"), np.array(pairs))

    return {
        "true_correlation": table("true", "true"),
        "estimate_correlation": table("estimate", "estimate"),
        "cross_correlation": table("true", "estimate"),
    }


def correlated(x: Floats, y: Floats) -> float:
    """Pearson's correlation; NaN if x or y does not vary beyond rounding."""
    if not spread(x) or not spread(y):
        return float("nan")
    x, y = x - x.mean(), y - y.mean()
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return float((x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum()))


def rank_interval(rank: Floats, n: int, level: float = 0.95) -> tuple[Floats, Floats]:
    """The interval of Spearman's correlation over n pairs, by Fisher's z with the variance of Bonett & Wright (2000)."""
    rank = np.clip(np.asarray(rank, float), -1 + 1e-12, 1 - 1e-12)
    if n <= 3:
        return np.full_like(rank, -1.0), np.full_like(rank, 1.0)
    reach = norm.ppf((1 + level) / 2) * np.sqrt((1 + rank**2 / 2) / (n - 3))
    return np.tanh(np.arctanh(rank) - reach), np.tanh(np.arctanh(rank) + reach)
