"""Leave-one-block-out: every block is predicted from the same person's other blocks.

A left-out block cannot influence its fold's fit in any way: priors, bounds and starts are in units of the rewards in the
training blocks alone (everyone's in the same set of folds), and under empirical Bayes the group's prior is learned anew from
these. A block's design (its length, its arms) is known beforehand and may be used. Each block is predicted twice: at the
estimates (`nll`), and averaged over Laplace's posterior (`nll_averaged`), which gives the probability of the whole block
under the remaining uncertainty about the parameters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from explorelab._support import checks
from explorelab._support.door import door
from explorelab._support.work.units import long_work
from explorelab.agents import Agent
from explorelab.agents.factors import Argument
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.criteria import chance_nll, share_foreseen
from explorelab.fitting.empirical_bayes import ONE_PERSON, fit_group
from explorelab.fitting.fit_people import check_choices, check_possible
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.results import as_tree, covariances, on_natural_scale, space_table
from explorelab.fitting.search.best import fit_each
from explorelab.fitting.search.likelihood_checks import check_likelihood
from explorelab.fitting.search.solve import limits, predicted
from explorelab.fitting.spaces import FieldValue


class Folds(NamedTuple):
    """The left-out blocks, the blocks that predict them, and which folds share a group."""

    left_out: np.ndarray
    training: list[np.ndarray]
    sets: np.ndarray


def check_within(choices: Choices, within: str | None) -> None:
    """Raise if this is not a condition of the choices."""
    if within is not None and within not in choices.conditions:
        raise InputError(f"within must be a condition of the choices, got {within!r}; conditions: {_known(choices)}.")


def folds_of(choices: Choices, within: str | None = None) -> Folds:
    """A fold for every block, trained on the same person's other blocks, or those of the same condition with `within`."""
    check_within(choices, within)
    condition = np.zeros(choices.n_rows, int)
    if within is not None:
        condition = np.unique(choices.conditions[within], return_inverse=True)[1]
    left_out, training, turn = [], [], []
    for who in range(choices.n_participants):
        for kind in np.unique(condition[choices.participant == who]):
            rows = np.nonzero((choices.participant == who) & (condition == kind))[0]
            if len(rows) < 2:
                raise InputError(_too_few(choices, who, within))
            left_out += list(rows)
            training += [np.delete(rows, k) for k in range(len(rows))]
            turn += [(int(kind), k) for k in range(len(rows))]
    sets = np.unique(np.array(turn), axis=0, return_inverse=True)[1].reshape(-1)
    return Folds(np.array(left_out), training, sets)


def _too_few(choices: Choices, who: int, within: str | None) -> str:
    where = "" if within is None else f" of the same {within}"
    return (
        f"leaving one block out needs at least 2 blocks{where} from everyone, but {choices.participants[who]} has only one; "
        "exclude such people first, or use another criterion."
    )


def _known(choices: Choices) -> str:
    return ", ".join(choices.conditions) or "none"


