"""The full hierarchical posterior of an agent's parameters by NUTS: for everyone and for the population."""

from __future__ import annotations

import warnings
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Variables
from explorelab._support.extras import needs
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.bayes.convergence import (
    FAILED,
    ConvergenceError,
    ConvergenceWarning,
    Report,
    examined,
    people_converged,
)
from explorelab.fitting.bayes.nuts import Draw, Settings, Starts, run_chains
from explorelab.fitting.bayes.population import Known
from explorelab.fitting.bayes.prior_units import change_of_prior
from explorelab.fitting.criteria import chance_nll, share_foreseen, without_information
from explorelab.fitting.empirical_bayes import fit_group
from explorelab.fitting.model import Fitted
from explorelab.fitting.results import as_tree, on_natural_scale, space_table
from explorelab.fitting.search.best import Best, fit_each, rows_of_each
from explorelab.fitting.search.identified import correlations, identified
from explorelab.fitting.search.optimise import Status
from explorelab.fitting.search.solve import limits, predicted
from explorelab.fitting.spaces import Changes, Origin, bounded, origin_of, space_for

type OnFailure = Literal["raise", "warn"]

EM_ROUNDS = 12
EM_TOLERANCE = 0.03
"""The first fit need not be exact: it only sets where chains start and the coordinates in which they move."""
AWAY = 0.2
"""Estimates closer to a bound than this, in standard units, do not inform the sampler's coordinates."""


class Beginning(NamedTuple):
    """Where chains start: a first fit by empirical Bayes, and the model's inputs, which include its results."""

    known: Known
    mean: np.ndarray
    sd: np.ndarray
    mean_se: np.ndarray | None = None
    """How uncertain the mean is; None if that follows from the sd."""


