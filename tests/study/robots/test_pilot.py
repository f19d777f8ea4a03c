"""Robots are agents of the library: live they choose with the probabilities of the fit, over HTTP they play to the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sqlalchemy import Engine, select

import explorelab as xl
from explorelab.agents.factors import Params, Rule, Ways
from explorelab.errors import InputError
from explorelab.fitting.likelihood import Block, replay
from explorelab.study.config.blocks.scenes import reward
from explorelab.study.config.design import Study
from explorelab.study.config.study_folder import load_study
from explorelab.study.database import tables
from explorelab.study.database.store import engine_for, remembered
from explorelab.study.robots.minds import Mind
from explorelab.study.robots.participant import RefusedError, hand
from explorelab.study.robots.pilot import Robot, cast, described, run_pilot
from explorelab.study.server.serve import serving
from tests.support.beliefs import EVERY_AGENT, QUICKLY, choosing_and_committing, one_of_each
from tests.support.study.server import write_study
from tests.support.study.small_study import small_study

pytestmark = pytest.mark.quick_programs

STUDY = small_study(n_trials=30)
AGENTS = {
    "independent": xl.agents.stochastic_ucl(prior_mean=30, prior_var=1000, temperature=4),
    "situated": xl.agents.situated_ucl(prior_mean=40, prior_var=400, length_scale=3, temperature=4),
    "random": xl.agents.random_choice(),
}


class Played(NamedTuple):
    """A block that a mind has played: what happened on each trial."""

    arm: list[int]
    reward: list[float]
    position: list[int]
    available: list[np.ndarray]
    live: list[np.ndarray]
    """How likely each square was to be chosen."""


def play(agent: xl.Agent, study: Study, n: int, near: Collection[int] = (), missed: Collection[int] = ()) -> Played:
    """So many choices of a mind: on `near` ones among neighbours, on `missed` ones the square of before is sampled again."""
    mind, rng, played = Mind(agent, study), np.random.default_rng(1), Played([], [], [], [], [])
    mind.begin(n)
    position = study.n_arms // 2
    for trial in range(n):
        allowed = np.ones(study.n_arms, bool)
        if trial in near:
            allowed[:] = False
            allowed[list(study.board.next_to(position))] = True
        chances = mind.probabilities(trial, position, allowed)
        drawn = int(rng.choice(study.n_arms, p=chances / chances.sum()))
        arm = position if trial in missed else drawn
        got = reward(study.landscapes["B"], arm, 3, trial)
        mind.learn(arm, got)
        for kept, value in zip(played, (arm, got, position, allowed, chances), strict=True):
            kept.append(value)
        position = arm
    return played


def of_the_fit(agent: xl.Agent, study: Study, played: Played) -> np.ndarray:
    """How likely each square was to be chosen on each trial, by the likelihood."""
    n, task = len(played.arm), study.landscapes["B"]
    noise = float(np.mean([task.noise.var for task in study.landscapes.values()]))
    given = {"noise_var": noise, "horizon": n, "n_arms": study.n_arms, **agent.params}
    with jax.enable_x64(True):
        seen = jnp.ones(n, bool)
        arm, position = jnp.array(played.arm, jnp.int32), jnp.array(played.position, jnp.int32)
        block = Block(arm, jnp.array(played.reward), seen, seen, position, jnp.array(played.available))
        params = {key: jnp.asarray(value, jnp.float64) for key, value in given.items()}
        ways = Ways(jnp.asarray(task.distances), jnp.asarray(task.walks))
        return np.exp(_replayed(agent.rule, params, ways, study.n_arms, block))


@partial(jax.jit, static_argnums=(0, 3), compiler_options=QUICKLY)
def _replayed(rule: Rule, params: Params, ways: Ways, n_arms: int, block: Block) -> jax.Array:
    return replay(rule, params, ways, n_arms, block).log_probs


@pytest.mark.parametrize("neighbours", [False, True])
def test_live_probabilities_are_those_of_the_fit_on_a_large_grid(neighbours: bool) -> None:
    agent = AGENTS["situated"]
    played = play(agent, STUDY, 30, near=range(30) if neighbours else ())
    np.testing.assert_allclose(played.live, of_the_fit(agent, STUDY, played), atol=1e-9)
    assert not neighbours or np.all(np.array(played.live)[~np.array(played.available)] == 0)


NINE = small_study(width=3, height=3, landscapes={"B": xl.tasks.grid(np.arange(9.0).reshape(3, 3) % 4, 2.0)})


@pytest.mark.parametrize("name", one_of_each(choosing_and_committing))
def test_every_agent_can_be_a_robot_with_the_probabilities_of_the_fit(name: str) -> None:
    """Those that commit themselves too: to goals that go out of reach, and through choices that were missed."""
    agent = EVERY_AGENT[name]()
    played = play(agent, NINE, 24, near=(6, 7, *range(14, 20)), missed=(5, 11, 12))
    np.testing.assert_allclose(played.live, of_the_fit(agent, NINE, played), rtol=1e-7, atol=1e-9)


def test_same_seed_same_choices_and_another_seed_others() -> None:
    def course(seed: int) -> list[object]:
        robot, position, made = Robot(AGENTS["situated"], STUDY, (seed, 3)), 12, []
        block = {"width": 10, "height": 10, "number": 3, "dynamic": "standard", "deadline_ms": 1500, "n_trials": 30}
        robot.begin(block)
        for trial in range(30):
            decision = robot.decide(block, trial, position, position)
            made.append(decision)
            position = position if decision.goal is None else decision.goal
            robot.learn(position, reward(STUDY.landscapes["A"], position, 1, trial))
        return made

    assert course(5) == course(5)
    assert course(5) != course(6)


def test_a_traveller_keeps_to_the_goal_until_there() -> None:
    robot = Robot(AGENTS["independent"], STUDY, (0, 0))
    block = {"width": 10, "height": 10, "number": 1, "dynamic": "travel", "deadline_ms": 1500, "n_trials": 30}
    robot.begin(block)
    goals = [robot.decide(block, trial, 50, 77).goal for trial in range(30)]
    assert set(goals) <= {77, None}
    assert len({robot.decide(block, trial, 50, 50).goal for trial in range(30)}) > 5


def test_a_traveller_bound_to_a_goal_selects_it_a_block_long_once_it_is_there() -> None:
    """Squares on the way are not selections; frame k has 2^(k - 1) of them in blocks of k at most."""
    robot = Robot(xl.agents.with_habits(xl.agents.block_ucl(prior_mean=30, prior_var=1000), lapse=1.0), STUDY, (0, 0))
    block = {"width": 10, "height": 10, "number": 1, "dynamic": "travel", "deadline_ms": 1500, "n_trials": 300}
    robot.begin(block)
    position = goal = 44
    selected = []
    for trial in range(300):
        decision = robot.decide(block, trial, position, goal)
        goal = goal if decision.goal is None else decision.goal
        position = STUDY.board.sampled("travel", position, goal)
        robot.learn(position, reward(STUDY.landscapes["B"], position, 3, trial))
        if position == goal:
            selected.append(goal)
    # The goal changes where a block ends, and nowhere else (it may be chosen twice by chance).
    ends = {1, 3, 6, 7, 11, 15, 20, 25, 30, 31, *range(37, 62, 6), 63}
    changes = np.flatnonzero(np.diff(selected[:64])) + 1
    assert len(changes) > 8
    assert set(changes.tolist()) <= ends


def test_hands_click_in_time_change_their_mind_and_miss() -> None:
    rng, allowed = np.random.default_rng(0), np.zeros(100, bool)
    allowed[[5, 6, 15]] = True
    made = [hand(5, allowed, 1500.0, rng) for _ in range(4000)]
    missed = [one for one in made if one.goal is None]
    assert all(not one.clicks for one in missed)
    assert 0.02 < len(missed) / 4000 < 0.04
    clicked = [one for one in made if one.goal is not None]
    assert 0.08 < np.mean([len(one.clicks) == 2 for one in clicked]) < 0.12
    for one in clicked:
        times = [ms for _, ms in one.clicks]
        assert one.clicks[-1][0] == one.goal == 5
        assert times == sorted(times)
        assert times[0] >= 0
        assert times[-1] <= 1500
        assert all(allowed[square] for square, _ in one.clicks)


def test_agents_by_name_or_built_and_a_mixture_by_default() -> None:
    mixed = cast(STUDY, 6, seed=1)
    assert [agent.name for agent in mixed] == ["stochastic-ucl", "situated-ucl"] * 3
    assert len({described(agent) for agent in mixed}) == 6
    assert [described(agent) for agent in cast(STUDY, 6, seed=1)] == [described(agent) for agent in mixed]
    named = cast(STUDY, 3, 0, ["kalman-ucb", AGENTS["random"]])
    assert [agent.name for agent in named] == ["kalman-ucb", "random-choice", "kalman-ucb"]
    assert 20 < named[0].params["prior_mean"] < 40
    with pytest.raises(InputError, match="agents must name at least one"):
        cast(STUDY, 3, 0, [])
    with pytest.raises(InputError, match="unknown agent 'stochastic-ucll': did you mean 'stochastic-ucl'"):
        cast(STUDY, 3, 0, ["stochastic-ucll"])
    with pytest.raises(InputError, match="bayes-ucb needs blocks of at least 3 choices, got 2"):
        Mind(xl.agents.bayes_ucb(), STUDY).begin(2)


# Over the real interface ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("pilot") / "study"
    write_study(folder, "sqlite:///study.db", fast_ms=60, slow_ms=120, n_trials=12)
    with serving(folder) as address:
        yield address, folder


def engine_of(folder: Path) -> Engine:
    return engine_for("sqlite:///study.db", folder)


def key_of(folder: Path) -> str:
    engine = engine_of(folder)
    with engine.begin() as connection:
        key = remembered(connection, "pilot_key")
    engine.dispose()
    return key


def test_robots_take_part_to_the_end_and_are_marked(served: tuple[str, Path]) -> None:
    address, folder = served
    study = load_study(folder)
    told = run_pilot(address, study, people=6, seed=2, pilot_key=key_of(folder), progress=False)
    assert told.failures == ()
    assert (told.people, told.finished, told.choices) == (6, 6, 6 * 27)
    engine = engine_of(folder)
    with engine.connect() as connection:
        people = connection.execute(select(tables.people)).all()
        choices = connection.execute(select(tables.choices)).all()
    engine.dispose()
    assert {(one.stage, one.source, one.pilot) for one in people} == {("finished", "pilot", True)}
    assert sorted(one.agent for one in people) == sorted(told.agents)
    assert len(choices) == told.choices
    assert sum(one.missed for one in choices) == told.missed
    # Their clock is honest: the server saw every deadline pass.
    assert not [one for one in choices if "early" in one.flags]
    assert all(one.elapsed_ms >= 60 for one in choices)


def test_a_faster_clock_is_noticed(tmp_path: Path) -> None:
    # Ten times as fast leaves a third of a second, in which even a robot on busy cores is early.
    folder = tmp_path / "study"
    write_study(folder, "sqlite:///study.db", fast_ms=400, slow_ms=800, n_trials=12)
    with serving(folder) as address:
        told = run_pilot(
            address,
            load_study(folder),
            people=1,
            seed=9,
            pilot_key=key_of(folder),
            speed=10,
            agents=["random-choice"],
            progress=False,
        )
    assert told.finished == 1
    engine = engine_of(folder)
    with engine.connect() as connection:
        flags = connection.execute(select(tables.choices.c.flags)).scalars()
        assert sum("early" in each for each in flags) > 20
    engine.dispose()


def test_a_wrong_key_and_no_server_are_said(served: tuple[str, Path]) -> None:
    address, folder = served
    study = load_study(folder)
    told = run_pilot(address, study, people=2, pilot_key="0" * 64, progress=False)
    assert told.finished == 0
    assert len(told.failures) == 2
    assert "401" in told.failures[0]
    with pytest.raises(InputError, match=r"no study answers at http://127\.0\.0\.1:9"):
        run_pilot("http://127.0.0.1:9", study, people=1, pilot_key="0" * 64, progress=False)
    with pytest.raises(InputError, match="people must be at least 1"):
        run_pilot(address, study, people=0, pilot_key="0" * 64)


def test_another_study_at_the_address_is_said(served: tuple[str, Path]) -> None:
    address, folder = served
    told = run_pilot(address, small_study(width=5, height=20), people=1, pilot_key=key_of(folder), progress=False)
    assert "its grid is 10 x 10, expected 5 x 20" in told.failures[0]


def test_refusals_are_told_apart() -> None:
    refused = RefusedError(409, "taken-over", "Another page is in charge.")
    assert str(refused) == "Another page is in charge. (409 taken-over)"
