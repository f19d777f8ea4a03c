"""A user's own agent whose values or probabilities are none on somebody's task is refused there: it never plays on."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.parameters import _ADDED
from explorelab.agents.registry import OWN
from explorelab.errors import InputError

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.bandit([-3.0, 0.0, 1.0, 2.0], 1.0)


@pytest.fixture(autouse=True)
def _forgotten_afterwards():
    with patch.dict(_ADDED), patch.dict(OWN):
        yield


def start(params, n_arms):
    return jnp.zeros(n_arms)


def update(params, value, arm, reward):
    return value.at[arm].add(params["learning_rate"] * (reward - value[arm]))


def only_gains(params, value, arm, reward):
    """Fine as long as no reward is below -2."""
    return value.at[arm].add(params["learning_rate"] * (jnp.sqrt(reward + 2.0) - value[arm]))


def soft(params, value):
    return jax.nn.log_softmax(value / params["temperature"])


PARTS: dict[str, dict[str, Any]] = {
    "a learner": {"learner": (start, only_gains)},
    "a limit": {
        "limit": lambda params, belief, moment: jnp.where(moment.t > 10, jnp.log(-1.0 - belief.mean**2), belief.mean)
    },
    "a choice rule": {
        "choice": lambda params, belief, value, moment, available: soft(params, value) + jnp.sqrt(11.5 - moment.t) * 0.0
    },
}
SUMS: dict[str, dict[str, Any]] = {
    "for another number of arms": {
        "choice": lambda params, belief, value, moment, available: soft(params, value) + jnp.log(3 / value.shape[0])
    },
    "at a later trial": {
        "choice": lambda params, belief, value, moment, available: soft(params, value) - jnp.where(moment.t > 10, 0.5, 0.0)
    },
}


def made(changes, habits=()):
    return xl.agent(
        "odd", **{"learner": (start, update), "parameters": ["learning_rate", "temperature"], **changes}, habits=habits
    )


def people():
    told = xl.agents.delta_rule(learning_rate=0.3, temperature=2.0)
    return xl.simulate_choices(xl.blank_choices(TASK, 3, 1, 20), told, seed=1, progress=False)


def watch(agent):
    mind = xl.companion(agent, None, TASK, n_points=8, horizon=20)
    for _ in range(12):
        mind = mind.observe(0, -3.0)


USES = {
    "simulate": lambda agent: xl.simulate(agent, TASK, 20, 4, progress=False),
    "simulate_choices": lambda agent: xl.simulate_choices(xl.blank_choices(TASK, 3, 1, 20), agent, progress=False),
    "fit": lambda agent: xl.fit(people(), agent, "map", n_starts=1, progress=False),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("part", PARTS)
def test_what_is_no_number_is_said_where_it_occurs(part, use):
    agent = made(PARTS[part], habits=["lapse"] if part == "a limit" else [])
    with pytest.raises(InputError, match=r"odd.* gives probabilities that are not numbers"):
        USES[use](agent)


@pytest.mark.parametrize("which", SUMS)
def test_probabilities_that_do_not_add_up_are_said_with_the_trial(which):
    with pytest.raises(
        InputError, match=r"odd gives probabilities that add up to 0\.[67].*participant 1, block 1, trial (1|11)"
    ):
        xl.fit(people(), made(SUMS[which]), "ml", n_starts=1, progress=False)


def test_a_companion_refuses_it_too():
    with pytest.raises(InputError, match=r"odd gives"):
        watch(made(SUMS["for another number of arms"]))
    with pytest.raises(InputError, match=r"odd gives"):
        watch(made(PARTS["a learner"]))


def test_an_agent_without_parameters_is_one():
    agent = made({"learner": (start, lambda params, value, arm, reward: value.at[arm].set(reward)), "parameters": []}
                 | {"choice": lambda params, belief, value, moment, available: jax.nn.log_softmax(value)})  # fmt: skip
    assert agent.free == ()
    fit = xl.fit(people(), agent, "ml", n_starts=1, progress=False)
    assert np.isfinite(fit["estimates"]["log_likelihood"]).all()


def test_functions_that_the_user_compiled_are_taken():
    one = made({"learner": (jax.jit(start, static_argnums=1), jax.jit(update))})
    other = made({})
    alike = [xl.simulate(agent, TASK, 20, 4, progress=False).regret_mean.values for agent in (one, other)]
    np.testing.assert_array_equal(*alike)


@pytest.mark.parametrize("name", ["lambda", "if", "two words", "2nd"])
def test_a_name_that_no_argument_may_have_is_refused(name):
    with pytest.raises(InputError, match="name must be a valid Python name"):
        xl.parameter(name, scale="logit", typical=0.5)
    with pytest.raises(InputError, match="the name of a value of odd must be a valid Python name"):
        made({"values": {name: 1.0}})
