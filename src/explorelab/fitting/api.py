"""`fit`: an agent to every participant, as one labelled tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr

from explorelab import checks
from explorelab.agents import Agent
from explorelab.errors import InputError
from explorelab.fitting.empirical import fit_group
from explorelab.fitting.individual import fit_each, rows_of_each
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.results import as_tree, estimates, space_table
from explorelab.people.data import Choices

type Method = Literal["ml", "map", "em", "nuts"]
METHODS = ("ml", "map", "em", "nuts")


def fit(
    choices: Choices,
    agent: str | Agent = "stochastic-ucl",
    method: Method = "map",
    *,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    space: Mapping[str, Mapping[str, Any]] | None = None,
    starts: int = 10,
    seed: int = 0,
    progress: bool | None = None,
    **settings: Any,
) -> xr.DataTree:
    """An agent fitted to every participant of the choices.

    `method`: "ml", maximum likelihood; "map", with the weak standard prior of `space`; "em", empirical Bayes, the prior
    learned from the group (expectation-maximisation with Laplace's approximation); "nuts", the whole hierarchical
    posterior. `free`, `fixed` and `space` say what is estimated, what is given and where it is sought; see `prepare`.

    The tree has `estimates` (over participant and parameter: estimate, standard_error, low, high, identified, remark ...;
    log_likelihood, aic, bic, pseudo_r2), `space`, for "em" and "nuts" also `group`, and for "nuts" ArviZ's groups
    `posterior`, `sample_stats` and `log_likelihood`.
    """
    checks.one_of("method", method, dict.fromkeys(METHODS, 0))
    starts = checks.whole("starts", starts, at_least=1)
    seed = checks.whole("seed", seed, at_least=0)
    fitted = prepare(choices, agent, free, fixed, space)
    check_likelihood(fitted)
    if method == "nuts":
        from explorelab.fitting.hierarchical import sample

        return sample(choices, fitted, seed=seed, starts=starts, progress=progress, **settings)
    rows = rows_of_each(choices)
    groups: dict[str, xr.Dataset] = {}
    prior_sd: np.ndarray | float = 1.0
    # Without free parameters there is nothing to learn of a group.
    if method == "em" and fitted.space:
        result = fit_group(fitted, rows, starts=starts, seed=seed, progress=progress, **settings)
        best, ending = result.best, result.ending
        groups["group"] = result.table(fitted)
        prior_sd = groups["group"]["z_sd"].values
    else:
        if settings:
            raise InputError(f"{next(iter(settings))} is not a setting of method {method!r}.")
        _, best, ending = fit_each(fitted, rows, method == "map", starts, seed, progress)
    found = estimates(choices, fitted, best, ending, prior_sd)
    groups = {"estimates": found, "space": space_table(fitted.space), **groups}
    told = {"method": method, "starts": starts, "seed": seed}
    return as_tree(groups, choices, fitted, told)


def check_likelihood(fitted: Fitted) -> None:
    """Raise if the agent chooses with certainty, so that one unexpected choice makes everything impossible.

    And if its probabilities are counted from draws: what was never drawn would count as impossible.
    """
    name = fitted.agent.rule.choice.name
    if not fitted.agent.rule.choice.exact:
        raise InputError(
            f"{fitted.agent.name} with correlated arms cannot be fitted: the probability that an arm is the best is known "
            "by counting draws alone. Fit it with independent arms (length_scale 0), or take kalman-thompson."
        )
    if name.startswith("greedy") and "lapse" not in name:
        raise InputError(
            f"{fitted.agent.name} always takes the arm that looks best: one other choice and its likelihood is zero. "
            f"Let it lapse ({fitted.agent.name}+lapse), or take a rule that chooses at random, such as stochastic-ucl."
        )


def saved(tree: xr.DataTree, path: Any) -> None:
    """Write a fit as netCDF."""
    tree.to_netcdf(path, engine="h5netcdf")


def load_fit(path: Any) -> xr.DataTree:
    """A fit that was written."""
    try:
        tree = xr.open_datatree(path, engine="h5netcdf").load()
    except OSError as error:
        raise InputError(f"{path}: cannot be read as a fit: {error}.") from None
    if "estimates" not in tree.children:
        raise InputError(f"{path}: expected a fit written by explorelab fit, got a file without estimates.")
    return tree


def estimates_of(tree: xr.DataTree) -> dict[str, np.ndarray]:
    """Every participant's parameters in natural units, by name."""
    table = tree["estimates"].to_dataset()["estimate"]
    return {str(name): table.sel(parameter=name).values for name in table["parameter"].values}
