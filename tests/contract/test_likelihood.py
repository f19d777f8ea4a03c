"""The likelihood is the agent, replayed: the same probabilities that its choices are drawn from, and their derivatives."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

import explorelab as xl
from explorelab.agents.factors import Ways
from explorelab.choices.table import Choices, Layout
from explorelab.errors import InputError
from explorelab.fitting.likelihood import beliefs, log_likelihoods, positions, replay
from explorelab.fitting.model import prepare
from explorelab.fitting.objective import block_log_likelihoods, curvature
from tests.support.beliefs import (
    DISTANCES,
    EVERY_AGENT,
    N_ARMS,
    NOISE_VAR,
    QUICKLY,
    belief_after,
    full_params,
    learning_and_choosing,
    moment_after,
    one_of_each,
)
from tests.support.siblings import slow_but

LINE = np.arange(float(N_ARMS))[:, None]
ARMS = [2, 2, 0, 4, 4, 1, 3, 3, 3, 0, 1, 2]
REWARDS = [1.5, 0.9, -0.2, 2.0, 2.4, 0.3, 1.1, 1.7, 0.8, 0.1, -0.6, 1.2]
T = len(ARMS)


def choices(arms=ARMS, rewards=REWARDS, observed=None, scored=None, available=None, start=None, noise_var=NOISE_VAR):
    """One person's one block."""
    arm = np.array(arms, np.int32)[None]
    yes = np.ones(arm.shape, bool)
    return Choices(
        layout=Layout(N_ARMS, LINE, noise_var),
        participants=("p",),
        participant=np.zeros(1, int),
        block=np.array(["1"]),
        arm=arm,
        reward=np.array(rewards, float)[None],
        observed=yes if observed is None else np.array(observed)[None],
        scored=yes if scored is None else np.array(scored)[None],
        present=yes,
        available=available,
        start=start,
    )


def block(**settings):
    with jax.enable_x64(True):
        fitted = prepare(choices(**settings), "random-choice")
        return jax.tree.map(lambda x: x[0], fitted.data.blocks)


_scored = jax.jit(log_likelihoods, static_argnums=(0, 3), compiler_options=QUICKLY)
_replayed = jax.jit(replay, static_argnums=(0, 3), compiler_options=QUICKLY)
_believed = jax.jit(beliefs, static_argnums=(0, 2), compiler_options=QUICKLY)


def scores(agent, told=None, **settings):
    """Log-likelihood of each trial in float64."""
    with jax.enable_x64(True):
        params = full_params(agent, dtype="float64")
        ways = Ways(jnp.asarray(DISTANCES, jnp.float64), jnp.asarray(DISTANCES, jnp.float64))
        return np.asarray(_scored(agent.rule, params, ways, N_ARMS, block(**settings) if told is None else told))


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _chosen_and_learned(rule, params, belief, moment, arm, reward):
    """The log-probability of this choice, and what is believed after its reward."""
    value = rule.limit(params, belief, moment)
    log_probs = rule.choice.log_probs(params, belief, value, moment, None)
    return log_probs[arm], rule.learner.update(params, belief, arm, reward)


def one_by_one(agent):
    """The same from one belief at a time, updated by the learner itself, and the choice rule asked at each."""
    result = []
    with jax.enable_x64(True):
        params = full_params(agent, dtype="float64")
        belief = belief_after(agent, params, [])
        for t in range(T):
            moment = moment_after(list(zip(ARMS[:t], REWARDS[:t], strict=True)))
            arm, reward = jnp.int32(ARMS[t]), jnp.float64(REWARDS[t])
            log_prob, belief = _chosen_and_learned(agent.rule, params, belief, moment, arm, reward)
            result.append(float(log_prob))
    return np.array(result)


FREE_AT_EVERY_STEP = {name: build for name, build in EVERY_AGENT.items() if build().rule.commitment.length is None}


