"""Leave-one-block-out: every block predicted from the same person's other blocks.

Under empirical Bayes the group's prior is learned anew for each fold from training blocks alone, and a block is predicted
twice: at the estimates (`nll`), and averaged over Laplace's posterior (`nll_averaged`), the probability that somebody with
these doubts about the parameters gives to the whole block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from explorelab import checks
from explorelab.agents import Agent
from explorelab.errors import InputError
from explorelab.fitting.api import check_likelihood
from explorelab.fitting.empirical import fit_group
from explorelab.fitting.individual import fit_each
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.results import as_tree, covariances, on_natural_scale, space_table
from explorelab.fitting.solve import limits, predicted
from explorelab.people.criteria import chance_nll
from explorelab.people.data import Choices


class Folds(NamedTuple):
    """Which blocks are left out, from what they are predicted, and which folds learn from one group."""

    left_out: np.ndarray
    training: list[np.ndarray]
    sets: np.ndarray


def folds_of(choices: Choices, within: str | None = None) -> Folds:
    """A fold for every block: the same person's other blocks train, those of the same `within` condition if one is named."""
    if within is not None and within not in choices.conditions:
        raise InputError(f"within must be a condition of the choices, got {within!r}; known are {_known(choices)}.")
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
        f"leaving one block out needs at least 2 blocks{where} of everyone, and {choices.participants[who]} has one; "
        "leave such people out first, or use another criterion."
    )


def _known(choices: Choices) -> str:
    return ", ".join(choices.conditions) or "none"


def cross_validate(
    choices: Choices,
    agent: str | Agent = "stochastic-ucl",
    method: str = "map",
    *,
    within: str | None = None,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    space: Mapping[str, Mapping[str, Any]] | None = None,
    starts: int = 10,
    draws: int = 64,
    seed: int = 0,
    progress: bool | None = None,
) -> xr.DataTree:
    """How well an agent predicts blocks that it was not fitted to.

    `folds` of the tree has, over fold: participant, block, nll (negative log-likelihood of the left-out block),
    nll_averaged, chance_nll, n_choices, r2 = 1 - nll / chance_nll, train_nll, and the estimates; `people` has totals by
    participant.
    """
    checks.one_of("method", method, dict.fromkeys(("ml", "map", "em"), 0))
    fitted = prepare(choices, agent, free, fixed, space)
    check_likelihood(fitted)
    folds = folds_of(choices, within)
    if method == "em" and fitted.space:
        group = fit_group(fitted, folds.training, folds.sets, starts=starts, seed=seed, progress=progress)
        z, ending, posterior = group.best.z, group.ending, group.posterior_covariance
    else:
        _, best, ending = fit_each(fitted, folds.training, method == "map", starts, seed, progress)
        z, posterior = best.z, covariances(ending.hessian, ending.information)[0]
    nll = -predicted(fitted, folds.left_out, z[:, None], progress)[:, 0]
    averaged = np.full_like(nll, np.nan)
    if method != "ml" and draws:
        points = posterior_draws(fitted, z, posterior, draws, seed)
        averaged = np.log(draws) - logsumexp(predicted(fitted, folds.left_out, points, progress), axis=1)
    table = _table(choices, fitted, folds, nll, averaged, -ending.log_likelihood, z)
    told = {"method": method, "within": within, "starts": starts, "draws": draws, "seed": seed}
    groups = {"folds": table, "people": by_participant(table), "space": space_table(fitted.space)}
    return as_tree(groups, choices, fitted, told)


def posterior_draws(fitted: Fitted, z: np.ndarray, posterior: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Points drawn from Laplace's posterior of every problem, within the bounds."""
    values, vectors = np.linalg.eigh(posterior)
    root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
    noise = np.random.default_rng(seed).standard_normal((len(z), draws, z.shape[1]))
    return np.clip(z[:, None] + np.einsum("nij,ndj->ndi", root, noise), *limits(fitted.space))


def _table(
    choices: Choices, fitted: Fitted, folds: Folds, nll: Any, averaged: Any, train_nll: Any, z: np.ndarray
) -> xr.Dataset:
    rows = folds.left_out
    chance = chance_nll(choices, by_row=True)[rows]
    return xr.Dataset(
        {
            "participant": ("fold", np.array(choices.participants)[choices.participant[rows]]),
            "block": ("fold", choices.block[rows]),
            "row": ("fold", rows),
            "nll": ("fold", nll),
            "nll_averaged": ("fold", averaged),
            "train_nll": ("fold", train_nll),
            "chance_nll": ("fold", chance),
            "n_choices": ("fold", choices.scored[rows].sum(1)),
            "r2": ("fold", 1 - nll / chance),
            "r2_averaged": ("fold", 1 - averaged / chance),
            "estimate": (("fold", "parameter"), on_natural_scale(fitted.space, z)),
        },
        coords={"parameter": [dimension.name for dimension in fitted.space]},
    )


def by_participant(folds: xr.Dataset) -> xr.Dataset:
    """Totals of every participant's folds."""
    added = folds[["nll", "nll_averaged", "chance_nll", "n_choices"]].groupby(folds["participant"]).sum(skipna=False)
    added["r2"] = 1 - added["nll"] / added["chance_nll"]
    added["r2_averaged"] = 1 - added["nll_averaged"] / added["chance_nll"]
    return added
