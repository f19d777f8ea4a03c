"""The full hierarchical posterior of an agent's parameters, for everyone and the population: by an emulator or by NUTS."""

from __future__ import annotations

import warnings
from typing import Literal, NamedTuple

import jax
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Variables
from explorelab._support.extras import needs
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.bayes.beginning import Beginning, begin, starting
from explorelab.fitting.bayes.convergence import FAILED, ConvergenceError, ConvergenceWarning, Report, examined
from explorelab.fitting.bayes.emulated_chains import EmulatedChains
from explorelab.fitting.bayes.nuts import Draw, Settings, run_chains
from explorelab.fitting.bayes.posterior_groups import (
    group_of,
    over_draws,
    posterior_estimates,
    posterior_table,
    prior_change,
    row_labels,
    stats_table,
)
from explorelab.fitting.model import Fitted
from explorelab.fitting.results import as_tree, space_table
from explorelab.fitting.spaces import Changes

type OnFailure = Literal["raise", "warn"]

WARMUP = {"bayes": 500, "nuts": 1000}
"""How long chains warm up by default."""
LEAST_ACCEPTED = 0.1
"""With a smaller share of accepted proposals, NUTS alone takes over."""
MOST_TIMES = 4
"""By an emulator, chains that have not converged go on until there are this many times the draws asked for."""


class Asked(NamedTuple):
    """What chains were asked for."""

    method: str
    chains: int
    draws: int
    seed: int
    settings: Settings


def sample(
    choices: Choices,
    fitted: Fitted,
    method: Literal["bayes", "nuts"] = "bayes",
    *,
    chains: int = 4,
    draws: int = 1000,
    warmup: int | None = None,
    seed: int = 0,
    target_accept: float = 0.9,
    max_tree_depth: int = 10,
    correlated: bool = False,
    starts: int = 4,
    on_failure: OnFailure = "raise",
    space: Changes | None = None,
    progress: bool | None = None,
) -> xr.DataTree:
    """Sample the posterior of everyone's parameters and of their population; returns ArviZ's groups and estimates.

    `posterior` has each parameter by its name, in natural units, over chain, draw and participant; `group_mean` and
    `group_sd` over parameter, in standard units; `group_typical`, the mean in natural units; and `group_correlation` if
    `correlated`. `estimates` has posterior medians with standard deviations and 95 % intervals, `group` the population.

    By "nuts", NUTS asks the agent for many slopes in each draw. By "bayes", it moves by an emulated likelihood that costs
    next to nothing, and each draw is accepted or rejected by the true one, so that the posterior is exact whatever the
    emulator (see `emulated_steps`); if hardly any proposal is accepted, NUTS alone takes over, and chains that have not
    converged after `draws` go on, up to four times as long.

    Chains start around a fit by empirical Bayes, as far apart as that fit is uncertain, so warm-up (by default 500 draws by
    "bayes", 1000 by "nuts") need only learn scales. If the chains have not converged, this raises `ConvergenceError`, whose
    `fit` holds them, or with `on_failure="warn"` returns them with a `ConvergenceWarning`. The attribute `convergence` says
    what failed.
    """
    warmup = WARMUP[method] if warmup is None else warmup
    asked = _asked(method, fitted, (chains, draws, seed), (warmup, target_accept, max_tree_depth), correlated, on_failure)
    begun = begin(choices, fitted, starts, asked.seed, progress)
    under_way = None
    if method == "bayes":
        points = starting(begun, asked.settings, asked.chains, asked.seed)
        under_way = EmulatedChains(fitted, begun, points, asked.settings, asked.seed, progress)
    if under_way is None or under_way.accepted < LEAST_ACCEPTED:
        return _by_nuts(choices, fitted, begun, asked, on_failure, space, progress)
    drawn = under_way.draw(asked.draws)
    report = _examined(choices, fitted, drawn, asked)
    for _ in range(MOST_TIMES - 1):
        if not report.failures:
            break
        more = under_way.draw(asked.draws)
        drawn = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), drawn, more)
        report = _examined(choices, fitted, drawn, asked)
    return _finished(choices, fitted, drawn, report, asked, on_failure, space, progress)


