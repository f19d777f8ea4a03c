"""Continuations of a block: the agent's own probabilities, from the middle, along allowed moves."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents import Agent, playing
from explorelab.agents.factors import Ways, prepared
from explorelab.agents.playing import Seen
from explorelab.simulation import chance
from explorelab.simulation.futures import Future, futures, world_of
from explorelab.tasks import Task

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.line([0.0, 1.0, 3.0, 2.0], noise_var=1.0)
T = 12


def begun(agent: Agent, task: Task, seen: list[tuple[int, float]]) -> Any:
    ways = Ways(task.distances, task.walks)
    given = {"noise_var": 1.0, "horizon": float(T), "n_arms": 4.0, **agent.params}
    ready = prepared(agent.rule, {name: np.float64(value) for name, value in given.items()}, ways)
    now = playing.with_room(agent.rule, ready, playing.begun(agent.rule, ready, task.n_arms), T)
    for arm, reward in seen:
        told = Seen(np.int32(arm), np.int32(arm), np.float64(reward), np.bool_(True))
        now = playing.learned(agent.rule, ready, now, np.ones(task.n_arms, bool), told)
    return ready, now


def played(agent: Agent, task: Task, seen: list[tuple[int, float]], n: int, length: int = T) -> Future:
    with jax.enable_x64(True):
        ready, now = begun(agent, task, seen)
        luck = chance.keys_from(0), np.arange(n, dtype=np.uint32)
        when = np.int32(len(seen) + 1), np.int32(seen[-1][0] if seen else -1), np.int32(T)
        done = futures(agent.rule, task.noise.kind, length, True, ready, now, world_of(task), *luck, *when)
    return jax.tree.map(np.asarray, done)


AGENTS = {
    "stochastic-ucl": xl.agents.stochastic_ucl(prior_mean=2.0, prior_var=4.0, length_scale=1.0, temperature=0.7),
    "situated-ucl": xl.agents.situated_ucl(prior_mean=2.0, prior_var=4.0, temperature=0.7),
    "block-ucl": xl.agents.block_ucl(prior_mean=2.0, prior_var=4.0),
}


@pytest.mark.parametrize("name", AGENTS)
def test_the_next_choice_has_the_probabilities_that_are_told(name: str) -> None:
    agent, seen, n = AGENTS[name], [(1, 0.5), (3, 2.5), (3, 1.5)], 4000
    with jax.enable_x64(True):
        ready, now = begun(agent, TASK, seen)
        p = np.exp(playing.log_probs(agent.rule, ready, now, np.int32(4), np.int32(3), np.ones(4, bool)))
    drawn = np.bincount(played(agent, TASK, seen, n).arm[:, 3], minlength=4) / n
    np.testing.assert_allclose(drawn, p, atol=4.5 * 0.5 / np.sqrt(n))


@pytest.mark.parametrize("name", ["stochastic-ucl", "block-ucl"])
def test_a_whole_block_loses_what_a_simulation_does(name: str) -> None:
    runs = xl.simulate(AGENTS[name], TASK, T, 2000, precision="double", progress=False)
    lost = TASK.gaps[played(AGENTS[name], TASK, [], 2000).arm].sum(1)
    error = np.hypot(float(runs["regret_se"][-1]), lost.std() / np.sqrt(2000))
    assert lost.mean() == pytest.approx(float(runs["regret_mean"][-1]), abs=4 * error)


def test_what_is_past_is_not_played_again_nor_what_lies_beyond_the_end() -> None:
    found = played(AGENTS["stochastic-ucl"], TASK, [(0, 1.0)] * 5, 3, length=32)
    assert found.arm.shape == (3, 32)
    assert (found.arm[:, :5] == -1).all()
    assert (found.arm[:, 5:T] >= 0).all()
    assert (found.arm[:, T:] == -1).all()
    np.testing.assert_array_equal(found.arm[:, :T], played(AGENTS["stochastic-ucl"], TASK, [(0, 1.0)] * 5, 3).arm)


@pytest.mark.quick
def test_moves_follow_the_graph() -> None:
    walk = xl.tasks.on_graph(TASK, "neighbours")
    arm = played(xl.agents.random_choice(), walk, [(0, 1.0)], 50).arm[:, 1:]
    assert (np.abs(np.diff(arm, axis=1)) <= 1).all()
    assert set(arm[:, 0]) == {0, 1}
    assert set(arm.ravel()) == {0, 1, 2, 3}
