"""The simulator: what it promises of its random numbers and its sums, for every agent."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import explorelab as xl
from explorelab.agents.registry import parameters_of
from tests.support.beliefs import one_of_each
from tests.support.quick_programs import compiled_quickly
from tests.support.siblings import slow

CURVES = ["regret", "observed_regret", "transitions", "cost"]
FIVE = xl.tasks.bandit([0.1, 0.3, 0.5, 0.7, 0.9], 0.2)
COSTS = np.arange(25.0).reshape(5, 5) * (1 - np.eye(5))
COSTLY = xl.tasks.with_costs(FIVE, COSTS)
GRAPH = xl.tasks.on_graph(
    xl.tasks.line([1.0, 3, 2, 5], 2.0), [(0, 1, 2.0), (1, 2, 1.0), (2, 3, 0.5), (3, 0, 4.0)], directed=True
)


@pytest.fixture(scope="module", autouse=True)
def _compiled_quickly():
    with compiled_quickly():
        yield


@pytest.fixture(scope="module")
def played():
    """One simulation with everything kept, for the tests that only look at what came back."""
    return xl.simulate(
        xl.agents.stochastic_ucl(), COSTLY, 60, 300, 5, keep="trajectories", visits="times", precision="double"
    )


@pytest.mark.quick
def test_the_same_seed_gives_the_same_result(played):
    again = xl.simulate(
        xl.agents.stochastic_ucl(), COSTLY, 60, 300, 5, keep="trajectories", visits="times", precision="double"
    )
    xr.testing.assert_identical(played, again)


def test_another_seed_gives_another_result(played):
    other = xl.simulate(
        xl.agents.stochastic_ucl(), COSTLY, 60, 300, 6, keep="trajectories", visits="times", precision="double"
    )
    assert np.isin(played.reward, other.reward).mean() < 1e-3  # chance makes a few of 2^32 values meet


@pytest.mark.quick
def test_no_two_steps_share_their_noise(played):
    assert len(np.unique(played.reward - FIVE.means[played.choice.values])) == 60 * 300


# Sweeps ---------------------------------------------------------------------------------------------------------------


def test_a_sweep_is_separate_runs_of_every_combination():
    sweep = {"temperature": [0.1, 1.0], "prior_mean": [0.0, 1.0, 2.0]}
    swept = xl.simulate(xl.agents.stochastic_ucl(prior_var=4.0), FIVE, 20, 300, 1, sweep=sweep)
    assert swept.regret_mean.dims == ("temperature", "prior_mean", "time")
    for values in itertools.product(*sweep.values()):
        setting = dict(zip(sweep, values, strict=True))
        alone = xl.simulate(xl.agents.stochastic_ucl(prior_var=4.0, **setting), FIVE, 20, 300, 1)
        for name in alone.data_vars:
            np.testing.assert_allclose(swept[name].sel(setting), alone[name], rtol=1e-12)


def test_a_sweep_over_length_scales_may_include_zero():
    """Zero is the independent learner, the others are the correlated one: two compiled calls, one result."""
    task, prior = xl.tasks.profile("B", 9.0), {"prior_mean": 30.0, "prior_var": 100.0}
    swept = xl.simulate(xl.agents.deterministic_ucl(**prior), task, 15, 300, 1, sweep={"length_scale": [2.0, 0.0]})
    for length_scale in (2.0, 0.0):
        alone = xl.simulate(xl.agents.deterministic_ucl(**prior, length_scale=length_scale), task, 15, 300, 1)
        np.testing.assert_allclose(swept.regret_mean.sel(length_scale=length_scale), alone.regret_mean, rtol=1e-12)


def test_a_sweep_remembers_what_the_agent_was_given_by_position():
    sweep = {"temperature": [0.5, 1.0, 2.0, 3.0, 4.0, 5.0]}  # as many as above, which need no new program
    swept = xl.simulate(xl.agents.stochastic_ucl(5.0, 0.1), FIVE, 20, 300, 1, sweep=sweep)
    alone = xl.simulate(xl.agents.stochastic_ucl(prior_mean=5.0, prior_var=0.1, temperature=0.5), FIVE, 20, 300, 1)
    np.testing.assert_array_equal(swept.regret_mean.sel(temperature=0.5), alone.regret_mean)


def test_what_is_kept_by_itself_is_the_same_for_all_parts_of_a_sweep():
    """One setting alone would fit the memory and three would not: the sweep as a whole decides."""
    task = xl.tasks.line([0.0, 1.0, 2.0])
    sweep = {"length_scale": [0.0, 1.0, 2.0, 3.0]}
    result = xl.simulate(xl.agents.deterministic_ucl(prior_var=1.0), task, 15, 2000, sweep=sweep, memory=6 << 20)
    assert result.regret_mean.sizes["length_scale"] == 4


def test_a_sweep_with_a_value_for_each_arm_is_numbered():
    swept = xl.simulate(xl.agents.mean_greedy(), FIVE, 10, 20, sweep={"prior_mean": [np.zeros(5), np.ones(5)]})
    assert swept.prior_mean.values.tolist() == ["0", "1"]


# What comes back ------------------------------------------------------------------------------------------------------


ALWAYS = {f"{name}_{statistic}" for name in (*CURVES, "visits") for statistic in ("mean", "se")}


@pytest.mark.parametrize(("keep", "extra"), [("statistics", set()), ("replicates", set(CURVES))])
def test_what_is_kept_is_what_was_asked_for(keep, extra):
    assert set(xl.simulate(xl.agents.ucb1(), FIVE, 15, 30, keep=keep).data_vars) == ALWAYS | extra


def test_trajectories_are_kept_where_they_were_asked_for(played):
    assert set(played.data_vars) == {*ALWAYS, *CURVES, "choice", "reward", "chosen"}


def test_replicates_are_kept_by_themselves_where_they_fit():
    assert "regret" in xl.simulate(xl.agents.ucb1(), FIVE, 15, 30)
    assert "regret" not in xl.simulate(xl.agents.ucb1(), FIVE, 15, 30_000, memory=1 << 20)


@pytest.mark.quick
@pytest.mark.parametrize("name", CURVES)
def test_means_and_standard_errors_are_those_of_the_replicates(name, played):
    np.testing.assert_allclose(played[f"{name}_mean"], played[name].mean("replicate"), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(played[f"{name}_se"], stats.sem(played[name], axis=0), rtol=1e-7, atol=1e-9)


@pytest.mark.quick
def test_visits_are_those_of_the_trajectories(played):
    seen = np.cumsum(played.choice.values[:, :, None] == np.arange(5), axis=1)
    np.testing.assert_allclose(played.visits_mean, seen.mean(0), rtol=1e-12)
    np.testing.assert_allclose(played.visits_se, stats.sem(seen, axis=0), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("prior_var", [0.0, 1.0, *slow(1e-8, 1e-3, math.inf)])
def test_visits_sum_to_the_time(prior_var):
    """Whatever a belief counts its prior as: a tight one is worth more rewards than float32 can count singly."""
    agent = xl.agents.stochastic_ucl(prior_var=prior_var)
    result = xl.simulate(agent, FIVE, 40, 20, times=[1, 7, 40], visits="times")
    np.testing.assert_allclose(result.visits_mean.sum("arm"), [1, 7, 40], rtol=1e-12)


def test_visits_sum_to_the_time_for_a_correlated_belief():
    agent = xl.agents.stochastic_ucl(prior_var=1.0, length_scale=1.0)
    result = xl.simulate(agent, xl.tasks.line(FIVE.means, 1.0), 40, 20, times=[1, 7, 40], visits="times")
    np.testing.assert_allclose(result.visits_mean.sum("arm"), [1, 7, 40], rtol=1e-12)


def test_the_times_asked_for_are_those_recorded():
    every, some = (xl.simulate(xl.agents.ucb1(), FIVE, 15, 30, times=t, keep="replicates") for t in (None, [14, 3, 7]))
    assert some.time.values.tolist() == [3, 7, 14]
    np.testing.assert_allclose(some.regret, every.regret.sel(time=[3, 7, 14]), rtol=1e-6)


def long_run(task, times):
    return xl.simulate(xl.agents.epsilon_greedy(epsilon=0.3), task, 200_000, 4, 1, times=times)


@pytest.fixture(scope="module")
def long_run_at_default_times():
    return long_run(FIVE, None)


def test_a_long_horizon_is_thinned_to_a_few_hundred_times_with_both_ends(long_run_at_default_times):
    times = long_run_at_default_times.time.values
    assert (times[0], times[-1]) == (1, 200_000)
    assert 100 < len(times) < 300


def test_observed_regret_is_the_best_mean_less_the_rewards(played):
    expected = 0.9 * played.time.values - played.reward.values.cumsum(1)
    np.testing.assert_allclose(played.observed_regret, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.quick
def test_regret_is_the_gaps_of_the_arms_chosen(played):
    np.testing.assert_allclose(played.regret, FIVE.gaps[played.choice.values].cumsum(1), rtol=1e-12, atol=1e-12)


@pytest.mark.quick
def test_observed_regret_is_regret_on_average(played):
    apart = played.observed_regret - played.regret
    z = apart.mean("replicate") / (apart.std("replicate") / math.sqrt(300))
    assert np.abs(z[[4, 29, 59]]).max() < 3.5


def test_one_replicate_has_a_mean_but_no_standard_error():
    result = xl.simulate(xl.agents.ucb1(), FIVE, 20, 1)
    assert np.isfinite(result.regret_mean).all()
    assert np.isnan(result.regret_se).all()


def test_single_and_double_precision_have_the_same_regret():
    single, double = (xl.simulate(xl.agents.stochastic_ucl(), FIVE, 100, 4000, 9, precision=p) for p in ("single", "double"))
    assert abs(single.regret_mean[-1] - double.regret_mean[-1]) < 3 * double.regret_se[-1]


def test_sums_do_not_stall_in_single_precision(long_run_at_default_times):
    """Over a long horizon, regret must still be the gaps times the visits, which are counted exactly."""
    for result in (long_run(FIVE, [200_000]), long_run_at_default_times):
        assert result.regret_mean[-1] == pytest.approx(float(FIVE.gaps @ result.visits_mean.values), rel=1e-9)


def test_rewards_do_not_stall_in_single_precision():
    """A large mean and little noise: the sum of rewards is known to within a few of its standard deviations."""
    result = long_run(xl.tasks.bandit([1000.0] * 5, 1.0), [200_000])
    assert abs(result.observed_regret_mean[-1]) < 5 * math.sqrt(200_000 / 4)


# Chance ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["single", "double"])
def gaussian(request):
    """Standard normal reward noise, as it comes out of a simulation."""
    return xl.simulate(
        xl.agents.deterministic_ucl(),
        xl.tasks.bandit([0.0], 1.0),
        100,
        2000,
        11,
        keep="trajectories",
        precision=request.param,
    ).reward.values


def test_gaussian_noise_has_mean_zero_and_variance_one(gaussian):
    n = gaussian.size
    assert abs(gaussian.mean()) < 4 / math.sqrt(n)
    assert abs(gaussian.var() - 1) < 4 * math.sqrt(2 / n)


def test_gaussian_noise_is_gaussian(gaussian):
    assert stats.kstest(gaussian.ravel().astype(float), "norm").pvalue > 1e-3


def test_gaussian_noise_has_gaussian_tails(gaussian):
    expected = gaussian.size * 2 * stats.norm.sf(3.5)
    assert abs((np.abs(gaussian) > 3.5).sum() - expected) < 4 * math.sqrt(expected)


def test_noise_is_uncorrelated_over_time_and_replicates(gaussian):
    n = gaussian.size
    assert abs((gaussian[:, 1:] * gaussian[:, :-1]).mean()) < 4 / math.sqrt(n)
    assert abs((gaussian[1:] * gaussian[:-1]).mean()) < 4 / math.sqrt(n)


@pytest.fixture(scope="module", params=["single", "double"])
def integers(request):
    """The paper's reward noise, -5 .. 5."""
    task = xl.tasks.with_noise(xl.tasks.bandit([0.0]), xl.tasks.integer_noise(5))
    return xl.simulate(
        xl.agents.deterministic_ucl(), task, 100, 500, 12, keep="trajectories", precision=request.param
    ).reward.values.ravel()


