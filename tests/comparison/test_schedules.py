"""The models of the evaluation of schedules are the package's own agents where these exist, and fits keep halves apart."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from scipy.stats import norm

import explorelab as xl
from explorelab.agents.factors import Moment
from explorelab.fitting.likelihood import blocks_of, replay, ways_of
from explorelab.fitting.model import prepare

pytest.importorskip("evaluations.schedules", reason="evaluations are not part of an installed package")

pytestmark = [pytest.mark.quick_programs]
KNOWN = {"prior_var": 150.0, "noise_var": 4.0}
PERSON = {"prior_mean": 20.0, "length_scale": 1.3, "temperature": 5.0}
SCALE = np.sqrt(2 * np.pi * np.e)
AT_10 = norm.isf(1 / (10 * SCALE))
LENGTHS = (6, 9)


@pytest.fixture(scope="module")
def choices():
    """Two people, who each play a short and a long block at random."""
    from evaluations.schedules_simulated import together

    task = xl.tasks.grid(np.arange(9.0).reshape(3, 3) * 5)
    short, long = (
        xl.simulate_choices(xl.blank_choices(task, 2, 1, length), "random-choice", seed=length) for length in LENGTHS
    )
    return together(short, long)


def probabilities(choices, agent):
    """Log-probability of every arm on every scored trial."""
    fitted = prepare(choices, agent, free=())
    with jax.enable_x64(True):
        one = jax.vmap(
            lambda block: replay(fitted.agent.rule, fitted.data.fixed, fitted.data.ways, choices.layout.n_arms, block)
        )
        return np.asarray(one(blocks_of(choices)).log_probs)[choices.scored]


def ours(credibility, cooling, habits=False, **values):
    from evaluations.schedules_models import scheduled

    return scheduled(credibility, cooling, habits, KNOWN).with_values(**PERSON, **values)


def usual(agent, **values):
    given = {"length_scale": 1.3, "prior_mean": 20.0, "kernel": "matern32", **KNOWN, **values}
    return getattr(xl.agents, agent)(**given)


HABITS = {"stickiness": 0.5, "travel_cost": 1.0, "novelty": 0.7, "lapse": 0.05}


@pytest.mark.parametrize(
    ("scheduled", "package"),
    [
        (
            lambda: ours("constant", "constant", bonus=0.8),
            lambda: usual("gp_ucb_constant", bonus=0.8, temperature=5.0),
        ),
        (
            lambda: ours("1/(K t)", "nu / log t", bonus=AT_10),
            lambda: usual("stochastic_ucl", cooling="log", cooling_rate=5.0 * np.log(10)),
        ),
        (
            lambda: ours(
                "1/(K t^a)", "constant", True, credibility_exponent=np.log(2), bonus=norm.isf(0.01 / SCALE), **HABITS
            ),
            lambda: usual("situated_ucl", temperature=5.0, credibility_power=2.0, **HABITS),
        ),
    ],
    ids=["constant", "the paper's", "with habits and a free power"],
)
@pytest.mark.slow
def test_a_schedule_that_an_agent_of_the_package_has_gives_the_same_probabilities(choices, scheduled, package):
    assert np.abs(probabilities(choices, scheduled()) - probabilities(choices, package())).max() < 1e-9


def test_every_schedule_has_the_stated_shape():
    from evaluations.schedules_models import CREDIBILITY, value

    t, length, exponent = 4, 12.0, 0.3
    belief = SimpleNamespace(mean=np.zeros(2), sd=np.ones(2), length=length)

    def quantile(x, power=1.0):
        return norm.isf(1 / (SCALE * x**power)) / norm.isf(1 / (SCALE * 10**power))

    with jax.enable_x64(True):
        found = [
            float(
                value(
                    {"bonus": 1.0, "credibility": np.float64(which), "credibility_exponent": exponent},
                    belief,
                    Moment(np.int32(t), np.int32(t - 1)),
                )[0]
            )
            for which in range(len(CREDIBILITY))
        ]
    expected = [0, 1, quantile(4), quantile(4, np.exp(0.3)), 0.4**0.3, quantile(9), 0.4**0.3]
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_a_block_knows_its_own_length(choices):
    from evaluations.schedules_models import timed

    fitted = prepare(choices, ours("horizon^h", "constant"), free=())
    with jax.enable_x64(True):
        params = timed("matern32").prepare(fitted.data.fixed, ways_of(choices.layout).distances)
        lengths = [
            float(timed("matern32").replay(params, 9, jax.tree.map(lambda x, row=row: x[row], blocks_of(choices))).length[0])
            for row in range(choices.n_rows)
        ]
    assert lengths == [*LENGTHS, *LENGTHS]


def test_halves_share_no_block_and_have_all_of_them():
    from evaluations.schedules import halves

    tasks = [xl.tasks.bandit([0, 1], name=name) for name in "AB"]
    choices = xl.blank_choices(tasks, 3, 8, 4)
    for half in halves(choices, "landscape"):
        for training, left_out in zip(half.training, half.left_out, strict=True):
            assert sorted([*training, *left_out]) == list(range(training.min() // 8 * 8, training.min() // 8 * 8 + 8))
            assert [list(choices.conditions["landscape"][rows]).count("A") for rows in (training, left_out)] == [2, 2]


@pytest.mark.slow
def test_a_model_is_fitted_to_one_half_and_predicts_the_other(choices):
    from evaluations.schedules import PLAIN, Half, measured

    half = Half([np.array([0]), np.array([2])], [np.array([1]), np.array([3])])
    spoilt = choices.reward.copy()
    spoilt[[1, 3]] += 5.0

    def found(them):
        models = {"plain": PLAIN, "paper": ("1/(K t)", "nu / log t"), "feedback": ("1/(K t)", "feedback")}
        return dict(measured(them, half, KNOWN, False, models))

    one, other = found(choices), found(replace(choices, reward=spoilt))
    for name in one:
        assert one[name]["group"] == other[name]["group"]
        assert np.isfinite(one[name]["nll"]).all()
        assert one[name]["n_choices"] == [9, 9]
    assert one["plain"]["nll"] != one["paper"]["nll"]
