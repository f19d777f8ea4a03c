"""The No-U-Turn sampler for the hierarchical model, a few steps per call: chains run in threads on a CPU, together on a GPU.

NumPyro's kernel takes the steps (Hoffman & Gelman 2014; warm-up adapts the step size and a scale for each direction).
NumPyro's `MCMC` class is not used: with parallel chains it recompiles for new data, cannot be interrupted within a chain,
and needs every CPU core to be a separate device, which must be set up before JAX starts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from threading import Event, Lock
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from explorelab._support.parallel import in_order
from explorelab._support.progress import Progress
from explorelab._support.work.legs import Legs
from explorelab.agents.factors import AnyArray, Pytree
from explorelab.fitting.bayes.population import Known, people, population_model, root_of, row_log_likelihoods, spread_of
from explorelab.fitting.model import Fitted
from explorelab.fitting.objective import Model
from explorelab.fitting.search.batches import on_gpu, single_threaded_algebra

PER_CALL = 10
"""Steps in one compiled call: an interrupt waits for the current call, and progress is shown after each."""
CALLS_IN_LEG = 10
"""Calls after which a chain that is kept is kept."""
THREADS = 16
"""The most chains that run at once."""


type Points = dict[str, AnyArray]
"""A number or array for every site of the model."""

type Keys = PRNGKeyArray
"""The key of one chain, or of every chain."""

type State = Pytree
"""NumPyro's state of a chain, an `HMCState`; it has no types."""


class Settings(NamedTuple):
    """What the sampler is compiled for."""

    warmup: int
    target_accept: float
    max_tree_depth: int
    correlated: bool


class Starts(NamedTuple):
    """Where chains begin, on the sampler's own scales."""

    points: Points
    """For every site, an array with a leading axis for chains."""
    scale: Points
    """A first guess of the posterior spread of each population parameter, which warm-up refines."""


class Draw(NamedTuple):
    """One draw, or many, with leading axes chain and draw."""

    z: Float[AnyArray, "person parameter"]
    """person x parameter, standard units."""
    mean: Float[AnyArray, " parameter"]
    sd: Float[AnyArray, " parameter"]
    correlation: Float[AnyArray, "parameter parameter"]
    """The population's correlations, parameter x parameter."""
    log_likelihood: Float[AnyArray, " row"]
    """The log-likelihood of every row."""
    diverging: Bool[AnyArray, ""]
    energy: Float[AnyArray, ""]
    n_steps: Int[AnyArray, ""]
    acceptance: Float[AnyArray, ""]
    step_size: Float[AnyArray, ""]
    log_density: Float[AnyArray, ""]
    accepted: Bool[AnyArray, ""] | None = None
    """Whether a proposal by the emulator was accepted; None if there is none."""


class Sampler(NamedTuple):
    """Two compiled calls: one makes a chain's first state, one advances it `PER_CALL` steps; all chains at once on a GPU."""

    start: Callable[[Known, Points, Points, Keys], State]
    advance: Callable[[Known, State], tuple[State, Draw]]


class Kernel(NamedTuple):
    """NumPyro's NUTS, not yet compiled, for one chain; a target's arguments come first."""

    start: Callable[[Pytree, Points, Points, Keys], State]
    following: Callable[[Pytree, State], State]


def kernel(potential: Callable[[Pytree], Callable[[Points], Float[Array, ""]]], settings: Settings) -> Kernel:
    """The kernel that samples from exp(-potential(given)), with a dense scale for the population."""
    from numpyro.infer.hmc import hmc

    first, following = hmc(potential_fn_gen=potential, algo="NUTS")
    group = ("correlation_root", "mean", "sd") if settings.correlated else ("mean", "sd")

    def start(given: Pytree, point: Points, scale: Points, key: Keys) -> State:
        return first(
            point,
            num_warmup=settings.warmup,
            step_size=0.5,
            inverse_mass_matrix={
                group: jnp.diag(jnp.concatenate([scale[name] for name in group]) ** 2),
                ("x",): jnp.ones(point["x"].size),
            },
            target_accept_prob=settings.target_accept,
            max_tree_depth=settings.max_tree_depth,
            dense_mass=[group],
            model_args=(given,),
            rng_key=key,
        )

    return Kernel(start, lambda given, state: following(state, (given,), {}))


@lru_cache(maxsize=8)
def sampler(model: Model, settings: Settings, together: bool) -> Sampler:
    """The compiled sampler; data are arguments, so data of the same shape need no recompilation."""
    from numpyro.infer.util import potential_energy

    def potential(known: Known) -> Callable[[Points], Float[Array, ""]]:
        arguments = (model, settings.correlated, known)
        return lambda point: potential_energy(population_model, arguments, {}, point)

    start, following = kernel(potential, settings)

    def advance(known: Known, state: State) -> tuple[State, Draw]:
        def step(state: State, _: None) -> tuple[State, Draw]:
            state = following(known, state)
            return state, drawn(model, settings, known, state)

        return lax.scan(step, state, length=PER_CALL)

    if not together:
        return Sampler(jax.jit(start), jax.jit(advance))

    def start_all(known: Known, points: Points, scale: Points, keys: Keys) -> State:
        point, key = jax.tree.map(lambda x: x[0], (points, keys))
        axes = chain_axes(jax.eval_shape(start, known, point, scale, key))
        return jax.vmap(start, (None, 0, None, 0), axes)(known, points, scale, keys)

    def advance_all(known: Known, states: State) -> tuple[State, Draw]:
        axes = chain_axes(states)
        return jax.vmap(advance, (None, axes), (axes, 0))(known, states)

    return Sampler(jax.jit(start_all), jax.jit(advance_all))


