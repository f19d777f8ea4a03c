"""Agents of the library that play live: they are asked before each choice and told its reward after it.

The parts are the ones that simulate and fit: learner, limit and choice rule, in double precision.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from explorelab.agents.factors import Agent, Moment, Params, Rule, Ways, prepared
from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.tasks import grid


class Mind:
    """An agent in the middle of a block: what it believes, and how likely it chooses each square."""

    def __init__(self, agent: Agent, study: Study) -> None:
        if agent.rule.commitment.length is not None:
            raise InputError(f"a robot decides before every choice; {agent.name} commits itself for several.")
        self._agent, self._n_arms = agent, study.n_arms
        squares = grid(np.zeros((study.width, study.height)))
        with jax.enable_x64(True):
            self._ways = Ways(jnp.asarray(squares.distances, jnp.float64), jnp.asarray(squares.walks, jnp.float64))
        # People do not know how much rewards vary either; robots are told what it is on average.
        self._noise_var = float(np.mean([task.noise.var for task in study.landscapes.values()])) or 1.0

    def begin(self, n_trials: int) -> None:
        """Forget the last block; the next has so many choices."""
        self._rule = self._agent.rule
        given = {"noise_var": self._noise_var, "horizon": n_trials, "n_arms": self._n_arms, **self._agent.params}
        with jax.enable_x64(True):
            params = {name: jnp.asarray(value, jnp.float64) for name, value in given.items()}
            self._params, self._belief = _begin(self._rule, self._n_arms, n_trials, params, self._ways)

    def probabilities(self, trial: int, position: int, available: np.ndarray) -> np.ndarray:
        """How likely each square is chosen on this trial (from 0) by someone who stands at this position."""
        with jax.enable_x64(True):
            chances = _probabilities(
                self._rule, self._params, self._belief, np.int32(trial + 1), np.int32(position), np.asarray(available)
            )
            return np.asarray(chances)

    def learn(self, arm: int, reward: float) -> None:
        """Take in the reward of a square."""
        with jax.enable_x64(True):
            self._belief = _learn(self._rule, self._params, self._belief, np.int32(arm), np.float64(reward))


@partial(jax.jit, static_argnames=("rule", "n_arms", "n_trials"))
def _begin(rule: Rule, n_arms: int, n_trials: int, params: Params, ways: Ways) -> tuple[Params, Any]:
    ready = prepared(rule, params, ways)
    return ready, rule.learner.resize(ready, rule.learner.init(ready, n_arms), n_trials)


@partial(jax.jit, static_argnames="rule")
def _probabilities(rule: Rule, params: Params, belief: Any, t: Any, position: Any, available: Any) -> Any:
    moment = Moment(t, t - 1, position)
    value = rule.limit(params, belief, moment)
    return jnp.exp(rule.choice.log_probs(params, belief, value, moment, available))


@partial(jax.jit, static_argnames="rule")
def _learn(rule: Rule, params: Params, belief: Any, arm: Any, reward: Any) -> Any:
    return rule.learner.update(params, belief, arm, reward)
