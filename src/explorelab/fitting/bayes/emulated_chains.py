"""Chains of the hierarchical posterior that propose by an emulated likelihood and are corrected by the true one.

    learn the emulator from points around the first fit
    warm up by the emulator alone; learn from where the chains go; again; warm up once more
    draw: one step of NUTS by the emulator, then the likelihood once, which accepts or rejects it

While few proposals are accepted, the emulator learns from where they went, and such draws are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Lock
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from explorelab._support.parallel import in_order
from explorelab._support.progress import Progress
from explorelab._support.work.legs import Legs
from explorelab.agents.factors import AnyArray
from explorelab.fitting.bayes.beginning import Beginning
from explorelab.fitting.bayes.emulated_steps import PER_CALL, Given, Proposal, exactly, programs
from explorelab.fitting.bayes.emulator import learned
from explorelab.fitting.bayes.nuts import THREADS, Draw, Settings, Starts, State
from explorelab.fitting.bayes.training_points import Trainer, n_points
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.batches import on_gpu, single_threaded_algebra

SHARES = (0.25, 0.25, 0.25, 0.25)
"""Shares of warm-up; after each but the last, the emulator learns from the latter half of its draws."""
TRIAL = 50
"""Draws after which it is seen how many proposals are accepted; they also let the chains settle, and are not kept."""
ENOUGH = 0.6
"""Share of accepted proposals with which the emulator need not learn more."""
MOST_TRIALS = 3
DRAWS_IN_LEG = 100
"""Draws after which chains that are kept are kept."""
BATCHES = 4
"""Batches of points that the emulator has room for; with more, it grows."""


class Kept(NamedTuple):
    """Where a lane is: one chain on a CPU, all chains on a GPU."""

    state: State
    proposal: Proposal
    rows: np.ndarray
    gain: np.ndarray
    """Log-likelihood less the emulated one."""


class Place(NamedTuple):
    """Where all lanes are, and their chance."""

    kept: list[Kept]
    chance: list[Any]
    """The state of each lane's generator."""


class Ready(NamedTuple):
    """Chains that are warmed up."""

    given: Given
    accepted: float
    place: Place


class Leg(NamedTuple):
    """Some draws of every chain, and where they end."""

    place: Place
    draws: Draw


