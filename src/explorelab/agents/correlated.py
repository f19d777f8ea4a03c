"""The correlated Gaussian learner, in two exact forms of the same conditioning step.

Conditioning on a reward r from arm i (covariance form; the paper's precision form fails for singular priors):

    v = Sigma[:, i] / sqrt(noise_var + Sigma[i, i])
    mu    += v (r - mu[i]) / sqrt(noise_var + Sigma[i, i])
    Sigma -= v v'

*Rows* keeps v_1 .. v_t and never forms Sigma: a step costs O(arms x t), least while t is small.
*Square root* keeps S with Sigma = S S' and conditions it by Potter's update: O(arms^2) a step whatever t is, never
loses positive semidefiniteness over long horizons, and gives joint draws from the belief.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, Int

from explorelab.agents.kernels import KERNELS, correlation
from explorelab.agents.learners import before_each
from explorelab.agents.types import Learner, Params, Told, Value

STAGES = 5
"""Rows are added in so many stages: each is compiled apart, and each row not yet there is a row not multiplied."""


class RowsBelief(NamedTuple):
    """Correlated belief as the rows v_1 .. v_t that have been subtracted from the prior covariance."""

    mean: Value
    var: Value
    rows: Float[Array, "row arm"]
    arms: Int[Array, " row"]
    """Which arm each row came from; -1 for rows not yet there."""
    n_seen: Int[Array, ""]

    @property
    def sd(self) -> Value:
        """Marginal standard deviation of each arm."""
        return jnp.sqrt(self.var)

    @property
    def plays(self) -> Value:
        """How often each arm has been seen; counted when asked, which is cheaper than at every step."""
        return (self.arms[:, None] == jnp.arange(self.mean.shape[0])).sum(0, dtype=jnp.int32)


class RootBelief(NamedTuple):
    """Correlated belief as a square root of its covariance."""

    mean: Value
    root: Float[Array, "arm arm"]
    plays: Value

    @property
    def sd(self) -> Value:
        """Marginal standard deviation of each arm."""
        return jnp.sqrt((self.root**2).sum(1))


def _prior_mean(params: Params, n_arms: int) -> Value:
    return jnp.broadcast_to(params["prior_mean"], (n_arms,)).astype(params["prior_cov"].dtype)


def init_rows(params: Params, n_arms: int) -> RowsBelief:
    """The prior, with no rows yet."""
    cov = params["prior_cov"]
    rows, arms = jnp.zeros((0, n_arms), cov.dtype), jnp.zeros(0, jnp.int32)
    return RowsBelief(_prior_mean(params, n_arms), jnp.diag(cov), rows, arms, jnp.int32(0))


def resize_rows(belief: RowsBelief, until: int) -> RowsBelief:
    """The same belief with room for `until` rows; rows not yet seen are zero and change nothing."""
    room = until - belief.rows.shape[0]
    return belief._replace(
        rows=jnp.pad(belief.rows, ((0, room), (0, 0))), arms=jnp.pad(belief.arms, (0, room), constant_values=-1)
    )


def seen_rows(params: Params, belief: RowsBelief | RootBelief) -> Value:
    """How often each arm has been seen."""
    return belief.plays


def update_rows(params: Params, belief: RowsBelief, arm: Int[Array, ""], reward: Float[Array, ""]) -> RowsBelief:
    """The belief after one reward: the arm's posterior covariance column becomes the next row."""
    column = params["prior_cov"][arm] - belief.rows[:, arm] @ belief.rows
    scale = lax.rsqrt(params["noise_var"] + belief.var[arm])
    row = column * scale
    return RowsBelief(
        mean=belief.mean + row * ((reward - belief.mean[arm]) * scale),
        # Rounding may take a variance that is really zero a hair below it.
        var=jnp.maximum(belief.var - row**2, 0),
        rows=lax.dynamic_update_index_in_dim(belief.rows, row, belief.n_seen, 0),
        arms=belief.arms.at[belief.n_seen].set(arm.astype(jnp.int32)),
        n_seen=belief.n_seen + 1,
    )


class ReplayedBelief(NamedTuple):
    """What was believed before each trial of a block."""

    mean: Float[Array, "trial arm"]
    sd: Float[Array, "trial arm"]
    plays: Float[Array, "trial arm"]


