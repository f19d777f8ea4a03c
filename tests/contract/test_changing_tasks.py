"""Every agent plays a task that changes: it learns, is scored by what it drew from, and never takes a blocked arm."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.factors import Agent, Ways
from explorelab.agents.playing import Seen, begun, learned, log_probs, room_for, with_room
from explorelab.fitting.likelihood import blocks_of, replay
from explorelab.fitting.model import prepare
from tests.support.beliefs import EVERY_AGENT, QUICKLY, one_of_each

pytestmark = pytest.mark.quick_programs

N_ARMS, T = 5, 12
PLACES = np.arange(float(N_ARMS))[:, None]
BLOCKED = [(0, 2, 6), (3, 5, 9)]
FORCED = [1, -1, 4, 2]


def restless() -> xl.Task:
    """Arms on a line whose means walk, some of them blocked, some choices forced."""
    from dataclasses import replace

    walk = xl.tasks.restless(N_ARMS, decay=0.9, centre=1.0, diffusion_sd=1.0, noise_var=2.0, points=None)
    return replace(xl.tasks.with_forced(xl.tasks.with_blocked(walk, BLOCKED), FORCED), places=PLACES)


@pytest.mark.parametrize("name", one_of_each(lambda agent: (agent.rule.learner.name, agent.rule.commitment.name)))
def test_every_agent_plays_a_task_that_changes(name: str) -> None:
    agent = EVERY_AGENT[name]()
    task = restless()
    runs = xl.simulate(agent, task, T, 64, keep="trajectories", progress=False)
    arm = runs.choice.values
    for blocked, first, last in BLOCKED:
        assert not (arm[:, first - 1 : last] == blocked).any()
    for trial, forced in enumerate(FORCED):
        assert forced < 0 or (arm[:, trial] == forced).all()
    choices = xl.choices_from_runs(runs, task)
    assert not choices.scored[:, np.array(FORCED + [-1] * (T - len(FORCED))) >= 0].any()
    assert np.isfinite(runs.regret.values).all()
    assert (np.diff(runs.regret.values, axis=1) >= 0).all()


SCORED = {name: build for name, build in EVERY_AGENT.items() if build().rule.choice.exact}


def drawn_from(agent: Agent, choices: xl.Choices) -> np.ndarray:
    """Log-probabilities of every arm before each trial, one trial at a time, as a robot would have them."""
    fitted = prepare(choices, agent, free=())
    rule, found = agent.rule, []
    ways = fitted.data.ways
    from explorelab.agents.factors import prepared

    ready = prepared(rule, fitted.data.fixed, ways if ways is not None else Ways())
    step = jax.jit(lambda now, t, at, on, seen: learned(rule, ready, now, on, seen), compiler_options=QUICKLY)
    asked = jax.jit(lambda now, t, at, on: log_probs(rule, ready, now, t, at, on), compiler_options=QUICKLY)
    now, at = begun(rule, ready, N_ARMS), jnp.int32(-1)
    for trial in range(T):
        now = with_room(rule, ready, now, room_for(rule.learner, N_ARMS, trial + 1))
        on = jnp.asarray(choices.available[0, trial])
        arm = jnp.int32(choices.arm[0, trial])
        found.append(np.asarray(asked(now, jnp.int32(trial + 1), at, on)))
        seen = Seen(arm, arm, jnp.float64(choices.reward[0, trial]), jnp.bool_(True))
        now, at = step(now, jnp.int32(trial + 1), at, on, seen), arm
    return np.stack(found)


@pytest.mark.parametrize("name", one_of_each(lambda agent: (agent.rule.choice.name,), SCORED))
def test_what_is_simulated_on_such_a_task_is_scored_by_what_it_was_drawn_from(name: str) -> None:
    agent = SCORED[name]()
    design = xl.blank_choices(restless(), 1, 1, T, seed=3)
    choices = xl.simulate_choices(design, agent, seed=4, progress=False)
    for blocked, first, last in BLOCKED:
        assert not (choices.arm[:, first - 1 : last] == blocked).any()
    with jax.enable_x64(True):
        fitted = prepare(choices, agent, free=())
        block = jax.tree.map(lambda x: jnp.asarray(x[0]), blocks_of(choices))
        scored = jax.jit(replay, static_argnums=(0, 3), compiler_options=QUICKLY)(
            agent.rule, fitted.data.fixed, fitted.data.ways, N_ARMS, block
        )
        expected = drawn_from(agent, choices)
    given = np.take_along_axis(np.asarray(scored.log_probs), choices.arm[0][:, None], 1)[:, 0]
    wanted = np.take_along_axis(expected, choices.arm[0][:, None], 1)[:, 0]
    free = choices.scored[0]
    np.testing.assert_allclose(given[free], wanted[free], rtol=1e-9, atol=1e-9)
    assert (wanted[free] > -np.inf).all()
