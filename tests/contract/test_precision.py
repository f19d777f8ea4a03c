"""Precision: by default every agent does what it does in double precision, whatever the size of the numbers."""

import dataclasses
import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtri_exp

import explorelab as xl
from explorelab.agents.registry import parameters_of
from explorelab.agents.rules.choice import probability_matching, probability_matching_joint
from explorelab.agents.rules.quantiles import upper_quantile
from explorelab.simulation.precision import origin_of, why_not
from tests.support.beliefs import learning_and_choosing, one_of_each
from tests.support.command_line import explorelab
from tests.support.quick_programs import compiled_quickly

MEANS, HORIZON, REPLICATES = np.linspace(0, 2, 12), 48, 64

UNITS = {
    "prior_mean": 1,
    "prior_var": 2,
    "noise_var": 2,
    "temperature": 1,
    "reward_range": 1,
    "drift_var": 2,
    "epsilon_gap": 1,
}
"""Powers of the rewards' unit."""

ORDINARY = {"prior_mean": 0.4, "prior_var": 2.0, "length_scale": 4.0, "noise_var": 1.0}


@pytest.fixture(scope="module", autouse=True)
def _double_precision_is_compiled_quickly():
    """What single precision is compared with; single precision itself is compiled as users have it."""
    with compiled_quickly("float64"):
        yield


def task(scale=1.0, offset=0.0):
    return xl.tasks.line(offset + scale * MEANS, scale**2)


def built(name, **changes):
    """The agent with ordinary values and these instead, as far as it takes them."""
    known = parameters_of(name)
    return xl.agents.AGENTS[name](**{k: v for k, v in {**ORDINARY, **changes}.items() if k in known})


by_kind = pytest.mark.parametrize(
    "name", one_of_each(learning_and_choosing, {n: partial(built, n) for n in xl.agents.AGENTS})
)


def in_units(name, scale):
    known = parameters_of(name)
    values = {k: {**known, **ORDINARY}[k] for k in UNITS if k in known}
    return {k: v * scale ** UNITS[k] for k, v in values.items() if isinstance(v, int | float)}


SETTINGS = {
    "ordinary": lambda name: (built(name), task()),
    "far from zero": lambda name: (built(name, prior_mean=1e6), task(offset=1e6)),
    "very far from zero": lambda name: (built(name, prior_mean=-1e12 + 0.5), task(offset=-1e12)),
    "prior far from the means": lambda name: (built(name, prior_mean=1e6, prior_var=1e12), task()),
    "small": lambda name: (built(name, **in_units(name, 1e-6)), task(1e-6)),
    "large": lambda name: (built(name, **in_units(name, 1e12)), task(1e12)),
    "beyond single precision": lambda name: (built(name, **in_units(name, 1e25)), task(1e25)),
    "tight prior": lambda name: (built(name, prior_var=1e-8), task()),
    "wide prior": lambda name: (built(name, prior_var=1e7), task()),
    "noise taken for large": lambda name: (built(name, noise_var=1e10), task()),
    "nearly one arm": lambda name: (built(name, length_scale=3e3), task()),
    "demanding": lambda name: (built(name, credibility_power=10.0, log_power=60.0, failure_probability=1e-40), task()),
    "most demanding": lambda name: (built(name, credibility_power=400.0, log_power=4000.0), task()),
}
"""An agent by name, and a task, that single precision finds hard."""
QUICK = ["far from zero", "prior far from the means", "beyond single precision", "wide prior", "nearly one arm", "demanding"]


@pytest.mark.parametrize(
    "settings",
    [QUICK, pytest.param([each for each in SETTINGS if each not in QUICK], marks=pytest.mark.slow)],
    ids=["quick", "all"],
)
@by_kind
def test_every_agent_regrets_by_default_what_it_regrets_in_double_precision(name, settings):
    """Same seeds: nearly every choice is the same, so the difference is far below the standard error.

    Draws from the belief are made of other random numbers in each precision: their difference is a matter of chance.
    """
    within = 4.5 if built(name).rule.choice in (probability_matching, probability_matching_joint) else 0.3
    for setting in settings:
        agent, where = SETTINGS[setting](name)
        ask = {"horizon": HORIZON, "n_replicates": REPLICATES, "seed": 5, "times": [HORIZON], "keep": "statistics"}
        usual, double = xl.simulate(agent, where, **ask), xl.simulate(agent, where, **ask, precision="double")
        apart = float(abs(usual.regret_mean - double.regret_mean)[0])
        assert apart <= within * float(double.regret_se[0]), (setting, usual.attrs["precision"], apart)
        observed = float(abs(usual.observed_regret_mean - double.observed_regret_mean)[0])
        assert observed <= within * float(double.observed_regret_se[0]), (setting, "observed", observed)


