"""Every agent with habits: what passes the check at the door has a likelihood, and what has none is told in a sentence."""

from dataclasses import replace

import numpy as np
import pytest

import explorelab as xl
from explorelab.agents import AGENTS
from explorelab.agents.registry import assumes_noise
from explorelab.agents.rules.habits import HABITS
from explorelab.comparison.left_out_blocks import cross_validate
from explorelab.errors import InputError
from explorelab.fitting.bayes.beginning import starting
from explorelab.fitting.bayes.emulated_chains import EmulatedChains
from explorelab.fitting.bayes.nuts import Settings
from explorelab.fitting.fit_people import fit
from explorelab.fitting.model import prepare
from explorelab.fitting.search.likelihood_checks import check_likelihood
from explorelab.fitting.search.solve import predicted
from explorelab.recovery.designs import blank_choices
from explorelab.recovery.simulated_choices import simulate_choices
from tests.support.beliefs import choosing_and_committing, learning_and_choosing, one_of_each
from tests.support.hierarchies import begun_quietly

pytestmark = pytest.mark.quick_programs

PLAIN = one_of_each(lambda agent: (*learning_and_choosing(agent), agent.rule.commitment), AGENTS)
LAPSING = one_of_each(choosing_and_committing, AGENTS)


@pytest.fixture(scope="module")
def anyone():
    """People who choose as they like, so that no agent foresees them all."""
    return simulate_choices(blank_choices(xl.tasks.bandit([0.0, 1.0, 2.0], 1.0), 2, 2, 9), "random-choice", seed=3)


def refused(choices, name, **how):
    """What is said at the door, if anything, and the agent made ready."""
    try:
        fitted = prepare(choices, name, **how)
        check_likelihood(choices, fitted)
    except InputError as error:
        return str(error), None
    return "", fitted


@pytest.mark.parametrize("name", PLAIN)
def test_what_passes_the_check_has_a_likelihood(anyone, name):
    check_that_it_has_a_likelihood(anyone, name)


@pytest.mark.parametrize("name", LAPSING)
def test_what_passes_the_check_with_lapses_has_a_likelihood(anyone, name):
    check_that_it_has_a_likelihood(anyone, f"{name}+lapse")


@pytest.mark.parametrize("habit", HABITS)
def test_what_passes_the_check_with_a_habit_has_a_likelihood(anyone, habit):
    check_that_it_has_a_likelihood(anyone, f"kalman-value+{habit}")


def check_that_it_has_a_likelihood(anyone, name):
    said, fitted = refused(anyone, name)
    if said:
        assert said.endswith(".")
        return
    centre = np.zeros((anyone.n_rows, 1, len(fitted.space)))
    assert np.isfinite(predicted(fitted, np.arange(anyone.n_rows), centre)).all()


@pytest.mark.parametrize("name", [*PLAIN[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in PLAIN[2:])])
def test_what_passes_the_check_is_sampled(anyone, name):
    said, fitted = refused(anyone, name)
    if said or not fitted.space:
        return
    # Two parameters at most, so that the programs of chains are compiled once for all agents.
    fitted = prepare(anyone, name, [dimension.name for dimension in fitted.space][:2])
    begun, settings = begun_quietly(anyone, fitted), Settings(20, 0.9, 5, False)
    drawn = EmulatedChains(fitted, begun, starting(begun, settings, 2, 0), settings, 0, False).draw(4)
    z = np.swapaxes(drawn.z.reshape(8, *drawn.z.shape[2:]), 0, 1)[anyone.participant]
    there = predicted(fitted, np.arange(anyone.n_rows), z, False)
    np.testing.assert_allclose(np.swapaxes(drawn.log_likelihood.reshape(8, -1), 0, 1), there, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["block-ucl+lapse", "agrawal-hedge-teneketzis+lapse"])
@pytest.mark.parametrize("call", [fit, cross_validate])
def test_who_leaves_an_arm_that_the_agent_keeps_to_is_named(anyone, name, call):
    with pytest.raises(InputError, match=r"participant 1 does not \(block 1\)"):
        call(anyone, name)


def test_an_agent_that_keeps_to_its_arm_may_be_fitted_to_those_who_do():
    agent = xl.agents.stochastic_ucl(prior_mean=1.0, prior_var=4.0, temperature=0.5, commitment="frames")
    people = simulate_choices(blank_choices(xl.tasks.bandit([0.0, 1.0, 2.0], 1.0), 2, 1, 20), agent, seed=3)
    check_likelihood(people, prepare(people, agent, free=["temperature"]))


@pytest.mark.parametrize("name", AGENTS)
def test_a_lapse_of_zero_is_none(anyone, name):
    """Held at 0 a lapse helps no rule that is always certain."""
    if "looks best" in refused(anyone, name)[0]:
        assert "looks best" in refused(anyone, f"{name}+lapse", fixed={"lapse": 0.0})[0]


def test_choices_that_no_parameters_make_possible_are_named(anyone):
    """A greedy rule with a little chance left, held at none."""
    first = replace(anyone, arm=np.where(np.arange(anyone.n_rows)[:, None] < 2, 0, anyone.arm))
    with pytest.raises(InputError, match="choices of participant 2 probability zero"):
        fit(first, "win-stay-lose-shift", fixed={"win_stay": 1.0, "lose_shift": 0.0})


# A task without noise -------------------------------------------------------------------------------------------------


def with_noise(choices, noise_var):
    return replace(choices, layout=replace(choices.layout, noise_var=noise_var, places=np.arange(3.0)[:, None]))


@pytest.mark.parametrize("name", AGENTS)
def test_no_noise_is_not_unknown_noise(anyone, name):
    """Unknown noise is estimated; known to be 0, it is nobody's to estimate, and whoever must assume some has to be told."""
    agent = prepare(with_noise(anyone, 1.0), name, free=()).agent
    if not assumes_noise(agent):
        assert float(prepare(with_noise(anyone, 0.0), name).data.fixed["noise_var"]) == 0
        return
    for each in (name, f"{name}+lapse") if "lapse" not in agent.params else (name,):
        with pytest.raises(InputError, match="no reward noise"):
            prepare(with_noise(anyone, 0.0), each)
    told = prepare(with_noise(anyone, 0.0), name, fixed={"noise_var": 0.5})
    assert "noise_var" not in [dimension.name for dimension in told.space]
    assert float(told.data.fixed["noise_var"]) == 0.5
    assert "noise_var" in [dimension.name for dimension in prepare(with_noise(anyone, 0.0), name, free=["noise_var"]).space]


def test_a_habit_does_not_hide_that_an_agent_assumes_noise():
    task = xl.tasks.bandit([0.0, 1.0], 0.0)
    for agent in (xl.agents.bayes_ucb(), xl.agents.with_habits(xl.agents.bayes_ucb(), lapse=0.1)):
        with pytest.raises(InputError, match="no reward noise"):
            xl.simulate(agent, task, 5, 2)
