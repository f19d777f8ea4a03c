"""The correlated Gaussian learner.

Conditioning on a reward r from arm i (covariance form; the paper's precision form fails for singular priors):

    v = Sigma[:, i] / sqrt(noise_var + Sigma[i, i])
    mu    += v (r - mu[i]) / sqrt(noise_var + Sigma[i, i])
    Sigma -= v v'

At first only the rows v_1 .. v_t are kept, and each step computes the one column of Sigma that it needs from them: O(arms x
t), cheaper while t is small. After `ROWS_PER_ARM` x arms steps they are subtracted from the prior once and for all, and
Sigma itself is kept: O(arms^2) whatever t is. When this happens, and how many rows there is room for, does not depend on the
horizon, so the first steps are the same, bit for bit, however many follow. The same operations in the same order compute
every arm's numbers, so that arms that are alike by symmetry stay alike.

Rules that draw from the joint belief need a square root S of Sigma = S S', conditioned by Potter's update.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, Int

from explorelab.agents.factors import Learner, Params, Told, Value
from explorelab.agents.learners.independent import before_each
from explorelab.agents.learners.kernels import KERNELS, correlation

ROWS_PER_ARM = 4
"""A step costs arms x t with rows, about 2 arms^2 with the covariance; measured equal at t = 8 N (25 arms), 4 N (100)."""

FIRST_ROOM = 24
"""Room for rows doubles from stage to stage: each stage is compiled separately, but multiplies fewer empty rows."""

GRAIN = 32
"""How many units in the last place of prior_var / noise_sd two values may differ by through rounding alone."""


class CorrelatedBelief(NamedTuple):
    """Correlated belief: the prior covariance and the rows to be subtracted from it, or the covariance itself."""

    mean: Value
    var: Value
    rows: Float[Array, "row arm"]
    arms: Int[Array, " row"]
    """The arm each row came from; -1 for empty rows."""
    n_seen: Int[Array, ""]
    cov: Float[Array, "arm arm"] | None = None
    """None while there are rows."""
    counted: Value | None = None
    """How often each arm has been seen; None while there are rows."""

    @property
    def sd(self) -> Value:
        """Marginal standard deviation of each arm."""
        return jnp.sqrt(self.var)

    @property
    def plays(self) -> Value:
        """How often each arm has been seen; counted from the rows on demand, which is cheaper than at every step."""
        if self.counted is not None:
            return self.counted
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


def init_correlated(params: Params, n_arms: int) -> CorrelatedBelief:
    """The prior, with no rows yet."""
    cov = params["prior_cov"]
    rows, arms = jnp.zeros((0, n_arms), cov.dtype), jnp.zeros(0, jnp.int32)
    return CorrelatedBelief(_prior_mean(params, n_arms), jnp.diag(cov), rows, arms, jnp.int32(0))


def _rooms(n_arms: int) -> list[int]:
    """How many rows there is room for in each stage."""
    rooms, most = [FIRST_ROOM], ROWS_PER_ARM * n_arms
    while 2 * rooms[-1] < most:
        rooms.append(2 * rooms[-1])
    return [*rooms[:-1], most]


def stages_of_rooms(n_arms: int, horizon: int) -> tuple[int, ...]:
    """The time at which each stage ends; a stage beyond the largest room keeps no rows."""
    return (*(room for room in _rooms(n_arms) if room < horizon), horizon)


def resize_rows(params: Params, belief: CorrelatedBelief, until: int) -> CorrelatedBelief:
    """The same belief with room for `until` rows, or its covariance where that is cheaper; rows not yet seen are zero."""
    rooms = _rooms(belief.mean.shape[0])
    if until > rooms[-1]:
        return _without_rows(params, belief)
    more = next(room for room in rooms if room >= until) - belief.rows.shape[0]
    return belief._replace(
        rows=jnp.pad(belief.rows, ((0, more), (0, 0))), arms=jnp.pad(belief.arms, (0, more), constant_values=-1)
    )


def _without_rows(params: Params, belief: CorrelatedBelief) -> CorrelatedBelief:
    cov = params["prior_cov"] - belief.rows.T @ belief.rows
    n_arms = belief.mean.shape[0]
    return belief._replace(
        rows=belief.rows[:0],
        arms=belief.arms[:0],
        cov=jnp.where(jnp.eye(n_arms, dtype=bool), belief.var, cov),
        counted=belief.plays,
    )


def plays_of(params: Params, belief: CorrelatedBelief | RootBelief) -> Value:
    """How often each arm has been seen."""
    return belief.plays


def update_correlated(
    params: Params, belief: CorrelatedBelief, arm: Int[Array, ""], reward: Float[Array, ""]
) -> CorrelatedBelief:
    """The belief after one reward: the arm's posterior covariance column, scaled, is the next row."""
    column = params["prior_cov"][arm] - belief.rows[:, arm] @ belief.rows if belief.cov is None else belief.cov[arm]
    scale = lax.rsqrt(params["noise_var"] + belief.var[arm])
    row = column * scale
    after = belief._replace(
        mean=belief.mean + row * ((reward - belief.mean[arm]) * scale),
        # Rounding may push a variance of zero slightly below it.
        var=jnp.maximum(belief.var - row**2, 0),
        n_seen=belief.n_seen + 1,
    )
    if belief.cov is None:
        return after._replace(
            rows=lax.dynamic_update_index_in_dim(belief.rows, row, belief.n_seen, 0),
            arms=belief.arms.at[belief.n_seen].set(arm.astype(jnp.int32)),
        )
    assert belief.counted is not None
    return after._replace(cov=belief.cov - row[:, None] * row, counted=belief.counted.at[arm].add(1))


