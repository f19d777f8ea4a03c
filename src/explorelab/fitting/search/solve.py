"""Compiled problems: screening of starts, minimisation, curvature at the end, and the fit of left-out blocks."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.stats import norm, qmc

from explorelab.agents.factors import AnyArray
from explorelab.fitting.model import Fitted
from explorelab.fitting.objective import Curvature, Data, Model, block_log_likelihoods, curvature
from explorelab.fitting.search.batches import in_calls, mapped
from explorelab.fitting.search.optimise import Minimum, minimise
from explorelab.fitting.search.shares import in_shares
from explorelab.fitting.spaces import Space


class Problem(NamedTuple):
    """The blocks to explain and the prior; several problems have a leading axis.

    Arrays are JAX's inside compiled calls and NumPy's outside.
    """

    rows: Int[AnyArray, " row"]
    weight: Float[AnyArray, " row"]
    """1 for a block that counts, 0 for padding."""
    mean: Float[AnyArray, " parameter"]
    """Prior mean in standard units."""
    precision: Float[AnyArray, "parameter parameter"]
    """Prior precision in standard units; zero for maximum likelihood."""


def problems(row_lists: list[np.ndarray], mean: np.ndarray, precision: np.ndarray) -> Problem:
    """A problem for each list of rows, all with the same prior or each with its own."""
    longest = max(len(rows) for rows in row_lists)
    at = np.stack([np.pad(rows, (0, longest - len(rows)), mode="edge") for rows in row_lists]).astype(np.int32)
    weight = np.stack([np.arange(longest) < len(rows) for rows in row_lists]).astype(float)
    n, p = len(row_lists), mean.shape[-1]
    return Problem(at, weight, np.broadcast_to(mean, (n, p)), np.broadcast_to(precision, (n, p, p)))


def limits(space: Space) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of every parameter in standard units."""
    with jax.enable_x64(True):
        ends = np.array([dimension.limits for dimension in space]).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def searched(fitted: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Bounds in standard units of what is estimated for a person: parameters or, with effects, levels and slopes."""
    return limits(fitted.space) if fitted.design is None else (fitted.design.low, fitted.design.high)


def _penalised(model: Model, data: Data, problem: Problem, z: Float[Array, " parameter"]) -> Curvature:
    at = curvature(model, data, problem.rows, problem.weight, z)
    away = problem.precision @ (z - problem.mean)
    return Curvature(at.value + 0.5 * (z - problem.mean) @ away, at.gradient + away, at.information + problem.precision)


def _log_likelihood(model: Model, data: Data, problem: Problem, z: Float[Array, " parameter"]) -> Float[Array, ""]:
    return jnp.dot(problem.weight, block_log_likelihoods(model, data, problem.rows, z))


def _penalty(problem: Problem, z: Float[Array, " parameter"]) -> Float[Array, ""]:
    away = z - problem.mean
    return 0.5 * away @ problem.precision @ away


def _value(model: Model, data: Data, problem: Problem, z: Float[Array, " parameter"]) -> Float[Array, ""]:
    return _penalty(problem, z) - _log_likelihood(model, data, problem, z)


@partial(jax.jit, static_argnames="model")
def _screened(
    model: Model, data: Data, problem: Problem, points: Float[Array, "point parameter"], count: Int[Array, ""]
) -> Float[Array, "problem point"]:
    def one(each: Problem) -> Float[Array, " point"]:
        return jax.lax.map(lambda z: _value(model, data, each, z), points, batch_size=None)

    return mapped(one, problem, count)


@partial(jax.jit, static_argnames="model")
def _minimised(
    model: Model,
    data: Data,
    low: Float[Array, " parameter"],
    high: Float[Array, " parameter"],
    argument: tuple[Problem, Float[Array, "problem parameter"]],
    count: Int[Array, ""],
) -> Minimum:
    def one(each: tuple[Problem, Float[Array, " parameter"]]) -> Minimum:
        problem, start = each
        return minimise(lambda z: _penalised(model, data, problem, z), start, low, high)

    return mapped(one, argument, count)


@partial(jax.jit, static_argnames="model")
def _curved(
    model: Model, data: Data, argument: tuple[Problem, Float[Array, "problem parameter"]], count: Int[Array, ""]
) -> Curvature:
    return mapped(lambda each: _penalised(model, data, *each), argument, count)


LOOK_AROUND = 0.05
"""How far from a minimum to look for lower points, in standard units."""


class Ending(NamedTuple):
    """The objective at its minimum: observed information, the likelihood, and a check of nearby points."""

    hessian: Float[AnyArray, "parameter parameter"]
    log_likelihood: Float[AnyArray, ""]
    lower_nearby: Float[AnyArray, ""]
    """The most by which the objective is lower a little to either side along any parameter; not above 0 at a minimum. It
    compares values only, so it does not depend on derivatives being right."""


def _looked_around(
    model: Model,
    data: Data,
    problem: Problem,
    z: Float[Array, " parameter"],
    low: Float[Array, " parameter"],
    high: Float[Array, " parameter"],
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The log-likelihood at a minimum, and how much lower the objective is nearby; the replay is compiled only once."""

    def at(z: Float[Array, " parameter"]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        log_likelihood = _log_likelihood(model, data, problem, z)
        return log_likelihood, _penalty(problem, z) - log_likelihood

    around = LOOK_AROUND * jnp.concatenate([jnp.eye(z.shape[0]), -jnp.eye(z.shape[0])])
    log_likelihood, values = jax.lax.map(at, jnp.concatenate([z[None], jnp.clip(z + around, low, high)]))
    # A point where the objective is NaN is not lower.
    nearby = jnp.where(jnp.isnan(values[1:]), jnp.inf, values[1:])
    return log_likelihood[0], values[0] - nearby.min(initial=jnp.inf)


@partial(jax.jit, static_argnames="model")
def _ended(
    model: Model,
    data: Data,
    low: Float[Array, " parameter"],
    high: Float[Array, " parameter"],
    argument: tuple[Problem, Float[Array, "problem parameter"]],
    count: Int[Array, ""],
) -> Ending:
    def one(each: tuple[Problem, Float[Array, " parameter"]]) -> Ending:
        problem, z = each
        hessian = jax.jacfwd(jax.grad(lambda z: _value(model, data, problem, z)))(z)
        return Ending(hessian, *_looked_around(model, data, problem, z, low, high))

    return mapped(one, argument, count)


@partial(jax.jit, static_argnames="model")
def _bent(
    model: Model, data: Data, argument: tuple[Problem, Float[Array, "problem parameter"]], count: Int[Array, ""]
) -> Curvature:
    def one(each: tuple[Problem, Float[Array, " parameter"]]) -> Curvature:
        problem, z = each
        return curvature(model, data, problem.rows, problem.weight, z)

    return mapped(one, argument, count)


@partial(jax.jit, static_argnames="model")
def _predicted(
    model: Model, data: Data, argument: tuple[Int[Array, " row"], Float[Array, "row point parameter"]], count: Int[Array, ""]
) -> Float[Array, "row point"]:
    """Log-likelihood of one block at each of several points."""

    def one(each: tuple[Int[Array, ""], Float[Array, "point parameter"]]) -> Float[Array, " point"]:
        row, points = each
        return jax.lax.map(lambda z: block_log_likelihoods(model, data, row[None], z)[0], points)

    return mapped(one, argument, count)


def _own(data: Data, rows: np.ndarray) -> tuple[Data, np.ndarray]:
    """The data of these rows alone, and the rows' new indices: compiled programs do not depend on how many others exist."""
    return data.of_rows(rows.ravel()), np.arange(rows.size, dtype=np.int32).reshape(rows.shape)


def screened(fitted: Fitted, each: Problem, points: np.ndarray, progress: bool | None = None) -> np.ndarray:
    """The objective of every problem at every point."""

    def call(part: Problem, count: np.int32) -> Float[Array, "problem point"]:
        data, rows = _own(fitted.data, part.rows)
        return _screened(fitted.model, data, part._replace(rows=rows), points, count)

    return np.asarray(in_calls(call, each, "looking for starts", progress))


@in_shares(2)
def minimised(fitted: Fitted, each: Problem, starts: np.ndarray, label: str, progress: bool | None = None) -> Minimum:
    """Where the minimisation of every problem (leading axis) ends, from its own start."""
    low, high = searched(fitted)

    def call(part: tuple[Problem, np.ndarray], count: np.int32) -> Minimum:
        data, rows = _own(fitted.data, part[0].rows)
        return _minimised(fitted.model, data, low, high, (part[0]._replace(rows=rows), part[1]), count)

    return in_calls(call, (each, np.clip(starts, low, high)), label, progress)


@in_shares(2)
def curved(fitted: Fitted, each: Problem, z: np.ndarray, label: str, progress: bool | None = None) -> Curvature:
    """The objective of every problem at its own point, with gradient and information."""

    def call(part: tuple[Problem, np.ndarray], count: np.int32) -> Curvature:
        data, rows = _own(fitted.data, part[0].rows)
        return _curved(fitted.model, data, (part[0]._replace(rows=rows), part[1]), count)

    return in_calls(call, (each, z), label, progress)


@in_shares(2)
def endings(fitted: Fitted, each: Problem, z: np.ndarray, progress: bool | None = None) -> Ending:
    """Curvature and likelihood of every problem at its minimum, and whether any nearby point is lower.

    The expected information there is known from the minimisation; to compute it again would be one more replay to compile.
    """
    low, high = searched(fitted)

    def call(part: tuple[Problem, np.ndarray], count: np.int32) -> Ending:
        data, rows = _own(fitted.data, part[0].rows)
        return _ended(fitted.model, data, low, high, (part[0]._replace(rows=rows), part[1]), count)

    return in_calls(call, (each, z), "uncertainty", progress)


@in_shares(2)
def bends(fitted: Fitted, each: Problem, z: np.ndarray, progress: bool | None = None) -> Curvature:
    """The negative log-likelihood alone of every problem at its point, with slope and expected information."""

    def call(part: tuple[Problem, np.ndarray], count: np.int32) -> Curvature:
        data, rows = _own(fitted.data, part[0].rows)
        return _bent(fitted.model, data, (part[0]._replace(rows=rows), part[1]), count)

    return in_calls(call, (each, z), "curvature", progress)


@in_shares(2)
def predicted(fitted: Fitted, rows: np.ndarray, points: np.ndarray, progress: bool | None = None) -> np.ndarray:
    """Log-likelihood of each of these blocks at each of its own points (row x point x parameter)."""

    def call(part: tuple[np.ndarray, np.ndarray], count: np.int32) -> Float[Array, "problem point"]:
        data, own = _own(fitted.data, part[0])
        return _predicted(fitted.model, data, (own, part[1]), count)

    return np.asarray(in_calls(call, (rows.astype(np.int32), points), "predicting", progress))


def starting_points(n: int, low: np.ndarray, high: np.ndarray, seed: int) -> np.ndarray:
    """Points spread evenly over the plausible range (a Sobol sequence through the prior's quantiles), the centre first."""
    if len(low) == 0:
        return np.zeros((n, 0))
    # A Sobol sequence is balanced when its length is a power of two.
    uniform = qmc.Sobol(len(low), seed=seed).random_base2(int(np.ceil(np.log2(max(n - 1, 1)))))[: n - 1]
    points = np.vstack([np.zeros(len(low)), norm.ppf(np.clip(uniform, 1e-4, 1 - 1e-4))])
    return np.clip(points, low, high)
