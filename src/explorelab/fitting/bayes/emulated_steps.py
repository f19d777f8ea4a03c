"""Compiled steps of chains that move by an emulated likelihood: the same for all agents, as no agent is asked.

A step of NUTS leaves the emulated posterior as it is and can be reversed, so a proposal made of one, accepted with the
probability

    min(1, exp(gain of the proposal - gain of the current point)),   gain = log-likelihood - emulated log-likelihood

leaves the true posterior as it is, however bad the emulator (Liu 2001, "Monte Carlo Strategies in Scientific Computing",
section 9.4.3, "surrogate transition"; Christen & Fox 2005, "delayed acceptance"). A bad one only makes for rejections.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from explorelab.agents.factors import AnyArray, Pytree
from explorelab.fitting.bayes.emulator import Emulator, emulated
from explorelab.fitting.bayes.nuts import Keys, Points, Settings, State, chain_axes, group_at, kernel
from explorelab.fitting.bayes.population import Known, people, population, root_of, row_log_likelihoods, spread_of
from explorelab.fitting.objective import Model

PER_CALL = 10
"""Steps of warm-up in one compiled call."""


class Given(NamedTuple):
    """What the emulated posterior depends on."""

    known: Known
    """Without the data."""
    emulator: Emulator


class Proposal(NamedTuple):
    """A point of the emulated posterior, and how NUTS came there."""

    z: Float[AnyArray, "person parameter"]
    mean: Float[AnyArray, " parameter"]
    sd: Float[AnyArray, " parameter"]
    correlation: Float[AnyArray, "parameter parameter"]
    emulated: Float[AnyArray, ""]
    """The emulated log-likelihood of everyone together."""
    log_density: Float[AnyArray, ""]
    diverging: Bool[AnyArray, ""]
    energy: Float[AnyArray, ""]
    n_steps: Int[AnyArray, ""]
    acceptance: Float[AnyArray, ""]
    step_size: Float[AnyArray, ""]


class Programs(NamedTuple):
    """The compiled calls; on a GPU for all chains at once."""

    start: Callable[[Given, Points, Points, Keys], State]
    warm: Callable[[Given, State], tuple[State, AnyArray]]
    """`PER_CALL` steps by the emulator alone, and everyone's parameters after each."""
    renewed: Callable[[Given, State], State]
    """The same point, for another emulator."""
    propose: Callable[[Given, State], tuple[State, Proposal]]
    told: Callable[[Given, State], Proposal]
    settled: Callable[[State, State, AnyArray], State]
    """The proposed state where it is accepted, and elsewhere the one before."""


def emulated_model(correlated: bool, given: Given) -> None:
    """The hierarchical model for NumPyro, with the emulated likelihood."""
    import numpyro

    numpyro.factor("choices", emulated(given.emulator, population(correlated, given.known).z).sum())


@lru_cache(maxsize=8)
def programs(settings: Settings, together: bool) -> Programs:
    """The programs; data and emulator are arguments, so that all of the same shape share them."""
    from numpyro.infer.util import potential_energy

    def potential(given: Given) -> Callable[[Points], Float[Array, ""]]:
        return lambda point: potential_energy(emulated_model, (settings.correlated, given), {}, point)

    start, following = kernel(potential, settings)

    def told(given: Given, state: State) -> Proposal:
        mean, sd, link = group_at(settings, state.z)
        z = people(given.known, mean, root_of(spread_of(given.known, sd), link), state.z["x"]).z
        return Proposal(
            z=z,
            mean=mean,
            sd=sd,
            correlation=jnp.eye(len(sd)) if link is None else link @ link.T,
            emulated=emulated(given.emulator, z).sum(),
            log_density=-state.potential_energy,
            diverging=state.diverging,
            energy=state.energy,
            n_steps=state.num_steps,
            acceptance=state.accept_prob,
            step_size=state.adapt_state.step_size,
        )

    def warm(given: Given, state: State) -> tuple[State, Float[Array, "step person parameter"]]:
        def step(state: State, _: None) -> tuple[State, Float[Array, "person parameter"]]:
            state = following(given, state)
            return state, told(given, state).z

        return lax.scan(step, state, length=PER_CALL)

    def renewed(given: Given, state: State) -> State:
        energy, slope = jax.value_and_grad(potential(given))(state.z)
        return state._replace(potential_energy=energy, z_grad=slope)

    def propose(given: Given, state: State) -> tuple[State, Proposal]:
        state = following(given, state)
        return state, told(given, state)

    if not together:
        return Programs(*(jax.jit(call) for call in (start, warm, renewed, propose, told, settled)))
    return Programs(
        jax.jit(_all_started(start)),
        jax.jit(_all(warm, (0, 0))),
        jax.jit(_all(renewed, None)),
        jax.jit(_all(propose, (0, 0))),
        jax.jit(lambda given, states: jax.vmap(told, (None, chain_axes(states)))(given, states)),
        jax.jit(settled),
    )


def settled(before: State, proposed: State, accepted: Bool[Array, ...]) -> State:
    """The proposed state where it is accepted; elsewhere the one before, with the chance of the next step."""

    def chosen(new: Array, old: Array) -> Array:
        return jnp.where(accepted.reshape(accepted.shape + (1,) * (new.ndim - accepted.ndim)), new, old)

    at = ("z", "z_grad", "potential_energy")
    kept = {name: jax.tree.map(chosen, getattr(proposed, name), getattr(before, name)) for name in at}
    return proposed._replace(**kept)


def _all_started(start: Callable[..., State]) -> Callable[..., State]:
    def every(given: Given, points: Points, scale: Points, keys: Keys) -> State:
        point, key = jax.tree.map(lambda x: x[0], (points, keys))
        axes = chain_axes(jax.eval_shape(start, given, point, scale, key))
        return jax.vmap(start, (None, 0, None, 0), axes)(given, points, scale, keys)

    return every


def _all(step: Callable[..., Pytree], out: tuple[int, int] | None) -> Callable[..., Pytree]:
    """The same for all chains, whose state comes first in what is returned, or is all of it."""

    def every(given: Given, states: State) -> Pytree:
        axes = chain_axes(states)
        return jax.vmap(step, (None, axes), axes if out is None else (axes, out[1]))(given, states)

    return every


@lru_cache(maxsize=8)
def exactly(model: Model, together: bool) -> Callable[[Known, AnyArray], AnyArray]:
    """The compiled log-likelihood of every row at everyone's own point: no emulator, and no slopes."""

    def rows(known: Known, z: Float[Array, "person parameter"]) -> Float[Array, " row"]:
        return row_log_likelihoods(model, known.data, z[known.participant])

    return jax.jit(jax.vmap(rows, (None, 0)) if together else rows)
