"""Choices of simulated people, drawn with an agent's own functions trial by trial: an independent path to what is scored."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from explorelab.agents.factors import Moment, Rule, Ways, prepared
from explorelab.choices.table import Choices, Layout


@partial(jax.jit, static_argnames=("rule", "n_arms", "n_trials"))
def play(rule: Rule, n_arms: int, n_trials: int, params: Any, means: Any, noise_sd: Any, key: Any) -> Any:
    """Arms and rewards of many blocks at once; `params` and keys have a leading axis."""

    def block(params: Any, key: Any) -> Any:
        ready = prepared(rule, params, Ways())

        def trial(carry: Any, now: Any) -> Any:
            belief, last = carry
            t, key = now
            choosing, noise = jax.random.split(key)
            moment = Moment(t, t - 1, last)
            value = rule.limit(ready, belief, moment)
            arm = jax.random.categorical(choosing, rule.choice.log_probs(ready, belief, value, moment, None))
            reward = means[arm] + noise_sd * jax.random.normal(noise)
            return (rule.learner.update(ready, belief, arm, reward), arm.astype(jnp.int32)), (arm, reward)

        times = jnp.arange(1, n_trials + 1, dtype=jnp.int32)
        start = rule.learner.init(ready, n_arms), jnp.int32(-1)
        return lax.scan(trial, start, (times, jax.random.split(key, n_trials)))[1]

    return jax.vmap(block)(params, key)


def people(
    rule: Rule, params: dict[str, Any], n_blocks: int, n_trials: int, means: Any, noise_var: float, seed: int
) -> Choices:
    """Each person's blocks, one person for each value of the parameters that have several."""
    n_people = max(np.size(value) for value in params.values())
    of_row = np.repeat(np.arange(n_people), n_blocks)
    each = {name: np.broadcast_to(np.asarray(value, float), n_people)[of_row] for name, value in params.items()}
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(seed), len(of_row))
        arm, reward = play(rule, len(means), n_trials, each, jnp.asarray(means, float), jnp.sqrt(noise_var), keys)
    everywhere = np.ones(arm.shape, bool)
    return Choices(
        layout=Layout(len(means), noise_var=noise_var),
        participants=tuple(f"p{i}" for i in range(n_people)),
        participant=of_row,
        block=np.tile(np.arange(1, n_blocks + 1).astype(str), n_people),
        arm=np.asarray(arm, np.int32),
        reward=np.asarray(reward, float),
        observed=everywhere,
        scored=everywhere,
        present=everywhere,
    )