@door
@long_work
def cross_validate(
    choices: Choices,
    agent: str | Agent = "stochastic-ucl",
    method: str = "map",
    *,
    within: str | None = None,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Argument] | None = None,
    space: Mapping[str, Mapping[str, FieldValue]] | None = None,
    n_starts: int = 10,
    draws: int = 64,
    seed: int = 0,
    progress: bool | None = None,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> xr.DataTree:
    """How well an agent predicts blocks that it was not fitted to.

    `folds` has, over fold: participant, block, nll (negative log-likelihood of the left-out block), nll_averaged,
    chance_nll, n_choices, r2 = 1 - nll / chance_nll, train_nll, the estimates, and the set of folds. `people` has totals by
    participant, and `space` the search space of each set.

    Parameters
    ----------
    choices
        People's choices; everyone needs at least two blocks.
    agent
        Agent or its name, as in `fit`.
    method
        "ml", "map" or "em".
    within
        Name of a condition: predict each left-out block only from blocks of the same condition.
    free, fixed, space
        Which parameters to estimate, which values to fix, and where to search, as in `fit`.
    n_starts
        Number of starting points per fit.
    draws
        Posterior draws over which `nll_averaged` averages; 0 for none.
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
    checks.one_of("method", method, dict.fromkeys(("ml", "map", "em"), 0))
    n_starts = checks.whole("n_starts", n_starts, at_least=1, at_most=checks.MANY)
    draws = checks.whole("draws", draws, at_least=0, at_most=checks.MANY)
    seed = checks.whole("seed", seed, at_least=0)
    check_choices(choices)
    check_likelihood(choices, prepare(choices, agent, free, fixed, space))
    if method == "em" and choices.n_participants < 2:
        raise InputError(ONE_PERSON)
    folds = folds_of(choices, within)
    how = _How(method, n_starts, draws, seed, progress)
    parts = []
    for number in range(int(folds.sets.max()) + 1):
        own = np.flatnonzero(folds.sets == number)
        training = [folds.training[i] for i in own]
        fitted = prepare(choices, agent, free, fixed, space, seen=np.unique(np.concatenate(training)))
        parts.append(_one_set(fitted, own, training, folds.left_out[own], how))
        check_possible(choices, fitted, choices.participant[folds.left_out[own]], parts[-1].train_nll)
    table = _table(choices, folds, parts)
    every = [part.fitted for part in parts]
    told = {"method": method, "within": within, "starts": n_starts, "draws": draws, "seed": seed, "fixed": _fixed(every)}
    groups = {"folds": table, "people": by_participant(table), "space": _spaces(every)}
    return as_tree(groups, choices, every[0], told)


class _How(NamedTuple):
    """How every fold is fitted."""

    method: str
    starts: int
    draws: int
    seed: int
    progress: bool | None


class _Part(NamedTuple):
    """Results of one set of folds, which share a space (and under empirical Bayes a group)."""

    own: np.ndarray
    """Which folds they are."""
    fitted: Fitted
    z: np.ndarray
    train_nll: np.ndarray
    nll: np.ndarray
    averaged: np.ndarray


def _one_set(fitted: Fitted, own: np.ndarray, training: list[np.ndarray], left_out: np.ndarray, how: _How) -> _Part:
    """The results of one set of folds: fitted to their training blocks, in units of these alone, and tested on the rest."""
    # If people have different numbers of blocks, the last sets may hold one person, from whom no group can be learned.
    if how.method == "em" and fitted.space and len(training) > 1:
        group = fit_group(fitted, training, starts=how.starts, seed=how.seed, progress=how.progress)
        z, ending, posterior = group.best.z, group.ending, group.posterior_covariance
    else:
        _, best, ending = fit_each(fitted, training, how.method != "ml", how.starts, how.seed, how.progress)
        z, posterior = best.z, covariances(ending.hessian, best.information)[0]
    nll = -predicted(fitted, left_out, z[:, None], how.progress)[:, 0]
    averaged = np.full_like(nll, np.nan)
    if how.method != "ml" and how.draws:
        points = posterior_draws(fitted, z, posterior, how.draws, how.seed)
        averaged = np.log(how.draws) - logsumexp(predicted(fitted, left_out, points, how.progress), axis=1)
    return _Part(own, fitted, z, -ending.log_likelihood, nll, averaged)


def _spaces(each: list[Fitted]) -> xr.Dataset:
    """The search space of each set of folds, in units of its own training blocks."""
    return xr.concat([space_table(fitted.space) for fitted in each], dim="set")


def _fixed(each: list[Fitted]) -> str:
    """The fixed values, as JSON: one value, or one for each set of folds if it depends on the training blocks."""
    values = [{name: np.asarray(value).tolist() for name, value in fitted.data.fixed.items()} for fitted in each]
    same = {name: all(one[name] == value for one in values) for name, value in values[0].items()}
    return json.dumps({name: value if same[name] else [one[name] for one in values] for name, value in values[0].items()})


def posterior_draws(fitted: Fitted, z: np.ndarray, posterior: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Points drawn from Laplace's posterior of every problem, within the bounds."""
    values, vectors = np.linalg.eigh(posterior)
    root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
    noise = np.random.default_rng(seed).standard_normal((len(z), draws, z.shape[1]))
    return np.clip(z[:, None] + np.einsum("nij,ndj->ndi", root, noise), *limits(fitted.space))


def _table(choices: Choices, folds: Folds, parts: list[_Part]) -> xr.Dataset:
    rows = folds.left_out
    order = np.argsort(np.concatenate([part.own for part in parts]))

    def joined(values: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(values)[order]

    nll, averaged = joined([part.nll for part in parts]), joined([part.averaged for part in parts])
    chance = chance_nll(choices, by_row=True)[rows]
    return xr.Dataset(
        {
            "participant": ("fold", np.array(choices.participants)[choices.participant[rows]]),
            "block": ("fold", choices.block[rows]),
            "row": ("fold", rows),
            "set": ("fold", folds.sets, {"long_name": "folds of one set share a space, and under em a group"}),
            "nll": ("fold", nll),
            "nll_averaged": ("fold", averaged),
            "train_nll": ("fold", joined([part.train_nll for part in parts])),
            "chance_nll": ("fold", chance),
            "n_choices": ("fold", choices.scored[rows].sum(1)),
            "r2": ("fold", share_foreseen(nll, chance)),
            "r2_averaged": ("fold", share_foreseen(averaged, chance)),
            "estimate": (
                ("fold", "parameter"),
                joined([on_natural_scale(part.fitted.space, part.z) for part in parts]),
            ),
        },
        coords={"parameter": [dimension.name for dimension in parts[0].fitted.space]},
    )


def by_participant(folds: xr.Dataset) -> xr.Dataset:
    """Totals of every participant's folds."""
    added = folds[["nll", "nll_averaged", "chance_nll", "n_choices"]].groupby(folds["participant"]).sum(skipna=False)
    for name, nll in (("r2", "nll"), ("r2_averaged", "nll_averaged")):
        added[name] = (added["nll"].dims, share_foreseen(added[nll].values, added["chance_nll"].values))
    return added
