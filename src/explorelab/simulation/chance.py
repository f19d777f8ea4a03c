"""Randomness that depends only on seed, replicate and time, so no result depends on how the work is divided.

Each (replicate, time) is a counter for JAX's own Threefry generator: one call gives the reward's noise and the decision's
uniform number, at a third of the cost of splitting keys.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32
from jaxtyping import Array, Float, UInt32

from explorelab.agents.factors import AnyArray, Chance

type Keys = UInt32[AnyArray, "stream 2"]

REWARD_AND_CHOICE, COST_AND_MORE = 0, 1
"""The two streams of random bits that a step can draw on."""


def keys_from(seed: int) -> np.ndarray:
    """Keys of the two streams, well mixed from any integer seed."""
    return np.random.SeedSequence(seed).generate_state(4).reshape(2, 2)


def bits_at(
    keys: Keys, stream: int, replicate: UInt32[Array, ""], t: UInt32[Array, ""]
) -> tuple[UInt32[Array, ""], UInt32[Array, ""]]:
    """Two words of 32 random bits for this replicate and time."""
    words = threefry_2x32(keys[stream], jnp.stack([replicate, t.astype(jnp.uint32)]))
    return words[0], words[1]


def uniform(bits: UInt32[Array, ""], dtype: jnp.dtype) -> Float[Array, ""]:
    """A number in the open interval (0, 1), symmetric about 1/2: as many bits as the dtype can hold, plus half a step."""
    kept = 23 if dtype == jnp.float32 else 32
    return ((bits >> (32 - kept)).astype(dtype) + 0.5) * (0.5**kept)


class OfStep(NamedTuple):
    """The randomness of one step."""

    decision: Chance
    reward: Float[Array, ""]
    """Uniform, for the quantile of the reward's noise."""


def of_step(keys: Keys, replicate: UInt32[Array, ""], t: UInt32[Array, ""], dtype: jnp.dtype) -> OfStep:
    """The randomness of a decision and of its reward; the decision's key is derived only where a rule uses it."""
    reward, choice = bits_at(keys, REWARD_AND_CHOICE, replicate, t)
    words = jnp.stack(bits_at(keys, COST_AND_MORE, replicate, t))
    decision = Chance(uniform(choice, dtype), jax.random.wrap_key_data(words, impl="threefry2x32"))
    return OfStep(decision, uniform(reward, dtype))
