"""Agents and beliefs to put choice rules and indices to the test: what an agent believes after a given history."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.factors import Moment, Ways, prepared

N_ARMS, NOISE_VAR, HORIZON = 5, 2.0, 50

DISTANCES = np.abs(np.arange(float(N_ARMS))[:, None] - np.arange(N_ARMS))

NEEDED = {"gp-ucb": {"prior_mean": 1.0, "prior_var": 4.0, "length_scale": 1.5}}
"""What an agent needs beyond its defaults on arms that lie on a line."""

VARIANTS = {
    "stochastic-ucl, log": lambda: xl.agents.stochastic_ucl(cooling="log", cooling_rate=2.0, prior_var=9.0),
    "stochastic-ucl, feedback": lambda: xl.agents.stochastic_ucl(cooling="feedback", prior_var=9.0),
    "stochastic-ucl, correlated": lambda: xl.agents.stochastic_ucl(prior_var=9.0, length_scale=2.0, temperature=0.5),
    "deterministic-ucl, random ties": lambda: xl.agents.deterministic_ucl(ties="random", prior_var=9.0),
    "thompson, informative": lambda: xl.agents.thompson(prior_mean=1.0, prior_var=4.0),
    "thompson, correlated": lambda: xl.agents.thompson(prior_mean=1.0, prior_var=4.0, length_scale=1.5),
    "boltzmann, log": lambda: xl.agents.boltzmann(cooling="log"),
    "stochastic-ucl, habits": lambda: xl.agents.with_habits(
        xl.agents.stochastic_ucl(prior_var=9.0, length_scale=2.0), stickiness=0.7, travel_cost=0.8, novelty=-0.4, lapse=0.1
    ),
    "block-ucl, lapse": lambda: xl.agents.with_habits(xl.agents.block_ucl(prior_var=9.0), "lapse"),
    "kalman-ucb, drift": lambda: xl.agents.kalman_ucb(drift_var=0.5, prior_var=4.0, bonus=-0.3),
    "epsilon-greedy, certain": lambda: xl.agents.epsilon_greedy(epsilon=0.0),
}

EVERY_AGENT = {name: (lambda b=build, n=name: b(**NEEDED.get(n, {}))) for name, build in xl.agents.AGENTS.items()} | VARIANTS
"""Every named agent, and some in another setting, each ready to be built."""


def one_of_each(parts, agents=EVERY_AGENT):
    """Names of agents for a test that asks the same of all: as few as have every part between them; the others are slow.

    `parts` of an agent is a tuple; two agents share a part if it stands at the same place. A test of how parts go together
    must name the agents that it is about.
    """
    of_each = {name: set(enumerate(parts(build()))) for name, build in agents.items()}
    missing, chosen = set().union(*of_each.values()), set()
    while missing:
        most = max(of_each, key=lambda name: len(of_each[name] & missing))  # the first of them, so always the same
        chosen.add(most)
        missing -= of_each[most]
    return [name if name in chosen else pytest.param(name, marks=pytest.mark.slow) for name in agents]


def learning_and_choosing(agent):
    """What learns and what chooses, whatever lies between."""
    return agent.rule.learner.name, agent.rule.choice.name


def every_part(agent):
    """What learns, what arms are worth to it, what chooses, and for how long that binds."""
    rule = agent.rule
    return rule.learner.name, rule.limit, rule.choice.name, rule.commitment.name


def choosing_and_committing(agent):
    """What chooses and for how long that binds, whatever is learned."""
    return agent.rule.choice.name, agent.rule.commitment.name


HISTORIES = {
    "nothing seen": [],
    "one arm seen": [(2, 1.5)],
    "some arms seen": [(0, 0.5), (3, 2.0), (3, 1.0), (1, -1.0)],
    "all arms seen": [(i % 5, reward) for i, reward in enumerate([0.3, 1.1, 1.9, 0.8, 1.4, -0.2, 1.3, 2.2, 0.4, 1.2, 0.9])],
}


def full_params(agent, noise_var=NOISE_VAR, horizon=HORIZON, n_arms=N_ARMS, distances=DISTANCES, dtype="float32"):
    """The agent's parameters with what a simulation adds to them."""
    added = {"noise_var": noise_var, "horizon": horizon, "n_arms": n_arms}
    params = {name: jnp.asarray(value, dtype) for name, value in (added | dict(agent.params)).items()}
    # On a line, the walk is the distance.
    return prepared(agent.rule, params, Ways(jnp.asarray(distances, dtype), jnp.asarray(distances, dtype)))


QUICKLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""For programs that run a few dozen times: what counts is how soon they are compiled."""

ROOM = 12
"""Rewards that a belief has room for, however few there are: beliefs of one size need no new program."""


def belief_after(agent, params, history, n_arms=N_ARMS):
    """What the agent believes after these (arm, reward) pairs."""
    learner = agent.rule.learner
    belief = learner.resize(params, learner.init(params, n_arms), max(len(history), ROOM))
    for arm, reward in history:
        belief = _updated(learner, params, belief, jnp.int32(arm), jnp.asarray(reward, belief.mean.dtype))
    return belief


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _updated(learner, params, belief, arm, reward):
    return learner.update(params, belief, arm, reward)


def moment_after(history):
    """The decision that follows this history, when one decision is made at every step."""
    position = history[-1][0] if history else -1
    return Moment(jnp.int32(len(history) + 1), jnp.int32(len(history)), jnp.int32(position))
