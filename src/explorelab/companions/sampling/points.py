"""Points that play along with a person: possible parameters, each with the belief that the person would have under them.

Compiled programs over many points (the leading axis). The agent is the one that simulates and fits; see `agents.playing`.
"""

from __future__ import annotations

from collections.abc import Callable
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
from explorelab.fitting.objective import Curvature, Data, Model, behind_results, curvature
from explorelab.fitting.search.optimise import Minimum, minimise
from explorelab.fitting.spaces import natural

type Z = Float[Array, " parameter"]


class Points(NamedTuple):
    """Points in standard units, their parameters, and what each believes in the middle of a block."""

    z: Float[Array, "point parameter"]
    own: Params
    """What is ready for the rule and differs between points."""
    same: Params
    """What is ready and does not, such as the distances between arms: kept once."""
    playing: Playing

    @property
    def ready(self) -> Params:
        """All that is ready, one of each for every point."""
        n = self.z.shape[0]
        return {**self.own, **jax.tree.map(lambda x: jnp.broadcast_to(x, (n, *jnp.shape(x))), self.same)}

    def taken(self, at: Any) -> Points:
        """Only these points."""
        z, own, now = jax.tree.map(lambda x: x[at], (self.z, self.own, self.playing))
        return Points(z, own, self.same, now)

    def each[Result](self, told: Callable[[Params, Playing], Result]) -> Result:
        """Of every point, from what is ready and what it believes; for compiled programs."""
        return jax.vmap(lambda own, now: told({**self.same, **own}, now))(self.own, self.playing)


def parameters(model: Model, numbers: Numbers, z: Z) -> Params:
    """All parameters at a point, in natural units; beyond the bounds, those on them."""
    return {**numbers.fixed, **natural(model.axes, numbers.origin, jnp.clip(z, numbers.low, numbers.high))}


def _begun(model: Model, numbers: Numbers, z: Z) -> tuple[Params, Playing]:
    ready = prepared(model.rule, parameters(model, numbers, z), numbers.ways)
    return ready, playing.begun(model.rule, ready, model.n_arms)


def _split(model: Model, numbers: Numbers, ready: Params) -> tuple[Params, Params]:
    """What of this differs between points, and what does not: read off the program that makes it."""
    z = jax.ShapeDtypeStruct((len(model.axes),), numbers.low.dtype)
    program, shape = jax.make_jaxpr(lambda z: _begun(model, numbers, z)[0], return_shape=True)(z)
    known = {variable: frozenset({"z"}) for variable in program.jaxpr.invars}
    differs = jax.tree.unflatten(jax.tree.structure(shape), behind_results(program.jaxpr, known))
    own = {name for name in ready if any(jax.tree.leaves(differs[name], is_leaf=lambda x: isinstance(x, frozenset)))}
    return {name: ready[name] for name in own}, {name: ready[name] for name in ready.keys() - own}


@partial(jax.jit, static_argnames="model")
def begun(model: Model, numbers: Numbers, z: Float[Array, "point parameter"]) -> Points:
    """Every point before the first trial of a block."""

    def one(z: Z) -> tuple[Params, Playing]:
        ready, now = _begun(model, numbers, z)
        return _split(model, numbers, ready)[0], now

    same = _split(model, numbers, _begun(model, numbers, z[0])[0])[1]
    own, now = jax.vmap(one)(z)
    return Points(z, own, same, now)


# What a program only hands on is copied: it returns what is new, and the rest is put together outside.


def with_room(model: Model, points: Points, until: int) -> Points:
    """The same points with room for what they learn until that time."""
    return points._replace(playing=_with_room(model, points, until))


@partial(jax.jit, static_argnames=("model", "until"))
def _with_room(model: Model, points: Points, until: int) -> Playing:
    return points.each(lambda ready, now: playing.with_room(model.rule, ready, now, until))


@partial(jax.jit, static_argnames="model")
def log_probs(model: Model, points: Points, t: Any, position: Any, available: Any) -> Float[Array, "point arm"]:
    """Log-probability of every arm on the next trial, at every point."""
    return points.each(lambda ready, now: playing.log_probs(model.rule, ready, now, t, position, available))


def learned(model: Model, points: Points, available: Any, seen: Seen) -> Points:
    """Every point after the trial."""
    return points._replace(playing=_learned(model, points, available, seen))


@partial(jax.jit, static_argnames="model")
def _learned(model: Model, points: Points, available: Any, seen: Seen) -> Playing:
    return points.each(lambda ready, now: playing.learned(model.rule, ready, now, available, seen))


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
        return _split(model, numbers, ready)[0], lax.scan(trial, now, (block.available, seen))[0]

    same = _split(model, numbers, _begun(model, numbers, z[0])[0])[1]
    own, now = lax.map(one, z)
    return Points(z, own, same, now)


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
