"""Habits on top of any choice rule: staying with the last arm, not going far, trying new arms, lapsing.

    log P'(i) = log P(i) + stickiness [i = last]                        stay
                         - travel_cost log(1 + walk(last, i))           travel
                         + novelty [i never sampled] + const            novelty
    P''(i)    = (1 - lapse) P'(i) + lapse / number of available arms    lapse

P is the rule without habits. For a softmax the first three add to its logits, in units of log-odds, whatever the units of
the rewards; they do not change a rule that chooses with certainty, except among ties. A walk goes along the axes: on a
grid, its length is the number of squares passed. The first choice of a block starts nowhere, so travel costs nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int

from explorelab._support import checks
from explorelab._support.door import door
from explorelab.agents import parameters
from explorelab.agents.factors import (
    Agent,
    AnyBelief,
    Argument,
    Available,
    Belief,
    Chance,
    ChoiceRule,
    CountingBelief,
    Moment,
    Params,
    Value,
)
from explorelab.agents.rules.choice import draw_from, log_of
from explorelab.errors import InputError, unknown_name

type Change = Callable[[Params, AnyBelief, Value, Moment, Available], Value]
"""Log-probabilities after the habit, from those before it."""


def _stay(params: Params, belief: Belief, log_probs: Value, moment: Moment, available: Available) -> Value:
    last = jnp.arange(log_probs.shape[0]) == moment.position
    return jax.nn.log_softmax(log_probs + jnp.where(last, params["stickiness"], 0.0))


def _travel(params: Params, belief: Belief, log_probs: Value, moment: Moment, available: Available) -> Value:
    away = jnp.log1p(params["walks"][jnp.maximum(moment.position, 0)])
    return jax.nn.log_softmax(log_probs - jnp.where(moment.position < 0, 0.0, params["travel_cost"] * away))


def _novelty(params: Params, belief: CountingBelief, log_probs: Value, moment: Moment, available: Available) -> Value:
    return jax.nn.log_softmax(log_probs + jnp.where(belief.plays == 0, params["novelty"], 0.0))


def _lapse(params: Params, belief: Belief, log_probs: Value, moment: Moment, available: Available) -> Value:
    allowed = jnp.ones(log_probs.shape, bool) if available is None else available
    log_even = -jnp.log(allowed.sum().astype(log_probs.dtype))
    lapse = params["lapse"]
    # Every branch must be finite with finite derivatives, taken or not: impossible choices are held at 0 for now.
    possible = allowed & (log_probs > -jnp.inf)
    own = jnp.where(possible, log_probs, 0.0)
    larger = lax.stop_gradient(jnp.maximum(own, log_even))
    mixture = (1 - lapse) * jnp.where(possible, jnp.exp(own - larger), 0.0) + lapse * jnp.exp(log_even - larger)
    mixed = larger + log_of(mixture)
    # With a lapse of 0: the rule's own log-probability, however small, and the slope of the mixture there.
    unlapsed = own + lapse * jnp.expm1(jnp.minimum(log_even - own, _STEEPEST))
    mixed = jnp.where(lapse > 0, mixed, jnp.where(possible, unlapsed, -jnp.inf))
    return jnp.where(allowed, jnp.where(jnp.isnan(log_probs), jnp.nan, mixed), -jnp.inf)


_STEEPEST = 80.0
"""Log of the steepest slope along the lapse that stays finite, in single precision too."""


class Habit(NamedTuple):
    """A habit, its parameter, and the parameter's default."""

    change: Change
    parameter: str
    default: float
    walks: bool = False
    """Whether it needs the distances along the axes between arms (`walks` among the parameters)."""


HABITS: dict[str, Habit] = {
    "stay": Habit(_stay, "stickiness", 1.0),
    "travel": Habit(_travel, "travel_cost", 1.0, walks=True),
    "novelty": Habit(_novelty, "novelty", 1.0),
    "lapse": Habit(_lapse, "lapse", 0.05),
}
"""The habits, in the order in which they act, whatever the order in a name."""


