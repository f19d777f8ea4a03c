"""Parts of an agent made from plain functions, in the form that simulations, fits and robots share.

A learner is two functions: `start(params, n_arms)` and `update(params, belief, arm, reward)`. A belief is an array with an
expected reward for each arm, or a tuple with a field `mean`. A limit is `(params, belief, moment)`, a choice rule
`(params, belief, value, moment, available)`. Parts are cached, so that the same functions are the same constant to `jit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from explorelab._support import checks
from explorelab.agents.factors import (
    AnyBelief,
    Available,
    Chance,
    ChoiceRule,
    Learner,
    Limit,
    Moment,
    Params,
    Value,
)
from explorelab.agents.learners import independent, trackers
from explorelab.agents.rules import choice, limits
from explorelab.errors import InputError

LEARNERS: Mapping[str, Learner] = {
    "delta-rule": trackers.delta_rule,
    "kalman": trackers.kalman,
    "independent": independent.independent,
    "last-outcome": trackers.last_outcome,
    "counting": trackers.counting,
}
LIMITS: Mapping[str, Limit] = {
    "mean": limits.believed_mean,
    "constant-bonus": limits.constant_bonus,
    "upper-credible-limit": limits.upper_credible_limit,
    "uncertainty": limits.uncertainty,
    "nothing": limits.nothing,
}
CHOICES: Mapping[str, ChoiceRule] = {
    "softmax": choice.softmax_constant,
    "softmax-log": choice.softmax_log,
    "epsilon-greedy": choice.epsilon_constant,
    "probability-matching": choice.probability_matching,
    "win-stay-lose-shift": choice.win_stay_lose_shift,
    "uniform": choice.uniform,
}
"""The package's own parts that an agent may be composed of, by name."""


class Held(NamedTuple):
    """A user's belief, and how often each arm was seen."""

    own: Any
    counts: Value

    @property
    def mean(self) -> Value:
        """Expected reward of each arm."""
        return self.own if hasattr(self.own, "shape") else self.own.mean

    @property
    def sd(self) -> Value:
        """Standard deviation of each arm; 0 if the learner knows of none."""
        return self.own.sd if hasattr(self.own, "sd") else jnp.zeros_like(self.counts)

    @property
    def plays(self) -> Value:
        """Rewards seen from each arm."""
        return self.own.plays if hasattr(self.own, "plays") else self.counts

    def __getattr__(self, name: str) -> Any:
        # Limits and choice rules read the fields of the user's own belief.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.own, name)


def learner_of(given: object) -> Learner:
    """The learner: as given, by its name, or made of two functions."""
    if isinstance(given, Learner):
        return given
    if isinstance(given, str):
        return checks.one_of("learner", given, LEARNERS)
    if isinstance(given, tuple | list) and len(given) == 2 and all(map(callable, given)):
        return _learner(*given)
    raise InputError(f"learner must be a pair of functions (start, update), a name or a Learner, got {checks.shown(given)}.")


def limit_of(given: object) -> Limit:
    """The limit: by its name, or a function."""
    if isinstance(given, str):
        return checks.one_of("limit", given, LIMITS)
    if callable(given):
        return given if given in LIMITS.values() else _limit(given)
    raise InputError(f"limit must be a function (params, belief, moment) or a name, got {checks.shown(given)}.")


def choice_of(given: object) -> ChoiceRule:
    """The choice rule: as given, by its name, or a function that returns log-probabilities."""
    if isinstance(given, ChoiceRule):
        return given
    if isinstance(given, str):
        return checks.one_of("choice rule", given, CHOICES)
    if callable(given):
        return _choice(given)
    raise InputError(
        "choice must be a function (params, belief, value, moment, available), a name or a ChoiceRule, got "
        f"{checks.shown(given)}."
    )


@cache
def _learner(start: Callable[..., Any], update: Callable[..., Any]) -> Learner:
    def init(params: Params, n_arms: int) -> Held:
        dtype = jnp.asarray(params["n_arms"]).dtype
        own = jax.tree.map(lambda x: _as_float(jnp.asarray(x), dtype), start(params, n_arms))
        return Held(own, jnp.zeros(n_arms, dtype))

    def after(params: Params, belief: Held, arm: Int[Array, ""], reward: Float[Array, ""]) -> Held:
        own = update(params, belief.own, arm, reward)
        # A constant of the user's may have more digits than the simulation.
        kept = jax.tree.map(lambda new, old: jnp.asarray(new).astype(old.dtype), own, belief.own)
        return Held(kept, belief.counts.at[arm].add(1))

    return Learner(_name(update), independent.as_given, init, after, seen=lambda params, belief: belief.plays)


def _as_float(x: Any, dtype: Any) -> Any:
    return x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x


@cache
def _limit(function: Callable[..., Any]) -> Limit:
    def limit(params: Params, belief: AnyBelief, moment: Moment) -> Value:
        return jnp.asarray(function(params, belief, moment)).astype(belief.mean.dtype)

    return limit


@cache
def _choice(function: Callable[..., Any]) -> ChoiceRule:
    def log_probs(params: Params, belief: AnyBelief, value: Value, moment: Moment, available: Available) -> Value:
        on_offer = jnp.ones(value.shape, bool) if available is None else available
        own = jnp.asarray(function(params, belief, value, moment, on_offer)).astype(value.dtype)
        if available is None:
            return own
        # A rule that does not look at what is on offer is one among the arms that are.
        among = choice.boltzmann(own, jnp.ones((), value.dtype), available)
        return jnp.where(jnp.isnan(own).any(), jnp.nan, among)

    def draw(
        params: Params, belief: AnyBelief, value: Value, moment: Moment, available: Available, chance: Chance
    ) -> Int[Array, ""]:
        return choice.draw_from(log_probs(params, belief, value, moment, available), chance.uniform)

    return ChoiceRule(_name(function), log_probs, draw)


@cache
def unforgiving(rule: ChoiceRule) -> ChoiceRule:
    """The same rule, but nothing is chosen where a value is not a number.

    The package's rules take such values for equal. A user's learner or limit that fails must not pass for indifference.
    """

    def log_probs(params: Params, belief: AnyBelief, value: Value, moment: Moment, available: Available) -> Value:
        return jnp.where(jnp.isnan(value).any(), jnp.nan, rule.log_probs(params, belief, value, moment, available))

    def draw(
        params: Params, belief: AnyBelief, value: Value, moment: Moment, available: Available, chance: Chance
    ) -> Int[Array, ""]:
        drawn = rule.draw(params, belief, value, moment, available, chance)
        return jnp.where(jnp.isnan(value).any(), value.shape[0], drawn)

    return replace(rule, log_probs=log_probs, draw=draw, scores=None)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__).replace("_", "-")
