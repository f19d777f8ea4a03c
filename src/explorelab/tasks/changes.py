"""How mean rewards change over time: one table of all kinds. A new kind is one entry (`_add`).

A change is drawn step by step where it is needed: inside a simulation, by `paths`, or for the blocks that simulated people
play. What is drawn depends only on the seed, the number of the replicate, the time and the arm, so that no path depends on
how the work is divided, and none need be stored. JAX is loaded only to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from explorelab._support.checks import Floats

if TYPE_CHECKING:
    from jaxtyping import Array, Float, Int, UInt32

type Numbers = Mapping[str, Any]
"""What a kind needs to know, by name, in float64: of JAX inside compiled calls, of NumPy outside."""

FARTHEST = 6.5
"""No normal number drawn from 32 bits is farther than this from 0."""


class Draws(NamedTuple):
    """Two numbers between 0 and 1 for each arm, at one time."""

    first: Float[Array, " arm"]
    second: Float[Array, " arm"]

    @property
    def normal(self) -> Float[Array, " arm"]:
        """A standard normal number for each arm, from the first."""
        from jax import lax

        return np.sqrt(2.0) * lax.erf_inv(2 * self.first - 1)


@dataclass(frozen=True)
class ChangeKind:
    """A kind of change: the means at the first trial, and those of each trial from the means before it."""

    name: str
    words: str
    """The means in a sentence: "means that ..."."""
    begin: Callable[[Numbers, Draws], Float[Array, " arm"]]
    """The means at time 1."""
    step: Callable[[Numbers, Float[Array, " arm"], Int[Array, ""], Draws], Float[Array, " arm"]]
    """The means at a time after 1, from those before."""
    reach: Callable[[Numbers, int], np.ndarray]
    """About the smallest and the largest means up to a horizon, for those who must know their size."""
    random: bool = True
    """Whether anything is drawn."""


@dataclass(frozen=True, eq=False)
class Change:
    """How the means of a task change."""

    kind: str
    """A name in the table."""
    numbers: Numbers
    seed: int | None = None
    """The seed of the one path that everybody meets; None if each replicate, or each person's block, draws its own."""

    @property
    def own_paths(self) -> bool:
        """Whether every replicate draws its own path."""
        return CHANGES[self.kind].random and self.seed is None

    def reach(self, horizon: int) -> np.ndarray:
        """About the smallest and the largest mean of each arm up to a horizon."""
        return np.asarray(CHANGES[self.kind].reach(self.numbers, horizon), float)


CHANGES: dict[str, ChangeKind] = {}
"""Every kind by its name."""


def _add(kind: ChangeKind) -> str:
    CHANGES[kind.name] = kind
    return kind.name


def _path_step(n: Numbers, means: Float[Array, " arm"], t: Int[Array, ""], draws: Draws) -> Float[Array, " arm"]:
    import jax.numpy as jnp

    return n["path"][jnp.minimum(t, n["path"].shape[0]) - 1]


def _walk_step(n: Numbers, means: Float[Array, " arm"], t: Int[Array, ""], draws: Draws) -> Float[Array, " arm"]:
    """mu_{t+1} = lambda mu_t + (1 - lambda) theta + trend + N(0, sd^2) (Daw et al. 2006)."""
    return n["decay"] * means + (1 - n["decay"]) * n["centre"] + n["trend"] + n["diffusion_sd"] * draws.normal


def _walk_reach(n: Numbers, horizon: int) -> np.ndarray:
    decay, sd = n["decay"], n["diffusion_sd"]
    # The variance added by a walk, which with decay stops growing.
    lasts = np.minimum(horizon, 1 / np.maximum(1 - decay**2, 1e-12))
    drifts = n["trend"] * np.minimum(horizon, 1 / np.maximum(1 - decay, 1e-12))
    spread = FARTHEST * (n["start_sd"] + sd * np.sqrt(lasts))
    return np.stack([np.minimum(n["start"], n["centre"]) - spread, np.maximum(n["start"], n["centre"]) + spread]) + drifts


def _jump_step(n: Numbers, means: Float[Array, " arm"], t: Int[Array, ""], draws: Draws) -> Float[Array, " arm"]:
    import jax.numpy as jnp

    at = jnp.where(n["together"] > 0, draws.second[0], draws.second)
    return jnp.where(at < n["hazard"], n["centre"] + n["spread"] * draws.normal, means)


def _turned(means: Float[Array, " arm"], by: Float[Array, ""]) -> Float[Array, " arm"]:
    import jax.numpy as jnp

    n_arms = means.shape[0]
    return means[(jnp.arange(n_arms) + by.astype(jnp.int32)) % n_arms]


