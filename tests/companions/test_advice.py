"""Advisers: what is worth suggesting, what a suggestion uses up, and when to be silent."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

import explorelab as xl
from explorelab.choices.table import Layout
from explorelab.companions.advice import MIN_RECORD, POLICIES, REASONS, adviser_for, is_worse, proved
from explorelab.companions.expert import QUANTILES, View, expert_of, prior_for, used_up, view_of, worth
from explorelab.companions.live import companion
from explorelab.companions.past import Past, Trial, arrays_of
from explorelab.errors import InputError

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.landscape("B")
LAYOUT = Layout(TASK.n_arms, TASK.places, float(TASK.noise.var))


@cache
def learned():
    """What an expert expects of both landscapes."""
    return prior_for([xl.tasks.landscape("A"), TASK])


def adviser(policy, expert=None, horizon=90):
    mind = companion(task=TASK, horizon=horizon, n_points=16) if POLICIES[policy].personal else None
    return adviser_for(policy, learned() if expert is None else expert, LAYOUT, float(TASK.noise.var), horizon, mind)


@pytest.mark.parametrize("policy", POLICIES)
def test_only_arms_on_offer_are_suggested_and_nothing_after_the_end(policy):
    mine, offered = adviser(policy, horizon=3), np.zeros(100, bool)
    offered[[4, 17, 60]] = True
    for arm in (4, 17, 60):
        said = mine.suggest(offered)
        assert said.reason in REASONS
        assert said.arm is None or offered[said.arm]
        mine = mine.observe(arm, float(TASK.means[arm]), available=offered, advised=said.arm)
    assert mine.suggest().arm is None


def test_worth_is_the_knowledge_gradient():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4))
    mean, covariance = rng.normal(size=4), root @ root.T
    view = View(mean[None], covariance[None], np.zeros(1), np.zeros((1, 4)), np.zeros(1))
    for arm, found in enumerate(worth(view, 0.5, 7.0, np.array([0.6]))):
        step = covariance[:, arm] / np.sqrt(covariance[arm, arm] + 0.5)
        best = np.mean([max(mean + step * z) for z in QUANTILES])
        assert found == pytest.approx(mean[arm] + 7 * 0.6 * (best - mean.max()))
    np.testing.assert_allclose(norm.cdf(QUANTILES).mean(), 0.5)


def test_a_landscape_that_is_smooth_along_one_axis_is_recognised():
    trials = tuple(Trial(arm, float(TASK.means[arm])) for arm in range(0, 100, 7))
    expert = expert_of(learned(), LAYOUT, 10.0, 90, stretched=True)
    past = Past((trials,))
    view = view_of(expert, arrays_of(past, expert.rule.learner, 100), 0, past.t, past.position, np.ones(100, bool))
    # Landscape B is the same along y, the second axis: the third of the priors.
    assert view.weight.argmax() == 2


def test_somebody_who_tries_every_arm_once_should_see_the_same_good_arm_again():
    agent = xl.agents.stochastic_ucl(prior_mean=30.0, prior_var=1000.0, temperature=4.0)
    mind = companion(agent=agent, task=TASK, n_points=16)
    for arm in (95, 12, 40, 33, 71, 8, 60, 27, 84, 50):
        mind = mind.observe(arm, float(TASK.means[arm]))
    seen, unseen = used_up(mind, np.array([95, 96]), TASK.means, np.ones(100, bool), 50.0)
    assert unseen < 3 * seen - 1 <= -1


@pytest.mark.parametrize("policy", ["impersonal", "personal"])
def test_an_expert_who_is_certain_and_wrong_is_noticed(policy):
    upside_down = TASK.means.max() + TASK.means.min() - TASK.means
    wrong = xl.agents.deterministic_ucl(prior_mean=upside_down, prior_var=1.0)
    mine = adviser(policy, wrong)
    for _ in range(4):
        arm = mine.suggest().arm
        if arm is None or TASK.means[arm] > 30:
            return
        mine = mine.observe(arm, float(TASK.means[arm]), advised=arm)
    raise AssertionError("the adviser went on suggesting bad arms")


@pytest.mark.parametrize(("difference", "silent"), [(-5.0, True), (5.0, False)])
def test_suggestions_that_paid_less_than_own_choices_silence_the_adviser(difference, silent):
    rng = np.random.default_rng(1)
    taken = [Trial(3, 20 + difference + rng.normal(), advised=3) for _ in range(MIN_RECORD)]
    own = [Trial(5, 20 + rng.normal(), advised=3) for _ in range(MIN_RECORD)]
    assert is_worse(Past((tuple(taken + own),))) is silent
    assert not is_worse(Past((tuple(taken + own[1:]),)))


def trial(arm, reward, advised=9):
    return Trial(arm, reward, advised=advised)


OWN = [trial(5, reward) for reward in (20.0, 24.0, 28.0)]
POOR = [trial(9, 1.0) for _ in range(MIN_RECORD)]
"""Suggestions taken that paid less than own choices."""
PROVED = [
    ([*POOR, *OWN], None),
    ([*POOR, *OWN, trial(7, 30.0)], None),  # not clearly more than own choices paid, of which it is one
    ([*POOR, *OWN, trial(7, 60.0, advised=7)], 7),
    ([*POOR, *OWN, trial(7, 60.0, advised=7), trial(7, -20.0, advised=7)], None),  # once by luck
    (POOR, None),
]


@pytest.mark.parametrize(("trials", "arm"), PROVED)
def test_an_arm_is_proved_that_paid_clearly_more_than_own_choices(trials, arm):
    assert np.flatnonzero(proved(Past((tuple(trials),)), 100)).tolist() == ([] if arm is None else [arm])
    assert not proved(Past((tuple(trials), ())), 100).any()  # of this block alone


@pytest.mark.parametrize("policy", [name for name in POLICIES if POLICIES[name].suggest is not None])
def test_an_adviser_that_was_worse_suggests_nothing_but_what_is_proved(policy):
    mine = adviser(policy, xl.agents.deterministic_ucl(prior_mean=30.0, prior_var=400.0))
    for each in [*POOR, *OWN]:
        mine = mine.observe(each.arm, each.reward, advised=each.advised)
    assert is_worse(mine.past)
    assert mine.suggest()[:2] == (None, "worse")
    mine = mine.observe(7, 60.0, forced=True)
    assert is_worse(mine.past)
    assert mine.suggest().arm in (7, None)
    assert policy != "impersonal" or mine.suggest().arm == 7
    assert mine.suggest(np.arange(100) != 7)[:2] == (None, "worse")


def test_a_companion_advises_what_its_person_should_do_next():
    task = xl.tasks.line([0.0, 1.0, 2.0, 9.0, 3.0], noise_var=0.1)
    mind = xl.companion("kalman-ucb", None, task, horizon=8, n_points=16)
    for arm in (0, 1, 3, 4, 2):
        mind = mind.observe(arm, float(task.means[arm]))
    assert mind.advice().arm == 3
    assert mind.advice("none").arm is None
    with pytest.raises(InputError, match="advice policy"):
        mind.advice("loud")