@door
def add_habit(name: str, habit: Habit) -> None:
    """Add a habit to the table, so that `with_habits` and the names of agents know it.

    It acts after the others but before lapses, which mix the result of all habits with random choice.

    Parameters
    ----------
    name
        Name of the habit.
    habit
        The habit, its parameter and the parameter's default.
    """
    if HABITS.get(name) == habit:
        return
    taken = {known.parameter for known in HABITS.values()}
    # Compiled programs know a habit by its name, so a name must always mean the same.
    if name in HABITS or habit.parameter in taken:
        what = f"habit {name!r}" if name in HABITS else f"habit with the parameter {habit.parameter!r}"
        raise InputError(f"there is already a {what}: give the new one another name.")
    HABITS[name] = habit
    HABITS["lapse"] = HABITS.pop("lapse")


@cache
def habitual(rule: ChoiceRule, habits: tuple[str, ...]) -> ChoiceRule:
    """The choice rule with these habits; cached, so that an agent built twice is the same constant to `jit`."""

    def log_probs(params: Params, belief: Belief, value: Value, moment: Moment, available: Available) -> Value:
        return changed(rule.log_probs(params, belief, value, moment, available), params, belief, moment, available)

    def changed(result: Value, params: Params, belief: Belief, moment: Moment, available: Available) -> Value:
        for name in habits:
            result = HABITS[name].change(params, belief, result, moment, available)
        return result

    def draw(
        params: Params, belief: Belief, value: Value, moment: Moment, available: Available, chance: Chance
    ) -> Int[Array, ""]:
        return draw_from(log_probs(params, belief, value, moment, available), chance.uniform)

    walks = rule.walks or any(HABITS[name].walks for name in habits)
    habitual_rule = replace(rule, name="+".join((rule.name, *habits)), log_probs=log_probs, draw=draw, walks=walks)
    if rule.scores is None:
        return habitual_rule
    own = rule.scores

    def scores(
        params: Params, belief: Belief, value: Value, moment: Moment, available: Available, arm: Int[Array, ""]
    ) -> Value:
        return changed(own(params, belief, value, moment, available, arm), params, belief, moment, available)

    return replace(habitual_rule, scores=scores)


@door
def with_habits(agent: Agent, *habits: str, **values: Argument) -> Agent:
    """The agent with these habits added.

    `with_habits(agent, "stay", lapse=0.02)` favours the last arm (stickiness 1) and lapses in 2 % of choices. The result
    simulates and fits like any agent; the habits' parameters are free in a fit.

    Parameters
    ----------
    agent
        Agent to extend.
    *habits
        Names of habits: "stay", "travel", "novelty", "lapse" or one added with `add_habit`.
    **values
        Values of the habits' parameters; naming one also adds its habit.
    """
    by_parameter = {habit.parameter: name for name, habit in HABITS.items()}
    for name in habits:
        checks.one_of("habit", name, HABITS)
    for parameter in values:
        if parameter not in by_parameter:
            raise unknown_name("parameter of a habit", parameter, by_parameter)
    wanted = tuple(name for name in HABITS if name in habits or HABITS[name].parameter in values)
    if not wanted:
        return agent
    already = [HABITS[name].parameter for name in wanted if HABITS[name].parameter in agent.params]
    if already:
        raise InputError(f"{agent.name} has its own {already[0]}: set it there.")
    params = parameters.values(
        **{HABITS[name].parameter: values.get(HABITS[name].parameter, HABITS[name].default) for name in wanted}
    )
    return replace(
        agent,
        name="+".join((agent.name, *wanted)),
        rule=replace(agent.rule, choice=habitual(agent.rule.choice, wanted)),
        params={**agent.params, **params},
        given={**agent.given, **{name: float(value) for name, value in params.items()}},
        build=None if agent.build is None else _rebuild(agent.build, wanted, values),
        free=(*agent.free, *params),
    )


def _rebuild(build_bare: Callable[..., Agent], habits: tuple[str, ...], values: dict[str, Argument]) -> Callable[..., Agent]:
    """A function that builds the agent with the same habits and other values, for sweeps and fits."""
    own = {HABITS[name].parameter for name in habits}

    def build(**given: Argument) -> Agent:
        base = build_bare(**{name: value for name, value in given.items() if name not in own})
        return with_habits(base, *habits, **{**values, **{name: given[name] for name in own & given.keys()}})

    # Lets `inspect` see the bare agent's own parameters too.
    bare = inspect.signature(build_bare)
    kind = inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(HABITS[name].parameter, kind, default=HABITS[name].default) for name in habits]
    build.__signature__ = bare.replace(parameters=[*bare.parameters.values(), *added])  # type: ignore[attr-defined]
    build.__doc__ = build_bare.__doc__
    return build