@by_kind
def test_no_agent_cares_where_rewards_have_their_zero(name):
    """What lets rewards be counted from anywhere. Without `build` an agent is taken as it is, and nothing is moved."""
    ask = {"horizon": HORIZON, "n_replicates": REPLICATES, "seed": 5, "times": [HORIZON], "keep": "statistics"}
    here, there = (
        xl.simulate(
            dataclasses.replace(built(name, prior_mean=0.5 + c), build=None), task(offset=c), **ask, precision="double"
        )
        for c in (0.0, 64.0)
    )
    np.testing.assert_allclose(there.visits_mean, here.visits_mean)


# The quantile ---------------------------------------------------------------------------------------------------------

LOG_TAILS = [-1e-3, -0.5, -2.0, -30.0, -59.9, -60.1, -88.0, -104.0, -700.0, -4e3, -1e8, -1e30]


@pytest.mark.parametrize(("dtype", "close"), [("float32", 1e-6), ("float64", 1e-11)])
@pytest.mark.parametrize("log_tail", LOG_TAILS)
def test_the_quantile_of_a_tail_is_right_however_small_it_is(log_tail, dtype, close):
    with jax.enable_x64(True):
        at = jnp.asarray(log_tail, dtype)
        assert float(upper_quantile(at)) == pytest.approx(-ndtri_exp(float(at)), rel=close, abs=close)


@pytest.mark.parametrize("log_tail", LOG_TAILS[1:])
def test_the_slope_of_the_quantile_is_one_over_the_hazard(log_tail):
    with jax.enable_x64(True):
        slope = float(jax.grad(upper_quantile)(jnp.float64(log_tail)))
    z = -ndtri_exp(log_tail)
    log_hazard = -0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_tail
    # Where z^2 and the tail are so large that nothing is left of their difference, the hazard is z.
    assert slope == pytest.approx(-1 / np.exp(log_hazard) if z < 1e3 else -1 / z, rel=1e-6)


# What is said ---------------------------------------------------------------------------------------------------------

