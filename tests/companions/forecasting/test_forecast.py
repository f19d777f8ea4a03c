"""Forecasts of unseen people: exact up to Monte Carlo error, and nothing of a person in what is expected of them."""

import os
from dataclasses import replace

import jax
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import explorelab as xl
from explorelab.companions.forecasting import by_points
from explorelab.companions.forecasting.by_points import foreseen_by_points
from explorelab.companions.forecasting.by_replay import foreseen_by_replay
from explorelab.companions.forecasting.folds import Request, folds_of_people, own_minima, scene_of_fold
from explorelab.companions.posterior import Settings
from explorelab.companions.sampling import once
from explorelab.companions.sampling.once import drawn_once, enough, person_of, predictions
from explorelab.companions.sampling.points import log_likelihoods_at
from explorelab.companions.scene import Group, scene_of
from explorelab.errors import InputError
from explorelab.fitting.likelihood import blocks_of
from explorelab.fitting.search.best import rows_of_each
from tests.support.companions import some_choices
from tests.support.siblings import slow_but

pytestmark = pytest.mark.quick_programs

QUICK = {"n_folds": 2, "n_points": 16, "n_starts": 1, "progress": False}
PRECISE = Settings("laplace", 1024, 0)


def first_alone(choices, n=1):
    """The same with so many free choices of the first person."""
    scored = choices.scored.copy()
    own = np.flatnonzero(choices.participant == 0)
    scored[own] &= np.cumsum(scored[own]).reshape(scored[own].shape) <= n
    return replace(choices, scored=scored)


PEOPLE = {
    "two blocks": lambda agent: some_choices(agent, n_people=2),
    "one block": lambda agent: some_choices(agent, n_people=2, n_blocks=1, horizon=20),
    "one choice": lambda agent: first_alone(some_choices(agent, n_people=2)),
}
"""Forced, missed and restricted trials, and rewards not shown, are in all of them."""


def both(choices, agent, who, settings=PRECISE):
    scene, rows = scene_of(choices, agent, None), rows_of_each(choices)
    most = max(map(len, rows))
    found = foreseen_by_points(choices, blocks_of(choices), scene, rows[who], most, settings)
    return found, foreseen_by_replay(choices, scene, rows[who], settings)


LONG = pytest.param("situated-ucl", marks=pytest.mark.slow)
"""The agent with the most parameters, in the slow run."""


@pytest.mark.parametrize("agent", [pytest.param("win-stay-lose-shift", marks=pytest.mark.slow), LONG, "kalman-ucb"])
@pytest.mark.parametrize("people", slow_but(("two blocks",), PEOPLE))
def test_points_drawn_once_say_what_a_live_companion_says(people, agent):
    found, live = both(PEOPLE[people](agent), agent, 0)
    known = np.isfinite(live.personal)
    np.testing.assert_array_equal(np.isfinite(found.personal), known)
    np.testing.assert_array_equal(np.isfinite(found.n_effective), np.isfinite(live.n_effective))
    np.testing.assert_allclose(found.group, live.group, rtol=1e-9)
    # A prediction is a mean over points: its error falls with their effective number.
    error = 1 / np.sqrt(np.minimum(found.n_effective, live.n_effective)[known].min())
    assert error < 0.15
    np.testing.assert_allclose(found.personal[known], live.personal[known], atol=4 * error)
    assert found.personal[known].sum() == pytest.approx(live.personal[known].sum(), abs=4 * error)
    assert found.counts[0].sum() == live.counts[0].sum()
    np.testing.assert_allclose(found.counts.sum(1), live.counts.sum(1), rtol=1e-6)


def test_a_sum_of_forecasts_is_the_evidence_by_integration():
    agent, line = "win-stay-lose-shift", np.linspace(-6, 6, 121)
    choices = some_choices(agent, horizon=40)
    scene = scene_of(choices, agent, None)
    group = Group(np.array([0.4, -0.3]), np.array([[0.7, 0.2], [0.2, 0.5]]))
    scene = scene._replace(numbers=scene.numbers._replace(group=group))
    z = np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
    with jax.enable_x64(True):
        each = np.asarray(log_likelihoods_at(scene.model, scene.numbers, blocks_of(choices), z))[:, choices.scored]
    prior = multivariate_normal(group.mean, group.covariance).logpdf(z)[:, None]
    sums = np.concatenate([np.zeros((len(z), 1)), np.cumsum(each, axis=1)], axis=1)
    exact = np.diff(logsumexp(prior + sums, axis=0))
    found = foreseen_by_points(choices, blocks_of(choices), scene, np.arange(2), 2, PRECISE)
    np.testing.assert_allclose(found.personal[choices.scored], exact, atol=0.005)
    assert np.nansum(found.personal) == pytest.approx(exact.sum(), abs=0.005)


@pytest.mark.parametrize("agent", ["delta-rule", LONG, "random-choice"])
def test_probabilities_of_all_arms_contain_that_of_the_choice(agent):
    choices = some_choices(agent, n_blocks=3)
    scene = scene_of(choices, agent, None)
    person = person_of(blocks_of(choices), np.arange(3), 8)
    with jax.enable_x64(True):
        drawn = drawn_once(scene, person, 32, 0)
        found = predictions(scene, person, drawn, 32)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)
    chosen = found[np.arange(len(found)), choices.arm[choices.scored]]
    np.testing.assert_allclose(np.log(chosen), np.diff(drawn.log_evidence), atol=1e-6)
    assert (found[~choices.available[choices.scored]] == 0).all()


