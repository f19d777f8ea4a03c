"""`bounds`: which theorem speaks of which agent, and what is said where none does."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab import theory

TEN = xl.bandit(np.linspace(0, 1, 10))
LINE = xl.on_graph(xl.profile("B", 6.25))


@pytest.mark.parametrize(
    ("agent", "task", "algorithm"),
    [
        (xl.deterministic_ucl(), TEN, "deterministic"),
        (xl.deterministic_ucl(ties="random"), TEN, "deterministic"),
        (xl.stochastic_ucl(cooling="feedback"), TEN, "stochastic"),
        (xl.block_ucl(), TEN, "block"),
        (xl.block_ucl(), LINE, "graphical"),
    ],
)
def test_the_theorem_is_read_off_the_agents_parts(agent: xl.Agent, task: xl.Task, algorithm: str) -> None:
    table = xl.bounds(agent, task, 1000)
    assert table.attrs["algorithm"] == algorithm
    assert np.isfinite(table.published_regret[-1])


def test_the_numbers_are_those_of_the_theory() -> None:
    table = xl.bounds(xl.block_ucl(), TEN, 1000, times=[1000])
    expected = theory.published.block_visits(TEN.means, 1.0, [1000])
    np.testing.assert_array_equal(table.published_visits.values, expected)


def test_corrected_bounds_use_the_agents_power() -> None:
    table = xl.bounds(xl.deterministic_ucl(credibility_power=2), xl.bandit([0, 1]), 10_000, times=[10_000], epsilon=1)
    assert float(table.corrected_visits[0, 0]) == pytest.approx(179.41, abs=0.01)


@pytest.mark.parametrize(
    ("agent", "task", "word"),
    [
        (xl.stochastic_ucl(), TEN, "constant temperature"),
        (xl.stochastic_ucl(cooling="log"), TEN, "Only feedback cooling"),
        (xl.stochastic_ucl(cooling="feedback", commitment="frames"), TEN, "frames"),
        (xl.ucb1(), TEN, "no bound for ucb1"),
        (xl.deterministic_ucl(prior_var=10), TEN, "uninformative"),
        (xl.deterministic_ucl(prior_var=1e6, length_scale=2), xl.line([0, 1, 2]), "uncorrelated"),
        (xl.deterministic_ucl(credibility_scale=3), TEN, "K = sqrt"),
        (xl.deterministic_ucl(noise_var=4), TEN, "know the noise variance"),
        (xl.deterministic_ucl(), xl.landscape("B"), "integer-uniform"),
        (xl.deterministic_ucl(), LINE, "a graph restricts moves"),
    ],
)
def test_where_no_theorem_applies_a_sentence_says_why(agent: xl.Agent, task: xl.Task, word: str) -> None:
    table = xl.bounds(agent, task, 100)
    assert np.isnan(table.published_regret).all()
    assert word in table.published_regret.attrs["does_not_apply"]
    assert np.isfinite(table.lai_robbins_regret[-1])


def test_tied_best_arms_withhold_the_cost_bound_but_not_the_regret_bound() -> None:
    table = xl.bounds(xl.block_ucl(), xl.with_costs(xl.landscape("B", 1.0)), 1000)
    assert np.isfinite(table.published_regret[-1])
    assert "tie for the best" in table.published_cost.attrs["does_not_apply"]


def test_the_papers_own_prior_counts_as_uninformative() -> None:
    table = xl.bounds(xl.block_ucl(prior_mean=200, prior_var=1e6), xl.landscape("B", 1.0), 1023, times=[127, 1023])
    np.testing.assert_allclose(table.published_regret / [3739, 24083], [10.9, 2.2], rtol=0.03)


def test_bounds_and_runs_merge() -> None:
    agent = xl.deterministic_ucl()
    both = xr.merge([xl.simulate(agent, TEN, 2000, 20), xl.bounds(agent, TEN, 2000)], combine_attrs="drop_conflicts")
    assert (both.regret_mean <= both.published_regret).all()


def test_the_quality_of_a_prior_is_reported() -> None:
    assert xl.bounds(xl.block_ucl(prior_mean=200, prior_var=100), LINE, 10).attrs["prior_quality"] == pytest.approx(18.7)
    assert xl.bounds(xl.block_ucl(), LINE, 10).attrs["prior_quality"] == 0
    assert math.isnan(xl.bounds(xl.ucb1(), TEN, 10).attrs["prior_quality"])


def test_a_short_walk_tightens_the_corrected_graph_bound() -> None:
    means, agent = np.arange(6.0), xl.block_ucl(credibility_power=2)
    star = xl.on_graph(xl.bandit(means), [(0, i) for i in range(1, 6)])
    path = xl.on_graph(xl.bandit(means), [(i, i + 1) for i in range(5)])
    on_star, on_path = (xl.bounds(agent, task, 5000).corrected_regret[-1].item() for task in (star, path))
    assert on_star < on_path


def test_lengths_other_than_one_count_the_hops_really_walked() -> None:
    from explorelab.bounding import _longest_walk

    # The direct edge 0-3 is longer than the way round, so three hops are walked although one would do.
    detour = xl.on_graph(xl.bandit([0, 1, 2, 3.0]), [(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 3, 9)])
    assert _longest_walk(detour) == 2
