"""Ties: values that are equal on paper are equal to every agent, in every form, and rounding never decides."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import explorelab as xl
from explorelab.agents.factors import Chance, Moment
from explorelab.agents.registry import parameters_of
from explorelab.agents.rules.choice import GREEDY, smallest_gap
from explorelab.choices.writing import choices_from_runs
from explorelab.fitting.likelihood import blocks_of, log_likelihoods, ways_of
from explorelab.recovery.designs import blank_choices
from explorelab.recovery.simulated_choices import simulate_choices
from tests.support.beliefs import QUICKLY
from tests.support.siblings import slow_but

SQUARE = xl.tasks.grid(np.arange(9.0).reshape(3, 3) % 4, 2.0)
ROWS_LAST = 36
"""Steps after which nine arms' beliefs are kept in another form."""

X = np.repeat(np.arange(3), 3)
PRIORS = {
    "exponential": 4 * np.exp(-SQUARE.distances / 2),
    "nearly singular": 4 * np.exp(-(SQUARE.distances**2) / 800),
    # Squares of one column are known together, and tie for ever.
    "singular": 4 * np.exp(-np.abs(X[:, None] - X) / 3),
}


def arms(prior, horizon, ties, precision):
    agent = xl.agents.deterministic_ucl(prior_mean=1.0, prior_cov=PRIORS[prior], ties=ties)
    return xl.simulate(agent, SQUARE, horizon, 256, 3, keep="trajectories", precision=precision).choice.values


@pytest.mark.filterwarnings("ignore:Single precision may not be enough")
@pytest.mark.parametrize(
    ("ties", "precision"),
    [("random", "single"), *(pytest.param(ties, "double", marks=pytest.mark.slow) for ties in ("random", "lowest"))],
)
@pytest.mark.parametrize("prior", PRIORS)
def test_a_correlated_agent_chooses_the_same_arms_however_many_steps_follow(prior, ties, precision):
    short, long = (arms(prior, horizon, ties, precision) for horizon in (ROWS_LAST, ROWS_LAST + 1))
    np.testing.assert_array_equal(short, long[:, :ROWS_LAST])


@pytest.mark.filterwarnings("ignore:Single precision may not be enough")
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("prior", PRIORS)
def test_every_arm_may_come_first_under_a_prior_that_treats_them_alike(prior, precision):
    counts = np.bincount(arms(prior, ROWS_LAST + 1, "random", precision)[:, 0], minlength=9)
    assert stats.chisquare(counts).pvalue > 1e-3


def scores(agent, choices):
    """Log-probability of every choice of every block."""
    with jax.enable_x64(True):
        added = {"noise_var": choices.layout.noise_var, "horizon": choices.n_trials, "n_arms": choices.layout.n_arms}
        params = {name: jnp.asarray(value, jnp.float64) for name, value in {**added, **agent.params}.items()}
        return np.asarray(_scored(agent.rule, choices.layout.n_arms, params, ways_of(choices.layout), blocks_of(choices)))


@partial(jax.jit, static_argnums=(0, 1), compiler_options=QUICKLY)
def _scored(rule, n_arms, params, ways, blocks):
    return jax.vmap(partial(log_likelihoods, rule, params, ways, n_arms))(blocks)


WITH_TIES = [name for name in xl.agents.AGENTS if "ties" in parameters_of(name)]
INTEGERS = xl.tasks.with_noise(xl.tasks.grid([[1.0, 2.0], [2.0, 1.0]]), xl.tasks.integer_noise(2))


@pytest.mark.parametrize("name", slow_but(("deterministic-ucl", "block-ucl", "knowledge-gradient", "ucb2"), WITH_TIES))
def test_what_a_greedy_agent_chooses_is_possible_to_its_likelihood(name):
    """Whole rewards that come in any order, and arms in symmetric places: values tie all the time."""
    prior = {"prior_mean": 1.5, "prior_var": 4.0, "length_scale": 1.5} if "length_scale" in parameters_of(name) else {}
    agent = xl.agents.AGENTS[name](**prior, ties="random")
    made = simulate_choices(blank_choices(INTEGERS, 20, 1, 40), agent, seed=1, noise="integer")
    assert np.isfinite(scores(agent, made)).all()