def _by_nuts(
    choices: Choices,
    fitted: Fitted,
    begun: Beginning,
    asked: Asked,
    on_failure: OnFailure,
    space: Changes | None,
    progress: bool | None,
) -> xr.DataTree:
    points = starting(begun, asked.settings, asked.chains, asked.seed)
    drawn = run_chains(fitted, begun.known, points, asked.settings, asked.draws, asked.seed, progress)
    report = _examined(choices, fitted, drawn, asked)
    return _finished(choices, fitted, drawn, report, asked, on_failure, space, progress)


def _asked(
    method: str,
    fitted: Fitted,
    counts: tuple[int, int, int],
    moves: tuple[int, float, int],
    correlated: bool,
    on_failure: OnFailure,
) -> Asked:
    """What was asked for, checked."""
    needs("bayes", f"method {method}")
    chains = checks.whole("chains", counts[0], at_least=2, at_most=checks.MANY)
    draws = checks.whole("draws", counts[1], at_least=4, at_most=checks.MANY)
    warmup = checks.whole("warmup", moves[0], at_least=1, at_most=checks.MANY)
    seed = checks.whole("seed", counts[2], at_least=0)
    accept = float(checks.scalar("target_accept", moves[1], above=0, below=1))
    depth = checks.whole("max_tree_depth", moves[2], at_least=1)
    checks.one_of("on_failure", on_failure, dict.fromkeys(("raise", "warn"), 0))
    if not fitted.space:
        raise InputError(f"{fitted.agent.name} has no free parameters, so there is nothing to sample.")
    return Asked(method, chains, draws, seed, Settings(warmup, accept, depth, bool(correlated) and len(fitted.space) > 1))


def _examined(choices: Choices, fitted: Fitted, drawn: Draw, asked: Asked) -> Report:
    from explorelab.fitting.effects.by_nuts import sampled_table

    if fitted.design is None:
        table = posterior_table(choices, fitted, drawn, asked.settings.correlated)
    else:
        table = sampled_table(choices, fitted, drawn)
    return examined(table, stats_table(drawn), asked.settings.max_tree_depth)


def _finished(
    choices: Choices,
    fitted: Fitted,
    drawn: Draw,
    report: Report,
    asked: Asked,
    on_failure: OnFailure,
    space: Changes | None,
    progress: bool | None,
) -> xr.DataTree:
    """The tree of the draws; raises or warns if they have not converged."""
    from explorelab.fitting.effects.by_nuts import posterior_groups

    settings = asked.settings
    told = {
        "method": asked.method, "chains": asked.chains, "draws": drawn.diverging.shape[1], "warmup": settings.warmup,
        "seed": asked.seed, "target_accept": settings.target_accept, "max_tree_depth": settings.max_tree_depth,
        "correlated": int(settings.correlated), "estimate": "posterior median", "convergence": report.told,
        "emulated": int(drawn.accepted is not None),
    }  # fmt: skip
    over_rows = ("chain", "draw", "row")
    likelihood: Variables = {"block": (over_rows, drawn.log_likelihood)}
    if fitted.design is None:
        likelihood["prior_change"] = (over_rows, prior_change(choices, fitted, drawn, space))
        groups = {
            "estimates": posterior_estimates(choices, fitted, drawn.z, drawn.sd, report, progress),
            "group": group_of(fitted, drawn),
            "space": space_table(fitted.space),
            "posterior": posterior_table(choices, fitted, drawn, settings.correlated),
        }
    else:
        groups = posterior_groups(choices, fitted, drawn, report, progress)
    groups |= {
        "sample_stats": stats_table(drawn),
        "log_likelihood": xr.Dataset(likelihood, {**over_draws(drawn), **row_labels(choices)}),
        "observed_data": xr.Dataset({"n_choices": ("row", choices.scored.sum(1))}, row_labels(choices)),
        "convergence": report.measures,
    }
    tree = as_tree(groups, choices, fitted, told)
    if report.failures:
        _refuse(report, tree, on_failure)
    return tree


def _refuse(report: Report, tree: xr.DataTree, on_failure: OnFailure) -> None:
    message = f"the chains have not converged: {report.told.removeprefix(FAILED)}. What helps: {report.advice}"
    if on_failure == "raise":
        raise ConvergenceError(message, tree)
    warnings.warn(message + ".", ConvergenceWarning, stacklevel=4)
