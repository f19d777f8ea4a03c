"""The live posterior: exact where it can be computed otherwise, the same by both methods, and calibrated."""

import jax
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import explorelab as xl
from explorelab.agents import AGENTS
from explorelab.companions.live import begun
from explorelab.companions.posterior import FOLLOWING, Settings
from explorelab.companions.sampling.points import log_likelihoods_at
from explorelab.companions.scene import scene_of
from explorelab.errors import InputError
from explorelab.fitting.likelihood import blocks_of
from tests.support.beliefs import learning_and_choosing, one_of_each
from tests.support.companions import SIX, at_a_point, fresh, some_choices, thought_along

pytestmark = pytest.mark.quick_programs


def log_likelihood(choices, agent, z):
    """Of all choices, trial by trial, from the likelihood that fits use."""
    scene = scene_of(choices, agent, None)
    with jax.enable_x64(True):
        return np.asarray(log_likelihoods_at(scene.model, scene.numbers, blocks_of(choices), z[None]))[0]


def known_or_refused(choices, agent):
    try:
        return scene_of(choices, agent, None), ""
    except InputError as error:
        return None, str(error)


EVERY = one_of_each(lambda agent: (*learning_and_choosing(agent), agent.rule.commitment), AGENTS)
"""Every agent of the catalogue that thinks in another way than the others."""


@pytest.mark.parametrize("agent", EVERY)
def test_where_the_group_is_a_point_the_predictions_are_the_likelihood(agent):
    choices = some_choices()
    scene, said = known_or_refused(choices, agent)
    if scene is None:
        # Whatever has no likelihood cannot be thought along with, and says so.
        assert any(why in said for why in ("lapse", "cannot be fitted", "stays with an arm"))
        return
    z = np.linspace(-0.5, 0.7, len(scene.space))
    mind = begun(at_a_point(scene, z), Settings(n_points=8), choices.n_trials)
    _, told = thought_along(mind, choices)
    np.testing.assert_allclose(told, log_likelihood(choices, agent, z)[choices.scored], atol=1e-6)


def by_integration(choices, agent, n=81):
    """Posterior means and standard deviations over a fine grid of two parameters in standard units, and the evidence."""
    line = np.linspace(-6, 6, n)
    z = np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
    scene = scene_of(choices, agent, None)
    with jax.enable_x64(True):
        each = np.asarray(log_likelihoods_at(scene.model, scene.numbers, blocks_of(choices), z)).sum((1, 2))
    log_density = each + norm.logpdf(z).sum(1)
    weight = np.exp(log_density - logsumexp(log_density))
    mean = weight @ z
    evidence = logsumexp(log_density) + 2 * np.log(line[1] - line[0])
    return mean, np.sqrt(weight @ (z - mean) ** 2), evidence


@pytest.mark.parametrize("method", ["laplace", "particles"])
def test_two_parameters_are_known_as_well_as_by_numerical_integration(method):
    agent = "win-stay-lose-shift"
    choices = some_choices(agent, horizon=40)
    mind, told = thought_along(fresh(choices, agent, 1024, method), choices)
    mean, sd, evidence = by_integration(choices, agent)
    found = mind.estimates
    error = sd / np.sqrt(found.n_effective.item())
    assert (np.abs(found.z_mean.values - mean) < 4 * error).all()
    np.testing.assert_allclose(found.z_sd.values, sd, rtol=0.12)
    # The chain rule: what was predicted one by one multiplies to the probability of everything.
    assert told.sum() == pytest.approx(evidence, abs=0.15)


def test_points_are_renewed_and_stay_many():
    choices = some_choices("situated-ucl", horizon=24)
    mind, _ = thought_along(fresh(choices, "situated-ucl", 128), choices)
    assert mind.posterior.n_renewed >= 1
    assert mind.posterior.n_effective > 12


@pytest.mark.slow
@pytest.mark.parametrize("agent", SIX)
def test_importance_and_particles_agree_with_each_other_and_with_the_fit(agent):
    choices = some_choices(agent, n_blocks=3, horizon=30)
    laplace, told = thought_along(fresh(choices, agent, 4096), choices)
    particles, told_too = thought_along(fresh(choices, agent, 4096, "particles"), choices)
    one, other = laplace.estimates, particles.estimates
    error = one.z_sd.values * np.sqrt(1 / one.n_effective.item() + 1 / 1000)
    assert (np.abs(one.z_mean.values - other.z_mean.values) < 4 * error).all()
    np.testing.assert_allclose(one.z_sd.values, other.z_sd.values, rtol=0.15)
    assert told.sum() == pytest.approx(told_too.sum(), abs=0.4)
    fit = xl.fit(choices, agent, "map")["estimates"].to_dataset().isel(participant=0)
    # A fit is at the mode: within the posterior's spread of its mean.
    inside = (fit.estimate.values >= one.low.values) & (fit.estimate.values <= one.high.values)
    assert inside.all()


def test_the_probability_of_following_is_learned():
    choices = some_choices(n_blocks=1, horizon=40)
    task = xl.tasks.grid(choices.means[0].reshape(3, 3), noise_var=4.0)
    always = never = xl.companion("stochastic-ucl", None, task, horizon=30, n_points=32)
    assert always.follow_probability == pytest.approx(0.5)
    for arm in range(20):
        always = always.observe(arm % 9, 1.0, advised=arm % 9)
        never = never.observe(arm % 9, 1.0, advised=(arm + 4) % 9)
    assert always.follow_probability > 0.85
    assert never.follow_probability < 0.15
    # Who follows says little about themselves.
    weight = always.posterior.following
    assert weight.sum() == pytest.approx(1)
    assert FOLLOWING[np.argmax(weight)] == FOLLOWING[-1]


def test_a_companion_is_never_changed():
    task = xl.tasks.bandit([1.0, 2.0, 3.0])
    mind = xl.companion("kalman-ucb", None, task, horizon=5, n_points=16)
    before = mind.next_choice.copy()
    after = mind.observe(2, 3.5)
    np.testing.assert_array_equal(mind.next_choice, before)
    assert (after.next_choice != before).any()
    assert after.past.t == 2
    assert mind.past.t == 1


def test_whom_nothing_is_to_be_learned_about():
    task = xl.tasks.bandit([1.0, 2.0, 3.0])
    mind = xl.companion("random-choice", None, task, horizon=5, n_points=8)
    for arm in (0, 2, 2):
        mind = mind.observe(arm, 1.0)
    np.testing.assert_allclose(mind.next_choice, 1 / 3)
    assert mind.estimates.sizes["parameter"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("at", [10, 30, 90])
def test_intervals_hold_the_truth_as_often_as_they_say(at):
    """500 people from the weak prior: 95 % intervals hold the truth for 93 to 97 %; see evaluations/companion.py."""
    pytest.importorskip("evaluations.companion")
    from evaluations.companion import calibration

    found = calibration(n_people=500, times=(at,))
    assert 0.93 <= found["coverage"][0] <= 0.97
