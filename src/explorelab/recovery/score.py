"""The score identity: at the true parameters the expected gradient of the log-likelihood is zero."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import jax
import numpy as np
import numpy.typing as npt
import xarray as xr
from jaxtyping import Array, Float, Int
from scipy.stats import chi2

from explorelab._support.rounding import spread
from explorelab.agents import Agent
from explorelab.agents.factors import AnyArray
from explorelab.choices.table import Choices
from explorelab.fitting.model import prepare
from explorelab.fitting.objective import Data, Model, block_log_likelihoods
from explorelab.fitting.search.batches import in_calls, mapped
from explorelab.fitting.spaces import standard

type Points = tuple[Int[AnyArray, " row"], Float[AnyArray, "row parameter"]]
"""Rows, and where each is scored."""


@partial(jax.jit, static_argnames="model")
def _slopes(model: Model, data: Data, argument: Points, count: Int[Array, ""]) -> Float[Array, "row parameter"]:
    def one(each: Points) -> Float[Array, " parameter"]:
        row, z = each
        return jax.jacfwd(lambda z: block_log_likelihoods(model, data, row[None], z)[0])(z)

    return mapped(one, argument, count)


def scores(
    choices: Choices, agent: str | Agent, params: Mapping[str, npt.ArrayLike] | None = None, *, progress: bool | None = None
) -> xr.DataArray:
    """Every participant's d log-likelihood / d parameter, in standard units, at these parameters (by default the agent's).

    `params` is as for `simulate_choices`. If these choices were generated with them, the mean over participants is zero
    within its error, whatever the agent; otherwise the likelihood is not that of the simulation.
    """
    ready = prepare(choices, agent)
    names = [dimension.name for dimension in ready.space]
    values = {**ready.agent.params, **(params or {})}
    z = standard(ready.space, {name: np.resize(values[name], choices.n_participants) for name in names})
    rows = np.arange(choices.n_rows, dtype=np.int32)

    def call(part: Points, count: np.int32) -> Float[Array, "row parameter"]:
        return _slopes(ready.model, ready.data, part, count)

    slopes = in_calls(call, (rows, z[choices.participant]), "scores", progress)
    total = np.zeros((choices.n_participants, len(names)))
    np.add.at(total, choices.participant, slopes)
    return xr.DataArray(total, {"participant": list(choices.participants), "parameter": names}, ("participant", "parameter"))


def score_test(each: xr.DataArray) -> xr.Dataset:
    """Each parameter's mean score with standard error and z, and the p-value that all means are zero (chi-squared)."""
    values = each.values
    n, k = values.shape
    mean, covariance = values.mean(0), np.atleast_2d(np.cov(values.T)) / n
    error = np.sqrt(np.diag(covariance))
    varies = np.array([spread(values[:, i]) > 0 for i in range(k)])
    statistic = float(mean @ np.linalg.pinv(covariance) @ mean)
    variables = {
        "mean": ("parameter", mean),
        "standard_error": ("parameter", error),
        "z": ("parameter", np.where(varies, mean / np.where(varies, error, 1.0), np.nan)),
        "p": ((), float(chi2.sf(statistic, k))),
    }
    return xr.Dataset(variables, {"parameter": each["parameter"].values}, {"n": n})