@pytest.mark.parametrize("prior", PRIORS)
def test_what_is_simulated_is_possible_to_the_likelihood(prior):
    agent = xl.agents.deterministic_ucl(prior_mean=1.0, prior_cov=PRIORS[prior])
    runs = xl.simulate(agent, SQUARE, ROWS_LAST + 1, 256, 3, keep="trajectories")
    assert np.isfinite(scores(agent, choices_from_runs(runs, SQUARE))).all()


@pytest.mark.parametrize("prior_var", [13.0, 1000.0])
@pytest.mark.parametrize("ties", ["lowest", pytest.param("random", marks=pytest.mark.slow)])
def test_a_wide_correlated_prior_makes_no_choice_impossible(prior_var, ties):
    """By default: single precision takes what is nearly as good for as good, the likelihood does not."""
    agent = xl.agents.deterministic_ucl(prior_mean=0.5, prior_var=prior_var, length_scale=1.5, ties=ties)
    runs = xl.simulate(agent, SQUARE, 60, 128, 3, keep="trajectories")
    assert np.isfinite(scores(agent, choices_from_runs(runs, SQUARE))).all()


def chosen(rule, value, mean, params=None):
    """The first arm of all that the rule may choose."""
    belief = Belief(jnp.asarray(mean))
    moment = Moment(jnp.int32(2), jnp.int32(1))
    log_probs = rule.log_probs(params or {}, belief, jnp.asarray(value), moment, None)
    drawn = rule.draw(params or {}, belief, jnp.asarray(value), moment, None, Chance(jnp.float32(0.999), None))
    return np.flatnonzero(np.asarray(log_probs) > -np.inf).tolist(), int(drawn)


class Belief:
    """A belief with nothing but a mean."""

    def __init__(self, mean):
        self.mean = mean


@pytest.mark.quick
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_values_that_differ_by_rounding_tie_at_any_scale(scale):
    value = np.float32(scale) * np.array([0.5, 1 + 1e-7, 1.0], np.float32)
    assert chosen(GREEDY["random"], value, 0 * value) == ([1, 2], 2)


def test_what_is_left_of_larger_numbers_ties():
    """A mean of -500 and a bonus of 500: what remains is rounding."""
    value = np.array([3e-5, 1e-5, -2.0], np.float32)
    assert chosen(GREEDY["random"], value, np.full(3, -500, np.float32)) == ([0, 1], 1)


def test_an_arm_far_away_does_not_make_the_others_tie():
    value = np.array([0.0, 0.5, -1e9], np.float32)
    assert chosen(GREEDY["lowest"], value, value) == ([1], 1)


@pytest.mark.quick
def test_infinite_values_tie_among_themselves_alone():
    value = np.array([1.0, np.inf, 1e30, np.inf], np.float32)
    assert chosen(GREEDY["random"], value, np.zeros(4, np.float32)) == ([1, 3], 3)


def test_the_smallest_gap_is_none_where_two_values_differ_by_rounding():
    assert smallest_gap(jnp.float32([3.0, 1.0, 3.0000002])) == 0


def test_a_replayed_belief_ties_where_the_agents_own_does():
    """The paper's landscape is the same in every row: twenty symmetric squares after the first choices."""
    task = xl.tasks.with_noise(replace(xl.tasks.landscape("B"), note=""), 10.0)
    agent = xl.agents.deterministic_ucl(prior_mean=30.0, prior_var=1e8, length_scale=4.0, kernel="squared-exponential")
    runs = xl.simulate(agent, task, 20, 10, 2, keep="trajectories", precision="double")
    assert np.isfinite(scores(agent, choices_from_runs(runs, task))).all()