def _turn_begin(n: Numbers, draws: Draws) -> Float[Array, " arm"]:
    import jax.numpy as jnp

    return _turned(n["levels"], jnp.floor(draws.first[0] * n["levels"].shape[0]))


def _turn_step(n: Numbers, means: Float[Array, " arm"], t: Int[Array, ""], draws: Draws) -> Float[Array, " arm"]:
    import jax.numpy as jnp

    by = 1 + jnp.floor(draws.first[0] * (means.shape[0] - 1))
    return _turned(means, jnp.where(draws.second[0] < n["hazard"], by, 0.0))


STILL = _add(
    ChangeKind(
        "still",
        "stay the same",
        begin=lambda n, draws: n["means"],
        step=lambda n, means, t, draws: means,
        reach=lambda n, horizon: n["means"],
        random=False,
    )
)
PATH = _add(
    ChangeKind(
        "path",
        "follow a given path",
        begin=lambda n, draws: n["path"][0],
        step=_path_step,
        reach=lambda n, horizon: n["path"][:horizon],
        random=False,
    )
)
WALK = _add(
    ChangeKind(
        "walk",
        "walk at random",
        begin=lambda n, draws: n["start"] + n["start_sd"] * draws.normal,
        step=_walk_step,
        reach=_walk_reach,
    )
)
JUMPS = _add(
    ChangeKind(
        "jumps",
        "jump at random",
        begin=lambda n, draws: n["centre"] + n["spread"] * draws.normal,
        step=_jump_step,
        reach=lambda n, horizon: np.stack([n["centre"] - FARTHEST * n["spread"], n["centre"] + FARTHEST * n["spread"]]),
    )
)
TURNS = _add(
    ChangeKind(
        "turns",
        "change places at random",
        begin=_turn_begin,
        step=_turn_step,
        reach=lambda n, horizon: n["levels"],
    )
)


# Drawing --------------------------------------------------------------------------------------------------------------


def path_key(seed: int) -> np.ndarray:
    """The key of all paths that belong to a seed; other randomness of the same seed is unrelated."""
    return np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(2)


def own_key(key: UInt32[Array, " 2"], replicate: UInt32[Array, ""]) -> UInt32[Array, " 2"]:
    """The key of one replicate's path."""
    import jax.numpy as jnp
    from jax.extend.random import threefry_2x32

    return threefry_2x32(key, jnp.stack([replicate, jnp.zeros_like(replicate)]))


def draws_at(key: UInt32[Array, " 2"], t: Int[Array, ""], n_arms: int) -> Draws:
    """What is drawn at a time, in float64 whatever else is computed in, so that precision does not change a path."""
    import jax.numpy as jnp
    from jax.extend.random import threefry_2x32

    counts = jnp.concatenate([jnp.full(n_arms, t).astype(jnp.uint32), jnp.arange(n_arms, dtype=jnp.uint32)])
    between = (threefry_2x32(key, counts).astype(jnp.float64) + 0.5) * 0.5**32
    return Draws(between[:n_arms], between[n_arms:])


@cache
def _drawing(kind: str, n_arms: int, horizon: int) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    change = CHANGES[kind]

    def one(numbers: Numbers, key: UInt32[Array, " 2"], replicate: UInt32[Array, ""]) -> Float[Array, "time arm"]:
        own = own_key(key, replicate)

        def step(means: Float[Array, " arm"], t: Int[Array, ""]) -> tuple[Float[Array, " arm"], Float[Array, " arm"]]:
            return change.step(numbers, means, t, draws_at(own, t, n_arms)), means

        first = change.begin(numbers, draws_at(own, jnp.int32(1), n_arms))
        return lax.scan(step, first, jnp.arange(2, horizon + 2, dtype=jnp.int32))[1]

    def many(numbers: Numbers, key: UInt32[Array, " 2"], replicates: UInt32[Array, " n"]) -> Float[Array, "n time arm"]:
        return lax.map(lambda replicate: one(numbers, key, replicate), replicates)

    return jax.jit(many)


def drawn_paths(change: Change, n_arms: int, horizon: int, numbers: np.ndarray, seed: int) -> Floats:
    """The means on each trial for the replicates of these numbers: replicate x time x arm.

    They are those that `simulate` with this seed draws for the replicates of these numbers.
    """
    import jax
    import jax.numpy as jnp

    which = numbers if change.own_paths else np.zeros(1, int)
    with jax.enable_x64(True):
        key = jnp.asarray(path_key(seed if change.seed is None else change.seed))
        given = {name: jnp.asarray(value, jnp.float64) for name, value in change.numbers.items()}
        draw = _drawing(change.kind, n_arms, horizon)
        found = np.asarray(draw(given, key, jnp.asarray(which, jnp.uint32)))
    return np.broadcast_to(found, (len(numbers), horizon, n_arms))
