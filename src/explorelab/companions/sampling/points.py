"""Points that play along with a person: possible parameters, each with the belief that the person would have under them.

Compiled programs over many points (the leading axis). The agent is the one that simulates and fits; see `agents.playing`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from explorelab.agents import playing
from explorelab.agents.factors import Params, prepared
from explorelab.agents.playing import Playing, Seen
from explorelab.companions.scene import Numbers
from explorelab.fitting.likelihood import Block, log_likelihoods, replay
from explorelab.fitting.objective import Curvature, Data, Model, curvature
from explorelab.fitting.search.optimise import Minimum, minimise
from explorelab.fitting.spaces import natural

type Z = Float[Array, " parameter"]


class Points(NamedTuple):
    """Points in standard units, their parameters, and what each believes in the middle of a block."""

    z: Float[Array, "point parameter"]
    ready: Params
    playing: Playing


def parameters(model: Model, numbers: Numbers, z: Z) -> Params:
    """All parameters at a point, in natural units; beyond the bounds, those on them."""
    return {**numbers.fixed, **natural(model.axes, numbers.origin, jnp.clip(z, numbers.low, numbers.high))}


def _begun(model: Model, numbers: Numbers, z: Z) -> tuple[Params, Playing]:
    ready = prepared(model.rule, parameters(model, numbers, z), numbers.ways)
    return ready, playing.begun(model.rule, ready, model.n_arms)


@partial(jax.jit, static_argnames="model")
def begun(model: Model, numbers: Numbers, z: Float[Array, "point parameter"]) -> Points:
    """Every point before the first trial of a block."""
    return Points(z, *jax.vmap(partial(_begun, model, numbers))(z))


@partial(jax.jit, static_argnames=("model", "until"))
def with_room(model: Model, points: Points, until: int) -> Points:
    """The same points with room for what they learn until that time."""
    more = jax.vmap(lambda ready, now: playing.with_room(model.rule, ready, now, until))
    return points._replace(playing=more(points.ready, points.playing))


@partial(jax.jit, static_argnames="model")
def log_probs(model: Model, points: Points, t: Any, position: Any, available: Any) -> Float[Array, "point arm"]:
    """Log-probability of every arm on the next trial, at every point."""
    return jax.vmap(lambda ready, now: playing.log_probs(model.rule, ready, now, t, position, available))(
        points.ready, points.playing
    )


@partial(jax.jit, static_argnames="model")
def learned(model: Model, points: Points, available: Any, seen: Seen) -> Points:
    """Every point after the trial."""
    after = jax.vmap(lambda ready, now: playing.learned(model.rule, ready, now, available, seen))
    return points._replace(playing=after(points.ready, points.playing))


@partial(jax.jit, static_argnames=("model", "until"))
def caught_up(model: Model, numbers: Numbers, z: Float[Array, "point parameter"], block: Block, until: int) -> Points:
    """New points in the middle of a block, having learned what the person saw in it."""

    def one(z: Z) -> tuple[Params, Playing]:
        ready, now = _begun(model, numbers, z)
        now = playing.with_room(model.rule, ready, now, until)

        def trial(now: Playing, seen: Any) -> tuple[Playing, None]:
            available, seen = seen
            return playing.learned(model.rule, ready, now, available, seen), None

        seen = Seen(block.arm, block.arm, block.reward, block.observed)
        return ready, lax.scan(trial, now, (block.available, seen))[0]

    return Points(z, *lax.map(one, z))


@partial(jax.jit, static_argnames="model")
def log_likelihoods_at(
    model: Model, numbers: Numbers, blocks: Block, z: Float[Array, "point parameter"]
) -> Float[Array, "point block trial"]:
    """Log-probability of every choice of these blocks at every point; 0 for trials that are not scored."""

    def one(z: Z) -> Float[Array, "block trial"]:
        params = parameters(model, numbers, z)
        return jax.vmap(lambda block: log_likelihoods(model.rule, params, numbers.ways, model.n_arms, block))(blocks)

    return lax.map(one, z)


@partial(jax.jit, static_argnames="model")
def mean_probs(
    model: Model,
    numbers: Numbers,
    blocks: Block,
    z: Float[Array, "point parameter"],
    weight: Float[Array, "point block trial"],
) -> Float[Array, "block trial arm"]:
    """Probability of every arm on every trial of these blocks: the sum over points, each with its weight on that trial."""

    def add(total: Any, point: Any) -> tuple[Any, None]:
        z, weight = point
        params = parameters(model, numbers, z)
        each = jax.vmap(lambda block: replay(model.rule, params, numbers.ways, model.n_arms, block).log_probs)(blocks)
        # A point that says nothing on a trial has no weight there.
        return total + jnp.where(weight[..., None] > 0, weight[..., None] * jnp.exp(each), 0.0), None

    nothing = jnp.zeros((*blocks.arm.shape, model.n_arms), z.dtype)
    return lax.scan(add, nothing, (z, weight))[0]


@partial(jax.jit, static_argnames="model")
def most_probable(model: Model, numbers: Numbers, blocks: Block, weight: Any, start: Z) -> Minimum:
    """The most probable point given these blocks, with the information there."""
    rows, precision = jnp.arange(weight.shape[0]), jnp.linalg.inv(numbers.group.covariance)
    data = Data(blocks, numbers.ways, numbers.fixed, numbers.origin)

    def objective(z: Z) -> Curvature:
        at = curvature(model, data, rows, weight, z)
        away = z - numbers.group.mean
        pull = precision @ away
        return Curvature(at.value + 0.5 * away @ pull, at.gradient + pull, at.information + precision)

    return minimise(objective, start, numbers.low, numbers.high)
