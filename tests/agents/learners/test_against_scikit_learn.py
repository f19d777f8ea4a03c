"""Correlated deterministic UCL against a loop around scikit-learn's Gaussian process, on the paper's grid."""

from functools import cache
from statistics import NormalDist

import numpy as np
import pytest

import explorelab as xl
from tests.support import reference

pytestmark = pytest.mark.quick_programs

PRIOR_MEAN, PRIOR_VAR, NOISE_VAR = 30.0, 100.0, 10.0

SMOOTHNESS = {"exponential": 0.5, "matern32": 1.5, "matern52": 2.5}
"""The parameter nu of the Matern kernels."""


def scikit_learn_limits(name, length, places, arms, rewards):
    """The upper credible limit of every arm, by scikit-learn alone."""
    # Only here, because every process that runs tests imports every file.
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

    kernel = RBF(length) if name == "squared-exponential" else Matern(length, nu=SMOOTHNESS[name])
    process = GaussianProcessRegressor(ConstantKernel(PRIOR_VAR) * kernel, alpha=NOISE_VAR, optimizer=None)
    if arms:
        process.fit(places[arms], np.array(rewards) - PRIOR_MEAN)
    mean, sd = process.predict(places, return_std=True)
    return PRIOR_MEAN + mean + sd * -NormalDist().inv_cdf(1 / (reference.K * (len(arms) + 1)))


@cache
def choices_that_agree(name, length_scale, horizon, seed):
    """At how many steps the arms are equal, and at how many of these the mirror image of an arm was as good to 1e-9.

    The grid is symmetric, so two squares can have equal limits until rounding tells them apart. There the loop takes the
    package's choice, if it is one of those; everywhere else it takes its own, which must be the package's.
    """
    task = xl.tasks.landscape("B", NOISE_VAR)
    agent = xl.agents.deterministic_ucl(PRIOR_MEAN, PRIOR_VAR, length_scale, name)
    ours = xl.simulate(agent, task, horizon, 1, seed, precision="double", keep="trajectories").choice[0].values
    noise = reference.shared_noise(seed, 0, horizon)
    game = reference.new_game(task.means, task.noise.scale, noise, horizon)
    n_equal = n_tied = 0
    while not game.over:
        limits = scikit_learn_limits(name, length_scale, task.places, game.arms, game.rewards)
        best = np.flatnonzero(limits > limits.max() - 1e-9)
        arm = ours[game.tau - 1]
        n_equal += arm in best
        n_tied += arm in best and len(best) > 1
        game.pull(int(arm if arm in best else best[0]))
    return n_equal, n_tied


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_scikit_learn_loop_makes_the_same_90_choices(seed):
    assert choices_that_agree("exponential", 4.0, 90, seed)[0] == 90


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_few_of_these_choices_are_between_mirror_images(seed):
    assert choices_that_agree("exponential", 4.0, 90, seed)[1] <= 2  # the first of all, and one more


@pytest.mark.parametrize(
    ("name", "length_scale"),
    [
        ("squared-exponential", 2.0),
        pytest.param("matern32", 4.0, marks=pytest.mark.slow),
        pytest.param("matern52", 3.0, marks=pytest.mark.slow),
    ],
)
def test_other_kernels_too_make_the_choices_of_a_scikit_learn_loop(name, length_scale):
    assert choices_that_agree(name, length_scale, 40, 4)[0] == 40
