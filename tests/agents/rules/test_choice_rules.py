"""Choice rules: one contract for every agent, and the paper's conventions at the edges."""

import itertools
import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import explorelab as xl
from explorelab.agents.factors import Chance, Moment
from explorelab.agents.rules import choice
from tests.support.beliefs import (
    EVERY_AGENT,
    HISTORIES,
    QUICKLY,
    belief_after,
    full_params,
    learning_and_choosing,
    moment_after,
    one_of_each,
)
from tests.support.siblings import slow

N_DRAWS = 20_000
COUNTED = 4096
"""Draws behind the log-probabilities of correlated Thompson sampling, which have an error of their own."""

MASKS = {
    "all arms": None,
    "without arm 2": [True, True, False, True, True],
    "two arms": [False, True, False, True, False],
    "the last two": [False, False, False, True, True],
}

contract = pytest.mark.parametrize("name", one_of_each(learning_and_choosing))


# The contract ---------------------------------------------------------------------------------------------------------


def log_probs_and_draws(agent, history, mask):
    """The log-probability of every arm, and how often each came in many draws."""
    params = full_params(agent)
    belief, moment = belief_after(agent, params, history), moment_after(history)
    available = None if mask is None else jnp.asarray(mask)
    uniforms = jnp.asarray(np.random.default_rng(7).random(N_DRAWS), belief.mean.dtype)
    keys = jax.random.split(jax.random.key(11), N_DRAWS)
    log_probs, drawn = _log_probs_and_draws(agent.rule, params, belief, moment, available, Chance(uniforms, keys))
    return np.asarray(log_probs, float), np.bincount(drawn, minlength=len(log_probs))


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _log_probs_and_draws(rule, params, belief, moment, available, chances):
    value = rule.limit(params, belief, moment)
    log_probs = rule.choice.log_probs(params, belief, value, moment, available)
    draws = jax.vmap(lambda chance: rule.choice.draw(params, belief, value, moment, available, chance))(chances)
    return log_probs, draws


@pytest.fixture(scope="module")
def outcomes():
    """Log-probabilities and counts of an agent for every history and mask, worked out once."""
    known = {}

    def of(name):
        if name not in known:
            agent = EVERY_AGENT[name]()
            cases = ((h, m) for h in HISTORIES for m in MASKS)
            known[name] = {(h, m): log_probs_and_draws(agent, HISTORIES[h], MASKS[m]) for h, m in cases}
        return known[name].items()

    return of


@contract
def test_log_probs_sum_to_one(name, outcomes):
    for case, (log_probs, _) in outcomes(name):
        assert np.exp(log_probs).sum() == pytest.approx(1, abs=1e-5), case


@contract
def test_arms_that_are_not_available_have_no_probability(name, outcomes):
    for (history, mask), (log_probs, _) in outcomes(name):
        if MASKS[mask] is not None:
            assert np.isneginf(log_probs[~np.array(MASKS[mask])]).all(), (history, mask)


@contract
def test_arms_that_are_not_available_are_never_drawn(name, outcomes):
    for (history, mask), (_, counts) in outcomes(name):
        assert counts[: len(MASKS[mask] or counts)][~np.array(MASKS[mask] or [True] * 5)].sum() == 0, (history, mask)


@contract
def test_draws_follow_the_log_probs(name, outcomes):
    for case, (log_probs, counts) in outcomes(name):
        p = np.exp(log_probs)
        assert len(counts) == len(p), case
        behind = COUNTED if name == "thompson, correlated" else math.inf
        error = np.sqrt(p * (1 - p) * (1 / N_DRAWS + 1 / behind))
        # Where p is (nearly) 0 or 1 a handful of draws, or what a count of 4 096 can miss, is no contradiction.
        allowed = 4.5 * error + (0 if behind == math.inf else 10 / behind) + 1e-6
        assert (np.abs(counts / N_DRAWS - p) <= allowed).all(), (case, p, counts / N_DRAWS)


@contract
def test_nothing_is_drawn_that_has_no_probability(name, outcomes):
    if name == "thompson, correlated":
        pytest.skip("its probabilities are counted, and rare arms may be missed")
    for case, (log_probs, counts) in outcomes(name):
        assert counts[np.isneginf(log_probs)].sum() == 0, case


SCORED = [name for name, build in EVERY_AGENT.items() if build().rule.choice.scores is not None]


def test_some_rule_has_scores_of_its_own():
    assert "kalman-thompson" in SCORED


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _log_probs_and_scores(rule, params, belief, moment, offered):
    given = params, belief, belief.mean, moment, offered
    return rule.log_probs(*given), jax.vmap(lambda arm: rule.scores(*given, arm))(jnp.arange(belief.mean.shape[0]))


