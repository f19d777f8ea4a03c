"""A companion that was saved and restored goes on as if nothing had happened."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import explorelab as xl
from explorelab.companions.live import Companion, companion
from explorelab.companions.saving import load_companion, save_companion
from tests.support.siblings import slow_but

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.with_noise(xl.tasks.grid([[0.0, 2.0, 4.0], [1.0, 3.0, 9.0]], name="hill"), xl.tasks.integer_noise(2))
ALL_BUT_ONE = [True, True, False, True, True, True]

TRIALS: list[dict[str, Any]] = [
    {"arm": 5, "reward": 8.0},
    {"arm": 1, "reward": 0.0, "available": ALL_BUT_ONE},
    {"missed": True},
    {"arm": 1, "reward": 2.5, "missed": True},
    {"arm": 4, "reward": 3.25, "forced": True, "available": ALL_BUT_ONE},
    {"arm": 5, "reward": 9.0, "advised": 5},
    {"arm": 2, "reward": 1 / 3, "advised": 5},
    {"missed": True, "advised": 3},
    {"arm": 3, "unseen": True},
]


def played(mind: Companion, trials: list[dict[str, Any]]) -> Companion:
    for trial in trials:
        mind = mind.observe(**trial)
    return mind


def same(one: Companion, other: Companion) -> bool:
    return bool(
        one.estimates.identical(other.estimates)
        and np.array_equal(one.next_choice, other.next_choice)
        and one.follow_probability == other.follow_probability
        and one.past == other.past
    )


@pytest.mark.parametrize("method", ["laplace", "particles"])
def test_a_restored_companion_goes_on_to_the_same_bits(method: Any, tmp_path: Path) -> None:
    mind = companion("stochastic-ucl+lapse", None, TASK, horizon=12, method=method, n_points=32, seed=3)
    mind = played(played(mind, TRIALS).next_block(start=2), TRIALS[:3])
    save_companion(mind, tmp_path / "mind.nc")
    again = load_companion(tmp_path / "mind.nc")
    assert same(mind, again)
    more = [*TRIALS[3:6], {"arm": 0, "reward": -1.0}, {"arm": 3, "reward": 0.1}]
    assert same(played(mind, more), played(again, more))
    assert same(played(mind, more).next_block(), played(again, more).next_block())
    assert played(again, more).phenotype == played(mind, more).phenotype


def test_the_settings_the_task_and_the_group_come_back(tmp_path: Path) -> None:
    walk = xl.tasks.with_costs(xl.tasks.on_graph(TASK, "neighbours"), "distance")
    mind = companion("win-stay-lose-shift", None, walk, horizon=7, n_points=16, seed=5)
    save_companion(mind, tmp_path / "mind.nc")
    again = load_companion(tmp_path / "mind.nc")
    assert (again.settings, again.horizon, again.scene.names) == (mind.settings, 7, mind.scene.names)
    assert again.task is not None
    assert (again.task.noise, again.task.name, again.task.start) == (walk.noise, walk.name, walk.start)
    assert again.task.moves is not None
    assert walk.moves is not None
    np.testing.assert_array_equal(again.task.means, walk.means)
    np.testing.assert_array_equal(again.task.moves.length, walk.moves.length)
    np.testing.assert_array_equal(again.scene.numbers.group.covariance, mind.scene.numbers.group.covariance)


def test_a_companion_before_its_first_choice_can_be_saved(tmp_path: Path) -> None:
    mind = companion("stochastic-ucl", None, TASK, horizon=12, n_points=16)
    save_companion(mind, tmp_path / "mind.nc")
    assert same(mind, load_companion(tmp_path / "mind.nc"))


CHANGED = {
    "other means": replace(TASK, means=TASK.means[::-1].copy()),
    "more noise": xl.tasks.with_noise(TASK, xl.tasks.integer_noise(9)),
    "a graph of moves": xl.tasks.on_graph(TASK, start=2),
    "costs": xl.tasks.with_costs(TASK, "distance"),
    "no places": replace(TASK, places=None),
    "means unknown": replace(TASK, means=np.full(6, np.nan)),
}


def thoughts(mind: Companion) -> Any:
    """Everything that depends on the task."""
    assert mind.task is not None
    known = np.isfinite(mind.task.means).all()
    after = mind.next_block()
    return (
        mind.next_choice.tolist(), mind.past, repr(mind.task), mind.task.means.tolist(), mind.task.noise,
        mind.advice() if known else None, mind.assessment() if known else None, after.past, after.next_choice.tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("change", slow_but(("other means",), CHANGED))
def test_a_companion_whose_task_changed_comes_back_on_the_new_one(change: str, tmp_path: Path) -> None:
    mind = companion("stochastic-ucl", None, TASK, horizon=4, n_points=16, seed=3)
    mind = played(mind, TRIALS[:3]).next_block(task=CHANGED[change])
    for trial in ({"arm": 2, "reward": 1.0}, {"arm": 5, "reward": 4.0}, None):
        save_companion(mind, tmp_path / "mind.nc")
        again = load_companion(tmp_path / "mind.nc")
        np.testing.assert_equal(thoughts(again), thoughts(mind))
        if trial is not None:
            mind, again = mind.observe(**trial), again.observe(**trial)
            assert same(mind, again)
    back = again.next_block(task=TASK)
    assert same(back, mind.next_block(task=TASK))
    assert back.task is TASK


def test_a_task_that_cannot_be_saved_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    mind = companion("stochastic-ucl", None, TASK, horizon=4, n_points=16).observe(5, 8.0)
    save_companion(mind, tmp_path / "mind.nc")
    before = (tmp_path / "mind.nc").read_bytes()
    walking = mind.next_block(task=xl.tasks.restless(6))
    with pytest.raises(xl.InputError, match="saved companion"):
        save_companion(walking, tmp_path / "mind.nc")
    assert (tmp_path / "mind.nc").read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["mind.nc"]


@pytest.mark.quick
def test_a_file_that_is_no_companion_is_told_in_a_sentence(tmp_path: Path) -> None:
    text, other = tmp_path / "text.nc", tmp_path / "other.nc"
    text.write_text("no", encoding="utf-8")
    xl.simulate(xl.agents.random_choice(), TASK, 3, 2, progress=False).to_netcdf(other, engine="h5netcdf")
    for path, said in ((text, "cannot be read"), (other, "another kind of file"), (tmp_path / "none.nc", "does not exist")):
        with pytest.raises(xl.InputError, match=said) as caught:
            load_companion(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)


def test_an_agent_that_no_file_holds_must_be_passed_again(tmp_path: Path) -> None:
    mind = companion("stochastic-ucl", None, TASK, horizon=12, n_points=16)
    mind = replace(mind, scene=mind.scene._replace(agent=replace(mind.scene.agent, name="my own")))
    save_companion(mind, tmp_path / "mind.nc")
    with pytest.raises(xl.InputError, match="my own, an agent of somebody's own that is not in a file: pass the"):
        load_companion(tmp_path / "mind.nc")
    again = load_companion(tmp_path / "mind.nc", mind.scene.agent)
    np.testing.assert_array_equal(again.next_choice, mind.next_choice)
