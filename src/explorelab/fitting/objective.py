"""The objective of a fit: the negative log-likelihood of a person's blocks, with its derivatives.

One pass of forward differentiation through the replay gives, for every arm on every trial, the log-probability and its
slope along each parameter. From these follow the gradient and the expected (Fisher) information

    F = sum over trials, sum over arms i of  P(i) d log P(i) d log P(i)'

which is positive semidefinite for every agent, so that scoring steps go downhill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Jaxpr, Literal, Var
from jaxtyping import Array, Float, Int

from explorelab.agents.factors import AnyArray, AnyBelief, Params, Rule, Ways, prepared
from explorelab.fitting.likelihood import Block, beliefs, decide, log_likelihoods
from explorelab.fitting.spaces import Axis, Origin, bounded, natural


@dataclass(frozen=True)
class Model:
    """An agent whose parameters are free or fixed; static to `jit`, so it holds no numbers from a data set."""

    rule: Rule
    axes: tuple[Axis, ...]
    n_arms: int


class Maps(NamedTuple):
    """How the parameters of each block follow from what is estimated for its person, where they change between blocks.

    With u what is estimated (a person's levels and slopes), a block is played at z = bounded(slope u), or at the value held.
    """

    slope: Float[AnyArray, "row parameter latent"]
    held: Float[AnyArray, "row parameter"]
    """Values in standard units of parameters that are held at one in this block; NaN for the others."""
    low: Float[AnyArray, " parameter"]
    high: Float[AnyArray, " parameter"]
    """Bounds in standard units."""

    def at(self, u: Float[Array, " latent"]) -> Float[Array, " parameter"]:
        """The parameters, in standard units, of the block that `slope` and `held` are of."""
        return jnp.where(jnp.isnan(self.held), bounded(self.slope @ u, self.low, self.high), self.held)


class Data(NamedTuple):
    """Every block of everyone, and the places of the arms."""

    blocks: Block
    ways: Ways
    fixed: Params
    """Parameters that are not free, in natural units."""
    origin: Origin
    """Search ranges of the free parameters."""
    maps: Maps | None = None
    """None if every block of a person is played at the same parameters, which are then what is estimated."""

    def of_rows(self, rows: Int[AnyArray, " row"]) -> Data:
        """The same with these blocks alone."""
        blocks = jax.tree.map(lambda x: x[rows], self.blocks)
        maps = self.maps and self.maps._replace(slope=self.maps.slope[rows], held=self.maps.held[rows])
        return self._replace(blocks=blocks, maps=maps)


class Curvature(NamedTuple):
    """The objective at a point, its gradient, and the information."""

    value: Float[Array, ""]
    gradient: Float[Array, " parameter"]
    information: Float[Array, "parameter parameter"]


def take(data: Data, rows: Int[Array, " row"]) -> Block:
    """The blocks with these indices."""
    return jax.tree.map(lambda x: jnp.asarray(x)[rows], data.blocks)


_MAP_AXES: Any = (0, 0, None, None)


def take_maps(maps: Maps, rows: Int[Array, " row"]) -> tuple[Maps, Maps]:
    """The maps of the blocks with these indices, and the axes over which they are batched."""
    own = maps._replace(slope=jnp.asarray(maps.slope)[rows], held=jnp.asarray(maps.held)[rows])
    axes: Any = Maps(*_MAP_AXES)
    return own, axes


def parameters_of_beliefs(rule: Rule, params: Params, ways: Ways, n_arms: int, block: Block) -> frozenset[str]:
    """The names of the parameters that beliefs depend on, read off the learner's own program.

    Every operation is assumed to depend on all its inputs, so that no parameter that matters is missed: one too many costs
    time, one too few would make gradients wrong. Only shapes and dtypes of the arguments count.
    """
    names = sorted(params)

    def believed(values: list[AnyArray], ways: Ways, block: Block) -> AnyBelief:
        return beliefs(rule, prepared(rule, dict(zip(names, values, strict=True)), ways), n_arms, block)

    given = ([params[name] for name in names], ways, block)
    program = jax.make_jaxpr(believed)(*jax.tree.map(jax.typeof, given)).jaxpr
    known = {variable: frozenset({name}) for name, variable in zip(names, program.invars, strict=False)}
    return frozenset().union(*behind_results(program, known))


def behind_results(program: Jaxpr, known: Mapping[Var, frozenset[str]]) -> list[frozenset[str]]:
    """What is behind each result of a program, if this is known of its arguments: every operation needs all its inputs."""
    behind = dict(known)

    def behind_any(variables: Sequence[Var | Literal]) -> frozenset[str]:
        return frozenset().union(*(behind.get(each, ()) for each in variables if not isinstance(each, Literal)))

    for operation in program.eqns:
        behind |= dict.fromkeys(operation.outvars, behind_any(operation.invars))
    return [behind_any([result]) for result in program.outvars]


def block_log_likelihoods(
    model: Model, data: Data, rows: Int[Array, " row"], z: Float[Array, " parameter"]
) -> Float[Array, " row"]:
    """Log-likelihood of each of these blocks."""
    if data.maps is not None:
        own, axes = take_maps(data.maps, rows)
        return jax.vmap(lambda block, maps: _block_log_likelihood(model, data, block, maps.at(z)), (0, axes))(
            take(data, rows), own
        )
    params = {**data.fixed, **natural(model.axes, data.origin, z)}

    def one(block: Block) -> Float[Array, ""]:
        return log_likelihoods(model.rule, params, data.ways, model.n_arms, block).sum()

    return jax.vmap(one)(take(data, rows))


def _block_log_likelihood(model: Model, data: Data, block: Block, z: Float[Array, " parameter"]) -> Float[Array, ""]:
    params = {**data.fixed, **natural(model.axes, data.origin, z)}
    return log_likelihoods(model.rule, params, data.ways, model.n_arms, block).sum()


def _log_probs_and_slopes(
    model: Model, data: Data, block: Block, z: Float[Array, " parameter"]
) -> tuple[Float[Array, "trial arm"], Float[Array, "trial arm parameter"]]:
    """Log-probability of every arm on every trial, and its slope along each parameter (the last axis).

    Only the parameters that learning depends on are differentiated through the learner, whose linear algebra is most of the
    work; for the others its beliefs are constants.
    """

    def believed(z: Float[Array, " parameter"]) -> AnyBelief:
        params = prepared(model.rule, {**data.fixed, **natural(model.axes, data.origin, z)}, data.ways)
        return beliefs(model.rule, params, model.n_arms, block)

    def log_probs(belief: AnyBelief, z: Float[Array, " parameter"]) -> Float[Array, "trial arm"]:
        params = {**data.fixed, **natural(model.axes, data.origin, z)}
        return decide(model.rule, params, data.ways, model.n_arms, block, belief, scoring=True).log_probs

    if not model.axes:
        probs = log_probs(believed(z), z)
        return probs, jnp.zeros((*probs.shape, 0))
    params = {**data.fixed, **natural(model.axes, data.origin, z)}
    of_beliefs = parameters_of_beliefs(model.rule, params, data.ways, model.n_arms, block)
    basis = jnp.eye(z.shape[0], dtype=z.dtype)
    learned = [i for i, axis in enumerate(model.axes) if axis.name in of_beliefs]
    belief = believed(z)
    unmoved = jax.tree.map(lambda x: jnp.zeros((z.shape[0], *x.shape), x.dtype), belief)
    moved = unmoved
    if learned:
        along = jax.vmap(lambda v: jax.jvp(believed, (z,), (v,))[1])(basis[jnp.asarray(learned)])
        moved = jax.tree.map(lambda zero, part: zero.at[jnp.asarray(learned)].set(part), unmoved, along)
    probs = log_probs(belief, z)
    slopes = jax.vmap(lambda tangent, v: jax.jvp(log_probs, (belief, z), (tangent, v))[1])(moved, basis)
    return probs, jnp.moveaxis(slopes, 0, -1)


def _products(
    a: Float[Array, "trial arm parameter"], b: Float[Array, "trial arm parameter"]
) -> Float[Array, "parameter parameter"]:
    """Sums over trials and arms of products of all pairs of parameters; as one flat product, ten times as fast as einsum."""
    n = a.shape[-1]
    return a.reshape(-1, n).T @ b.reshape(-1, n) if n else jnp.zeros((0, 0))


def curvature(
    model: Model, data: Data, rows: Int[Array, " row"], weight: Float[Array, " row"], z: Float[Array, " parameter"]
) -> Curvature:
    """Negative log-likelihood of these blocks, weighted, with gradient and Fisher information."""

    def one(block: Block, z: Float[Array, " parameter"]) -> Curvature:
        probs, slope = _log_probs_and_slopes(model, data, block, z)
        at = jnp.maximum(block.arm, 0)[:, None]
        chosen = jnp.take_along_axis(probs, at, axis=1)[:, 0]
        chosen_slope = jnp.take_along_axis(slope, at[..., None], axis=1)[:, 0]
        counted = block.scored
        possible = jnp.isfinite(probs)
        slope = jnp.where(possible[..., None] & counted[:, None, None], slope, 0.0)
        share = jnp.where(possible, jnp.exp(probs), 0.0)
        return Curvature(
            -jnp.where(counted, chosen, 0.0).sum(),
            -jnp.where(counted[:, None], chosen_slope, 0.0).sum(0),
            _products(slope * share[..., None], slope),
        )

    def mapped(block: Block, maps: Maps) -> Curvature:
        at, slope = one(block, maps.at(z)), jax.jacfwd(maps.at)(z)
        return Curvature(at.value, slope.T @ at.gradient, slope.T @ at.information @ slope)

    if data.maps is None:
        each = jax.vmap(lambda block: one(block, z))(take(data, rows))
    else:
        own, axes = take_maps(data.maps, rows)
        each = jax.vmap(mapped, (0, axes))(take(data, rows), own)
    return jax.tree.map(lambda x: jnp.tensordot(weight, x, axes=1), each)
