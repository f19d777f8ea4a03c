"""The table of parameters and the agents agree: agents, habits, parameters and rows are all found, none is listed here."""

import inspect
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.factors import Ways, prepared
from explorelab.agents.parameters import PARAMETERS, searchable
from explorelab.agents.rules.habits import HABITS
from explorelab.fitting.likelihood import Block, beliefs
from explorelab.fitting.objective import parameters_of_beliefs
from explorelab.plots.words import name_of, named
from explorelab.simulation.run_file import FILES_WANTED
from tests.support.beliefs import DISTANCES, EVERY_AGENT, N_ARMS, NOISE_VAR, QUICKLY


def with_every_habit(build):
    """The agent with all the habits that it does not have yet."""
    agent = build()
    return xl.agents.with_habits(agent, *(name for name, habit in HABITS.items() if habit.parameter not in agent.params))


def arguments(build):
    """The names of what a builder takes as numbers; those with a word for a default choose a part of the agent."""
    return {name for name, each in inspect.signature(build).parameters.items() if not isinstance(each.default, str)}


AGENTS = {name: with_every_habit(build) for name, build in EVERY_AGENT.items()} | {
    f"{name}, a matrix": with_every_habit(lambda build=build: build(prior_cov=np.exp(-DISTANCES)))
    for name, build in xl.agents.AGENTS.items()
    if "prior_cov" in inspect.signature(build).parameters
}
GIVEN = set().union(*map(arguments, xl.agents.AGENTS.values())) | {habit.parameter for habit in HABITS.values()}
HELD = set().union(*(agent.params for agent in AGENTS.values()))

# Every parameter has a row, and every row a parameter -----------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("parameter", sorted(GIVEN | HELD))
def test_every_parameter_has_a_row(parameter):
    assert parameter in PARAMETERS
    assert PARAMETERS[parameter].made == (parameter not in GIVEN)


@pytest.mark.quick
@pytest.mark.parametrize("parameter", PARAMETERS)
def test_every_row_belongs_to_some_agent(parameter):
    assert parameter in GIVEN | HELD


@pytest.mark.quick
@pytest.mark.parametrize("row", PARAMETERS.values(), ids=PARAMETERS)
def test_every_row_that_users_give_says_what_it_means(row):
    assert row.made or row.meaning.endswith(".")


@pytest.mark.quick
@pytest.mark.parametrize("name", xl.agents.AGENTS)
def test_every_named_agent_is_a_public_function(name):
    function = name.replace("-", "_")
    assert function in xl.agents.__all__
    assert getattr(xl.agents, function) is xl.agents.AGENTS[name]


@pytest.mark.quick
@pytest.mark.parametrize("name", AGENTS)
def test_whatever_is_free_by_default_can_be_sought(name):
    assert set(AGENTS[name].free) <= searchable().keys()


@pytest.mark.quick
@pytest.mark.parametrize("row", PARAMETERS.values(), ids=PARAMETERS)
def test_readers_are_told_every_parameter_in_words(row):
    assert "_" not in name_of(row.name)
    assert named(row.name) == f"{name_of(row.name)} {row.symbol}".strip()


def test_files_may_hold_what_is_given_for_each_arm():
    assert set(FILES_WANTED) == {name for name, row in PARAMETERS.items() if row.shape != "one number"}


# Which parameters beliefs depend on -----------------------------------------------------------------------------------

ARMS = [2, 2, 0, 4, 4, 1, 3, 3, 0, 1]
REWARDS = [1.5, 0.9, -0.2, 2.0, 2.4, 0.3, 1.1, 1.7, 0.8, 0.1]


def block():
    """A block with a trial that was missed."""
    observed = np.arange(len(ARMS)) != 5
    position = np.array([-1, *ARMS[:-1]], np.int32)
    return Block(np.array(ARMS, np.int32), np.array(REWARDS), observed, observed, position, None)


def all_params(agent):
    """The agent's parameters with what a task adds to them; an infinite one stays the same however it is changed."""
    given = {"noise_var": NOISE_VAR, "horizon": float(len(ARMS)), "n_arms": float(N_ARMS), **agent.params}
    given = {name: np.asarray(value, np.float64) for name, value in given.items()}
    return {name: np.where(np.isinf(value), 4.0, value) for name, value in given.items()}


@pytest.mark.parametrize("name", AGENTS)
def test_beliefs_depend_on_the_parameters_that_they_are_said_to_depend_on(name):
    """A parameter too few makes gradients wrong without a word: each is changed, and all beliefs compared exactly."""
    rule, params = AGENTS[name].rule, all_params(AGENTS[name])
    with jax.enable_x64(True):
        ways = Ways(jnp.asarray(DISTANCES), jnp.asarray(DISTANCES))

        @partial(jax.jit, compiler_options=QUICKLY)
        def leaves(given):
            return jax.tree.leaves(beliefs(rule, prepared(rule, given, ways), N_ARMS, block()))

        def believed(changes):
            return leaves({key: jnp.asarray(value) for key, value in {**params, **changes}.items()})

        before = believed({})
        changed = {key: believed({key: 1.1 * value + 0.07}) for key, value in params.items()}
        said = parameters_of_beliefs(rule, params, ways, N_ARMS, block())
    moved = {key for key, after in changed.items() if not all(map(np.array_equal, before, after))}
    assert said == moved