HARD = {
    "steps": (lambda: (xl.agents.ucb1(), task(), 2**20 + 1), "averages over 1048577 steps"),
    "size": (lambda: (xl.agents.ucb1(), task(1e20), 10), "the means of 2e+20"),
    "smallness": (lambda: (xl.agents.kl_ucb(), task(1e-20), 10), "the means of 2e-20"),
    "parameter": (lambda: (xl.agents.ucb1(reward_range=1e16), task(1e10), 10), "reward_range of 1e+16"),
    "detail": (lambda: (xl.agents.mean_greedy(prior_mean=1e9, prior_var=1.0), task(), 10), "told apart"),
    "range": (lambda: (xl.agents.ucb1(reward_range=1e8), task(), 10), "told apart"),
    "tightness": (lambda: (xl.agents.deterministic_ucl(prior_var=1e-6), task(), 10), "worth 1e+06 rewards"),
    "width": (lambda: (xl.agents.deterministic_ucl(prior_var=1e6, length_scale=4.0), task(), 10), "1e+06 times as wide"),
    "matrix": (lambda: (xl.agents.deterministic_ucl(prior_cov=1e6 * np.eye(12)), task(), 10), "1e+06 times as wide"),
    "likeness": (
        lambda: (xl.agents.stochastic_ucl(prior_var=1.0, length_scale=1e5), task(), 10),
        "correlation of 1 - 1e-05",
    ),
    "faintness": (lambda: (xl.agents.stochastic_ucl(prior_var=1.0, length_scale=1.0), task(), 10), "correlation of 2e-05"),
    "drift": (lambda: (xl.agents.kalman_value(drift_var=1e-9), task(), 10), "drift variance of 1e-09"),
    "levels": (
        lambda: (xl.agents.ucb1(), xl.tasks.with_noise(task(), xl.tasks.integer_noise(10**7)), 10),
        "whole rewards from -1e+07",
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("why", HARD)
def test_single_precision_is_not_trusted_with(why):
    made, reason = HARD[why]
    agent, where, horizon = made()
    assert reason in why_not("float32", agent, where, horizon)
    assert why_not("float64", agent, where, horizon) is None


@pytest.mark.parametrize("name", xl.agents.AGENTS)
def test_single_precision_is_trusted_with_ordinary_numbers(name):
    """All but rules that take the best of correlated arms."""
    agent, why = built(name), why_not("float32", built(name), task(), 10_000)
    if agent.rule.choice.seeks_best and "length_scale" in agent.params:
        assert why == "the best of correlated arms is often best by little"
    else:
        assert why is None


def test_an_arm_that_two_prior_rows_call_one_is_one():
    assert why_not("float32", xl.agents.stochastic_ucl(prior_cov=np.ones((12, 12))), task(), 100) is None


def quick(agent, where=None, **how):
    return xl.simulate(agent, task() if where is None else where, 12, 4, **how)


def test_the_result_says_which_precision_it_has_and_why():
    usual, hard = quick(xl.agents.deterministic_ucl()), quick(xl.agents.deterministic_ucl(prior_var=1e-8))
    assert usual.attrs["precision"] == "float32"
    assert "precision_note" not in usual.attrs
    assert hard.attrs["precision"] == "float64"
    assert hard.attrs["precision_note"].startswith("Double precision, because a prior worth 1e+08 rewards")


def test_one_hard_setting_of_a_sweep_makes_all_of_it_double():
    assert quick(xl.agents.deterministic_ucl(), sweep={"prior_var": [1.0, 1e-8]}).attrs["precision"] == "float64"


def test_single_precision_is_had_for_the_asking_and_warned_of():
    with pytest.warns(xl.PrecisionWarning, match=r"^Single precision may not be enough here: a prior worth 1e\+08 rewards"):
        assert quick(xl.agents.deterministic_ucl(prior_var=1e-8), precision="single").attrs["precision"] == "float32"


def test_what_even_double_precision_cannot_hold_is_warned_of():
    with pytest.warns(xl.PrecisionWarning, match=r"^Double precision may not be enough here: a prior worth 1e\+14 rewards"):
        quick(xl.agents.deterministic_ucl(prior_var=1e-14))


def test_the_command_line_says_why_it_computes_in_double_precision():
    said = explorelab("simulate", "--means", "0,1", "-T", "9", "-n", "4", "-s", "prior_var=1e-8", "--json").stdout
    assert json.loads(said)["precision"] == "float64"
    assert json.loads(said)["precision_note"].startswith("Double precision, because a prior worth 1e+08 rewards")


# Where rewards are counted from ---------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize(
    ("agent", "offset", "origin"),
    [
        (xl.agents.ucb1(), 0.0, 0.0),
        (xl.agents.ucb1(), 1e6, 1e6 + 2),
        (xl.agents.deterministic_ucl(prior_mean=7.0), 0.0, 0.0),
        (xl.agents.deterministic_ucl(prior_mean=7.0, prior_var=1.0), 1e6, 7.0),
        (xl.agents.mean_greedy(prior_mean=np.arange(12.0), prior_var=1.0), 0.0, 5.0),
        (dataclasses.replace(xl.agents.ucb1(), build=None), 1e6, 0.0),
    ],
    ids=["near", "far", "uninformative", "informative", "one for each arm", "composed by hand"],
)
def test_rewards_are_counted_from(agent, offset, origin):
    assert origin_of(agent, task(offset=offset)) == origin


def test_rewards_come_back_where_they_were():
    result = quick(xl.agents.ucb1(), task(offset=1e9), keep="trajectories")
    away = result.reward.values - (1e9 + MEANS)[result.choice.values]
    assert np.abs(away).max() < 6
    assert len(np.unique(away)) == away.size  # noise, not steps of what single precision can tell apart at 1e9


def test_a_prior_that_says_nothing_has_no_say_wherever_it_is():
    near, far = (quick(xl.agents.deterministic_ucl(prior_mean=m), keep="trajectories") for m in (0.0, 1e12))
    np.testing.assert_array_equal(near.reward, far.reward)
    assert far.attrs["precision"] == "float32"
