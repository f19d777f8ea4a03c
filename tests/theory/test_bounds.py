"""`bounds`: which theorem speaks of which agent, and what is said where none does."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab import theory

pytestmark = pytest.mark.quick

TEN = xl.tasks.bandit(np.linspace(0, 1, 10))
LINE = xl.tasks.on_graph(xl.tasks.profile("B", 6.25))


@pytest.mark.parametrize(
    ("agent", "task", "algorithm"),
    [
        (xl.agents.deterministic_ucl(), TEN, "deterministic"),
        (xl.agents.deterministic_ucl(ties="random"), TEN, "deterministic"),
        (xl.agents.stochastic_ucl(cooling="feedback"), TEN, "stochastic"),
        (xl.agents.block_ucl(), TEN, "block"),
        (xl.agents.block_ucl(), LINE, "graphical"),
    ],
)
def test_the_theorem_is_read_off_the_agents_parts(agent: xl.Agent, task: xl.Task, algorithm: str) -> None:
    table = xl.regret_bounds(agent, task, 1000)
    assert table.attrs["algorithm"] == algorithm
    assert np.isfinite(table.published_regret[-1])


def test_the_numbers_are_those_of_the_theory() -> None:
    table = xl.regret_bounds(xl.agents.block_ucl(), TEN, 100_000, times=[100_000])
    expected = theory.published.block_visits(TEN.means, 1.0, [100_000])
    np.testing.assert_array_equal(table.published_visits.values, expected)


def test_corrected_bounds_use_the_agents_power() -> None:
    table = xl.regret_bounds(
        xl.agents.deterministic_ucl(credibility_power=2), xl.tasks.bandit([0, 1]), 10_000, times=[10_000], epsilon=1
    )
    assert float(table.corrected_visits[0, 0]) == pytest.approx(179.41, abs=0.01)


@pytest.mark.parametrize(
    ("agent", "task", "word"),
    [
        (xl.agents.stochastic_ucl(), TEN, "constant temperature"),
        (xl.agents.stochastic_ucl(cooling="log"), TEN, "Only feedback cooling"),
        (xl.agents.stochastic_ucl(cooling="feedback", commitment="frames"), TEN, "frames"),
        (xl.agents.ucb1(), TEN, "no bound for ucb1"),
        (xl.agents.deterministic_ucl(prior_var=10), TEN, "uninformative"),
        (xl.agents.deterministic_ucl(prior_var=1e6, length_scale=2), xl.tasks.line([0, 1, 2]), "uncorrelated"),
        (xl.agents.deterministic_ucl(credibility_scale=3), TEN, "K = sqrt"),
        (xl.agents.deterministic_ucl(noise_var=4), TEN, "know the noise variance"),
        (xl.agents.deterministic_ucl(), xl.tasks.landscape("B"), "integer-uniform"),
        (xl.agents.deterministic_ucl(), LINE, "a graph restricts moves"),
    ],
)
def test_where_no_theorem_applies_a_sentence_says_why(agent: xl.Agent, task: xl.Task, word: str) -> None:
    table = xl.regret_bounds(agent, task, 100)
    assert np.isnan(table.published_regret).all()
    assert word in table.published_regret.attrs["does_not_apply"]
    assert np.isfinite(table.lai_robbins_regret[-1])


def test_tied_best_arms_withhold_the_cost_bound_but_not_the_regret_bound() -> None:
    table = xl.regret_bounds(xl.agents.block_ucl(), xl.tasks.with_costs(xl.tasks.landscape("B", 1.0)), 1000)
    assert np.isfinite(table.published_regret[-1])
    assert "tie for the best" in table.published_cost.attrs["does_not_apply"]


def test_the_papers_own_prior_counts_as_uninformative() -> None:
    table = xl.regret_bounds(
        xl.agents.block_ucl(prior_mean=200, prior_var=1e6), xl.tasks.landscape("B", 1.0), 1023, times=[127, 1023]
    )
    np.testing.assert_allclose(table.published_regret / [3739, 24083], [10.9, 2.2], rtol=0.03)


def test_bounds_and_runs_merge() -> None:
    agent = xl.agents.deterministic_ucl()
    both = xr.merge([xl.simulate(agent, TEN, 2000, 20), xl.regret_bounds(agent, TEN, 2000)], combine_attrs="drop_conflicts")
    assert (both.regret_mean <= both.published_regret).all()


def test_the_quality_of_a_prior_is_reported() -> None:
    assert xl.regret_bounds(xl.agents.block_ucl(prior_mean=200, prior_var=100), LINE, 10).attrs[
        "prior_quality"
    ] == pytest.approx(18.7)
    assert xl.regret_bounds(xl.agents.block_ucl(), LINE, 10).attrs["prior_quality"] == 0
    assert math.isnan(xl.regret_bounds(xl.agents.ucb1(), TEN, 10).attrs["prior_quality"])


def test_a_short_walk_tightens_the_corrected_graph_bound() -> None:
    means, agent = np.arange(6.0), xl.agents.block_ucl(credibility_power=2)
    star = xl.tasks.on_graph(xl.tasks.bandit(means), [(0, i) for i in range(1, 6)])
    path = xl.tasks.on_graph(xl.tasks.bandit(means), [(i, i + 1) for i in range(5)])
    on_star, on_path = (xl.regret_bounds(agent, task, 5000).corrected_regret[-1].item() for task in (star, path))
    assert on_star < on_path


def test_lengths_other_than_one_count_the_hops_really_walked() -> None:
    from explorelab.theory.agent_bounds import _longest_walk

    # The direct edge 0-3 is longer than the way round, so three hops are walked although one would do.
    detour = xl.tasks.on_graph(xl.tasks.bandit([0, 1, 2, 3.0]), [(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 3, 9)])
    assert _longest_walk(detour) == 2


# what a prior must be like


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(
    ("prior_mean", "prior_var", "says"),
    [
        (-500, 1e3, "may never be tried"),
        ([0, -40], 1e3, "may never be tried"),
        (-1e9, 1e12, "may never be tried"),
        (500, 1e3, "draws the mean of one reward by 0.5 standard deviations"),
        ([100, 1], 1e3, "draws the mean of one reward by 0.1 standard deviations"),
        (1e9, 1e6, "draws the mean of one reward by 1e+03"),
        (0, [np.inf, 10], "worth 0.1 rewards"),
        (0, 0, "worth inf rewards"),
    ],
)
def test_a_prior_that_is_worth_little_but_far_off_withholds_the_bounds(prior_mean, prior_var, power, says) -> None:
    agent = xl.agents.deterministic_ucl(prior_mean=prior_mean, prior_var=prior_var, credibility_power=power)
    table = xl.regret_bounds(agent, xl.tasks.bandit([0, 1]), 2000)
    for name in ("published_regret", "corrected_regret", "published_visits", "corrected_visits"):
        assert table[name].isnull().all()
        assert says in table[name].attrs["does_not_apply"]


def test_a_prior_that_is_off_to_the_right_side_does_no_harm() -> None:
    # hope for the best arm and doubt of the other: both only help
    agent = xl.agents.deterministic_ucl(prior_mean=[-5000, 5000], prior_var=1e4, credibility_power=2)
    table = xl.regret_bounds(agent, xl.tasks.bandit([0, 1]), 2000)
    plain = xl.regret_bounds(xl.agents.deterministic_ucl(credibility_power=2), xl.tasks.bandit([0, 1]), 2000)
    np.testing.assert_array_equal(table.corrected_regret, plain.corrected_regret)


def test_what_a_prior_is_off_costs_a_little_of_the_corrected_bound() -> None:
    task = xl.tasks.bandit([0, 1])
    regrets = [
        float(
            xl.regret_bounds(xl.agents.deterministic_ucl(mean, 1e3, credibility_power=1.5), task, 10**5).corrected_regret[-1]
        )
        for mean in (0, -5, -15)
    ]
    assert regrets[0] < regrets[1] < regrets[2] < 2 * regrets[0]


def test_a_prior_that_leaves_too_little_of_the_power_withholds_the_corrected_bound_alone() -> None:
    agent = xl.agents.deterministic_ucl(prior_mean=30, prior_var=1e3, credibility_power=1.35)
    table = xl.regret_bounds(agent, xl.tasks.bandit([0, 1]), 2000)
    assert "of which the prior leaves 1.2" in table.corrected_regret.attrs["does_not_apply"]


def test_the_error_of_a_prior_counts_to_the_wrong_side_only() -> None:
    error = theory.prior_error([0.0, 1.0], [2.0, -3.0], [100.0, 16.0], noise_var=4.0)
    assert error == (pytest.approx(4 / 4), pytest.approx(max(2 * 4 / 100, 4 * 4 / 16) / 2))


# the noise


def test_lai_robbins_is_about_the_noise_of_the_task_whatever_the_agent_assumes() -> None:
    for assumed in (0.01, 1.0, 100.0):
        table = xl.regret_bounds(xl.agents.deterministic_ucl(noise_var=assumed), xl.tasks.bandit([0, 1]), 1000, times=[1000])
        assert table.lai_robbins_regret.item() == pytest.approx(2 * math.log(1000))


def test_lai_robbins_says_where_the_noise_is_not_the_one_it_is_for() -> None:
    whole = xl.regret_bounds(xl.agents.deterministic_ucl(), xl.tasks.landscape("B"), 100)
    normal = xl.regret_bounds(xl.agents.deterministic_ucl(), xl.tasks.landscape("B", 10.0), 100)
    assert "with integer-uniform noise the true limit differs" in whole.lai_robbins_regret.attrs["valid_when"]
    assert "Gaussian" in whole.lai_robbins_visits.attrs["long_name"]
    assert "Gaussian" not in normal.lai_robbins_regret.attrs["valid_when"]
    assert "asymptotic" in normal.lai_robbins_regret.attrs["long_name"]


@pytest.mark.parametrize(
    "agent", [xl.agents.deterministic_ucl(), xl.agents.deterministic_ucl(noise_var=1.0), xl.agents.ucb1()]
)
def test_without_noise_every_bound_is_withheld_with_a_sentence(agent: xl.Agent) -> None:
    table = xl.regret_bounds(agent, xl.tasks.bandit([0, 1], noise_var=0), 100)
    for variable in table.data_vars.values():
        assert variable.isnull().all()
        assert "Without reward noise" in variable.attrs["does_not_apply"]


def test_an_agent_with_habits_has_no_bound() -> None:
    agent = xl.agents.with_habits(xl.agents.deterministic_ucl(), lapse=0.1)
    assert xl.regret_bounds(agent, TEN, 100).published_regret.isnull().all()


# horizons

ALGORITHMS = {
    "deterministic": (xl.agents.deterministic_ucl, TEN),
    "stochastic": (lambda **more: xl.agents.stochastic_ucl(cooling="feedback", **more), TEN),
    "block": (xl.agents.block_ucl, xl.tasks.with_costs(TEN, 1.0)),
    "graphical": (xl.agents.block_ucl, LINE),
}


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_bound_on_visits_or_transitions_exceeds_the_horizon(name: str, power: float) -> None:
    build, task = ALGORITHMS[name]
    table = xl.regret_bounds(build(credibility_power=power), task, 10_000)
    for kind in ("lai_robbins_visits", "published_visits", "corrected_visits", "published_transitions"):
        assert (table[kind] <= table.time).where(table[kind].notnull(), True).all(), kind


@pytest.mark.parametrize("gap", [1e-200, 1e-12, 1e200])
def test_gaps_that_cannot_be_squared_have_bounds_of_at_most_the_horizon(gap: float) -> None:
    table = xl.regret_bounds(xl.agents.deterministic_ucl(credibility_power=2), xl.tasks.bandit([0, gap]), 1000)
    for kind in ("lai_robbins_visits", "corrected_visits"):
        assert (table[kind][:, 0] <= table.time).all(), kind
    assert np.isfinite(table.corrected_regret).all()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_beyond_a_hundred_million_only_what_cannot_be_computed_is_withheld(name: str) -> None:
    build, task = ALGORITHMS[name]
    table = xl.regret_bounds(build(credibility_power=2), task, 10**9, times=[10**6, 10**9])
    assert np.isfinite(table.lai_robbins_regret).all()
    assert np.isfinite(table.corrected_regret[0])
    in_blocks = name in ("block", "graphical")
    assert bool(table.corrected_regret[1].isnull()) == in_blocks
    assert ("T <= 100,000,000" in table.corrected_regret.attrs.get("does_not_apply", "")) == in_blocks
    assert np.isfinite(xl.regret_bounds(build(), task, 10**9, times=[10**9]).published_regret).all()


def test_a_power_next_to_four_thirds_withholds_the_bound_and_raises_nothing() -> None:
    table = xl.regret_bounds(xl.agents.deterministic_ucl(credibility_power=4 / 3 + 1e-12), TEN, 100)
    assert "needs a > 4/3" in table.corrected_regret.attrs["does_not_apply"]


@pytest.mark.parametrize("epsilon", [-1.0, 0.0, 4.0, float("nan"), float("inf")])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_a_wrong_epsilon_is_refused_whether_or_not_a_bound_uses_it(power, epsilon):
    with pytest.raises(xl.InputError, match="epsilon must be at least"):
        xl.regret_bounds(
            xl.agents.deterministic_ucl(credibility_power=power), xl.tasks.bandit([0.0, 1.0]), 10, epsilon=epsilon
        )