@pytest.mark.parametrize(("name", "habits"), [*((name, ()) for name in SCORED), ("kalman-thompson", ("stay", "lapse"))])
def test_scores_follow_the_log_probs(name, habits):
    agent = xl.agents.with_habits(EVERY_AGENT[name](), *habits)
    with jax.enable_x64(True):
        params = full_params(agent, dtype="float64")
        for history, mask in itertools.product(HISTORIES.values(), MASKS.values()):
            belief = belief_after(agent, params, history)
            offered = jnp.asarray(mask or [True] * len(belief.mean))
            whole, scored = _log_probs_and_scores(agent.rule.choice, params, belief, moment_after(history), offered)
            np.testing.assert_allclose(np.diagonal(scored), whole, rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(np.exp(scored), np.exp(np.tile(whole, (len(whole), 1))), atol=1e-7)


@pytest.mark.parametrize("rule", [*choice.GREEDY.values(), *choice.SOFTMAX.values()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("t", [1, 2, 30])
def test_a_choice_among_some_arms_is_the_choice_there_would_be_without_the_others(rule, t):
    value = jnp.asarray([1.0, 1.25, 0.5, 1.2, 3.0, 0.7])
    mask = np.array([True, False, True, True, False, True])
    params = {"temperature": 0.7, "cooling_rate": 1.3}
    moment = Moment(jnp.int32(t), jnp.int32(t - 1))
    masked = rule.log_probs(params, None, value, moment, jnp.asarray(mask))
    alone = rule.log_probs(params, None, value[np.flatnonzero(mask)], moment, None)
    np.testing.assert_allclose(masked[np.flatnonzero(mask)], alone, rtol=1e-6)


# The paper's conventions at the edges ---------------------------------------------------------------------------------


def feedback(values, t):
    """Probabilities under feedback cooling at time t."""
    moment = Moment(jnp.int32(t), jnp.int32(t - 1))
    return np.exp(choice.softmax_feedback.log_probs({}, None, jnp.asarray(values), moment, None))


@pytest.mark.quick
def test_feedback_at_the_first_step_with_different_limits_is_uniform():
    np.testing.assert_allclose(feedback([1.0, 2.0, 5.0], 1), 1 / 3, rtol=1e-6)


@pytest.mark.quick
def test_feedback_at_the_first_step_with_two_equal_limits_has_temperature_one():
    np.testing.assert_allclose(feedback([1.0, 1.0, 2.0], 1), np.exp([1, 1, 2]) / np.exp([1, 1, 2]).sum(), rtol=1e-6)


@pytest.mark.quick
def test_feedback_later_with_two_equal_limits_is_uniform_over_the_best():
    np.testing.assert_allclose(feedback([1.0, 3.0, 1.0, 3.0], 2), [0, 0.5, 0, 0.5])


@pytest.mark.quick
def test_feedback_later_is_a_softmax_at_the_smallest_gap_over_two_log_t():
    v = 0.5 / (2 * math.log(7))
    weight = np.exp(np.array([1.0, 2.5, 2.0]) / v - 2.5 / v)
    np.testing.assert_allclose(feedback([1.0, 2.5, 2.0], 7), weight / weight.sum(), rtol=1e-5)


@pytest.mark.quick
@pytest.mark.parametrize("t", [1, 2, 9])
def test_two_infinite_limits_differ_by_nothing(t):
    assert choice.smallest_gap(jnp.asarray([1.0, jnp.inf, 5.0, jnp.inf])) == 0
    np.testing.assert_allclose(feedback([1.0, np.inf, 5.0, np.inf], t), [0, 0.5, 0, 0.5])


@pytest.mark.parametrize("t", [1, 2, 9])
def test_an_infinite_limit_comes_before_all_others(t):
    np.testing.assert_allclose(feedback([1.0, np.inf, 5.0], t), [0, 1, 0])


@pytest.mark.parametrize("temperature", [0.0, 1.0, math.inf])
def test_infinite_values_come_first_at_any_temperature(temperature):
    p = np.exp(choice.boltzmann(jnp.asarray([np.inf, 3.0, np.inf]), jnp.float32(temperature), None))
    np.testing.assert_allclose(p, [0.5, 0, 0.5])


@pytest.mark.quick
def test_temperature_zero_is_uniform_over_the_best():
    p = np.exp(choice.boltzmann(jnp.asarray([2.0, 1.0, 2.0, 1.9]), jnp.float32(0), None))
    np.testing.assert_allclose(p, [0.5, 0, 0.5, 0])


def test_an_infinite_temperature_is_uniform_over_all():
    p = np.exp(choice.boltzmann(jnp.asarray([2.0, 1.0, -50.0]), jnp.float32(math.inf), None))
    np.testing.assert_allclose(p, 1 / 3, rtol=1e-6)


def test_log_cooling_is_uniform_at_the_first_step():
    moment = Moment(jnp.int32(1), jnp.int32(0))
    p = np.exp(choice.softmax_log.log_probs({"cooling_rate": 0.1}, None, jnp.asarray([1.0, 9.0]), moment, None))
    np.testing.assert_allclose(p, 0.5)


def test_one_arm_is_always_chosen():
    np.testing.assert_allclose(feedback([3.0], 5), [1])


def test_large_values_do_not_overflow_a_softmax():
    p = np.exp(choice.boltzmann(jnp.asarray([3e30, 3e30, 1e30]), jnp.float32(1e-3), None))
    np.testing.assert_allclose(p, [0.5, 0.5, 0])


@pytest.mark.quick
def test_a_draw_never_lands_on_a_last_arm_of_no_probability():
    log_probs = jnp.log(jnp.asarray([0.1] * 10 + [0.0]))
    assert int(choice.draw_from(log_probs, jnp.float32(1 - 2**-24))) == 9


def test_a_draw_never_lands_on_a_first_arm_of_no_probability():
    log_probs = jnp.log(jnp.asarray([0.0, 0.5, 0.5]))
    assert int(choice.draw_from(log_probs, jnp.float32(2**-24))) == 1


# In distribution ------------------------------------------------------------------------------------------------------


def visits(agent, task, horizon, replicates, seed):
    return xl.simulate(agent, task, horizon, replicates, seed, keep="replicates", times=[horizon])


@pytest.mark.parametrize("prior_var", [math.inf, *slow(2.0)])
def test_random_ties_make_the_first_choice_uniform_over_identical_arms(prior_var):
    agent = xl.agents.deterministic_ucl(prior_mean=3.0, prior_var=prior_var, ties="random")
    result = xl.simulate(agent, xl.tasks.bandit(np.arange(7.0)), 1, 14_000, 5, keep="trajectories")
    assert stats.chisquare(np.bincount(result.choice[:, 0], minlength=7)).pvalue > 1e-3


def test_lowest_ties_make_the_first_choice_the_first_arm():
    result = xl.simulate(xl.agents.deterministic_ucl(), xl.tasks.bandit(np.arange(7.0)), 1, 50, 5, keep="trajectories")
    assert (result.choice == 0).all()


@pytest.fixture(scope="module")
def feedback_and_random_ties():
    """Landscape B, T = 90, identical priors: feedback cooling, and deterministic UCL with random ties on another seed.

    And the latter on the same seed.
    """
    prior = {"prior_mean": 30.0, "prior_var": 1000.0}
    cooled, tied = xl.agents.stochastic_ucl(**prior, cooling="feedback"), xl.agents.deterministic_ucl(**prior, ties="random")
    runs = ((cooled, 0), (tied, 1), (tied, 0))
    return [
        xl.simulate(a, xl.tasks.landscape("B"), 90, 2000, seed, keep="trajectories", precision="double") for a, seed in runs
    ]


@pytest.mark.slow
def test_feedback_cooling_has_the_regret_of_random_ties_on_a_hundred_identical_arms(feedback_and_random_ties):
    """Welch's z at t = 10, 20, .., 90: two arms at least are still unseen, so the smallest gap is 0 at every step."""
    cooled, tied, _ = feedback_and_random_ties
    z = (cooled.regret_mean - tied.regret_mean) / np.hypot(cooled.regret_se, tied.regret_se)
    assert np.abs(z[9::10]).max() < 3.5


@pytest.mark.slow
def test_feedback_cooling_visits_a_hundred_identical_arms_as_random_ties_do(feedback_and_random_ties):
    """Visits by column of the landscape, whose means differ."""
    counts = [result.visits_mean.values.reshape(10, 10).sum(1) * 2000 for result in feedback_and_random_ties[:2]]
    assert stats.chi2_contingency(counts).pvalue > 1e-3


def test_feedback_cooling_draws_the_same_arms_as_random_ties_from_the_same_numbers(feedback_and_random_ties):
    cooled, _, tied = feedback_and_random_ties
    np.testing.assert_array_equal(cooled.choice, tied.choice)
