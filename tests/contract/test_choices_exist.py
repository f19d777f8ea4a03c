"""No agent plays an arm that does not exist, and no value is NaN: every agent, nasty settings, both precisions."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.factors import Chance, Moment, Ways, prepared
from explorelab.agents.rules import choice
from explorelab.errors import InputError
from tests.support.beliefs import EVERY_AGENT, QUICKLY, every_part, learning_and_choosing, one_of_each

pytestmark = pytest.mark.quick_programs

HORIZON = 6
NASTY = [
    {},
    {"prior_var": 0.0, "log_power": 0.0, "temperature": 0.0, "lapse": 0.0, "epsilon": 0.0},
    {"prior_var": np.inf, "lapse": 1.0, "epsilon": 1.0, "bonus": -2.0},
    {"noise_var": 1e-25, "prior_var": 1e25, "cooling_rate": 1e-12, "temperature": 1e-12, "reward_range": 1e-12},
    {"noise_var": 1e25, "prior_var": 1e-25, "cooling_rate": 1e12, "temperature": 1e12, "reward_range": 1e12},
    {"prior_mean": -1e14, "log_power": 300.0, "beta_scale": 1e-14, "credibility_scale": 2.0, "stickiness": 1e3},
]
REWARDS = {"zeros": [0.0] * HORIZON, "huge": [1e14, -1e14, 1e14, 1e14, -1e14, 0.0]}


@partial(jax.jit, static_argnums=(0, 1), compiler_options=QUICKLY)
def _played(rule, n_arms, params, rewards, uniforms):
    """Values, choices and log-probabilities of so many steps; the arm is what the rule itself draws."""
    dtype = params["noise_var"].dtype
    distances = jnp.abs(jnp.arange(n_arms, dtype=dtype)[:, None] - jnp.arange(n_arms, dtype=dtype))
    params = prepared(rule, params, Ways(distances, distances))

    def step(carry, now):
        belief, position = carry
        t, reward, uniform = now
        moment = Moment(t, t - 1, position)
        value = rule.limit(params, belief, moment)
        arm = rule.choice.draw(
            params, belief, value, moment, None, Chance(uniform, jax.random.fold_in(jax.random.key(0), t))
        )
        log_probs = rule.choice.log_probs(params, belief, value, moment, None)
        return (rule.learner.update(params, belief, arm, reward), arm), (value, arm, log_probs)

    begin = rule.learner.resize(params, rule.learner.init(params, n_arms), HORIZON)
    times = jnp.arange(1, HORIZON + 1, dtype=jnp.int32)
    return jax.lax.scan(step, (begin, jnp.int32(-1)), (times, rewards, uniforms))[1]


@pytest.mark.parametrize("name", one_of_each(every_part))
def test_every_arm_played_exists_and_no_value_is_nan(name):
    check(name, 3)


@pytest.mark.parametrize("name", one_of_each(learning_and_choosing))
def test_the_only_arm_is_played_and_its_value_is_not_nan(name):
    check(name, 1)


def check(name, n_arms):
    agent = EVERY_AGENT[name]()
    known = {"noise_var": 2.0, "horizon": 3.0, "n_arms": float(n_arms), **agent.params}
    dtype = "float32" if n_arms == 1 else "float64" if len(name) % 2 else "float32"
    with jax.enable_x64(dtype == "float64"):
        for setting in NASTY:
            changes = {key: value for key, value in setting.items() if key in known}
            if np.isinf(changes.get("prior_var", 0.0)) and agent.rule.learner.name != "independent":
                continue
            params = {key: jnp.asarray(value, dtype) for key, value in {**known, **changes}.items()}
            for which, rewards in REWARDS.items():
                uniforms = jnp.linspace(0.01, 0.99, HORIZON, dtype=dtype)
                value, arm, log_probs = _played(agent.rule, n_arms, params, jnp.asarray(rewards, dtype), uniforms)
                assert not np.isnan(value).any(), (setting, which, value)
                assert ((arm >= 0) & (arm < n_arms)).all(), (setting, which, arm)
                np.testing.assert_allclose(np.exp(log_probs).sum(1), 1, atol=1e-4, err_msg=f"{setting} {which}")


@pytest.mark.parametrize("rule", [*choice.GREEDY.values(), *choice.SOFTMAX.values()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("value", [[np.nan] * 3, [-np.inf] * 3, [np.inf] * 3, [np.nan, 1.0, 2.0]], ids=str)
def test_a_draw_is_one_of_the_arms_whatever_the_values(rule, value):
    moment = Moment(jnp.int32(2), jnp.int32(1))
    params = {"temperature": jnp.float32(0.5), "cooling_rate": jnp.float32(1.0)}
    for uniform in (1e-6, 0.5, 1 - 1e-6):
        drawn = rule.draw(params, None, jnp.asarray(value, jnp.float32), moment, None, Chance(jnp.float32(uniform), None))
        assert 0 <= int(drawn) < 3


@pytest.mark.parametrize(
    "agent",
    [
        xl.agents.knowledge_gradient(),
        xl.agents.bayes_ucb(log_power=0.0, prior_var=0.0),
        xl.agents.stochastic_ucl(cooling="feedback"),
    ],
    ids=repr,
)
def test_one_arm_is_played_at_every_step(agent):
    result = xl.simulate(agent, xl.tasks.bandit([1.0]), 5, 3, 0, keep="trajectories")
    assert (result.choice == 0).all()


@pytest.mark.parametrize("means", [[1e39, 0.0], [-3e38, 3e38], [1e20, 0.0]])
def test_means_beyond_single_precision_are_refused_and_computed_in_double(means):
    agent = xl.agents.deterministic_ucl(prior_var=1.0)
    with pytest.raises(InputError, match=r"means must be at most 1e\+15 in size in single precision"):
        xl.simulate(agent, xl.tasks.bandit(means), 5, 2, precision="single")
    by_itself = xl.simulate(agent, xl.tasks.bandit(means), 5, 2, keep="trajectories")
    assert by_itself.attrs["precision"] == "float64"
    assert (by_itself.choice < 2).all()


@pytest.mark.parametrize(
    "agent",
    [xl.agents.deterministic_ucl(prior_var=1e-50), xl.agents.ucb1(reward_range=1e60), xl.agents.kl_ucb(noise_var=1e-45)],
    ids=repr,
)
def test_numbers_that_single_precision_cannot_hold_are_refused(agent):
    with pytest.raises(InputError, match="in single precision"):
        xl.simulate(agent, xl.tasks.bandit([0.0, 1.0]), 5, 2, precision="single")


def test_a_wide_prior_of_a_mean_tracker_goes_on_learning():
    """After one reward the variance is the noise's, not a rounding error."""
    from explorelab.agents.learners.trackers import init_kalman, update_kalman

    params = {"prior_mean": 0.0, "prior_var": jnp.float32(1e10), "noise_var": jnp.float32(2.0), "drift_var": 0.0}
    after = update_kalman(params, init_kalman(params, 1), jnp.int32(0), jnp.float32(3.0))
    np.testing.assert_allclose(after.var, 2.0, rtol=1e-6)