def chain_axes(state: State) -> Pytree:
    """Which axis of each part of a sampler's state is for chains: the first, except that its clock has none.

    All chains share one clock, so that warm-up's adaptation at certain times is computed only then. With a clock for each
    chain it would be computed at every step and discarded.
    """
    axes = jax.tree.map(lambda _: 0, state)
    return axes._replace(i=None, adapt_state=axes.adapt_state._replace(window_idx=None))


type GroupAt = tuple[Float[Array, " parameter"], Float[Array, " parameter"], Float[Array, "parameter parameter"] | None]
"""Mean, sd and root of the correlations, if any."""


def group_at(settings: Settings, point: Points) -> GroupAt:
    """The population at a point on the sampler's own scales."""
    from numpyro.distributions import biject_to, constraints

    link = biject_to(constraints.corr_cholesky)(point["correlation_root"]) if settings.correlated else None
    return jnp.asarray(point["mean"]), jnp.exp(point["sd"]), link


def drawn(model: Model, settings: Settings, known: Known, state: State) -> Draw:
    """The draw that is kept from a state of the sampler."""
    mean, sd, link = group_at(settings, state.z)
    z = people(known, mean, root_of(spread_of(known, sd), link), state.z["x"]).z
    return Draw(
        z=z,
        mean=mean,
        sd=sd,
        correlation=jnp.eye(len(sd)) if link is None else link @ link.T,
        log_likelihood=row_log_likelihoods(model, known.data, z[known.participant]),
        diverging=state.diverging,
        energy=state.energy,
        n_steps=state.num_steps,
        acceptance=state.accept_prob,
        step_size=state.adapt_state.step_size,
        log_density=-state.potential_energy,
    )


def run_chains(
    fitted: Fitted, known: Known, starts: Starts, settings: Settings, draws: int, seed: int, progress: bool | None = None
) -> Draw:
    """The draws of every chain after warm-up, as NumPy arrays over chain and draw."""
    points, scale = starts
    n_chains = len(jax.tree.leaves(points)[0])
    n_calls = -(-(settings.warmup + draws) // PER_CALL)
    together = on_gpu()
    with _x64(), single_threaded_algebra():
        legs = Legs("nuts", fitted, known, starts, settings, seed, together)
        if legs.are_kept:
            n_calls = -(-n_calls // CALLS_IN_LEG) * CALLS_IN_LEG
        with Progress("sampling", n_calls * PER_CALL * n_chains, progress) as bar:
            compiled = sampler(fitted.model, settings, together)
            keys = jax.random.split(jax.random.key(seed), n_chains)
            chain = partial(_chain, compiled, known, legs, n_calls)
            if together:
                parts = chain("all", (points, scale, keys), lambda n=1: bar.advance(n * PER_CALL * n_chains), Event())
                chains = jax.tree.map(lambda *xs: np.concatenate(xs, axis=1), *parts)
            else:
                each = [(jax.tree.map(lambda x, i=i: x[i], points), scale, keys[i]) for i in range(n_chains)]
                # Compile before starting threads: NumPyro's handlers cannot be traced in several threads at once.
                jax.block_until_ready(compiled.advance(known, compiled.start(known, *each[0])))
                every = _in_threads(chain, each, bar)
                chains = jax.tree.map(lambda *xs: np.stack(xs), *[_joined(parts) for parts in every])
    kept: Draw = jax.tree.map(lambda x: x[:, settings.warmup : settings.warmup + draws], chains)
    return kept


def _joined(parts: list[Draw]) -> Draw:
    joined: Draw = jax.tree.map(lambda *xs: np.concatenate(xs), *parts)
    return joined


type Start = tuple[Points, Points, Keys]
"""Where a chain (or all together) starts, the scale, and its key."""


def _chain(
    compiled: Sampler,
    known: Known,
    legs: Legs,
    n_calls: int,
    name: str,
    start: Start,
    done: Callable[..., None],
    stop: Event,
) -> list[Draw]:
    """The draws of one chain (or of all together), warm-up included, one part per call."""
    state: State | None = None
    parts: list[Draw] = []
    with _x64():
        while len(parts) < n_calls:
            n = min(n_calls - len(parts), CALLS_IN_LEG)
            going_on = partial(_leg, compiled, known, start, state, n, done, stop)
            leg = legs.leg(f"chain {name}, call {len(parts)}", going_on, partial(done, n))
            if leg is None:
                break
            state, more = leg
            parts += more
    return parts


def _leg(
    compiled: Sampler,
    known: Known,
    start: Start,
    state: State | None,
    n_calls: int,
    done: Callable[[], None],
    stop: Event,
) -> tuple[State, list[Draw]] | None:
    """The next calls of a chain and the state in which they end; None if it was stopped in between."""
    state = compiled.start(known, *start) if state is None else state
    parts: list[Draw] = []
    for _ in range(n_calls):
        if stop.is_set():
            return None
        state, part = compiled.advance(known, state)
        parts.append(jax.tree.map(np.asarray, part))
        done()
    return state, parts


def _in_threads(
    chain: Callable[[str, Start, Callable[..., None], Event], list[Draw]], starts: list[Start], bar: Progress
) -> list[list[Draw]]:
    """The draws of every chain, one part per call; the chains share the cores."""
    stop, counting = Event(), Lock()

    def done(calls: int = 1) -> None:
        with counting:
            bar.advance(calls * PER_CALL)

    try:
        return list(in_order(lambda i: chain(str(i), starts[i], done, stop), range(len(starts)), min(len(starts), THREADS)))
    finally:
        # On an interrupt too: every chain ends after its current call, which is not waited for.
        stop.set()


def _x64() -> AbstractContextManager[None]:
    return jax.enable_x64(True)
