"""Learners with independent arms: the independent Gaussian belief, and plain sample statistics."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from explorelab.agents.factors import Learner, Params, Told, Value


def as_given(params: Params, distances: Float[Array, "arm arm"] | None) -> Params:
    """The parameters unchanged: independent arms need nothing prepared."""
    return params


class IndependentBelief(NamedTuple):
    """Independent Gaussian belief about each arm's mean reward."""

    mean: Value
    sd: Value
    plays: Value
    """Rewards seen, n_i: counted separately from the prior's weight, beside which one reward may be too little to count."""


def prior_weight(params: Params) -> Float[Array, "*arm"]:
    """delta^2 = sigma_s^2 / sigma_0^2, what the prior counts as in rewards; 0 if uninformative (prior_var = inf)."""
    certain = jnp.asarray(params["prior_var"]) == 0
    # A prior of variance 0 outweighs everything; written so that it has a derivative along the noise.
    return jnp.where(certain, jnp.inf, params["noise_var"] / jnp.where(certain, 1.0, params["prior_var"]))


def init_independent(params: Params, n_arms: int) -> IndependentBelief:
    """The prior. An uninformative one (prior_var = inf) has weight 0 and so an infinite sd, exactly."""
    dtype = prior_weight(params).dtype
    return IndependentBelief(
        mean=jnp.broadcast_to(params["prior_mean"], (n_arms,)).astype(dtype),
        sd=jnp.broadcast_to(jnp.sqrt(params["prior_var"]), (n_arms,)).astype(dtype),
        plays=jnp.zeros(n_arms, dtype),
    )


def update_independent(
    params: Params, belief: IndependentBelief, arm: Int[Array, ""], reward: Float[Array, ""]
) -> IndependentBelief:
    """mu_i = (delta^2 mu_i^0 + n_i mbar_i) / (delta^2 + n_i), sigma_i^2 = sigma_s^2 / (delta^2 + n_i) (section IV.A).

    The sd is stored rather than computed from the weight at each decision: one square root per step, not one per arm.
    """
    plays = belief.plays[arm] + 1
    from_prior = prior_weight(params)
    weight = plays + (from_prior[arm] if from_prior.ndim else from_prior)
    return IndependentBelief(
        mean=belief.mean.at[arm].add((reward - belief.mean[arm]) / weight),
        sd=belief.sd.at[arm].set(jnp.sqrt(params["noise_var"]) * lax.rsqrt(weight)),
        plays=belief.plays.at[arm].set(plays),
    )


def plays_of(params: Params, belief: IndependentBelief | SampleBelief) -> Value:
    """How often each arm has been seen."""
    return belief.plays


def before_each(steps: Float[Array, "trial arm"]) -> Float[Array, "trial arm"]:
    """The sum before each trial, as a product with ones below the diagonal, which XLA runs faster than cumulative sums."""
    return jnp.tril(jnp.ones((steps.shape[0], steps.shape[0]), steps.dtype), -1) @ steps


def replay_independent(params: Params, n_arms: int, told: Told) -> IndependentBelief:
    """The belief before every trial, from running counts and sums of rewards."""
    prior = init_independent(params, n_arms)
    chosen = (told.arm[:, None] == jnp.arange(n_arms)) & told.observed[:, None]
    plays = before_each(chosen.astype(prior.mean.dtype))
    surprise = before_each(jnp.where(chosen, told.reward[:, None] - prior.mean, 0.0))
    weight = prior_weight(params) + plays
    known, certain = weight > 0, jnp.isinf(weight)
    safe = jnp.where(known & ~certain, weight, 1.0)
    sd = jnp.sqrt(params["noise_var"]) * lax.rsqrt(safe)
    return IndependentBelief(
        mean=prior.mean + jnp.where(certain, 0.0, surprise / safe),
        sd=jnp.where(known, jnp.where(certain, 0.0, sd), jnp.inf),
        plays=plays,
    )


independent = Learner(
    "independent", as_given, init_independent, update_independent, seen=plays_of, replay=replay_independent
)


class SampleBelief(NamedTuple):
    """Sample statistics of each arm, as frequentist rules use them."""

    mean: Value
    plays: Value
    spread: Value
    """Sum of squared deviations from the sample mean."""

    @property
    def sd(self) -> Value:
        """Standard error of each arm's mean, infinite while it cannot be known."""
        known = self.plays > 1
        var = self.spread / jnp.where(known, (self.plays - 1) * self.plays, 1)
        return jnp.where(known, jnp.sqrt(var), jnp.inf)


def init_sample(params: Params, n_arms: int) -> SampleBelief:
    """Nothing seen yet; the dtype follows the assumed noise variance."""
    nothing = jnp.zeros(n_arms, jnp.asarray(params["noise_var"]).dtype)
    return SampleBelief(nothing, nothing, nothing)


def update_sample(params: Params, belief: SampleBelief, arm: Int[Array, ""], reward: Float[Array, ""]) -> SampleBelief:
    """One more reward in the running mean and spread (Welford's recursion)."""
    count = belief.plays[arm] + 1
    surprise = reward - belief.mean[arm]
    mean = belief.mean[arm] + surprise / count
    return SampleBelief(
        mean=belief.mean.at[arm].set(mean),
        plays=belief.plays.at[arm].set(count),
        spread=belief.spread.at[arm].add(surprise * (reward - mean)),
    )


sample_statistics = Learner("sample-statistics", as_given, init_sample, update_sample, seen=plays_of)
