"""Companions are led through stored choices, task blocks one after another, and say how each person is doing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import explorelab as xl
from explorelab.companions.assessment.weaknesses import SHOWN, Weakness
from explorelab.study.assessment.asked import Asked, Recipe, maker_of, model_of, recipe_of
from explorelab.study.assessment.assessment_answer import Found
from explorelab.study.assessment.assessors import Assessors, _worst
from explorelab.study.assessment.assessors import found as found_of
from explorelab.study.assessment.players import Player, asked_of
from explorelab.study.computing.pipe import Job, Told
from explorelab.study.config.blocks.boards import DYNAMICS
from explorelab.study.config.design import Advice
from explorelab.study.database.tables import blocks, choices
from tests.support.study.lab import Lab, Tab
from tests.support.study.small_study import small_study

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.grid([[1.0, 4.0, 9.0], [3.0, 8.0, 12.0], [2.0, 5.0, 7.0]], noise_var=1.0)
NEAR = xl.tasks.on_graph(TASK)
TASKS = {("A", dynamic): TASK if dynamic == "standard" else NEAR for dynamic in DYNAMICS}
RECIPE = Recipe(TASKS, (TASK,), 6, "stochastic-ucl", None, 8)


@pytest.fixture(scope="module")
def assessors() -> Assessors:
    return Assessors(RECIPE)


def told(trial: int, block: int = 1) -> Told:
    arm = (5 * trial + 2 * block) % 9
    near = (arm, (arm + 1) % 9, (arm + 3) % 9) if block > 1 else None
    return Told(block, 4, arm, float(TASK.means[arm]), trial == 3, near, None)


def asked(news: tuple[Told, ...], known: int = 0, block: int = 1, n_trials: int = 6) -> Asked:
    return Asked(1, block, 4, "A", "standard" if block == 1 else "neighbour", n_trials, known, news)


TRIALS = [told(trial) for trial in range(6)] + [told(trial, block=2) for trial in range(3)]


def reply(assessors: Assessors, what: Asked) -> dict[str, Any]:
    found = assessors.room().reply(Job(0, what), 0.0)
    assert not found.trouble
    return dict(found.answer)


def test_step_by_step_over_blocks_or_at_once_the_same_is_found(assessors: Assessors) -> None:
    room = assessors.room()
    room.reply(Job(0, asked(tuple(TRIALS[:4]))), 0.0)
    room.reply(Job(0, asked(tuple(TRIALS[4:7]), known=4, block=2)), 0.0)
    steps = room.reply(Job(0, asked(tuple(TRIALS[7:]), known=7, block=2)), 0.0).answer
    at_once = reply(assessors, asked(tuple(TRIALS), block=2))
    assert steps == at_once
    assert steps != reply(assessors, asked(tuple(TRIALS[6:]), block=2))  # what was learned of the person stays


@pytest.mark.parametrize(("n", "n_trials"), [(0, 6), (1, 6), (5, 6), (6, 6), (0, 1), (1, 1)])
def test_what_is_found_makes_sense_wherever_the_person_is(assessors: Assessors, n: int, n_trials: int) -> None:
    found = Found(**reply(assessors, asked(tuple(TRIALS[:n]), n_trials=n_trials)))
    lost = np.cumsum([TASK.best - each.reward for each in TRIALS[:n]]) if n else np.zeros(0)
    np.testing.assert_allclose(found.regret, lost, atol=0.051)
    assert found.later == list(range(n + 1, n_trials + 1))
    assert sum(found.forms.values()) == pytest.approx(1)
    assert all(low <= middle <= high for low, middle, high in zip(found.low, found.middle, found.high, strict=True))
    assert all(each.low < each.estimate < each.high for each in found.estimates)  # type: ignore[operator]
    if n == n_trials:
        assert (found.regret_to_come, found.regret_if_advised) == (0, 0)
    else:
        assert found.regret_to_come > 0


def walked(block: int, dynamic: str, n: int) -> tuple[Told, ...]:
    """Some trials of a block with this dynamic: where moves are free, far apart; otherwise each beside the last."""
    far, beside = (4, 8, 0, 6, 2), (4, 5, 8, 7, 8)
    trials: list[Told] = []
    for trial in range(n):
        position = trials[-1].arm if trials else 4
        near = None if dynamic == "standard" else tuple(np.flatnonzero(NEAR.moves.allowed[position]).tolist())  # type: ignore[union-attr]
        arm = (far if dynamic == "standard" else beside)[trial]
        trials.append(Told(block, 4, arm, float(TASK.means[arm]), trial == 2, near, None))
    return tuple(trials)


@pytest.mark.parametrize("second", DYNAMICS)
@pytest.mark.parametrize("first", DYNAMICS)
def test_a_dynamic_that_changes_between_blocks_is_that_of_each_block(assessors: Assessors, first: str, second: str) -> None:
    """As a companion finds that is told the task of every block, and finds by itself what is in reach."""
    mind, news, room = assessors.new().mind, (), assessors.room()
    for number, dynamic in enumerate((first, second)):
        trials, known = walked(number + 1, dynamic, 5 - number), len(news)
        task = TASKS["A", dynamic]
        mind = (
            mind.next_block(4, task) if number else replace(mind.next_block(4, task), past=mind.past._replace(starts=(4,)))
        )
        for each in trials:
            mind = mind.observe(each.arm, each.reward, missed=each.missed)
        news += trials
        what = Asked(1, number + 1, 4, "A", dynamic, 6, known, trials)
        assert room.reply(Job(0, what), 0.0).answer == found_of(mind, RECIPE)
        assert reply(assessors, what._replace(known=0, news=news)) == found_of(mind, RECIPE)


def test_what_is_told_of_a_choice_has_the_reach_of_its_own_block(tmp_path: Path) -> None:
    lab = Lab(small_study(training=()), tmp_path)
    for _ in range(3):
        tab = Tab(lab)
        tab.consent()
        tab.play_block(0)
        tab.go("begin", block=1)
        assert tab.choose(0, tab.state["block"]["position"]).status_code == 200
    played = {(row.person, row.number): row for row in lab.rows(blocks)}
    assert all(played[who, 0].dynamic != played[who, 1].dynamic for who, _ in played)
    assert {row.dynamic for row in played.values()} == set(DYNAMICS)
    with lab.store.engine.connect() as connection:
        for who, number in played:
            asked = asked_of(connection, lab.study, Player(who, "", False, "play", number, 0), 0)
            assert asked is not None
            assert (asked.dynamic, asked.start) == (played[who, number].dynamic, played[who, number].start)
            rows = [row for row in lab.rows(choices) if row.person == who and row.block <= number]
            assert [(each.block, each.arm) for each in asked.news] == [(row.block, row.arm) for row in rows]
            for each, row in zip(asked.news, rows, strict=True):
                free = played[who, row.block].dynamic == "standard"
                assert each.near == (None if free else lab.study.board.next_to(row.position))


def test_an_agent_that_cannot_have_made_a_choice_is_trouble_in_a_sentence() -> None:
    stiff = Assessors(RECIPE._replace(agent="deterministic-ucl"))
    said = stiff.room().reply(Job(0, asked(tuple(TRIALS[:5]))), 0.0)
    assert said.answer is None
    assert said.trouble.endswith(".")


def test_the_most_probable_weakness_is_told_if_it_is_more_probable_than_not() -> None:
    two = {"too hot": Weakness(0.4, 5.0, "Hot."), "too cold": Weakness(0.9, 3.0, "Cold.")}
    assert _worst(two) == {"name": "too cold", "probability": 0.9, "cost": 3.0, "sentence": "Cold."}
    assert _worst({name: each._replace(probability=SHOWN / 2) for name, each in two.items()}) is None
    assert _worst({}) is None


def test_the_model_is_that_of_the_advice_or_else_the_usual_one() -> None:
    study = small_study()
    advised = replace(study, advice=Advice(arms=("personal",)))
    other = replace(study, advice=Advice(arms=("personal",), agent="stochastic-ucl+lapse"))
    assert [model_of(each) for each in (study, advised, other)] == ["stochastic-ucl", "situated-ucl", "stochastic-ucl+lapse"]
    assert len({maker_of(each) for each in (study, advised, other)}) == 3
    assert recipe_of(study).tasks["A", "standard"].moves is None
    assert recipe_of(study).tasks["A", "travel"].moves is not None
    assert [task.name for task in recipe_of(study).landscapes] == [study.landscapes[name].name for name in ("A", "B")]