@pytest.mark.parametrize("name", one_of_each(learning_and_choosing, FREE_AT_EVERY_STEP))
def test_every_agent_is_scored_by_the_probabilities_that_it_draws_from(name):
    agent = EVERY_AGENT[name]()
    np.testing.assert_allclose(scores(agent), one_by_one(agent), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("length_scale", [0.0, 1.5])
@pytest.mark.parametrize("kernel", ["exponential", "matern32"])
def test_beliefs_at_once_are_beliefs_one_by_one(length_scale, kernel):
    agent = xl.agents.stochastic_ucl(prior_mean=1.0, prior_var=4.0, length_scale=length_scale, kernel=kernel)
    observed = [t not in (3, 7) for t in range(T)]
    with jax.enable_x64(True):
        params = full_params(agent, dtype="float64")
        told = block(observed=observed)
        at_once = _believed(agent.rule, params, N_ARMS, told)
        for t in range(T):
            history = [(ARMS[s], REWARDS[s]) for s in range(t) if observed[s]]
            belief = belief_after(agent, params, history)
            np.testing.assert_allclose(at_once.mean[t], belief.mean, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(at_once.sd[t], belief.sd, rtol=1e-8, atol=1e-8)
            np.testing.assert_array_equal(at_once.plays[t], np.bincount([a for a, _ in history], minlength=N_ARMS))


def by_the_book(prior_mean, prior_var, length_scale, temperature):
    """The paper's stochastic UCL from the textbook formulas of Gaussian conditioning, in NumPy."""
    cov = prior_var * np.exp(-DISTANCES / length_scale)
    total = []
    for t in range(T):
        seen = np.array(ARMS[:t], int)
        gain = cov[:, seen] @ np.linalg.inv(cov[np.ix_(seen, seen)] + NOISE_VAR * np.eye(t))
        mean = prior_mean + gain @ (np.array(REWARDS[:t]) - prior_mean)
        sd = np.sqrt(np.diag(cov - gain @ cov[seen]))
        q = mean + sd * norm.isf(1 / (np.sqrt(2 * np.pi * np.e) * (t + 1)))
        total.append(q[ARMS[t]] / temperature - np.log(np.exp(q / temperature).sum()))
    return np.array(total)


@pytest.mark.quick
def test_the_stochastic_ucl_agrees_with_the_textbook():
    agent = xl.agents.stochastic_ucl(prior_mean=2.0, prior_var=3.0, length_scale=1.3, temperature=0.7)
    np.testing.assert_allclose(scores(agent), by_the_book(2.0, 3.0, 1.3, 0.7), rtol=1e-10)


# Trials that are not choices ------------------------------------------------------------------------------------------

AGENT = xl.agents.stochastic_ucl(prior_mean=1.0, prior_var=4.0, length_scale=1.5)
HABITS = xl.agents.with_habits(AGENT, stickiness=1.0, travel_cost=0.5, novelty=0.3, lapse=0.05)


@pytest.mark.quick
def test_a_forced_trial_is_learned_from_and_not_scored():
    forced = [t == 0 for t in range(T)]
    result = scores(AGENT, scored=[not f for f in forced])
    assert result[0] == 0
    np.testing.assert_allclose(result[1:], scores(AGENT)[1:])


def test_a_missed_trial_without_a_reward_teaches_nothing_but_takes_time():
    here = [t != 4 for t in range(T)]
    result = scores(AGENT, observed=here, scored=here)
    with jax.enable_x64(True):
        params = full_params(AGENT, dtype="float64")
        history = [(ARMS[s], REWARDS[s]) for s in range(6) if s != 4]
        belief = belief_after(AGENT, params, history)
        moment = moment_after(history)._replace(t=jnp.int32(7))
        wanted, _ = _chosen_and_learned(AGENT.rule, params, belief, moment, jnp.int32(ARMS[6]), jnp.float64(REWARDS[6]))
    assert result[4] == 0
    np.testing.assert_allclose(result[6], wanted, rtol=1e-9)


def test_what_was_not_available_is_not_counted():
    everything = np.ones((1, T, N_ARMS), bool)
    available = everything.copy()
    available[0, 5] = [True, True, False, False, False]
    result = scores(HABITS, available=available)
    with jax.enable_x64(True):
        ways = Ways(jnp.asarray(DISTANCES), jnp.asarray(DISTANCES))
        told = block(available=available)
        log_probs = np.asarray(_replayed(HABITS.rule, full_params(HABITS, dtype="float64"), ways, N_ARMS, told).log_probs)
    assert np.exp(log_probs[5]).sum() == pytest.approx(1)
    assert np.isneginf(log_probs[5, 2:]).all()
    assert result[5] > scores(HABITS, available=everything)[5]


@pytest.mark.quick
def test_positions_are_the_last_arm_that_one_was_on():
    arms = [3, -1, -1, 2, 0]
    walked = choices(arms, [0.0] * 5, start=np.array([1]))
    np.testing.assert_array_equal(positions(walked), [[1, 3, 3, 3, 2]])
    np.testing.assert_array_equal(positions(choices(arms, [0.0] * 5)), [[-1, 3, 3, 3, 2]])


def test_within_a_block_of_choices_an_agent_is_bound_to_its_goal():
    """Block UCL decides at t = 1, 2, 4, 6, 8, ...: frames of 1, 2, 4, 8 choices in blocks of 1, 2, 3, 4 at most."""
    agent = xl.agents.with_habits(xl.agents.block_ucl(prior_var=9.0), lapse=1.0)  # a choice at random when it decides
    bound = [0, 1, 1, 2, 2, 2, 3, 4, 4, 4, 4, 0]
    told = block(arms=bound)
    decides = np.array([True, True, False, True, False, False, True, True, False, False, False, True])
    np.testing.assert_allclose(scores(agent, told), np.where(decides, -np.log(N_ARMS), 0.0))
    astray = [0, 1, 2, 2, 2, 2, 3, 4, 4, 4, 4, 0]
    assert np.isneginf(scores(agent, block(arms=astray))[2])


# Derivatives ----------------------------------------------------------------------------------------------------------

SMOOTH = {
    "stochastic-ucl, independent": {"fixed": {"length_scale": 0.0}},
    "stochastic-ucl, log": {"fixed": {"cooling": "log"}},
    "stochastic-ucl, all free": {
        "free": (
            "prior_mean", "prior_var", "length_scale", "temperature", "noise_var", "credibility_power", "credibility_scale"
        )
    },
    "situated-ucl": {},
    "roving-ucl": {},
    "variance-greedy+lapse": {},
    "kalman-ucb": {"free": ("prior_mean", "prior_var", "bonus", "temperature", "drift_var"), "fixed": {"noise_var": 1.0}},
    "kalman-thompson": {},
    "delta-rule": {},
    "win-stay-lose-shift": {},
    "epsilon-greedy": {},
    "local-search": {},
}  # fmt: skip
"""Every parameter that can be free at least once, with every kind of learner and of choice."""


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _bent(model, data, z):
    """Value, gradient and information of the first block."""
    return curvature(model, data, jnp.zeros(1, jnp.int32), jnp.ones(1), z)


@pytest.mark.parametrize(
    "name",
    slow_but(
        ("kalman-thompson", "kalman-ucb", "delta-rule", "stochastic-ucl, independent", "variance-greedy+lapse"), SMOOTH
    ),
)
def test_a_gradient_with_information_is_the_gradient(name):
    """Differentiation in pieces, only what learning depends on through the learner: the whole is what it was before."""
    fitted = prepare(choices(), name.split(",")[0], **SMOOTH[name])
    z = 0.4 * np.random.default_rng(3).standard_normal(len(fitted.space))
    with jax.enable_x64(True):

        def value(z):
            return -block_log_likelihoods(fitted.model, fitted.data, jnp.zeros(1, jnp.int32), z)[0]

        at = _bent(fitted.model, fitted.data, jnp.asarray(z))
        plainly, slopes = jax.jit(jax.value_and_grad(value), compiler_options=QUICKLY)(jnp.asarray(z))
    assert len(z) > 0
    np.testing.assert_allclose(at.gradient, slopes, rtol=1e-8, atol=1e-9)
    assert float(at.value) == pytest.approx(float(plainly), rel=1e-12)
    assert np.linalg.eigvalsh(np.asarray(at.information)).min() > -1e-9


def test_the_information_is_the_mean_of_the_squared_score():
    """On one trial, E[g g'] over the arms that could have been chosen is the information of that trial."""
    last = np.arange(T) == T - 1
    fitted = prepare(choices(scored=last), "situated-ucl")
    with jax.enable_x64(True):
        z = jnp.full(8, 0.2, jnp.float64)
        expected = 0.0
        for arm in range(N_ARMS):
            other = prepare(choices([*ARMS[:-1], arm], scored=last), "situated-ucl")
            data = fitted.data._replace(blocks=other.data.blocks)
            at = _bent(fitted.model, data, z)
            expected = expected + np.exp(-float(at.value)) * np.outer(at.gradient, at.gradient)
        information = _bent(fitted.model, fitted.data, z).information
    np.testing.assert_allclose(information, expected, atol=1e-12)


# At the door ----------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_arms_that_lie_nowhere_have_no_travel_cost():
    nowhere = choices()
    nowhere = Choices(**{**nowhere.__dict__, "layout": Layout(N_ARMS, None, NOISE_VAR)})
    with pytest.raises(InputError, match="needs the places of the arms"):
        prepare(nowhere, "stochastic-ucl+travel")
    assert "length_scale" not in [d.name for d in prepare(nowhere, "stochastic-ucl").space]


@pytest.mark.quick
def test_noise_that_is_not_known_is_sought():
    names = [d.name for d in prepare(choices(noise_var=None), "stochastic-ucl").space]
    assert names == ["prior_mean", "prior_var", "length_scale", "temperature", "noise_var"]
    assert "noise_var" not in [d.name for d in prepare(choices(), "stochastic-ucl").space]


@pytest.mark.quick
def test_a_parameter_that_the_agent_does_not_have_is_refused():
    with pytest.raises(InputError, match="bonus cannot be free: the parameters of stochastic-ucl are"):
        prepare(choices(), "stochastic-ucl", free=("bonus",))
    with pytest.raises(InputError, match="both free and fixed"):
        prepare(choices(), "stochastic-ucl", free=("temperature",), fixed={"temperature": 1.0})
