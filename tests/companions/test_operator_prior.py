"""What is learned from an operator, and whether the automaton trusts it."""

import numpy as np
import pytest

import explorelab as xl
from explorelab.errors import InputError

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.landscape("B")
UPSIDE_DOWN = TASK.means.max() + TASK.means.min() - TASK.means


def choices_of(expected, n_blocks=1, n_people=1):
    operator = xl.agents.stochastic_ucl(prior_mean=expected, prior_var=100.0, length_scale=2.0, temperature=3.0)
    return xl.simulate_choices(xl.blank_choices(TASK, n_people, n_blocks), operator, {}, 1, noise="integer", progress=False)


@pytest.fixture(scope="module")
def learned():
    return {right: xl.learn_prior(choices_of(TASK.means if right else UPSIDE_DOWN)) for right in (True, False)}


@pytest.mark.parametrize("right", [True, False])
def test_the_prior_mean_is_learned_from_choices_right_or_wrong(learned, right):
    expected = TASK.means if right else UPSIDE_DOWN
    assert np.corrcoef(learned[right].mean, expected)[0, 1] > 0.9


def test_the_interval_of_a_parameter_holds_its_estimate(learned):
    table = learned[True].estimates
    assert (table.low < table.estimate).all()
    assert (table.estimate < table.high).all()
    assert (table.prior_mean_sd > 0).all()


def test_rewards_tell_who_is_right(learned):
    assert xl.automaton(learned[True]).trust > 0.9
    assert xl.automaton(learned[False]).trust < 0.01


def test_an_automaton_with_a_right_prior_goes_to_the_best_region_at_once_and_an_unguarded_wrong_one_away_from_it(learned):
    assert TASK.gaps[xl.automaton(learned[True]).choose()] < 15
    assert TASK.gaps[xl.automaton(learned[False], guard=0.0).choose()] > 30


def test_an_automaton_learns_from_rewards(learned):
    player = xl.automaton(learned[False])
    for _ in range(40):
        arm = player.choose()
        player = player.observe(arm, float(TASK.means[arm]))
    assert TASK.gaps[player.choose()] < 15


@pytest.mark.parametrize(
    ("n_people", "agent", "said"), [(2, "stochastic-ucl", "one person"), (1, "win-stay-lose-shift", "prior mean")]
)
def test_what_cannot_be_learned_from_is_refused(n_people, agent, said):
    with pytest.raises(InputError, match=said):
        xl.learn_prior(choices_of(TASK.means, n_people=n_people), agent)
