"""What draws someone who remembers the way from one arm to the next: pulls, in log-odds, on top of a choice rule.

    log P'(i) = log P(i) + sum over pulls of weight x feature(i) + const

The features follow from distances alone, on any layout: a line, a grid, or places anywhere. Two arms are neighbours if they
are no further apart than 1.5 times the smallest distance: on a grid the eight squares around one. The weights are
parameters, in units of log-odds; a weight of 0 leaves a pull out. `PULLS` has all of them, `learners.remembering` what is
remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from explorelab.agents.factors import Available, Chance, ChoiceRule, Moment, Params, Value
from explorelab.agents.learners.remembering import at
from explorelab.agents.rules.choice import boltzmann, draw_from

type Pull = Callable[[Params, Any, Moment], Value]
"""The feature of each arm that the weight multiplies."""

TENTH = 10.0
"""The choice at which the temperature is what its parameter says."""


def _arms(params: Params) -> Int[Array, " arm"]:
    return jnp.arange(params["walks"].shape[0])


def _known(arm: Float[Array, ""], feature: Value) -> Value:
    """The feature, or 0 for every arm while the remembered arm that it starts from does not exist."""
    return jnp.where(arm >= 0, feature, 0.0)


def _stay(params: Params, belief: Any, moment: Moment) -> Value:
    return (_arms(params) == moment.position).astype(params["walks"].dtype)


def _travel(params: Params, belief: Any, moment: Moment) -> Value:
    """-log(1 + walk) from the last arm."""
    return jnp.where(moment.position < 0, 0.0, -params["log_walks"][jnp.maximum(moment.position, 0)])


def _novelty(params: Params, belief: Any, moment: Moment) -> Value:
    return (belief.plays == 0).astype(params["walks"].dtype)


def _persistence(params: Params, belief: Any, moment: Moment) -> Value:
    """Whether an arm is the last one, which had been sampled before that too."""
    return belief.memory.repeated * _stay(params, belief, moment)


def _gap_filling(params: Params, belief: Any, moment: Moment) -> Value:
    """The share of an arm's neighbours that were sampled, if it was not."""
    share = belief.memory.crowd / params["geometry"].near.sum(1)
    return jnp.where(belief.plays == 0, share, 0.0)


def _restlessness(params: Params, belief: Any, moment: Moment) -> Value:
    """Log(1 + walk) from the last arm, times the pace: after long walks distance deters less."""
    return -belief.memory.pace * _travel(params, belief, moment)


def _adjacency(params: Params, belief: Any, moment: Moment) -> Value:
    """Whether an arm is the last one or next to it, diagonals included."""
    memory = belief.memory
    return _known(memory.last, params["geometry"].near[at(memory.last)])


def _momentum(params: Params, belief: Any, moment: Moment) -> Value:
    """Whether the step to an arm would be the last step once more.

    |(i - last) - (last - before)|^2 = 2 |i - last|^2 + 2 |last - before|^2 - |i - before|^2.
    """
    memory = belief.memory
    distances, last, before = params["distances"], at(memory.last), at(memory.before)
    step = distances[before, last]
    apart = 2 * distances[last] ** 2 + 2 * step**2 - distances[before] ** 2
    same = (step > 0) & (apart < 0.1 * params["geometry"].spacing ** 2)
    return _known(memory.before, same.astype(step.dtype))


def _elbow_room(params: Params, belief: Any, moment: Moment) -> Value:
    """Log(1 + distance) from the nearest arm that was sampled."""
    return _known(belief.memory.last, belief.memory.room)


def _roaming(params: Params, belief: Any, moment: Moment) -> Value:
    """The same times the pace: after long walks, on to where nobody was."""
    return belief.memory.pace * _elbow_room(params, belief, moment)


def _homing(params: Params, belief: Any, moment: Moment) -> Value:
    """-log(1 + walk) from the arm of the highest reward."""
    memory = belief.memory
    return _known(memory.best, -params["log_walks"][at(memory.best)])


def _giving_up(params: Params, belief: Any, moment: Moment) -> Value:
    """Log(1 + walk) from that arm, times the logarithm of how many rewards ago it was: homing fades."""
    return -jnp.log1p(belief.memory.fruitless) * _homing(params, belief, moment)


def _symmetry(params: Params, belief: Any, moment: Moment) -> Value:
    """Whether an arm is another one as far from the centre as the last, such as its mirror images on a grid."""
    memory = belief.memory
    return _known(memory.last, params["geometry"].images[at(memory.last)])


def _corners(params: Params, belief: Any, moment: Moment) -> Value:
    return params["geometry"].corner


def _first_step(params: Params, belief: Any, moment: Moment) -> Value:
    """Log(1 + walk) from the last arm, as long as there is only one to start from."""
    return jnp.where(belief.memory.steps == 0, -_travel(params, belief, moment), 0.0)


def _borders(params: Params, belief: Any, moment: Moment) -> Value:
    return params["geometry"].border


PULLS: dict[str, Pull] = {
    "stickiness": _stay,
    "travel_cost": _travel,
    "novelty": _novelty,
    "persistence": _persistence,
    "gap_filling": _gap_filling,
    "restlessness": _restlessness,
    "adjacency": _adjacency,
    "momentum": _momentum,
    "elbow_room": _elbow_room,
    "roaming": _roaming,
    "homing": _homing,
    "giving_up": _giving_up,
    "symmetry": _symmetry,
    "corners": _corners,
    "first_step": _first_step,
    "borders": _borders,
}
"""The pulls, by the parameter that weighs each."""


def _warmed(params: Params, value: Value, moment: Moment) -> Float[Array, ""]:
    """Temperature (t / 10)^warming."""
    return params["temperature"] * (moment.t.astype(value.dtype) / TENTH) ** params["warming"]


def _layout(params: Params) -> Params:
    """What pulls are told of the parameters: where the arms lie. Logarithms once for all arms, not for each trial."""
    layout = {name: params[name] for name in ("distances", "walks", "geometry")}
    return {**layout, "log_walks": jnp.log1p(params["walks"])}


@cache
def pulled(pulls: tuple[str, ...]) -> ChoiceRule:
    """A softmax with these pulls, for a learner that remembers the way.

    Its temperature changes with time, and what was inferred about arms never sampled may count more than what was seen.
    """

    def log_probs(params: Params, belief: Any, value: Value, moment: Moment, available: Available) -> Value:
        # Nothing remembered depends on a parameter: without its derivatives, all of them 0, a fit is several times as fast.
        known, layout = lax.stop_gradient((belief, _layout(params)))
        drawn = sum(params[name] * PULLS[name](layout, known, moment) for name in pulls)
        worth = value + params["inference"] * jnp.where(belief.plays == 0, belief.mean - params["prior_mean"], 0.0)
        return jax.nn.log_softmax(boltzmann(worth, _warmed(params, value, moment), available) + drawn)

    def draw(
        params: Params, belief: Any, value: Value, moment: Moment, available: Available, chance: Chance
    ) -> Int[Array, ""]:
        return draw_from(log_probs(params, belief, value, moment, available), chance.uniform)

    return replace(ChoiceRule("softmax", log_probs, draw, walks=True), name="+".join(("softmax-warming", *pulls)))