def test_integer_noise_is_uniform_on_its_eleven_values(integers):
    values, counts = np.unique(integers, return_counts=True)
    assert values.tolist() == list(range(-5, 6))
    assert stats.chisquare(counts).pvalue > 1e-3


def test_integer_noise_has_variance_ten(integers):
    """The fourth moment of a uniform integer on -5 .. 5 is 178, so the variance of its square is 78."""
    assert abs((integers**2).mean() - 10) < 4 * math.sqrt(78 / integers.size)
    assert xl.tasks.integer_noise(5).var == 10


def test_noise_does_not_depend_on_the_choice():
    """Reward noise and decision come from one call of the generator: they must have nothing to do with each other."""
    result = xl.simulate(
        xl.agents.epsilon_greedy(epsilon=1.0), xl.tasks.bandit(np.zeros(4), 1.0), 50, 2000, 13, keep="trajectories"
    )
    groups = [result.reward.values[result.choice.values == arm] for arm in range(4)]
    assert stats.f_oneway(*groups).pvalue > 1e-3


@pytest.fixture(scope="module", params=[("exponential", 1.0), ("uniform", 1 / math.sqrt(3))], ids=lambda each: each[0])
def random_costs(request):
    """Moves at random that cost 3 each on average, and a cost's standard deviation over its mean."""
    kind, ratio = request.param
    task = xl.tasks.with_costs(FIVE, 3.0, kind=kind)
    return xl.simulate(xl.agents.epsilon_greedy(epsilon=1.0), task, 50, 1000, 14, keep="replicates"), ratio


