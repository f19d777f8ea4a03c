"""Simulations of tasks that change: paths, both kinds of regret, blocked and forced arms; the same bits however divided."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import explorelab as xl

pytestmark = pytest.mark.quick_programs

KALMAN = xl.agents.restless_kalman(prior_mean=50, prior_var=240, drift_var=8, decay=0.98, temperature=4)

TASKS = {
    "walks": xl.tasks.restless(4),
    "walks of their own kind": xl.tasks.restless(
        3, decay=[1, 0.9, 0.5], centre=[10, 20, 30], diffusion_sd=[0, 1, 2], trend=[0.1, 0, 0], points=None
    ),
    "one walk for all": xl.tasks.restless(4, seed=5),
    "levels that change places": xl.tasks.switching([70, 50, 30], 0.1),
    "jumps": xl.tasks.switching(n_arms=3, hazard=0.1),
    "jumps of each": xl.tasks.switching(n_arms=3, hazard=0.1, together=False),
    "a path": xl.tasks.moving(np.sin(np.arange(160.0).reshape(40, 4)), 0.5),
    "blocked arms": xl.tasks.with_blocked(xl.tasks.bandit([0.0, 1.0, 2.0]), [(2, 4, 20), (0, 1, 2)]),
    "forced arms": xl.tasks.with_forced(xl.tasks.bandit([0.0, 1.0, 2.0]), [0, 1, -1, 0]),
    "a horizon game": xl.tasks.horizon_game(36),
}


@pytest.mark.parametrize("precision", [pytest.param("single", marks=pytest.mark.slow), "double"])
@pytest.mark.parametrize(
    "name",
    [name if name in ("walks", "a horizon game") else pytest.param(name, marks=pytest.mark.slow) for name in TASKS],
)
def test_regret_is_what_numpy_makes_of_the_means_and_choices(name: str, precision: str) -> None:
    task = TASKS[name]
    runs = xl.simulate(KALMAN, task, 40, 70, 2, keep="trajectories", precision=precision, progress=False)
    means, arm = runs.means.values, runs.choice.values
    on = np.ones(means.shape, bool)
    if task.available is not None:
        on[:, : len(task.available)] = task.available
    best = np.where(on, means, -np.inf).max(2)
    own = np.take_along_axis(means, arm[..., None], 2)[..., 0]
    assert np.take_along_axis(on, arm[..., None], 2).all()
    np.testing.assert_allclose(runs.regret, np.cumsum(best - own, 1), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(runs.observed_regret, np.cumsum(best - runs.reward.values, 1), rtol=1e-5, atol=1e-2)
    always = np.logical_and.accumulate(on, axis=1)
    fixed = np.where(always, np.cumsum(means, 1), -np.inf).max(2)
    expected = np.where(np.isinf(fixed), np.nan, fixed - np.cumsum(own, 1))
    np.testing.assert_allclose(runs.hindsight_regret, expected, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(runs.hindsight_regret_mean, expected.mean(0), rtol=1e-9, atol=1e-8)
    np.testing.assert_array_equal(means, xl.tasks.paths(task, 40, 70, 2))


def test_a_walk_is_the_one_that_was_published() -> None:
    """mu_{t+1} = lambda mu_t + (1 - lambda) theta + N(0, sd^2), and as spread on the first trial as ever after."""
    path = xl.tasks.paths(xl.tasks.restless(4), 300, 200)
    step = path[:, 1:] - (0.9836 * path[:, :-1] + (1 - 0.9836) * 50)
    n = step.size
    assert abs(step.mean()) < 4 * 2.8 / np.sqrt(n)
    assert abs(step.std() - 2.8) < 4 * 2.8 / np.sqrt(2 * n)
    lasting = 2.8 / np.sqrt(1 - 0.9836**2)
    for t in (0, 299):
        assert abs(path[:, t].std() - lasting) < 4 * lasting / np.sqrt(2 * 800)
    correlations = np.corrcoef(step.reshape(-1, 4).T)[np.triu_indices(4, 1)]
    assert (np.abs(correlations) < 4 / np.sqrt(n / 4)).all()


def test_change_points_come_with_their_hazard_and_the_best_arm_always_changes() -> None:
    path = xl.tasks.paths(xl.tasks.switching([70, 50, 30], 0.1), 400, 50)
    best = path.argmax(2)
    changes = (np.diff(path, axis=1) != 0).any(2)
    assert abs(changes.mean() - 0.1) < 4 * np.sqrt(0.09 / changes.size)
    np.testing.assert_array_equal(changes, np.diff(best, axis=1) != 0)
    assert (np.sort(path, axis=2) == [30, 50, 70]).all()
    assert abs((best[:, 0] == 0).mean() - 1 / 3) < 0.3
    apart = xl.tasks.paths(xl.tasks.switching(n_arms=3, hazard=0.1, together=False), 400, 50)
    moved = np.diff(apart, axis=1) != 0
    assert abs(moved.mean() - 0.1) < 4 * np.sqrt(0.09 / moved.size)
    assert not (moved.all(2) == moved.any(2)).all()


def test_replicates_have_their_own_paths_or_all_the_same() -> None:
    own, shared = (xl.tasks.paths(xl.tasks.restless(4, seed=seed), 30, 3, seed=1) for seed in (None, 7))
    assert not (own[0] == own[1]).any()
    assert (shared == shared[0]).all()
    # One path for everybody does not depend on the seed of the simulation, and goes on as it began.
    np.testing.assert_array_equal(shared[0, :20], xl.tasks.paths(xl.tasks.restless(4, seed=7), 20, seed=2)[0])


@pytest.mark.parametrize(
    "name", ["walks", *(pytest.param(name, marks=pytest.mark.slow) for name in ("jumps of each", "blocked arms"))]
)
def test_the_memory_allowed_and_the_number_of_replicates_change_not_one_bit(name: str) -> None:
    ask = {"horizon": 60, "seed": 3, "progress": False}
    many = xl.simulate(KALMAN, TASKS[name], n_replicates=3000, keep="replicates", **ask)
    little = xl.simulate(KALMAN, TASKS[name], n_replicates=3000, keep="statistics", memory=2 << 20, **ask)
    xr.testing.assert_identical(many[list(little.data_vars)], little)
    few = xl.simulate(KALMAN, TASKS[name], n_replicates=200, keep="replicates", **ask)
    np.testing.assert_array_equal(few.regret, many.regret[:200])


def test_precision_does_not_change_a_path() -> None:
    single, double = (
        xl.simulate(KALMAN, TASKS["walks"], 50, 30, keep="trajectories", precision=precision, progress=False)
        for precision in ("single", "double")
    )
    np.testing.assert_array_equal(single.means, double.means)


def test_points_are_whole_and_within_bounds_whatever_the_origin() -> None:
    for prior_mean in (0.0, 50.0, 33.3):
        agent = xl.agents.kalman_value(prior_mean=prior_mean, prior_var=100, temperature=5)
        reward = xl.simulate(agent, TASKS["walks"], 50, 100, keep="trajectories", progress=False).reward.values
        np.testing.assert_allclose(reward, np.round(reward), atol=1e-4)
        assert reward.min() >= 1 - 1e-4
        assert reward.max() <= 100 + 1e-4


def test_a_tracker_loses_less_than_one_who_takes_means_for_fixed() -> None:
    fixed = xl.agents.kalman_ucb(bonus=0, prior_mean=50, prior_var=240, temperature=4)
    tracks, does_not = (xl.simulate(agent, TASKS["walks"], 200, 400, progress=False) for agent in (KALMAN, fixed))
    apart = does_not.regret_mean[-1] - tracks.regret_mean[-1]
    assert apart > 4 * np.hypot(does_not.regret_se[-1], tracks.regret_se[-1])


def test_the_table_of_bounds_says_why_there_are_none() -> None:
    for name, words in {"walks": "means that walk at random", "blocked arms": "all arms on offer"}.items():
        table = xl.regret_bounds(xl.agents.deterministic_ucl(), TASKS[name], 40)
        for bound in table.values():
            assert np.isnan(bound).all()
            assert words in bound.attrs["does_not_apply"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("task", "horizon", "words"),
    [
        ("a path", 41, "horizon must be at most 40 on moving"),
        ("a horizon game", 41, "it has 40 trials, got 41"),
    ],
)
def test_a_horizon_beyond_the_end_is_one_sentence(task: str, horizon: int, words: str) -> None:
    with pytest.raises(xl.InputError, match=words):
        xl.simulate(KALMAN, TASKS[task], horizon, 3)
