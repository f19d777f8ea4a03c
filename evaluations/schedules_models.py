"""Models that differ in one thing: how the bonus for uncertainty, or the temperature, changes within a block.

One agent has every schedule, chosen by two constants, so that all models share one compiled program and everything else in
it: a correlated Gaussian prior, a softmax and, if asked for, the habits of `situated-ucl`. With m the trial at which all
schedules are alike (10), K = sqrt(2 pi e), q(x) = Phi^-1(1 - 1/(K x)) and T the length of the block,

    value of an arm = mean + bonus x shape(t) x sd          temperature at t = temperature x shape(t)

Exponents that a schedule does not use are estimated as well: nothing depends on them, so they stay at their prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

import explorelab as xl
from explorelab.agents.factors import Agent, Learner, Moment, Params, Told, Value
from explorelab.agents.learners.correlated import correlated
from explorelab.agents.named.human import SITUATED
from explorelab.agents.named.ucl import CREDIBILITY_SCALE
from explorelab.agents.rules.choice import boltzmann, softmax_feedback
from explorelab.agents.rules.quantiles import upper_quantile

ALIKE = 10.0
"""The trial at which every schedule has the same value, so that `bonus` and `temperature` mean the same in all."""
USUAL_LENGTH = 30.0
"""The length of a block at which schedules that depend on it are alike."""


class TimedBelief(NamedTuple):
    """What is believed, and how long the block is."""

    inner: Any
    length: Float[Array, ""]

    @property
    def mean(self) -> Value:
        """Expected reward of each arm."""
        return self.inner.mean

    @property
    def sd(self) -> Value:
        """Standard deviation of each arm."""
        return self.inner.sd

    @property
    def plays(self) -> Value:
        """How often each arm has been seen."""
        return self.inner.plays


@cache
def timed(kernel: str) -> Learner:
    """The correlated learner, which also knows how many trials the block has: those that were seen, or the horizon."""
    inner = correlated(kernel)

    def replay(params: Params, n_arms: int, told: Told) -> TimedBelief:
        believed = inner.replay(params, n_arms, told)  # type: ignore[misc]
        return TimedBelief(believed, jnp.full(told.arm.shape, told.observed.sum(), believed.mean.dtype))

    return Learner(
        name="correlated, with the length of the block",
        prepare=inner.prepare,
        init=lambda params, n: TimedBelief(inner.init(params, n), jnp.asarray(params["horizon"], params["prior_cov"].dtype)),
        update=lambda params, belief, *seen: belief._replace(inner=inner.update(params, belief.inner, *seen)),
        stages=inner.stages,
        resize=lambda params, belief, until: belief._replace(inner=inner.resize(params, belief.inner, until)),
        seen=lambda params, belief: belief.plays,
        replay=replay,
    )


def _quantile(x: Float[Array, ""], power: Any = 1.0) -> Float[Array, ""]:
    """Phi^-1(1 - 1/(K x^power))."""
    return upper_quantile(-jnp.log(CREDIBILITY_SCALE) - power * jnp.log(x))


CREDIBILITY = (
    "none", "constant", "1/(K t)", "1/(K t^a)", "t^b", "1/(K trials left)", "horizon^h",
)  # fmt: skip
"""Schedules of the bonus: 0; 1; q(t); the quantile with a free power a; t to a power of either sign; the quantile of the
trials left, which falls; constant within a block, a power of its length."""
COOLING = ("constant", "nu / log t", "t^-c", "spread / log t", "horizon^h")
"""Schedules of the temperature: 1; 1 / log t; t to a free power; 1 / log t times the standard deviation of the values, which
is feedback in the sense of the paper without being zero among hundreds of alike squares; a power of the block's length."""
FEEDBACK = "feedback"
"""The paper's feedback, the smallest difference between two values / (2 log t), which has no parameter."""
EXPONENT = {"1/(K t^a)", "t^b", "horizon^h", "t^-c"}
"""Schedules that have a parameter of their own."""


def value(params: Params, belief: TimedBelief, moment: Moment) -> Value:
    """The mean and the bonus, on this trial, for uncertainty."""
    t, exponent = moment.t.astype(belief.mean.dtype), params["credibility_exponent"]
    left, power = jnp.maximum(belief.length - t + 1, 1.0), jnp.exp(exponent)
    shapes = [
        jnp.zeros_like(t),
        jnp.ones_like(t),
        _quantile(t) / _quantile(ALIKE),
        _quantile(t, power) / _quantile(ALIKE, power),
        (t / ALIKE) ** exponent,
        _quantile(left) / _quantile(ALIKE),
        (belief.length / USUAL_LENGTH) ** exponent,
    ]
    return belief.mean + params["bonus"] * jnp.stack(shapes)[params["credibility"].astype(int)] * belief.sd


def soft(params: Params, belief: TimedBelief, value: Value, moment: Moment, available: Any) -> Value:
    """Softmax at the temperature of this trial."""
    t, exponent = moment.t.astype(value.dtype), params["cooling_exponent"]
    log_t = jnp.log(jnp.maximum(t, 2.0)) / jnp.log(ALIKE)
    started = jnp.where(t > 1, 1 / log_t, jnp.inf)
    # The slope of a standard deviation of 0 is not defined.
    spread = jnp.sqrt(jnp.maximum(value.var(), 1e-12)) / params["unit"]
    shapes = [
        jnp.ones_like(t),
        started,
        (t / ALIKE) ** -exponent,
        jnp.where(t > 1, spread / log_t, jnp.inf),
        (belief.length / USUAL_LENGTH) ** exponent,
    ]
    return boltzmann(value, params["temperature"] * jnp.stack(shapes)[params["cooling"].astype(int)], available)


@cache
def _whole(habits: bool) -> Agent:
    """The agent that has every schedule but feedback."""
    exponents = [
        xl.parameter(f"{what}_exponent", scale="real", typical=0.0, spread=0.7) for what in ("credibility", "cooling")
    ]
    return xl.agent(
        "scheduled" + ("-situated" if habits else ""),
        learner=timed("matern32"),
        limit=value,
        choice=soft,
        parameters=["prior_mean", "length_scale", "bonus", "temperature", *exponents],
        values={"prior_var": 1.0, "credibility": 1.0, "cooling": 0.0, "unit": 1.0},
        habits=SITUATED if habits else (),
    )


@cache
def _with_feedback() -> Agent:
    """The agent with the paper's feedback cooling and lapses, without which most choices would be impossible."""
    return xl.agent(
        "feedback-scheduled",
        learner=timed("matern32"),
        limit=value,
        choice=softmax_feedback,
        parameters=["prior_mean", "length_scale", "bonus", "credibility_exponent"],
        values={"prior_var": 1.0, "credibility": 2.0},
        habits=("lapse",),
    )


def scheduled(credibility: str, cooling: str, habits: bool, known: Mapping[str, float]) -> Agent:
    """The agent with these two schedules; `known` are the values that nobody estimates."""
    which = {"credibility": float(CREDIBILITY.index(credibility))}
    if cooling == FEEDBACK:
        return _with_feedback().with_values(**which, **known)
    unit = float(known["prior_var"]) ** 0.5
    return _whole(habits).with_values(**which, **known, cooling=float(COOLING.index(cooling)), unit=unit)


def n_parameters(credibility: str, cooling: str, habits: bool) -> int:
    """How many parameters of a person the choices depend on."""
    own = (credibility != "none") + (credibility in EXPONENT) + (cooling in EXPONENT)
    return 3 + own + len(SITUATED) * habits