def test_random_costs_have_the_mean_and_spread_they_should(random_costs):
    """All moves alike: the cost of n moves has mean 3 n, and a standard deviation of 3 ratio sqrt(n)."""
    result, ratio = random_costs
    moves, cost = result.transitions.values[:, -1], result.cost.values[:, -1]
    z = (cost - 3 * moves) / (3 * ratio * np.sqrt(moves))
    assert abs(z.mean()) < 4 / math.sqrt(1000)
    assert abs(z.var() - 1) < 5 * math.sqrt(2 / 1000) + 0.1


def test_random_costs_are_drawn_anew_for_every_move(random_costs):
    paid = np.diff(random_costs[0].cost.values[:100], axis=1)
    assert len(np.unique(paid[paid > 0])) > 0.99 * (paid > 0).sum()


@pytest.mark.quick
def test_fixed_costs_are_paid_from_where_one_was_to_where_one_goes(played):
    arms = played.choice.values
    np.testing.assert_allclose(np.diff(played.cost), COSTS[arms[:, :-1], arms[:, 1:]], rtol=1e-9, atol=1e-9)


@pytest.mark.quick
def test_transitions_are_changes_of_arm(played):
    np.testing.assert_array_equal(np.diff(played.transitions), np.diff(played.choice) != 0)


