"""Learners that track each arm separately: the Kalman filter, the delta rule, and the memory of the last outcome."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from explorelab.agents.factors import Learner, Params, Value
from explorelab.agents.learners.independent import as_given, plays_of


def root_of(var: Value) -> Value:
    """The square root; where the variance is 0 its derivative is taken to be 0, not infinite."""
    positive = var > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, var, 1.0)), 0.0)


class KalmanBelief(NamedTuple):
    """Independent Gaussian belief about arms whose means drift."""

    mean: Value
    var: Value
    plays: Value

    @property
    def sd(self) -> Value:
        """Standard deviation of each arm."""
        return root_of(self.var)


def init_kalman(params: Params, n_arms: int) -> KalmanBelief:
    """The prior."""
    var = jnp.broadcast_to(jnp.asarray(params["prior_var"]), (n_arms,))
    return KalmanBelief(jnp.broadcast_to(params["prior_mean"], (n_arms,)).astype(var.dtype), var, jnp.zeros_like(var))


def update_kalman(params: Params, belief: KalmanBelief, arm: Int[Array, ""], reward: Float[Array, ""]) -> KalmanBelief:
    """Gain v / (v + noise_var) on the arm that was chosen; then every arm drifts: its variance grows by drift_var."""
    gain = belief.var[arm] / (belief.var[arm] + params["noise_var"])
    return KalmanBelief(
        mean=belief.mean.at[arm].add(gain * (reward - belief.mean[arm])),
        # Not var (1 - gain): where the prior is far wider than the noise, the gain rounds to 1.
        var=belief.var.at[arm].set(gain * params["noise_var"]) + params["drift_var"],
        plays=belief.plays.at[arm].add(1),
    )


kalman = Learner("kalman", as_given, init_kalman, update_kalman, seen=plays_of)
"""For arms that may drift (Kalman 1960; people: Daw et al. 2006). Without drift it is the independent learner."""


def update_decaying(params: Params, belief: KalmanBelief, arm: Int[Array, ""], reward: Float[Array, ""]) -> KalmanBelief:
    """The Kalman filter's update; then every arm decays towards the centre while it drifts (Daw et al. 2006).

    mean = decay mean + (1 - decay) centre, var = decay^2 var + drift_var
    """
    keeps = params["decay"]
    gain = belief.var[arm] / (belief.var[arm] + params["noise_var"])
    mean = belief.mean.at[arm].add(gain * (reward - belief.mean[arm]))
    return KalmanBelief(
        mean=keeps * mean + (1 - keeps) * params["decay_centre"],
        var=keeps**2 * belief.var.at[arm].set(gain * params["noise_var"]) + params["drift_var"],
        plays=belief.plays.at[arm].add(1),
    )


decaying_kalman = Learner("decaying-kalman", as_given, init_kalman, update_decaying, seen=plays_of)
"""For arms that drift and decay towards a centre, as in a restless bandit. Without decay it is the Kalman filter."""


class DeltaBelief(NamedTuple):
    """An expected reward for each arm, and no uncertainty."""

    mean: Value
    plays: Value

    @property
    def sd(self) -> Value:
        """Nothing: the delta rule does not know what it does not know."""
        return jnp.zeros_like(self.mean)


def init_delta(params: Params, n_arms: int) -> DeltaBelief:
    """The expected reward of every arm before it is tried."""
    mean = jnp.broadcast_to(jnp.asarray(params["prior_mean"]), (n_arms,))
    return DeltaBelief(mean, jnp.zeros_like(mean))


def update_delta(params: Params, belief: DeltaBelief, arm: Int[Array, ""], reward: Float[Array, ""]) -> DeltaBelief:
    """A share of the surprise is added (Rescorla & Wagner 1972): mean += learning_rate (reward - mean)."""
    surprise = reward - belief.mean[arm]
    return DeltaBelief(belief.mean.at[arm].add(params["learning_rate"] * surprise), belief.plays.at[arm].add(1))


delta_rule = Learner("delta-rule", as_given, init_delta, update_delta, seen=plays_of)


class OutcomeBelief(NamedTuple):
    """Whether the last reward was a win: at least the average of those before it in the block."""

    total: Float[Array, ""]
    plays: Value
    won: Float[Array, ""]

    @property
    def mean(self) -> Value:
        """Nothing is expected of any arm."""
        return jnp.zeros_like(self.plays)

    @property
    def sd(self) -> Value:
        """Nothing."""
        return jnp.zeros_like(self.plays)


def init_outcome(params: Params, n_arms: int) -> OutcomeBelief:
    """No reward yet; the dtype follows the noise variance."""
    zero = jnp.zeros((), jnp.asarray(params["noise_var"]).dtype)
    return OutcomeBelief(zero, jnp.zeros(n_arms, zero.dtype), zero)


def update_outcome(params: Params, belief: OutcomeBelief, arm: Int[Array, ""], reward: Float[Array, ""]) -> OutcomeBelief:
    """The first reward is a win; later ones are if they are no less than the average so far."""
    before = belief.plays.sum()
    won = reward * before >= belief.total
    return OutcomeBelief(belief.total + reward, belief.plays.at[arm].add(1), won.astype(belief.won.dtype))


class CountBelief(NamedTuple):
    """How often each arm was sampled, and nothing else."""

    plays: Value

    @property
    def mean(self) -> Value:
        """Nothing is expected of any arm."""
        return jnp.zeros_like(self.plays)

    @property
    def sd(self) -> Value:
        """Nothing."""
        return jnp.zeros_like(self.plays)


def init_count(params: Params, n_arms: int) -> CountBelief:
    """No arm sampled yet; the dtype follows the task's noise variance."""
    return CountBelief(jnp.zeros(n_arms, jnp.asarray(params["noise_var"]).dtype))


def update_count(params: Params, belief: CountBelief, arm: Int[Array, ""], reward: Float[Array, ""]) -> CountBelief:
    """The counts with one more for this arm."""
    return CountBelief(belief.plays.at[arm].add(1))


counting = Learner("counting", as_given, init_count, update_count, seen=plays_of)
"""For rules that learn nothing from rewards."""

last_outcome = Learner("last-outcome", as_given, init_outcome, update_outcome, seen=plays_of)
