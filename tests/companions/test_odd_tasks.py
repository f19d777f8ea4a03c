"""Companions on tasks that are not a plain bandit: graphs of moves, costs, one arm, extreme rewards, the end of a block."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import explorelab as xl
from explorelab.choices.table import NOWHERE
from explorelab.companions.advice import POLICIES
from explorelab.companions.live import Companion
from explorelab.errors import InputError
from explorelab.tasks import Task
from tests.support.siblings import slow_but

pytestmark = pytest.mark.quick_programs

GRID = xl.tasks.grid([[1.0, 3.0, 8.0], [2.0, 5.0, 9.0]], noise_var=4.0)
TASKS = {
    "a graph": xl.tasks.on_graph(GRID, start=2),
    "a graph of one-way moves": xl.tasks.on_graph(xl.tasks.bandit([1.0, 5.0, 2.0]), [(0, 1), (1, 2), (2, 0)], directed=True),
    "a graph with lengths": xl.tasks.on_graph(xl.tasks.bandit([1.0, 5.0, 2.0]), [(0, 1, 2.0), (1, 2, 0.5), (0, 2, 9.0)]),
    "costs": xl.tasks.with_costs(GRID),
    "a graph and costs": xl.tasks.with_costs(xl.tasks.on_graph(GRID)),
    "one arm": xl.tasks.bandit([3.0], 1.0),
    "two arms": xl.tasks.bandit([0.0, 1.0], 1.0),
    "huge rewards": xl.tasks.bandit([1e9, 2e9, 0.0], 1e16),
    "tiny rewards": xl.tasks.bandit([1e-9, 2e-9, 0.0], 1e-20),
    "equal arms": xl.tasks.bandit([1.0, 1.0, 1.0], 1.0),
}
AGENTS = (pytest.param("stochastic-ucl", marks=pytest.mark.slow), "win-stay-lose-shift")


def begun(task: Task, agent: str, **more: object) -> Companion:
    return xl.companion(agent, None, task, **{"horizon": 4, "n_points": 16, **more})


def reachable(mind: Companion) -> np.ndarray:
    task, at = mind.task, mind.past.position
    assert task is not None
    return np.ones(task.n_arms, bool) if task.moves is None or at == NOWHERE else task.moves.allowed[at]


def played(mind: Companion, n: int) -> Companion:
    """After some choices drawn from what the companion expects; whatever it says on the way makes sense."""
    rng, task = np.random.default_rng(0), mind.task
    assert task is not None
    for _ in range(n):
        probs, near = mind.next_choice, reachable(mind)
        np.testing.assert_allclose(probs.sum(), 1.0)
        assert (probs[~near] == 0).all()
        said = mind.advice().arm
        assert said is None or near[said]
        arm = int(rng.choice(task.n_arms, p=probs))
        mind = mind.observe(arm, float(task.means[arm]), advised=said)
    return mind


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "name", slow_but(("a graph of one-way moves", "costs", "one arm", "huge rewards", "equal arms"), TASKS)
)
def test_everything_works_and_stays_within_reach(name: str, agent: str, tmp_path) -> None:
    mind = played(begun(TASKS[name], agent), 3)
    for policy in POLICIES:
        said = mind.advice(policy).arm
        assert said is None or reachable(mind)[said]
    assert np.isfinite(mind.estimates["estimate"]).all()
    assert (mind.estimates["low"] <= mind.estimates["high"]).all()
    found = mind.assessment()
    assert all(np.isfinite([found.regret, found.regret_to_come, found.regret_if_advised]))
    assert min(found.regret, found.regret_to_come, found.regret_if_advised) >= 0
    np.testing.assert_allclose(sum(found.phenotype.values()), 1.0)
    assert found.phenotype == mind.phenotype
    xl.save_companion(mind, tmp_path / "mind.nc")
    again = xl.load_companion(tmp_path / "mind.nc")
    np.testing.assert_array_equal(again.next_choice, mind.next_choice)
    assert again.advice() == mind.advice()


def test_on_a_graph_every_block_begins_at_its_start_and_a_jump_is_refused() -> None:
    task = TASKS["a graph"]
    mind = begun(task, "win-stay-lose-shift")
    far = int(np.flatnonzero(~task.moves.allowed[task.start])[0])
    with pytest.raises(InputError, match=f"a chosen arm must be available, got {far}, which is not"):
        mind.observe(far, 1.0)
    assert mind.observe(far, 1.0, forced=True).past.position == far  # somebody put them there
    assert mind.observe(far, 1.0, available=np.ones(6, bool)).past.position == far  # a day without walls
    assert mind.observe(task.start, 1.0).next_block().past.position == task.start
    assert mind.next_block(0).past.position == 0


def test_advice_is_about_what_is_on_offer() -> None:
    mind = begun(GRID, "win-stay-lose-shift").observe(0, 1.0)
    for policy in ("impersonal", "personal"):
        for arm in range(6):
            assert mind.advice(policy, available=np.arange(6) == arm).arm in (arm, None)
    with pytest.raises(InputError, match="available must have a truth value"):
        mind.advice(available=[True])


@pytest.mark.parametrize("scale", [1e9, 1e-9])
def test_units_of_reward_change_nothing(scale: float) -> None:
    """The weak prior is in the units of the rewards."""
    one, other = GRID, replace(GRID, means=scale * GRID.means, noise=xl.tasks.bandit([0.0], scale**2 * GRID.noise.var).noise)
    minds = [begun(task, "stochastic-ucl") for task in (one, other)]
    for arm, reward in ((0, 2.0), (4, 5.5), (5, 8.0)):
        minds = [mind.observe(arm, factor * reward) for mind, factor in zip(minds, (1.0, scale), strict=True)]
    np.testing.assert_allclose(minds[1].next_choice, minds[0].next_choice, rtol=1e-6)
    assert minds[1].advice().arm == minds[0].advice().arm
    assert minds[1].phenotype == minds[0].phenotype
    np.testing.assert_allclose(minds[1].assessment().regret, scale * minds[0].assessment().regret)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("horizon", [1, 2])
def test_a_block_may_be_short_and_may_go_on_for_longer_than_was_said(agent: str, horizon: int) -> None:
    mind = played(begun(GRID, agent, horizon=horizon), horizon + 2)
    found = mind.assessment()
    assert (found.t, found.regret_to_come, found.regret_if_advised) == (horizon + 2, 0.0, 0.0)
    assert mind.advice() == (None, "over", 0.0)
    np.testing.assert_allclose(mind.next_choice.sum(), 1.0)
    assert played(mind.next_block(), 1).past.t == 2


@pytest.mark.slow
def test_people_on_a_graph_can_be_assessed_and_predicted() -> None:
    task = TASKS["a graph"]
    runs = xl.simulate(xl.agents.win_stay_lose_shift(), task, 8, 4, keep="trajectories", seed=1)
    choices = xl.choices_from_runs(runs, task)
    found = xl.assess(choices, "win-stay-lose-shift", n_points=16, n_futures=8, progress=False)
    assert np.isfinite(found["regret_to_come"].values[:, -1]).all()
    told = xl.forecast(choices, "win-stay-lose-shift", n_folds=2, n_points=16, n_starts=1, progress=False)
    assert np.isfinite(told["log_prob"].values[choices.scored]).all()


@pytest.mark.parametrize("name", ["a graph", "costs", "a graph and costs"])
def test_teams_say_which_tasks_they_cannot_play(name: str) -> None:
    with pytest.raises(InputError, match="without a graph of moves or costs"):
        xl.simulate_team(TASKS[name], n_people=2)


@pytest.mark.parametrize("name", ["one arm", "two arms"])
def test_teams_need_arms_with_places_or_people_of_a_fit(name: str) -> None:
    with pytest.raises(InputError, match="need arms with places"):
        xl.simulate_team(TASKS[name], n_people=2, horizon=3, progress=False)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (xl.tasks.with_points(xl.tasks.line([5, 10, 20, 40]), (1, 100)), "rewards in whole points"),
        (xl.tasks.with_blocked(xl.tasks.line([0, 1, 2, 4]), [(2, 1, 3)]), "blocked arms"),
        (xl.tasks.with_forced(xl.tasks.line([0, 1, 2, 4]), [0, 1]), "forced choices"),
    ],
    ids=["points", "blocked", "forced"],
)
def test_what_an_assessment_would_ignore_is_refused(task: xl.tasks.Task, words: str) -> None:
    with pytest.raises(xl.InputError, match=f"needs a task without {words}"):
        task.check_plain("an assessment")