class ReplayedBelief(NamedTuple):
    """The belief before each trial of a block."""

    mean: Float[Array, "trial arm"]
    sd: Float[Array, "trial arm"]
    plays: Float[Array, "trial arm"]


def _rows_at_once(params: Params, n_arms: int, told: Told) -> tuple[Float[Array, "trial arm"], Float[Array, "trial one"]]:
    """The row of every trial, and what its reward adds to the mean along it: a Cholesky factor and a triangular solve.

    Unobserved trials are made independent of everything, so that their rows are zero.
    """
    cov, mean = params["prior_cov"], _prior_mean(params, n_arms)
    seen = told.observed.astype(cov.dtype)
    cross = cov[told.arm] * seen[:, None]
    gram = cross[:, told.arm] * seen + jnp.diag(jnp.where(told.observed, params["noise_var"], 1.0))
    surprise = (told.reward - mean[told.arm]) * seen
    solved = solve_triangular(jnp.linalg.cholesky(gram), jnp.column_stack([cross, surprise]), lower=True)
    return solved[:, :-1], solved[:, -1:]


def replay_rows(params: Params, n_arms: int, told: Told) -> ReplayedBelief:
    """The belief before every trial."""
    cov, mean = params["prior_cov"], _prior_mean(params, n_arms)
    rows, news = _rows_at_once(params, n_arms, told)
    var = jnp.diag(cov) - before_each(rows**2)
    # The square root of a variance that rounding took to zero has no derivative.
    positive = var > 0
    chosen = (told.arm[:, None] == jnp.arange(n_arms)) & told.observed[:, None]
    return ReplayedBelief(
        mean=mean + before_each(rows * news),
        sd=jnp.where(positive, jnp.sqrt(jnp.where(positive, var, 1.0)), 0.0),
        plays=before_each(chosen.astype(cov.dtype)),
    )


def after_rows(params: Params, n_arms: int, told: Told, until: int) -> CorrelatedBelief:
    """The belief after the block, with room until that time."""
    rows, news = _rows_at_once(params, n_arms, told)
    # Rows of trials that taught something come first, in the order of the trials.
    order = jnp.argsort(~told.observed, stable=True)
    most = _rooms(n_arms)[-1]
    n = min(rows.shape[0], until, most) if until <= most else rows.shape[0]
    cov = params["prior_cov"]
    belief = CorrelatedBelief(
        mean=_prior_mean(params, n_arms) + (rows * news).sum(0),
        var=jnp.maximum(jnp.diag(cov) - (rows**2).sum(0), 0),
        rows=rows[order][:n],
        arms=jnp.where(told.observed, told.arm, -1)[order][:n].astype(jnp.int32),
        n_seen=told.observed.sum(dtype=jnp.int32),
    )
    return resize_rows(params, belief, until)


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
    if kernel is not None:
        assert distances is not None  # checked at the door, where the error can name the task
        cov = params["prior_var"] * correlation(KERNELS[kernel], distances, jnp.asarray(params["length_scale"]))
        params = {**params, "prior_cov": cov}
    cov = params["prior_cov"]
    # Subtracting from the prior variance leaves rounding errors of this size in a mean or a standard deviation.
    grain = GRAIN * jnp.finfo(cov.dtype).eps * jnp.diag(cov).max() * lax.rsqrt(params["noise_var"])
    return {**params, "grain": grain}


def _prior_root(kernel: str | None, params: Params, distances: Float[Array, "arm arm"] | None) -> Params:
    params = _prior_cov(kernel, params, distances)
    eigenvalues, vectors = jnp.linalg.eigh(params["prior_cov"])
    return {**params, "prior_root": vectors * jnp.sqrt(jnp.maximum(eigenvalues, 0))}


@cache
def correlated(kernel: str | None) -> Learner:
    """The correlated learner for a named kernel, or for a prior covariance given as a matrix (`None`).

    It is cached, so that an agent built twice is the same constant to `jit`.
    """
    return Learner(
        name="correlated",
        prepare=lambda params, distances: _prior_cov(kernel, params, distances),
        init=init_correlated,
        update=update_correlated,
        stages=stages_of_rooms,
        resize=resize_rows,
        seen=plays_of,
        replay=replay_rows,
        after=after_rows,
    )


@cache
def square_root(kernel: str | None) -> Learner:
    """The correlated learner in square-root form: for rules that draw from the joint belief."""
    return Learner(
        name="correlated-square-root",
        prepare=lambda params, distances: _prior_root(kernel, params, distances),
        init=init_root,
        update=update_root,
        seen=plays_of,
    )
