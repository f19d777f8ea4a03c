"""Draws of the hierarchical posterior as the groups of a tree: ArviZ's own, estimates of people, and the population."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab._support.checks import Variables
from explorelab.choices.table import Choices
from explorelab.fitting.bayes.convergence import Report, people_converged
from explorelab.fitting.bayes.nuts import Draw
from explorelab.fitting.bayes.prior_units import change_of_prior
from explorelab.fitting.criteria import chance_nll, share_foreseen, without_information
from explorelab.fitting.model import Fitted
from explorelab.fitting.results import on_natural_scale
from explorelab.fitting.search.identified import correlations, identified
from explorelab.fitting.search.solve import limits, predicted
from explorelab.fitting.spaces import Changes, Origin, bounded, origin_of, space_for


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
    variables: Variables = {
        "diverging": (over, drawn.diverging),
        "energy": (over, drawn.energy),
        "lp": (over, drawn.log_density, {"long_name": "log density in the sampler's coordinates"}),
        "n_steps": (over, drawn.n_steps),
        "tree_depth": (over, np.ceil(np.log2(drawn.n_steps + 1)).astype(int)),
        "acceptance_rate": (over, drawn.acceptance),
        "step_size": (over, drawn.step_size),
    }
    if drawn.accepted is not None:
        variables["accepted"] = (over, drawn.accepted, {"long_name": "whether the likelihood accepted what was emulated"})
    return xr.Dataset(variables, over_draws(drawn))


def row_labels(choices: Choices) -> Variables:
    """Who played each row, and which block it is."""
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


def group_of(fitted: Fitted, drawn: Draw) -> xr.Dataset:
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
