"""What is remembered of the way: one by one as at once, and what it says after a walk worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.factors import Told, Ways, prepared
from explorelab.agents.learners.geometry import geometry_of
from explorelab.agents.learners.remembering import FADING, USUAL_PACE
from explorelab.choices.table import Layout
from explorelab.tasks.places import grid_places

PLACES = grid_places(4, 4)
GRID = Layout(16, PLACES)
ARMS = [5, 6, 6, 15, 0, 5]
REWARDS = [1.0, 3.0, 3.0, -2.0, 4.0, 1.0]
OBSERVED = [True, True, True, False, True, True]


def ready(agent):
    """The agent's parameters on a grid of 4 x 4."""
    given = {"noise_var": 1.0, "horizon": 10.0, "n_arms": 16.0, **agent.params}
    ways = Ways(jnp.asarray(GRID.distances), jnp.asarray(GRID.walks))
    return prepared(agent.rule, {name: jnp.asarray(value, jnp.float64) for name, value in given.items()}, ways)


def after(agent, arms, rewards):
    """The belief after these rewards, one by one."""
    params, learner = ready(agent), agent.rule.learner
    belief = learner.resize(params, learner.init(params, 16), 24)
    for arm, reward in zip(arms, rewards, strict=True):
        belief = learner.update(params, belief, jnp.int32(arm), jnp.float64(reward))
    return belief


@pytest.mark.parametrize("length_scale", [0.0, 1.5])
def test_memories_at_once_are_memories_one_by_one(length_scale):
    with jax.enable_x64(True):
        agent = xl.agents.roving_ucl(length_scale=length_scale, prior_var=4.0)
        told = Told(jnp.array(ARMS), jnp.array(REWARDS), jnp.array(OBSERVED))
        at_once = agent.rule.learner.replay(ready(agent), 16, told)
        for t in range(len(ARMS)):
            seen = [s for s in range(t) if OBSERVED[s]]
            belief = after(agent, [ARMS[s] for s in seen], [REWARDS[s] for s in seen])
            for name, value in belief.memory._asdict().items():
                np.testing.assert_array_equal(getattr(at_once.memory, name)[t], value, err_msg=name)
            np.testing.assert_allclose(at_once.mean[t], belief.mean, atol=1e-12)
            np.testing.assert_array_equal(at_once.plays[t], belief.plays)


def test_what_is_remembered_after_a_walk():
    with jax.enable_x64(True):
        memory = after(xl.agents.roving_ucl(), [5, 6, 6, 0], [1.0, 3.0, 3.0, 2.0]).memory
        pace, memory = float(memory.pace), jax.tree.map(np.asarray, memory)
    assert (memory.last, memory.before, memory.best, memory.best_reward) == (0, 6, 6, 3.0)
    assert (memory.repeated, memory.fruitless) == (0, 2)
    # Walks of 1, 0 and 3 squares, the earlier ones fading.
    walks = np.log1p([1.0, 0.0, 3.0])
    weights = FADING ** np.array([2.0, 1.0, 0.0])
    assert memory.steps == pytest.approx(weights.sum())
    assert pace == pytest.approx((walks @ weights + USUAL_PACE) / (weights.sum() + 1) - USUAL_PACE)
    np.testing.assert_allclose(memory.room, np.log1p(GRID.distances[[0, 5, 6]].min(0)))
    near = np.abs(PLACES[:, None] - PLACES).max(2) <= 1
    np.testing.assert_array_equal(memory.crowd, near[[0, 5, 6]].sum(0))


def test_a_grid_has_corners_borders_and_mirror_images():
    geometry = geometry_of(jnp.asarray(GRID.distances))
    sides = ((PLACES == 0) | (PLACES == 3)).sum(1)
    np.testing.assert_array_equal(geometry.corner, sides == 2)
    np.testing.assert_array_equal(geometry.border, sides >= 1)
    assert set(np.flatnonzero(geometry.images[0])) == {3, 12, 15}
    assert set(np.flatnonzero(geometry.near[0])) == {0, 1, 4, 5}


def test_a_line_has_two_ends_and_one_mirror_image_each():
    geometry = geometry_of(jnp.abs(jnp.arange(6.0)[:, None] - jnp.arange(6.0)))
    np.testing.assert_array_equal(geometry.corner, [1, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(geometry.images, np.eye(6)[::-1])
