"""Parameters of a user's own, in agents that are composed outside the package."""

from dataclasses import replace
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.factors import Agent, Learner, Rule
from explorelab.agents.learners.trackers import DeltaBelief, update_delta
from explorelab.agents.parameters import _ADDED, Units, searchable
from explorelab.agents.rules import choice, commitment
from explorelab.errors import InputError
from explorelab.fitting.model import prepare
from explorelab.fitting.objective import block_log_likelihoods, curvature
from explorelab.plots.words import named
from tests.support.beliefs import QUICKLY

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.bandit([0.0, 1.0, 2.0], 1.0)


def hopeful(params, n_arms):
    """What is expected of an arm that was never tried: hope."""
    mean = jnp.broadcast_to(jnp.asarray(params["hope"]), (n_arms,))
    return DeltaBelief(mean, jnp.zeros_like(mean))


def curious(params, belief, moment):
    """The mean, and more for arms that were tried less often."""
    return belief.mean + params["curiosity"] / jnp.sqrt(1 + belief.plays)


LEARNER = Learner("hopeful", lambda params, distances: params, hopeful, update_delta)
AGENT = Agent(
    "curious",
    Rule(LEARNER, curious, choice.softmax_constant, commitment.every_step),
    {"hope": 1.0, "curiosity": 0.5, "learning_rate": 0.4, "temperature": 0.5},
    free=("hope", "curiosity", "temperature"),
)


@pytest.fixture(autouse=True)
def _forgotten_afterwards():
    """Each test starts from the package's own parameters."""
    with patch.dict(_ADDED):
        yield


@pytest.fixture
def added():
    xl.parameter(
        "hope",
        typical=lambda units: units.reward_centre,
        spread=lambda units: 2 * units.reward_sd,
        low=-20,
        high=20,
        symbol="h",
    )
    xl.parameter("curiosity", scale="log", typical=1, spread=1.0, low=0.01, high=100.0, words="thirst for knowledge")


@pytest.fixture(scope="module")
def people():
    return xl.simulate_choices(xl.blank_choices(TASK, 3, 2, 12), "random-choice", seed=3)


def test_an_agent_with_parameters_of_its_own_simulates():
    runs = xl.simulate(AGENT, TASK, 20, 64, seed=1)
    assert 0 < float(runs.regret_mean.isel(time=-1)) < 40


def test_an_agent_with_parameters_of_its_own_is_fitted(added, people):
    fit = xl.fit(people, AGENT, "map", n_starts=2, progress=False)
    assert list(fit["estimates"]["parameter"].values) == ["hope", "curiosity", "temperature"]
    assert fit["estimates"]["converged"].all()
    space = fit["space"].to_dataset().sel(parameter="hope")
    assert float(space["centre"]) == pytest.approx(people.reward.mean())


def test_its_gradients_are_right_wherever_its_parameters_enter(added, people):
    """One of them acts on beliefs, another on what arms are worth; nobody said which."""
    fitted = prepare(people, AGENT)
    z = np.array([0.3, -0.2, 0.4])
    with jax.enable_x64(True):
        rows, weight = jnp.arange(people.n_rows), jnp.ones(people.n_rows)
        at = jax.jit(curvature, static_argnums=0, compiler_options=QUICKLY)(
            fitted.model, fitted.data, rows, weight, jnp.asarray(z)
        )

        def value(z):
            return -block_log_likelihoods(fitted.model, fitted.data, rows, z).sum()

        whole = jax.jit(jax.grad(value), compiler_options=QUICKLY)(jnp.asarray(z))
    np.testing.assert_allclose(at.gradient, whole, rtol=1e-9)
    assert (np.abs(whole) > 1e-3).all()


def test_reports_call_it_as_they_are_told(added):
    assert named("hope") == "hope h"
    assert named("curiosity") == "thirst for knowledge"
    assert named("never_heard_of") == "never heard of"


def test_it_may_be_added_again(added):
    xl.parameter("hope", typical=0.0, spread=3.0, low=-9.0, high=9.0)
    assert searchable()["hope"](Units(5.0, 1.0, 1.0, 1.0)) == ("real", 0.0, 3.0, -9.0, 9.0)


def test_a_free_parameter_without_a_row_is_told_how_to_get_one(people):
    agent = replace(AGENT, params={**AGENT.params, "pluck": 1.0})
    with pytest.raises(InputError, match=r"pluck cannot be free: .* xl.parameter\('pluck'"):
        prepare(people, agent, free=["pluck"])


GOOD = {"typical": 1.0, "spread": 1.0, "low": 0.5, "high": 2.0}


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("temperature", {}, "already has a parameter temperature"),
        ("two words", {}, "a valid Python name"),
        ("pluck", {"scale": "sqrt"}, "unknown scale 'sqrt'"),
        ("pluck", {"low": np.nan}, "low of pluck must not contain NaN"),
        ("pluck", {"low": 3.0}, "low below high"),
        ("pluck", {"typical": 0.1}, "its typical value between them"),
        ("pluck", {"spread": 0.0}, "spread of pluck must be above 0"),
        ("pluck", {"spread": None}, "pluck needs a spread"),
        ("pluck", {"low": -1.0, "scale": "log"}, "low of pluck on the scale 'log' must be above 0"),
        ("pluck", {"typical": 1.0, "scale": "logit"}, "typical of pluck on the scale 'logit' must be above 0 and below 1"),
        ("horizon", {}, "every agent is told horizon"),
    ],
)
def test_what_cannot_be_added_is_refused(name, changes, told):
    with pytest.raises(InputError, match=told):
        xl.parameter(name, **{**GOOD, **changes})


def test_a_range_in_units_of_the_data_that_makes_no_sense_there_is_refused_by_the_fit(people):
    xl.parameter("courage", **{**GOOD, "spread": lambda units: "x"})
    with pytest.raises(InputError, match="spread of courage must be a number"):
        prepare(people, replace(AGENT, params={**AGENT.params, "courage": 1.0}), free=["courage"])
