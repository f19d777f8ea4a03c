"""Points that play along with a person: possible parameters, each with the belief that the person would have under them.

Compiled programs over many points (the leading axis). The agent is the one that simulates and fits; see `agents.playing`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from explorelab.agents import playing
from explorelab.agents.factors import AnyArray, Params, prepared
from explorelab.agents.playing import Playing, Seen
from explorelab.companions.scene import Numbers
from explorelab.fitting.likelihood import Block, log_likelihoods, replay
from explorelab.fitting.objective import Curvature, Data, Model, behind_results, curvature
from explorelab.fitting.search.optimise import Minimum, minimise
from explorelab.fitting.spaces import natural

type Z = Float[Array, " parameter"]


MOST_AT_ONCE = 128
"""Points in one call. Arrays of more than 32 MB, which 512 points with 100 correlated arms fill, are taken from the
operating system and given back at every step, which takes four times as long as the arithmetic."""


class Part(NamedTuple):
    """Some of the points, in the middle of a block."""

    own: Params
    """What is ready for the rule and differs between points."""
    playing: Playing
    """What each believes."""


class Points(NamedTuple):
    """Points in standard units, their parameters, and what each believes in the middle of a block."""

    z: Float[Array, "point parameter"]
    same: Params
    """What is ready and does not differ between points, such as the distances between arms: kept once."""
    parts: tuple[Part, ...]

    @property
    def ready(self) -> Params:
        """All that is ready, one of each for every point."""
        n = self.z.shape[0]
        return {**self._whole().own, **jax.tree.map(lambda x: jnp.broadcast_to(x, (n, *jnp.shape(x))), self.same)}

    @property
    def playing(self) -> Playing:
        """What each believes."""
        return self._whole().playing

    def _whole(self) -> Part:
        if len(self.parts) == 1:
            return self.parts[0]
        return jax.tree.map(lambda *each: jnp.concatenate(each), *self.parts)

    def taken(self, at: Any) -> Points:
        """Only these points."""
        return Points(self.z[at], self.same, (jax.tree.map(lambda x: x[at], self._whole()),))

    def moved(self, told: Callable[[Params, Part], Playing]) -> Points:
        """The same points with other beliefs, by a compiled program for what is the same and one part of them."""
        return self._replace(parts=tuple(part._replace(playing=told(self.same, part)) for part in self.parts))

    def each[Result](self, told: Callable[[Params, Playing], Result]) -> Result:
        """Of every point, from what is ready and what it believes; for compiled programs."""
        return of_each(self.same, self._whole(), told)


def of_each[Result](same: Params, part: Part, told: Callable[[Params, Playing], Result]) -> Result:
    """Of every point of a part, from what is ready and what it believes; for compiled programs."""
    return jax.vmap(lambda own, now: told({**same, **own}, now))(part.own, part.playing)


def _in_parts(z: Any) -> list[Any]:
    """The points in as few parts as there may be, of sizes that differ by one at most."""
    return np.array_split(z, max(-(-len(z) // MOST_AT_ONCE), 1))


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


def begun(model: Model, numbers: Numbers, z: Float[AnyArray, "point parameter"]) -> Points:
    """Every point before the first trial of a block."""
    made = [_begun_at(model, numbers, part) for part in _in_parts(z)]
    return Points(z, made[0][0], tuple(part for _, part in made))


@partial(jax.jit, static_argnames="model")
def _begun_at(model: Model, numbers: Numbers, z: Float[Array, "point parameter"]) -> tuple[Params, Part]:
    def one(z: Z) -> Part:
        ready, now = _begun(model, numbers, z)
        return Part(_split(model, numbers, ready)[0], now)

    return _split(model, numbers, _begun(model, numbers, z[0])[0])[1], jax.vmap(one)(z)


# What a program only hands on is copied: it returns what is new, and the rest is put together outside.


def with_room(model: Model, points: Points, until: int) -> Points:
    """The same points with room for what they learn until that time."""
    return points.moved(lambda same, part: _with_room(model, same, part, until))


@partial(jax.jit, static_argnames=("model", "until"))
def _with_room(model: Model, same: Params, part: Part, until: int) -> Playing:
    return of_each(same, part, lambda ready, now: playing.with_room(model.rule, ready, now, until))


def log_probs(model: Model, points: Points, t: Any, position: Any, available: Any) -> Float[np.ndarray, "point arm"]:
    """Log-probability of every arm on the next trial, at every point."""
    return np.concatenate([_log_probs(model, points.same, part, t, position, available) for part in points.parts])


@partial(jax.jit, static_argnames="model")
def _log_probs(model: Model, same: Params, part: Part, t: Any, position: Any, available: Any) -> Float[Array, "point arm"]:
    return of_each(same, part, lambda ready, now: playing.log_probs(model.rule, ready, now, t, position, available))


def learned(model: Model, points: Points, available: Any, seen: Seen) -> Points:
    """Every point after the trial."""
    return points.moved(lambda same, part: _learned(model, same, part, available, seen))


@partial(jax.jit, static_argnames="model")
def _learned(model: Model, same: Params, part: Part, available: Any, seen: Seen) -> Playing:
    return of_each(same, part, lambda ready, now: playing.learned(model.rule, ready, now, available, seen))


def caught_up(model: Model, numbers: Numbers, z: Float[AnyArray, "point parameter"], block: Block, until: int) -> Points:
    """New points in the middle of a block, having learned what the person saw in it."""
    made = [_caught_up(model, numbers, part, block, until) for part in _in_parts(z)]
    return Points(z, made[0][0], tuple(part for _, part in made))


@partial(jax.jit, static_argnames=("model", "until"))
def _caught_up(
    model: Model, numbers: Numbers, z: Float[Array, "point parameter"], block: Block, until: int
) -> tuple[Params, Part]:
    def one(z: Z) -> Part:
        ready = prepared(model.rule, parameters(model, numbers, z), numbers.ways)
        seen = Seen(block.arm, block.arm, block.reward, block.observed)
        now = playing.after(model.rule, ready, model.n_arms, block.available, seen, until)
        return Part(_split(model, numbers, ready)[0], now)

    return _split(model, numbers, _begun(model, numbers, z[0])[0])[1], lax.map(one, z)


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