def test_the_first_choice_is_no_transition_where_there_is_no_start(played):
    assert (played.choice[:, 0] != 0).any()
    assert played.transitions_mean[0] == played.cost_mean[0] == 0


# Every agent on every kind of task ------------------------------------------------------------------------------------

WEIGHTED = nx.DiGraph()
WEIGHTED.add_weighted_edges_from([(0, 1, 2.0), (1, 2, 1.0), (2, 3, 0.5), (3, 0, 4.0), (1, 3, 3.0)])

# Every agent on a plain bandit: test_rivals.
TASKS = {
    "grid with distance costs": xl.tasks.with_costs(xl.tasks.grid([[1.0, 3.0], [2.0, 5.0]], 2.0)),
    "weighted directed graph with random costs": xl.tasks.with_costs(
        xl.tasks.on_graph(xl.tasks.bandit([1.0, 3.0, 2.0, 5.0], 2.0), WEIGHTED), "edges", kind="exponential"
    ),
}


# On a line, contract/test_precision.py has every way to choose play.
@pytest.mark.parametrize(
    "name", one_of_each(lambda agent: (agent.rule.commitment.name, agent.rule.choice.walks), xl.agents.AGENTS)
)
def test_every_agent_plays_on_a_grid(name):
    check_that_it_plays(name, "grid with distance costs")


@pytest.mark.parametrize("name", one_of_each(lambda agent: (agent.rule.commitment.name,), xl.agents.AGENTS))
def test_every_agent_plays_on_a_graph_along_its_edges(name):
    arms = check_that_it_plays(name, "weighted directed graph with random costs").choice.values
    before = np.concatenate([np.zeros((8, 1), int), arms[:, :-1]], axis=1)
    lengths = TASKS["weighted directed graph with random costs"].moves.length
    assert np.isfinite(lengths[before, arms]).all()  # or 0, where it stays


def check_that_it_plays(name, task):
    placeless = TASKS[task].places is None
    needed = {"length_scale": 0.0} if placeless and parameters_of(name).get("length_scale") else {}
    agent = xl.agents.AGENTS[name](**needed)
    if placeless and agent.rule.choice.walks:
        pytest.skip("somebody who walks needs places")
    result = xl.simulate(agent, TASKS[task], 12, 8, keep="trajectories")
    assert all(np.isfinite(result[f"{curve}_mean"]).all() for curve in CURVES)
    assert result.choice.min() >= 0
    assert result.choice.max() <= 3
    assert (result.regret_mean[-1] > 0).all()
    return result


def test_correlated_block_ucl_on_a_weighted_graph_finds_the_best_arm():
    agent = xl.agents.block_ucl(prior_mean=3.0, prior_var=9.0, length_scale=2.0)
    result = xl.simulate(agent, xl.tasks.with_costs(GRAPH, "edges"), 400, 50, times=[400])
    assert result.visits_mean[3] > 250
