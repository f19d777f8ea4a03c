"""`fit`: fits an agent to every participant and returns one labelled tree."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Literal, TypedDict, Unpack

import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.counted import counted, plural
from explorelab._support.door import door
from explorelab._support.files import check_writable, read_tree, write_whole
from explorelab._support.work.units import long_work
from explorelab.agents import Agent
from explorelab.agents.factors import Argument
from explorelab.choices.table import Choices
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.criteria import without_information
from explorelab.fitting.empirical_bayes import fit_group
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.results import OF_A_GROUP, as_tree, estimates, space_table
from explorelab.fitting.search.best import fit_each, rows_of_each
from explorelab.fitting.search.likelihood_checks import check_likelihood
from explorelab.fitting.spaces import FieldValue

type Method = Literal["ml", "map", "em", "bayes", "nuts"]
_SAMPLING = ("chains", "draws", "warmup", "target_accept", "max_tree_depth", "correlated", "on_failure")
SETTINGS: dict[str, tuple[str, ...]] = {
    "ml": (),
    "map": (),
    "em": ("rounds", "tolerance"),
    "bayes": _SAMPLING,
    "nuts": _SAMPLING,
}
"""The settings of each method, which are passed on to `fit_group` and `sample`."""


class MethodSettings(TypedDict, total=False):
    """Settings that only some of the methods have."""

    rounds: int
    tolerance: float
    chains: int
    draws: int
    warmup: int
    target_accept: float
    max_tree_depth: int
    correlated: bool
    on_failure: Literal["raise", "warn"]


@door
@long_work
def fit(
    choices: Choices,
    agent: str | Agent = "stochastic-ucl",
    method: Method = "map",
    *,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Argument] | None = None,
    space: Mapping[str, Mapping[str, FieldValue]] | None = None,
    effects: str | Mapping[str, str] | None = None,
    shared: Sequence[str] | None = None,
    n_starts: int = 10,
    seed: int = 0,
    progress: bool | None = None,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] | None = None,
    **settings: Unpack[MethodSettings],
) -> xr.DataTree:
    """Fit an agent to every participant.

    The tree has `estimates` (over participant and parameter: estimate, standard_error, low, high, identified, remark ...;
    log_likelihood, pseudo_r2, and for "ml" aic and bic, which are NaN under a prior), `space`, for "em", "bayes" and "nuts"
    also `group`, and for the last two ArviZ's groups `posterior`, `sample_stats` and `log_likelihood`.

    Parameters
    ----------
    choices
        People's choices.
    agent
        Agent or its name, which may fix parameters, as in "stochastic-ucl:length_scale=0".
    method
        "ml" (maximum likelihood), "map" (with the weak default prior of `space`), "em" (empirical Bayes: the prior is
        learned from the group by expectation-maximisation with Laplace's approximation), "bayes" (the full hierarchical
        posterior) or "nuts" (the same by NUTS alone, which takes far longer: to check "bayes").
    free
        Parameters to estimate; by default those in which people differ, and the noise variance if the data do not give it.
    fixed
        Values of parameters that are not estimated, for an agent given by name.
    space
        Changes to the bounds and priors of free parameters, as in `{"temperature": {"low": 0.01, "high": 100}}`.
    effects
        For "em", "bayes" and "nuts": how parameters depend on conditions, as in "temperature ~ group + C(session);
        bonus ~ age" (formulaic's grammar; see `effects`). A condition that changes within people has random slopes. A
        parameter may be held at a value in some blocks: "bonus = 0 if group == 'control'".
    shared
        For "em", "bayes" and "nuts": free parameters in which people in the same conditions do not differ.
    n_starts
        Number of starting points per person.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    executor
        Where the work is done: any object with the interface of `concurrent.futures`, such as `xl.workers(4)` or a Dask
        client's `get_executor()`; by default here. The result does not depend on it.
    resume
        Folder for what is finished, from which a run that was stopped goes on; by default nothing is kept.
    **settings
        For "em": rounds, tolerance. For "bayes" and "nuts": chains, draws, warmup, target_accept, max_tree_depth,
        correlated, on_failure. With "bayes", chains that have not converged after `draws` go on, up to four times as
        long.
    """
    checks.one_of("method", method, SETTINGS)
    _check_settings(method, settings)
    own: dict[str, Unchecked] = {**settings}  # each method checks its own
    n_starts = checks.whole("n_starts", n_starts, at_least=1, at_most=checks.MANY)
    seed = checks.whole("seed", seed, at_least=0)
    check_choices(choices)
    fitted = prepare(choices, agent, free, fixed, space)
    if effects is not None or shared is not None:
        fitted = _with_effects(choices, fitted, method, effects, shared)
    check_likelihood(choices, fitted)
    if method in ("bayes", "nuts"):
        from explorelab.fitting.bayes.hierarchical import sample

        return sample(choices, fitted, method, seed=seed, starts=n_starts, space=space, progress=progress, **own)
    rows = rows_of_each(choices)
    groups: dict[str, xr.Dataset] = {}
    prior_sd: np.ndarray | float = 1.0
    # Without free parameters there is nothing to learn about a group.
    if fitted.design is not None:
        from explorelab.fitting.effects.by_em import effects_groups
        from explorelab.fitting.effects.rounds import fit_effects

        with_group = fit_effects(fitted, rows, starts=n_starts, seed=seed, progress=progress, **own)
        check_possible(choices, fitted, np.arange(choices.n_participants), with_group.ending.log_likelihood)
        groups = {**effects_groups(choices, fitted, with_group), "space": space_table(fitted.space)}
        return as_tree(groups, choices, fitted, {"method": method, "starts": n_starts, "seed": seed})
    if method == "em" and fitted.space:
        result = fit_group(fitted, rows, starts=n_starts, seed=seed, progress=progress, **own)
        best, ending = result.best, result.ending
        groups["group"] = result.table(fitted)
        prior_sd = groups["group"]["z_sd"].values
    else:
        _, best, ending = fit_each(fitted, rows, method == "map", n_starts, seed, progress)
    check_possible(choices, fitted, np.arange(choices.n_participants), ending.log_likelihood)
    found = estimates(choices, fitted, best, ending, prior_sd, likelihood_alone=method == "ml")
    groups = {"estimates": found, "space": space_table(fitted.space), **groups}
    told = {"method": method, "starts": n_starts, "seed": seed}
    return as_tree(groups, choices, fitted, told)


def _with_effects(
    choices: Choices,
    fitted: Fitted,
    method: Method,
    effects: str | Mapping[str, str] | None,
    shared: Sequence[str] | None,
) -> Fitted:
    from explorelab.fitting.effects.attach import with_effects

    if method not in OF_A_GROUP:
        raise InputError(
            f"{'shared' if effects is None else 'effects'} needs method 'em', 'bayes' or 'nuts', got method {method!r}."
        )
    return with_effects(choices, fitted, effects, shared)


def _check_settings(method: Method, settings: Mapping[str, object]) -> None:
    """Raise if a name is not a setting of the method: it belongs to another method, or is misspelt."""
    for name in settings:
        owners = [repr(each) for each, own in SETTINGS.items() if name in own]
        if not owners:
            own = [known for known in inspect.signature(fit).parameters if known != "settings"]
            raise unknown_name("argument of fit()", name, [*own, *SETTINGS[method]])
        if name not in SETTINGS[method]:
            raise InputError(
                f"{name} is a setting of {plural(len(owners), 'method')} {' and '.join(owners)}, got method {method!r}."
            )


def check_choices(choices: Choices) -> None:
    """Raise if choices cannot be scored, naming the person: a fit would silently give wrong results.

    Someone who never chose among several arms is no error, unless nobody did.
    """
    if not isinstance(choices, Choices):
        raise InputError(f"choices must be the result of read_choices, got {type(choices).__name__}.")
    used = choices.observed | choices.scored
    beyond = used & ((choices.arm < 0) | (choices.arm >= choices.layout.n_arms))
    if beyond.any():
        raise InputError(f"arms must be 0 to {choices.layout.n_arms - 1}, got {_first(choices, choices.arm, beyond)}.")
    unknown = choices.observed & ~np.isfinite(choices.reward)
    if unknown.any():
        raise InputError(f"rewards must be finite numbers, got {_first(choices, choices.reward, unknown)}.")
    if choices.available is not None:
        offered = np.take_along_axis(choices.available, np.maximum(choices.arm, 0)[..., None], axis=2)[..., 0]
        absent = choices.scored & ~offered
        if absent.any():
            raise InputError(f"a chosen arm must be on offer, got {_first(choices, choices.arm, absent)}.")
    if len(without_information(choices)) == choices.n_participants:
        raise InputError(
            f"a fit needs choices among several arms, but none of {counted(choices.n_participants, 'participant')} made "
            "one: every trial was missed, was forced, or had only one arm on offer."
        )


def _first(choices: Choices, values: np.ndarray, bad: np.ndarray) -> str:
    row, trial = np.argwhere(bad)[0]
    who = f"participant {choices.participants[choices.participant[row]]}, block {choices.block[row]}, trial {trial + 1}"
    more = f" and {int(bad.sum()) - 1} more" if bad.sum() > 1 else ""
    return f"{values[row, trial]:g} ({who}{more})"


def check_possible(choices: Choices, fitted: Fitted, who: np.ndarray, log_likelihood: np.ndarray) -> None:
    """Raise, naming the person, if someone's choices have probability zero at the best parameters found."""
    bad = np.flatnonzero(~np.isfinite(log_likelihood))
    if not bad.size:
        return
    names = list(dict.fromkeys(choices.participants[who[i]] for i in bad))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    raise InputError(
        f"{fitted.agent.name} gives the choices of participant {names[0]}{more} probability zero, whatever its free "
        f"parameters: let it lapse ({fitted.agent.name}+lapse), use another agent, or exclude such people."
    )


@door
def save_fit(tree: xr.DataTree, path: str | os.PathLike[str]) -> None:
    """Write a fit as netCDF, completely or not at all; `load_fit` reads it.

    Parameters
    ----------
    tree
        Result of `fit`, `compare` or `cross_validate`.
    path
        File to write.
    """
    check_writable(Path(path))
    write_whole(Path(path), lambda beside: tree.to_netcdf(beside, engine="h5netcdf"))


@door
def load_fit(path: str | os.PathLike[str]) -> xr.DataTree:
    """Read a fit that `save_fit` wrote.

    Parameters
    ----------
    path
        File to read.
    """
    tree = read_tree(Path(path), "fit", "explorelab fit")
    if "estimates" not in tree.children:
        raise InputError(f"{path}: expected a fit written by explorelab fit, got a file without estimates.")
    return tree
