"""Commitments: how many times a chosen goal is selected before the agent decides again."""

from __future__ import annotations

import numpy as np
from jax import lax
from jax import numpy as jnp
from jaxtyping import Array, Int

from explorelab.agents.factors import Commitment, CountingBelief, Params


def frame_length(params: Params, belief: object, arm: Int[Array, ""], n_goals: Int[Array, ""]) -> Int[Array, ""]:
    """min(k, 2^k - tau) for goal selection tau = n_goals + 1 in frame k = floor(log2 tau) + 1 (section VI.A).

    Frame k holds 2^(k-1) goal selections in blocks of k, the last one shorter. (The pseudocode's {tau, ..., tau + k}
    has one element too many.)
    """
    tau = n_goals + 1
    frame = 32 - lax.clz(tau)
    return jnp.minimum(frame, (1 << frame) - tau)


def _aht_frames(n_frames: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Where each frame of Agrawal, Hedge & Teneketzis (1988) ends, in choices after the first round, and its block length.

    Frame f holds whole blocks of f choices, as many as bring the total to 2^(f^2), so that switches grow more slowly than
    log n; six frames exceed any 32-bit horizon.
    """
    ends, end = [], 0
    for f in range(1, n_frames + 1):
        wanted = 2 ** (f * f) - 2 ** ((f - 1) ** 2)
        end += -(-wanted // f) * f
        ends.append(min(end, 2**31 - 1))
    return np.array(ends, np.int32), np.arange(1, n_frames + 1, dtype=np.int32)


_AHT_ENDS, _AHT_LENGTHS = _aht_frames()


def aht_length(params: Params, belief: object, arm: Int[Array, ""], n_goals: Int[Array, ""]) -> Int[Array, ""]:
    """Block length f in frame f of Agrawal, Hedge & Teneketzis (1988); frame 0 tries every arm once."""
    after_first_round = jnp.maximum(n_goals - params["n_arms"].astype(jnp.int32), 0)
    frame = (jnp.asarray(_AHT_ENDS) <= after_first_round).sum()
    return jnp.where(n_goals < params["n_arms"], 1, jnp.asarray(_AHT_LENGTHS)[frame])


def epoch_length(params: Params, belief: CountingBelief, arm: Int[Array, ""], n_goals: Int[Array, ""]) -> Int[Array, ""]:
    """Plays left until the arm's count reaches the next tau(r) (Auer, Cesa-Bianchi & Fischer 2002, UCB2)."""
    count = belief.plays[arm]
    epochs = params["ucb2_epochs"].astype(count.dtype)
    upcoming = epochs[jnp.searchsorted(epochs, count, side="right")]
    return jnp.maximum(upcoming - count, 1).astype(jnp.int32)


every_step = Commitment("every-step")
frames = Commitment("frames", frame_length)
aht_frames = Commitment("aht-frames", aht_length)
ucb2_epochs = Commitment("ucb2-epochs", epoch_length)

COMMITMENTS: dict[str, Commitment] = {"every-step": every_step, "frames": frames}
"""The commitments that any of the paper's agents may have; each of the others belongs to one rule."""
