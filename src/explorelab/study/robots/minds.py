"""The library's agents playing live: they are asked before each choice and given its reward afterwards.

They use the same parts as simulations and fits: learner, limit, choice rule and commitment, in double precision.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from explorelab.agents import playing
from explorelab.agents.factors import Agent, Params, Rule, Value, Ways, prepared
from explorelab.agents.own.trial import check_chosen
from explorelab.agents.playing import Playing, Seen
from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.robots.sight import Sight


class Mind:
    """An agent in the middle of a block: its belief, what it is bound to, and how likely it is to choose each square."""

    def __init__(self, agent: Agent, study: Study) -> None:
        self._agent = agent
        if study.design is None:
            self.see(Sight(study.board))
        # People do not know how much rewards vary either; robots are told what it is on average.
        self._noise_var = float(np.mean([task.noise.var for task in study.landscapes.values()])) or 1.0

    def see(self, sight: Sight) -> None:
        """The next blocks are played on these arms."""
        self._n_arms = sight.n_arms
        if sight.places is None and needs_places(self._agent):
            raise InputError(f"{self._agent.name} needs arms with places, as on a grid or a line, which a block has not.")
        with jax.enable_x64(True):
            self._ways = Ways(*(None if each is None else jnp.asarray(each, jnp.float64) for each in sight.ways))

    def begin(self, n_trials: int) -> None:
        """Forget the last block; the next has `n_trials` choices."""
        if n_trials < self._agent.least_horizon:
            least = self._agent.least_horizon
            raise InputError(f"{self._agent.name} needs blocks of at least {least} choices, got {n_trials}.")
        self._rule = self._agent.rule
        given = {"noise_var": self._noise_var, "horizon": n_trials, "n_arms": self._n_arms, **self._agent.params}
        with jax.enable_x64(True):
            params = {name: jnp.asarray(value, jnp.float64) for name, value in given.items()}
            self._params, self._now = _begin(self._rule, self._n_arms, n_trials, params, self._ways)
        self._available = np.ones(self._n_arms, bool)

    def probabilities(self, trial: int, position: int, available: np.ndarray) -> np.ndarray:
        """The probability of choosing each square on this trial (from 0) from this position."""
        self._available = np.asarray(available)
        moment = np.int32(trial + 1), np.int32(position), self._available
        with jax.enable_x64(True):
            chances = np.asarray(_probabilities(self._rule, self._params, self._now, *moment))
        check_chosen(self._agent.name, bool(np.isfinite(chances).all()))
        return chances

    def learn(self, arm: int, reward: float, goal: int | None = None) -> None:
        """Learn the reward of a square, which is on the way to the `goal` if it is not the goal itself."""
        aim = np.int32(arm if goal is None else goal)
        with jax.enable_x64(True):
            seen = Seen(np.int32(arm), aim, np.float64(reward), np.bool_(True))
            self._now = _learn(self._rule, self._params, self._now, self._available, seen)


def needs_places(agent: Agent) -> bool:
    """Whether it can only play where arms have places."""
    return "length_scale" in agent.params or agent.rule.choice.walks


@partial(jax.jit, static_argnames=("rule", "n_arms", "n_trials"))
def _begin(rule: Rule, n_arms: int, n_trials: int, params: Params, ways: Ways) -> tuple[Params, Playing]:
    ready = prepared(rule, params, ways)
    return ready, playing.with_room(rule, ready, playing.begun(rule, ready, n_arms), n_trials)


@partial(jax.jit, static_argnames="rule")
def _probabilities(
    rule: Rule, params: Params, now: Playing, t: Int[Array, ""], position: Int[Array, ""], available: Bool[Array, " arm"]
) -> Value:
    return jnp.exp(playing.log_probs(rule, params, now, t, position, available))


_learn = jax.jit(playing.learned, static_argnames="rule")
