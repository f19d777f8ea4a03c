"""Pulls: each is what its name says, after a walk on a grid of 5 x 5 whose squares are known by their places."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.factors import Ways, prepared
from explorelab.agents.rules.pulls import PULLS
from explorelab.choices.table import Layout
from explorelab.errors import InputError
from explorelab.tasks.places import grid_places
from tests.support.beliefs import QUICKLY, moment_after

SIDE = 5
PLACES = grid_places(SIDE, SIDE)
GRID = Layout(SIDE**2, PLACES)
START, LAST = (1, 1), (2, 2)
NO_PULL = {**dict.fromkeys(PULLS, 0.0), "warming": 0.0, "inference": 0.0, "lapse": 0.0}


def arm(place):
    return int(np.flatnonzero((place == PLACES).all(1))[0])


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _begun(rule, given, ways):
    """The parameters as the parts use them, and what is believed at first."""
    params = prepared(rule, given, ways)
    return params, rule.learner.resize(params, rule.learner.init(params, 25), 24)


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _learned(rule, params, belief, arm, reward):
    return rule.learner.update(params, belief, arm, reward)


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _decided(rule, params, belief, moment, available):
    return rule.choice.log_probs(params, belief, rule.limit(params, belief, moment), moment, available)


def log_probs(way=(START, LAST), rewards=(1.0, 2.0), available=None, **pulls):
    """Log-probabilities of all arms after these rewards, for someone with no other pull."""
    with jax.enable_x64(True):
        agent = xl.agents.roving_ucl(**(NO_PULL | {"temperature": 1e15} | pulls))
        given = {"noise_var": 1.0, "horizon": 10.0, "n_arms": 25.0, **agent.params}
        ways = Ways(jnp.asarray(GRID.distances), jnp.asarray(GRID.walks))
        params, belief = _begun(agent.rule, {name: np.float64(value) for name, value in given.items()}, ways)
        history = [(arm(place), reward) for place, reward in zip(way, rewards, strict=True)]
        for each, reward in history:
            belief = _learned(agent.rule, params, belief, np.int32(each), np.float64(reward))
        return np.asarray(_decided(agent.rule, params, belief, moment_after(history), available))


def drawn(name, **settings):
    """The feature of each arm, as far as differences of log-probabilities tell it: 0 for the least."""
    result = log_probs(**{name: 1.0}, **settings)
    return result - result.min()


def arms(*places):
    return np.isin(np.arange(25), [arm(place) for place in places])


@pytest.mark.parametrize(
    ("name", "settings", "places"),
    [
        ("stickiness", {}, [LAST]),
        ("persistence", {"way": (LAST, LAST), "rewards": (1.0, 1.0)}, [LAST]),
        ("momentum", {}, [(3, 3)]),
        ("adjacency", {}, [(x, y) for x in (1, 2, 3) for y in (1, 2, 3)]),
        ("corners", {}, [(0, 0), (0, 4), (4, 0), (4, 4)]),
        ("symmetry", {"way": (START, (0, 2)), "rewards": (1.0, 1.0)}, [(4, 2), (2, 0), (2, 4)]),
    ],
)
def test_some_arms_attract(name, settings, places):
    np.testing.assert_allclose(drawn(name, **settings), arms(*places), atol=1e-12)


def test_a_new_last_arm_is_not_persisted_with():
    np.testing.assert_allclose(drawn("persistence"), 0, atol=1e-12)


def test_someone_who_has_not_moved_has_no_momentum():
    np.testing.assert_allclose(drawn("momentum", way=(LAST, LAST), rewards=(1.0, 1.0)), 0, atol=1e-12)


def test_the_best_arm_attracts_and_less_so_the_longer_ago_it_was():
    way, rewards = (START, LAST, (3, 2)), (5.0, 1.0, 1.0)
    away = -np.log1p(np.abs(PLACES - START).sum(1))
    np.testing.assert_allclose(drawn("homing", way=way, rewards=rewards), away - away.min(), atol=1e-12)
    faded = -np.log(3) * away
    np.testing.assert_allclose(drawn("giving_up", way=way, rewards=rewards), faded - faded.min(), atol=1e-12)


def test_elbow_room_is_far_from_all_that_was_sampled():
    room = np.log1p(GRID.distances[[arm(START), arm(LAST)]].min(0))
    np.testing.assert_allclose(drawn("elbow_room"), room, atol=1e-12)


def test_long_walks_make_long_walks_likely():
    far = log_probs(way=((0, 0), (4, 4)), travel_cost=2.0, restlessness=1.0)
    near = log_probs(way=((4, 3), (4, 4)), travel_cost=2.0, restlessness=1.0)
    assert far[arm((0, 0))] > near[arm((0, 0))]


def test_distance_deters_the_first_step_less():
    away = np.log1p(np.abs(PLACES - LAST).sum(1))
    np.testing.assert_allclose(drawn("first_step", way=(LAST,), rewards=(1.0,)), away, atol=1e-12)
    np.testing.assert_allclose(drawn("first_step"), 0, atol=1e-12)


def test_gaps_between_sampled_arms_attract():
    result = drawn("gap_filling")
    near = np.abs(PLACES[:, None] - PLACES).max(2) <= 1
    share = near[:, [arm(START), arm(LAST)]].sum(1) / near.sum(1)
    np.testing.assert_allclose(result, np.where(arms(START, LAST), 0, share), atol=1e-12)


def test_what_is_not_available_is_not_chosen():
    allowed = arms((0, 0), (4, 4), LAST)
    result = log_probs(available=jnp.asarray(allowed), homing=1.0, momentum=3.0)
    np.testing.assert_array_equal(np.isfinite(result), allowed)
    assert np.exp(result).sum() == pytest.approx(1)


def test_before_anything_is_seen_only_the_layout_attracts():
    result = log_probs(way=(), rewards=(), **dict.fromkeys(PULLS, 1.0))
    assert np.isfinite(result).all()
    np.testing.assert_allclose(np.ptp(result[np.asarray(arms((1, 1), (2, 2), (3, 1)))]), 0, atol=1e-12)


def test_without_pulls_it_is_the_stochastic_ucl():
    prior = {"prior_mean": 1.0, "prior_var": 4.0, "length_scale": 1.5, "temperature": 0.5}
    roving = xl.agents.roving_ucl(**NO_PULL, **prior)
    plain = xl.agents.stochastic_ucl(kernel="matern32", **prior)
    task = xl.tasks.grid(np.arange(9.0).reshape(3, 3), noise_var=1.0)
    results = [xl.simulate(agent, task, 30, 64, seed=2).regret for agent in (roving, plain)]
    np.testing.assert_allclose(*results, rtol=1e-6)


def test_arms_without_places_are_refused():
    with pytest.raises(InputError, match="places"):
        xl.simulate(xl.agents.roving_ucl(), xl.tasks.bandit([0.0, 1.0], 1.0), 5, 2)
