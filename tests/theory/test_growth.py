"""Regret stays under its published bounds and grows like the logarithm of time."""

import math
from functools import cache

import numpy as np
import pytest

import explorelab as xl
from explorelab import theory

TIMES = [10, 100, 1000, 10_000, 100_000]

FIVE = xl.tasks.bandit([0.0, 0.25, 0.5, 0.75, 1.0], 0.1)
ON_A_LINE = xl.tasks.on_graph(xl.tasks.line([0.0, 0.25, 0.5, 1.0, 0.75], 0.1))

CASES = {
    "deterministic": (xl.agents.deterministic_ucl(), FIVE),
    "stochastic": (xl.agents.stochastic_ucl(cooling="feedback"), FIVE),
    "block": (xl.agents.block_ucl(), FIVE),
    "graphical": (xl.agents.block_ucl(), ON_A_LINE),
}

algorithms = pytest.mark.parametrize("algorithm", CASES)


@cache
def played(algorithm, horizon, replicates):
    agent, task = CASES[algorithm]
    times = [t for t in TIMES if t <= horizon]
    return xl.simulate(agent, task, horizon, replicates, 2, times=times, visits="times", keep="replicates")


def bounds(algorithm, times):
    task = CASES[algorithm][1]
    return theory.all_bounds(algorithm, task.means, task.noise.var, times, graph=task.moves is not None)


# Under the bounds -----------------------------------------------------------------------------------------------------


@algorithms
def test_mean_regret_is_under_its_published_bound(algorithm):
    result = played(algorithm, 10_000, 250)
    bound = bounds(algorithm, result.time.values).published_regret.values
    assert (result.regret_mean + 3 * result.regret_se < bound).all()


@algorithms
def test_mean_visits_of_each_arm_are_under_their_published_bound(algorithm):
    result = played(algorithm, 10_000, 250)
    below_best = CASES[algorithm][1].gaps > 0
    bound = bounds(algorithm, result.time.values).published_visits.values
    most = (result.visits_mean + 3 * result.visits_se).values
    assert (most[:, below_best] < bound[:, below_best]).all()


@pytest.mark.parametrize("algorithm", ["deterministic", "stochastic"])
def test_visits_at_ten_thousand_are_a_tenth_to_a_fifth_of_the_published_bound(algorithm):
    """0.11 to 0.22, as noted; the task it was noted for is not, and this one is ours."""
    result = played(algorithm, 10_000, 250)
    below_best = FIVE.gaps > 0
    bound = bounds(algorithm, [10_000]).published_visits.values[0, below_best]
    ratio = result.visits_mean.values[-1, below_best] / bound
    error = 3 * result.visits_se.values[-1, below_best] / bound
    assert (ratio + error > 0.11).all()
    assert (ratio - error < 0.22).all()


@pytest.mark.parametrize("algorithm", ["block", "graphical"])
def test_mean_transitions_are_under_their_published_bound(algorithm):
    result = played(algorithm, 10_000, 250)
    bound = theory.published.block_transitions(CASES[algorithm][1].means, 0.1, TIMES[1:4]).sum(axis=-1)
    walk = 4 if algorithm == "graphical" else 1  # on a line of five, a change of goal is at most four moves
    assert (result.transitions_mean[1:] + 3 * result.transitions_se[1:] < walk * bound).all()


# Logarithmic growth ---------------------------------------------------------------------------------------------------


def increments(algorithm):
    """Each replicate's regret from 1e3 to 1e4 and from 1e4 to 1e5: equal in the mean if regret is linear in log T."""
    regret = played(algorithm, 100_000, 400).regret
    return [(regret.sel(time=10 * t) - regret.sel(time=t)).values for t in (1000, 10_000)]


def ratio_and_error(early, late):
    """The ratio of the means, late over early, and its standard error, by the delta method on pairs."""
    ratio = late.mean() / early.mean()
    return ratio, (late - ratio * early).std(ddof=1) / math.sqrt(len(late)) / early.mean()


slow = pytest.mark.slow


@pytest.mark.parametrize("algorithm", ["deterministic", pytest.param("stochastic", marks=slow)])
def test_a_second_decade_adds_what_the_first_did(algorithm):
    """So doubling log T doubles the increment. A power law T^b would add 10^b times as much: 1.26 times for b = 1/10."""
    ratio, error = ratio_and_error(*increments(algorithm))
    assert abs(ratio - 1) < 3 * error
    assert ratio + 3 * error < 10**0.1


@pytest.mark.parametrize("algorithm", ["block", pytest.param("graphical", marks=slow)])
def test_with_blocks_a_second_decade_adds_no_more_than_the_first_did(algorithm):
    """Whole blocks are lost at once and the first decade has the more of that: growth is logarithmic at most."""
    ratio, error = ratio_and_error(*increments(algorithm))
    assert 0.5 < ratio < 1 + 3 * error
    assert ratio + 3 * error < 10**0.1


@pytest.mark.parametrize("algorithm", ["deterministic", pytest.param("stochastic", marks=slow)])
def test_the_slope_against_log_t_is_near_the_smallest_possible(algorithm):
    """With a = 1 the limit grows as the Lai-Robbins bound does: a slope of sum 2 noise_var / gap, and lower orders."""
    early, late = increments(algorithm)
    per_replicate = (early + late) / (2 * math.log(10))
    slope, error = per_replicate.mean(), per_replicate.std(ddof=1) / math.sqrt(len(late))
    smallest = (2 * 0.1 / FIVE.gaps[FIVE.gaps > 0]).sum()
    assert smallest - 3 * error < slope < 1.25 * smallest + 3 * error


@pytest.mark.quick
def test_a_constant_temperature_has_linear_regret():
    """The growth tests can tell: here a second decade adds ten times what the first did."""
    result = xl.simulate(xl.agents.stochastic_ucl(temperature=0.5), FIVE, 10_000, 100, 2, times=[100, 1000, 10_000])
    first, second = np.diff(result.regret_mean)
    assert second / first > 8
