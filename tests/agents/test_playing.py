"""Playing along: what an agent believes in the middle of a block, learned choice by choice or all at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from explorelab.agents import playing
from explorelab.agents.playing import Seen
from tests.support.beliefs import EVERY_AGENT, N_ARMS, full_params, learning_and_choosing, one_of_each

LONGEST = 30
"""Beyond the time until which a correlated learner keeps rows."""
rng = np.random.default_rng(0)
ARMS = rng.integers(0, N_ARMS, LONGEST).astype(np.int32)
REWARDS = rng.normal(1.0, 2.0, LONGEST)
OBSERVED = np.arange(LONGEST) % 7 != 3
OFFERED = np.ones((LONGEST, N_ARMS), bool)


def step_by_step(rule, ready, n_trials, until):
    now = playing.with_room(rule, ready, playing.begun(rule, ready, N_ARMS), until)
    learn = jax.jit(playing.learned, static_argnums=0)
    for t in range(n_trials):
        seen = Seen(ARMS[t], ARMS[t], jnp.float64(REWARDS[t]), jnp.bool_(OBSERVED[t]))
        now = learn(rule, ready, now, OFFERED[t], seen)
    return now


@pytest.mark.parametrize("n_trials", [0, 12, LONGEST])
@pytest.mark.parametrize("name", one_of_each(lambda agent: learning_and_choosing(agent)[:1]))
def test_a_block_at_once_teaches_what_it_teaches_choice_by_choice(name, n_trials):
    agent = EVERY_AGENT[name]()
    rule = agent.rule
    with jax.enable_x64(True):
        ready = full_params(agent, dtype="float64")
        until = playing.room_for(rule.learner, N_ARMS, max(n_trials, 1))
        # As a companion gives it: filled up with trials on which nothing was seen.
        seen = Seen(ARMS, ARMS, REWARDS, OBSERVED & (np.arange(LONGEST) < n_trials))
        at_once = jax.jit(playing.after, static_argnums=(0, 2, 5))(rule, ready, N_ARMS, OFFERED, seen, until)
        one_by_one = step_by_step(rule, ready, n_trials, until)
    assert jax.tree.structure(at_once) == jax.tree.structure(one_by_one)
    for new, old in zip(jax.tree.leaves(at_once), jax.tree.leaves(one_by_one), strict=True):
        assert (new.shape, new.dtype) == (old.shape, old.dtype)
        np.testing.assert_allclose(new, old, rtol=1e-8, atol=1e-8)