def sample(
    choices: Choices,
    fitted: Fitted,
    *,
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 1000,
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

    Chains start around a fit by empirical Bayes, as far apart as that fit is uncertain, so warm-up need only learn scales.
    If the chains have not converged, this raises `ConvergenceError`, whose `fit` holds them, or with `on_failure="warn"`
    returns them with a `ConvergenceWarning`. The attribute `convergence` says what failed.
    """
    needs("bayes", "method nuts")
    from explorelab.fitting.effects.by_nuts import posterior_groups, sampled_table

    chains = checks.whole("chains", chains, at_least=2, at_most=checks.MANY)
    draws = checks.whole("draws", draws, at_least=4, at_most=checks.MANY)
    warmup = checks.whole("warmup", warmup, at_least=1, at_most=checks.MANY)
    seed = checks.whole("seed", seed, at_least=0)
    accept = float(checks.scalar("target_accept", target_accept, above=0, below=1))
    depth = checks.whole("max_tree_depth", max_tree_depth, at_least=1)
    checks.one_of("on_failure", on_failure, dict.fromkeys(("raise", "warn"), 0))
    if not fitted.space:
        raise InputError(f"{fitted.agent.name} has no free parameters, so there is nothing to sample.")
    settings = Settings(warmup, accept, depth, bool(correlated) and len(fitted.space) > 1)
    begun = begin(choices, fitted, starts, seed, progress)
    drawn = run_chains(fitted.model, begun.known, starting(begun, settings, chains, seed), settings, draws, seed, progress)
    stats = stats_table(drawn)
    posterior = posterior_table(choices, fitted, drawn, settings.correlated) if fitted.design is None else None
    report = examined(sampled_table(choices, fitted, drawn) if posterior is None else posterior, stats, depth)
    told = {
        "method": "nuts", "chains": chains, "draws": draws, "warmup": warmup, "seed": seed, "target_accept": accept,
        "max_tree_depth": depth, "correlated": int(settings.correlated), "estimate": "posterior median",
        "convergence": report.told,
    }  # fmt: skip
    over_rows = ("chain", "draw", "row")
    likelihood: Variables = {"block": (over_rows, drawn.log_likelihood)}
    if posterior is not None:
        likelihood["prior_change"] = (over_rows, prior_change(choices, fitted, drawn, space))
        groups = {
            "estimates": posterior_estimates(choices, fitted, drawn.z, drawn.sd, report, progress),
            "group": _group(fitted, drawn),
            "space": space_table(fitted.space),
            "posterior": posterior,
        }
    else:
        groups = posterior_groups(choices, fitted, drawn, report, progress)
    groups |= {
        "sample_stats": stats,
        "log_likelihood": xr.Dataset(likelihood, {**over_draws(drawn), **_row_labels(choices)}),
        "observed_data": xr.Dataset({"n_choices": ("row", choices.scored.sum(1))}, _row_labels(choices)),
        "convergence": report.measures,
    }
    tree = as_tree(groups, choices, fitted, told)
    if report.failures:
        _refuse(report, tree, on_failure)
    return tree


def prior_change(choices: Choices, fitted: Fitted, drawn: Draw, space: Changes | None) -> np.ndarray:
    """For every draw and row, the change in the population's log prior if units came from all other rows.

    Standard units, and with them the prior of mean and sd, follow the rewards (see `spaces`); `space` holds the user's
    changes to them.
    """
    names = [dimension.name for dimension in fitted.space]
    here = Origin(*fitted.data.origin)
    change = []
    for row in range(choices.n_rows):
        others = choices.rows(np.arange(choices.n_rows) != row) if choices.n_rows > 1 else choices
        there = origin_of(space_for(names, others, space))
        change.append(change_of_prior(here, there, drawn.mean, drawn.sd))
    return np.stack(change, axis=-1)


def _refuse(report: Report, tree: xr.DataTree, on_failure: OnFailure) -> None:
    message = f"the chains have not converged: {report.told.removeprefix(FAILED)}. What helps: {report.advice}"
    if on_failure == "raise":
        raise ConvergenceError(message, tree)
    warnings.warn(message + ".", ConvergenceWarning, stacklevel=3)


def begin(choices: Choices, fitted: Fitted, starts: int = 4, seed: int = 0, progress: bool | None = None) -> Beginning:
    """A first fit by empirical Bayes (MAP for a single person), and the sampler's coordinates that follow from it."""
    rows, n_parameters = rows_of_each(choices), len(fitted.space)
    if fitted.design is not None:
        from explorelab.fitting.effects.by_nuts import begin_with_effects

        return begin_with_effects(choices, fitted, starts, seed, progress)
    if len(rows) > 1:
        first = fit_group(fitted, rows, None, starts, seed, EM_ROUNDS, EM_TOLERANCE, progress)
        mean, covariance, best, ending = first.mean[0], first.covariance[0], first.best, first.ending
    else:
        _, best, ending = fit_each(fitted, rows, True, starts, seed, progress)
        mean, covariance = np.zeros(n_parameters), np.eye(n_parameters)
    check_finite(choices, best)
    precision = np.linalg.inv(covariance)
    low, high = limits(fitted.space)
    # Beyond a bound the likelihood is flat, so its curvature at the bound tells the sampler nothing.
    inside = (best.z > low + AWAY) & (best.z < high - AWAY)
    bend = positive((ending.information - precision) * inside[:, :, None] * inside[:, None, :])
    # At the posterior mode the slopes of likelihood and prior cancel.
    slope = (mean - best.z) @ precision * inside
    pull = np.einsum("nij,nj->ni", bend, best.z) - slope
    with jax.enable_x64(True):
        data = jax.tree.map(jnp.asarray, fitted.data)
        known = Known(data, jnp.asarray(choices.participant), *map(jnp.asarray, (low, high, bend, pull)))
    return Beginning(known, mean, np.sqrt(np.diagonal(covariance)))


def check_finite(choices: Choices, best: Best) -> None:
    """Raise if someone's likelihood or its slope is not finite: the sampler needs everyone's slope to move at all."""
    bad = [choices.participants[i] for i in np.nonzero(best.status == Status.NOT_FINITE)[0]]
    if bad:
        named = ", ".join(bad[:3]) + (f" and {len(bad) - 3} more" if len(bad) > 3 else "")
        raise InputError(
            f"the likelihood of {named}, or its slope, is not finite at any point tried, so no chain "
            "can move: exclude them, or let the agent lapse (+lapse) if it makes some choice impossible."
        )


def positive(matrices: np.ndarray) -> np.ndarray:
    """The nearest symmetric positive semidefinite matrices; zero for a matrix with a non-finite entry."""
    finite = np.where(np.isfinite(matrices).all((1, 2), keepdims=True), matrices, 0.0)
    values, vectors = np.linalg.eigh((finite + np.swapaxes(finite, 1, 2)) / 2)
    return np.einsum("nij,nj,nkj->nik", vectors, np.maximum(values, 0.0), vectors)


def starting(begun: Beginning, settings: Settings, chains: int, seed: int) -> Starts:
    """A start for each chain on the sampler's own scales, drawn around the first fit with twice its uncertainty."""
    rng = np.random.default_rng(seed)
    n_people, n_parameters = begun.known.pull.shape
    scale = {
        "mean": begun.sd / np.sqrt(n_people) if begun.mean_se is None else begun.mean_se,
        "sd": np.full(n_parameters, 1 / np.sqrt(2 * n_people)),
    }
    if settings.correlated:
        scale["correlation_root"] = np.full(n_parameters * (n_parameters - 1) // 2, 1 / np.sqrt(n_people))
    centre = {"mean": begun.mean, "sd": np.log(begun.sd)}
    points = {
        name: centre.get(name, 0.0) + 2 * width * rng.standard_normal((chains, len(width))) for name, width in scale.items()
    }
    points["x"] = rng.standard_normal((chains, n_people, n_parameters))
    return Starts(points, scale)


def posterior_table(choices: Choices, fitted: Fitted, drawn: Draw, correlated: bool) -> xr.Dataset:
    """The draws as ArviZ's group `posterior`."""
    names = [dimension.name for dimension in fitted.space]
    natural = on_natural_scale(fitted.space, drawn.z)
    per_person, per_parameter = ("chain", "draw", "participant"), ("chain", "draw", "parameter")
    variables: Variables = {
        name: (per_person, natural[..., i], {"long_name": f"{name}, natural units"}) for i, name in enumerate(names)
    }
    variables["group_mean"] = (per_parameter, drawn.mean, {"long_name": "mean of people, standard units"})
    variables["group_sd"] = (per_parameter, drawn.sd, {"long_name": "standard deviation of people, standard units"})
    typical = on_natural_scale(fitted.space, _bounded(fitted, drawn.mean))
    variables["group_typical"] = (per_parameter, typical, {"long_name": "parameters at the mean of people, natural units"})
    if correlated:
        variables["group_correlation"] = ((*per_parameter, "parameter_2"), drawn.correlation)
    coords = {**over_draws(drawn), "participant": list(choices.participants), "parameter": names}
    return xr.Dataset(variables, {**coords, **({"parameter_2": names} if correlated else {})})


def over_draws(drawn: Draw) -> Variables:
    """Coordinates of chains and draws."""
    chains, draws = drawn.diverging.shape
    return {"chain": np.arange(chains), "draw": np.arange(draws)}


def _bounded(fitted: Fitted, z: np.ndarray) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(bounded(jnp.asarray(z), *limits(fitted.space)))


def stats_table(drawn: Draw) -> xr.Dataset:
    """The sampler's statistics for each draw, as ArviZ's group `sample_stats`."""
    over = ("chain", "draw")
    return xr.Dataset(
        {
            "diverging": (over, drawn.diverging),
            "energy": (over, drawn.energy),
            "lp": (over, drawn.log_density, {"long_name": "log density in the sampler's coordinates"}),
            "n_steps": (over, drawn.n_steps),
            "tree_depth": (over, np.ceil(np.log2(drawn.n_steps + 1)).astype(int)),
            "acceptance_rate": (over, drawn.acceptance),
            "step_size": (over, drawn.step_size),
        },
        over_draws(drawn),
    )


def _row_labels(choices: Choices) -> Variables:
    return {
        "row_participant": ("row", np.array(choices.participants)[choices.participant]),
        "row_block": ("row", choices.block.astype(str)),
    }


def posterior_estimates(
    choices: Choices,
    fitted: Fitted,
    drawn_z: np.ndarray,
    sd: np.ndarray,
    report: Report,
    progress: bool | None,
    latents: np.ndarray | None = None,
) -> xr.Dataset:
    """Everyone's posterior medians, standard deviations and 95 % intervals, with remarks and likelihoods.

    `drawn_z` and the population's `sd` are draws of parameters in standard units. The likelihood is that of their medians,
    or with effects that of the medians of levels and slopes (`latents`).
    """
    names = [dimension.name for dimension in fitted.space]
    z = drawn_z.reshape(-1, *drawn_z.shape[2:])
    natural = on_natural_scale(fitted.space, z)
    median = np.median(z, axis=0)
    away = z - z.mean(0)
    covariance = np.einsum("dni,dnj->nij", away, away) / max(len(z) - 1, 1)
    nothing = np.full(len(median), np.nan)
    judged = identified(fitted, median, covariance, np.median(sd.reshape(-1, len(names)), axis=0))
    judged = judged.without(np.isin(choices.participants, without_information(choices)))
    low, high = np.quantile(natural, [0.025, 0.975], axis=0)
    points = median if latents is None else latents
    rows = predicted(fitted, np.arange(choices.n_rows), points[choices.participant][:, None], progress)[:, 0]
    ll = np.bincount(choices.participant, rows, choices.n_participants)
    undefined = {"long_name": "not defined for a posterior: see loo"}
    each, per_parameter, pair = "participant", ("participant", "parameter"), ("participant", "parameter", "parameter_2")
    return xr.Dataset(
        {
            "estimate": (per_parameter, np.median(natural, axis=0), {"long_name": "posterior median, natural units"}),
            "standard_error": (per_parameter, natural.std(0, ddof=1), {"long_name": "posterior standard deviation"}),
            "low": (per_parameter, low, {"long_name": "95 % interval, lower end"}),
            "high": (per_parameter, high, {"long_name": "95 % interval, upper end"}),
            "z": (per_parameter, median, {"long_name": "posterior median, standard units"}),
            "z_covariance": (pair, covariance, {"long_name": "posterior covariance, standard units"}),
            "correlation": (pair, correlations(covariance)),
            **judged.table(),
            "log_likelihood": (each, ll, {"long_name": "log-likelihood at the posterior median"}),
            "n_choices": (each, choices.n_scored),
            "aic": (each, nothing, undefined),
            "bic": (each, nothing, undefined),
            "pseudo_r2": (each, share_foreseen(-ll, chance_nll(choices))),
            "converged": (each, people_converged(report.measures, len(drawn_z), list(choices.participants))),
        },
        coords={"participant": list(choices.participants), "parameter": names, "parameter_2": names},
    )


def _group(fitted: Fitted, drawn: Draw) -> xr.Dataset:
    """The population: its mean, spread and correlations with their uncertainty, and where 95 % of people lie."""
    names = [dimension.name for dimension in fitted.space]
    space, p = fitted.space, len(names)
    mean, sd = drawn.mean.reshape(-1, p), drawn.sd.reshape(-1, p)
    covariance = sd[:, :, None] * drawn.correlation.reshape(-1, p, p) * sd[:, None, :]
    middle, spread = np.median(mean, axis=0), np.median(sd, axis=0)
    low, high = (on_natural_scale(space, _bounded(fitted, middle + sign * 1.96 * spread)) for sign in (-1, 1))
    typical = on_natural_scale(space, _bounded(fitted, mean))
    mean_low, mean_high = np.quantile(typical, [0.025, 0.975], axis=0)
    return xr.Dataset(
        {
            "mean": ("parameter", np.median(typical, axis=0)),
            "mean_low": ("parameter", mean_low, {"long_name": "95 % interval of the mean, lower end"}),
            "mean_high": ("parameter", mean_high, {"long_name": "95 % interval of the mean, upper end"}),
            "low": ("parameter", low, {"long_name": "95 % of people, lower end"}),
            "high": ("parameter", high, {"long_name": "95 % of people, upper end"}),
            "z_mean": ("parameter", middle),
            "z_mean_se": ("parameter", mean.std(0, ddof=1)),
            "z_sd": ("parameter", spread),
            "z_sd_se": ("parameter", sd.std(0, ddof=1)),
            "z_covariance": (("parameter", "parameter_2"), covariance.mean(0)),
        },
        coords={"parameter": names, "parameter_2": names},
    )