def replay_rows(params: Params, n_arms: int, told: Told) -> ReplayedBelief:
    """The belief before every trial: with the choices given, the rows are one Cholesky factor and one triangular solve.

    Trials not observed are made independent of everything, so that their rows are zero.
    """
    cov, mean = params["prior_cov"], _prior_mean(params, n_arms)
    seen = told.observed.astype(cov.dtype)
    cross = cov[told.arm] * seen[:, None]
    gram = cross[:, told.arm] * seen + jnp.diag(jnp.where(told.observed, params["noise_var"], 1.0))
    surprise = (told.reward - mean[told.arm]) * seen
    solved = solve_triangular(jnp.linalg.cholesky(gram), jnp.column_stack([cross, surprise]), lower=True)
    rows, news = solved[:, :-1], solved[:, -1:]
    var = jnp.diag(cov) - before_each(rows**2)
    # The square root of a variance that rounding took to zero has no derivative.
    positive = var > 0
    chosen = (told.arm[:, None] == jnp.arange(n_arms)) & told.observed[:, None]
    return ReplayedBelief(
        mean=mean + before_each(rows * news),
        sd=jnp.where(positive, jnp.sqrt(jnp.where(positive, var, 1.0)), 0.0),
        plays=before_each(chosen.astype(cov.dtype)),
    )


def init_root(params: Params, n_arms: int) -> RootBelief:
    """The prior, with the symmetric square root that exists for singular covariances too."""
    root = params["prior_root"]
    return RootBelief(_prior_mean(params, n_arms), root, jnp.zeros(n_arms, root.dtype))


def update_root(params: Params, belief: RootBelief, arm: Int[Array, ""], reward: Float[Array, ""]) -> RootBelief:
    """The belief after one reward, by Potter's square-root form of the Kalman update (Bierman 1977, ch. II)."""
    noise_var = params["noise_var"]
    loading = belief.root[arm]
    total = noise_var + loading @ loading
    gain = belief.root @ loading / total
    shrink = 1 / (1 + jnp.sqrt(noise_var / total))
    return RootBelief(
        mean=belief.mean + gain * (reward - belief.mean[arm]),
        root=belief.root - shrink * jnp.outer(gain, loading),
        plays=belief.plays.at[arm].add(1),
    )


def _prior_cov(kernel: str | None, params: Params, distances: Float[Array, "arm arm"] | None) -> Params:
    if kernel is None:
        return params
    assert distances is not None  # checked at the door, where the error can name the task
    cov = params["prior_var"] * correlation(KERNELS[kernel], distances, jnp.asarray(params["length_scale"]))
    return {**params, "prior_cov": cov}


def _prior_root(kernel: str | None, params: Params, distances: Float[Array, "arm arm"] | None) -> Params:
    params = _prior_cov(kernel, params, distances)
    eigenvalues, vectors = jnp.linalg.eigh(params["prior_cov"])
    return {**params, "prior_root": vectors * jnp.sqrt(jnp.maximum(eigenvalues, 0))}


def _row_stages(n_arms: int, horizon: int) -> tuple[int, ...]:
    n = min(STAGES, -(-horizon // 8))
    return tuple(-(-horizon * stage // n) for stage in range(1, n + 1))


@cache
def correlated(kernel: str | None) -> Learner:
    """The correlated learner for a named kernel, or for a prior covariance given as a matrix (`None`).

    Cached, so that agents built twice are the same constant to `jit`.
    """
    root = square_root(kernel)
    return Learner(
        name="correlated",
        prepare=lambda params, distances: _prior_cov(kernel, params, distances),
        init=init_rows,
        update=update_rows,
        stages=_row_stages,
        resize=resize_rows,
        seen=seen_rows,
        replay=replay_rows,
        # Rows cost arms x t a step, the square root about 2 arms^2; measured to cross at t = 8 N for 25 arms, 4 N for 100.
        for_size=lambda n_arms, horizon: correlated(kernel) if horizon <= 4 * n_arms else root,
    )


@cache
def square_root(kernel: str | None) -> Learner:
    """The correlated learner in square-root form, whatever the horizon: for rules that draw from the joint belief."""
    return Learner(
        name="correlated-square-root",
        prepare=lambda params, distances: _prior_root(kernel, params, distances),
        init=init_root,
        update=update_root,
        seen=seen_rows,
    )