@pytest.mark.slow
def test_where_points_are_few_more_are_drawn(monkeypatch):
    agent = "situated-ucl"
    choices = some_choices(agent, n_blocks=3, horizon=30)
    scene = scene_of(choices, agent, None)
    person = person_of(blocks_of(choices), np.arange(3), 4)
    with jax.enable_x64(True):
        monkeypatch.setattr(once, "FEWEST_CHOICES", 1000)
        monkeypatch.setattr(once, "MOST_MORE", 0)
        poor = drawn_once(scene, person, 64, 0)
        monkeypatch.setattr(once, "MOST_MORE", 8)
        better = drawn_once(scene, person, 64, 0)
    assert not enough(poor, 64)
    assert enough(better, 64)
    assert len(better.z) > len(poor.z)


@pytest.mark.slow
def test_where_no_points_are_enough_a_live_companion_answers(monkeypatch):
    monkeypatch.setattr(by_points, "enough", lambda drawn, n: False)
    found, live = both(some_choices("delta-rule"), "delta-rule", 0, Settings("laplace", 16, 0))
    for one, other in zip(found, live, strict=True):
        np.testing.assert_array_equal(one, other)


def request_of(choices, agent):
    return Request(choices, agent, None, None, None, 1, 0)


@pytest.mark.parametrize("agent", ["kalman-ucb", LONG])
def test_a_group_knows_nothing_of_the_people_left_out(agent):
    choices = some_choices(agent, n_people=4)
    others = np.array([True, True, False, True])
    changed = {name: getattr(choices, name).copy() for name in ("reward", "arm", "scored")}
    own = choices.participant == 2
    changed["reward"][own] = np.where(choices.observed[own], 1e3 - 7 * changed["reward"][own], 0.0)
    changed["arm"][own] = np.where(changed["arm"][own] >= 0, 4, -1)  # always on offer
    changed["scored"][own, ::3] = False
    first, _ = scene_of_fold(request_of(choices, agent), own_minima(request_of(choices, agent), False), others)
    other = request_of(replace(choices, **changed), agent)
    second, _ = scene_of_fold(other, own_minima(other, False), others)
    for one, two in zip(jax.tree.leaves(first.numbers), jax.tree.leaves(second.numbers), strict=True):
        np.testing.assert_array_equal(one, two)


def test_folds_are_as_large_as_each_other():
    sizes = np.bincount(folds_of_people(23, 5, 0))
    assert sizes.max() - sizes.min() == 1


def test_only_free_choices_are_predicted_and_sums_agree():
    choices = some_choices("win-stay-lose-shift", n_people=4)
    found = xl.forecast(choices, "win-stay-lose-shift", **QUICK)
    for name in ("log_prob", "log_prob_group", "log_prob_table"):
        np.testing.assert_array_equal(np.isfinite(found[name].values), choices.scored)
    assert found.attrs["nats_per_choice"] == pytest.approx(-np.nanmean(found["log_prob"].values))
    assert found.attrs["n_parameters"] == 2
    assert int(found["n_predictions"].sum()) == choices.available[choices.scored].sum()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be taken away here")
def test_the_same_seed_gives_the_same_bits_on_any_number_of_cores():
    choices = some_choices("kalman-ucb", n_people=4)
    found = xl.forecast(choices, "kalman-ucb", **QUICK)
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:1])
    try:
        assert found.identical(xl.forecast(choices, "kalman-ucb", **QUICK))
    finally:
        os.sched_setaffinity(0, every)


@pytest.mark.slow
def test_another_seed_changes_little():
    choices = some_choices("kalman-ucb", n_people=4)
    settings = QUICK | {"n_points": 256}
    # The folds are drawn too: with one person in each, they are the same.
    one, other = (xl.forecast(choices, "kalman-ucb", **settings | {"n_folds": 4, "seed": seed}) for seed in (0, 1))
    assert one.attrs["nats_per_choice"] == pytest.approx(other.attrs["nats_per_choice"], abs=0.02)
    assert one.attrs["nats_per_choice"] != other.attrs["nats_per_choice"]


def test_an_agent_without_parameters_is_the_same_for_everyone():
    choices = some_choices("random-choice", n_people=4)
    found = xl.forecast(choices, "random-choice", **QUICK)
    chance = np.log(choices.available.sum(2))[choices.scored].mean()
    for ending in ("", "_group"):
        assert found.attrs[f"nats_per_choice{ending}"] == pytest.approx(chance)


def test_choices_that_cannot_be_are_an_error_that_names_the_person():
    choices = some_choices("delta-rule", n_people=4)
    with pytest.raises(InputError, match=r"win-stay-lose-shift.* gives the choices of participant .* probability zero"):
        xl.forecast(choices, "win-stay-lose-shift", free=["win_stay"], fixed={"lose_shift": 0.0}, **QUICK)