class EmulatedChains:
    """Chains that are warmed up when they are made, after which any number of draws can be taken, and then more."""

    def __init__(
        self, fitted: Fitted, begun: Beginning, starts: Starts, settings: Settings, seed: int, progress: bool | None = None
    ) -> None:
        self.together, self.progress = on_gpu(), progress
        self.known, self.programs = begun.known, programs(settings, self.together)
        self.exactly = exactly(fitted.model, self.together)
        self.n_chains = len(jax.tree.leaves(starts.points)[0])
        n_lanes = 1 if self.together else self.n_chains
        self.rngs = [np.random.default_rng([seed, lane]) for lane in range(n_lanes)]
        self.counting = Lock()
        self.accepted = 1.0
        """Share of proposals that were accepted in the last trial."""
        self.given: Given
        self.ahead: list[Draw] = []
        """Legs whose draws were not asked for yet."""
        self.n_legs = 0
        self.trainer = Trainer(fitted, begun, seed)
        with _quietly():
            self.legs = Legs("bayes", fitted, begun, starts, settings, seed, self.together)
            ready = self.legs.leg("ready", lambda: self._ready(starts, settings, seed))
            self.given, self.accepted = jax.tree.map(jnp.asarray, ready.given), ready.accepted
        self._go_on_from(ready.place)

    def draw(self, n: int) -> Draw:
        """The next draws of every chain, as NumPy arrays over chain and draw."""
        size = DRAWS_IN_LEG if self.legs.are_kept else n
        n_legs = -(-(n - _length(self.ahead)) // size)
        with _quietly(), Progress("sampling", n_legs * size * self.n_chains, self.progress) as bar:
            for _ in range(n_legs):
                leg = self.legs.leg(
                    f"draws {self.n_legs}", lambda: self._leg(size, bar), lambda: bar.advance(size * self.n_chains)
                )
                self._go_on_from(leg.place)
                self.ahead.append(leg.draws)
                self.n_legs += 1
        drawn = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *self.ahead)
        self.ahead = [jax.tree.map(lambda x: x[:, n:], drawn)]
        taken: Draw = jax.tree.map(lambda x: x[:, :n], drawn)
        return taken

    def _leg(self, n: int, bar: Progress) -> Leg:
        draws, _ = self._drawn(n, bar)
        return Leg(self._place(), draws)

    def _place(self) -> Place:
        return Place(self.kept, [rng.bit_generator.state for rng in self.rngs])

    def _go_on_from(self, place: Place) -> None:
        self.kept = place.kept
        for rng, state in zip(self.rngs, place.chance, strict=True):
            rng.bit_generator.state = state

    def _ready(self, starts: Starts, settings: Settings, seed: int) -> Ready:
        """The chains warmed up, with an emulator that most proposals are accepted with."""
        self._learn(*self.trainer.first())
        self.states = self._started(starts, seed)
        self._warm_up(settings.warmup)
        self.kept = [self._at(state) for state in self.states]
        for _ in range(MOST_TRIALS):
            with Progress("settling", TRIAL * self.n_chains, self.progress) as bar:
                drawn, proposed = self._drawn(TRIAL, bar)
            self.accepted = 0.0 if drawn.accepted is None else float(drawn.accepted.mean())
            if self.accepted >= ENOUGH:
                break
            self._learn(*self.trainer.also(_in_a_row(proposed), self.given.emulator))
            self.kept = [self._at(self.programs.renewed(self.given, kept.state)) for kept in self.kept]
        return Ready(self.given, self.accepted, self._place())

    def _learn(self, centre: np.ndarray, spread: np.ndarray) -> None:
        trainer = self.trainer
        assert trainer.training is not None
        room = BATCHES * n_points(centre.shape[1])
        emulator = learned(trainer.training, trainer.bend, trainer.pull, centre, spread, room)
        self.given = jax.tree.map(jnp.asarray, Given(self.known.without_data(), emulator))

    def _started(self, starts: Starts, seed: int) -> list[State]:
        keys = jax.random.split(jax.random.key(seed), self.n_chains)
        if self.together:
            return [self.programs.start(self.given, starts.points, starts.scale, keys)]
        each = [jax.tree.map(lambda x, i=i: x[i], starts.points) for i in range(self.n_chains)]
        return [self.programs.start(self.given, each[i], starts.scale, keys[i]) for i in range(self.n_chains)]

    def _warm_up(self, n: int) -> None:
        calls = [max(1, round(share * n / PER_CALL)) for share in SHARES]
        with Progress("warming up", sum(calls) * PER_CALL * self.n_chains, self.progress) as bar:
            for stage, n_calls in enumerate(calls):
                self.states = [self.programs.renewed(self.given, state) for state in self.states]
                # Compile before threads start: NumPyro's handlers cannot be traced in several at once.
                jax.block_until_ready(self.programs.warm(self.given, self.states[0]))
                done = self._in_lanes(partial(self._warmed, n_calls, bar))
                self.states = [state for state, _ in done]
                if stage < len(calls) - 1:
                    z = self._over_chains([z for _, z in done])
                    self._learn(*self.trainer.also(_in_a_row(z[:, z.shape[1] // 2 :]), self.given.emulator))

    def _warmed(self, n_calls: int, bar: Progress, lane: int, stop: Event) -> tuple[State, np.ndarray]:
        state = self.states[lane]
        parts: list[np.ndarray] = []
        while len(parts) < n_calls and not stop.is_set():
            state, z = self.programs.warm(self.given, state)
            parts.append(np.asarray(z))
            self._count(bar, PER_CALL)
        return state, np.concatenate(parts, axis=1 if self.together else 0)

    def _drawn(self, n: int, bar: Progress) -> tuple[Draw, np.ndarray]:
        """Draws, and all points that were proposed (chain x draw x person x parameter)."""
        jax.block_until_ready(self.programs.propose(self.given, self.kept[0].state))
        done = self._in_lanes(partial(self._stepped, n, bar))
        self.kept = [kept for kept, _, _ in done]
        draws = jax.tree.map(lambda *xs: self._over_chains(list(xs)), *[draws for _, draws, _ in done])
        return draws, self._over_chains([proposed for _, _, proposed in done])

    def _stepped(self, n: int, bar: Progress, lane: int, stop: Event) -> tuple[Kept, Draw, np.ndarray]:
        kept = self.kept[lane]
        draws: list[Draw] = []
        proposed: list[AnyArray] = []
        while len(draws) < n and not stop.is_set():
            there = self._at(*self.programs.propose(self.given, kept.state))
            with np.errstate(invalid="ignore"):
                accepted = np.log(self.rngs[lane].random(there.gain.shape)) < there.gain - kept.gain
            kept = self._settled(kept, there, accepted)
            proposed.append(there.proposal.z)
            draws.append(_draw(kept, there.proposal, accepted))
            self._count(bar, 1)
        axis = 1 if self.together else 0
        return kept, jax.tree.map(lambda *xs: np.stack(xs, axis), *draws), np.stack(proposed, axis)

    def _at(self, state: State, proposal: Proposal | None = None) -> Kept:
        """The point of a lane with its likelihood; one that is not a number is impossible."""
        told = self.programs.told(self.given, state) if proposal is None else proposal
        rows = np.asarray(self.exactly(self.known, told.z))
        rows = np.where(np.isnan(rows), -np.inf, rows)
        told = jax.tree.map(np.asarray, told)
        return Kept(state, told, rows, np.asarray(rows.sum(-1) - told.emulated))

    def _settled(self, kept: Kept, there: Kept, accepted: np.ndarray) -> Kept:
        state = self.programs.settled(kept.state, there.state, jnp.asarray(accepted))

        def chosen(new: np.ndarray, old: np.ndarray) -> np.ndarray:
            return np.where(accepted.reshape(accepted.shape + (1,) * (new.ndim - accepted.ndim)), new, old)

        return Kept(state, *jax.tree.map(chosen, there[1:], kept[1:]))

    def _over_chains(self, lanes: list[np.ndarray]) -> np.ndarray:
        return lanes[0] if self.together else np.stack(lanes)

    def _in_lanes[Out](self, work: Callable[[int, Event], Out]) -> list[Out]:
        """The same work in every lane, each on a thread of its own; an interrupt ends them all after their current call."""
        if len(self.rngs) == 1:
            return [work(0, Event())]
        stop = Event()

        def one(lane: int) -> Out:
            with jax.enable_x64(True):
                return work(lane, stop)

        try:
            return list(in_order(one, range(len(self.rngs)), min(len(self.rngs), THREADS)))
        finally:
            stop.set()

    def _count(self, bar: Progress, steps: int) -> None:
        with self.counting:
            bar.advance(steps * (self.n_chains if self.together else 1))


def _length(parts: list[Draw]) -> int:
    return sum(part.diverging.shape[1] for part in parts)


def _draw(kept: Kept, proposed: Proposal, accepted: np.ndarray) -> Draw:
    """What is kept of a draw: the point, and how NUTS fared."""
    at = kept.proposal
    return Draw(
        z=at.z,
        mean=at.mean,
        sd=at.sd,
        correlation=at.correlation,
        log_likelihood=kept.rows,
        diverging=proposed.diverging,
        energy=proposed.energy,
        n_steps=proposed.n_steps,
        acceptance=proposed.acceptance,
        step_size=proposed.step_size,
        log_density=at.log_density + kept.gain,
        accepted=accepted,
    )


def _in_a_row(z: np.ndarray) -> np.ndarray:
    """Draw x person x parameter, of all chains; those of a time beside each other."""
    return np.swapaxes(z, 0, 1).reshape(-1, *z.shape[2:])


@contextmanager
def _quietly() -> Iterator[None]:
    with jax.enable_x64(True), single_threaded_algebra():
        yield
