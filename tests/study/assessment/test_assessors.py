"""Companions are led through stored choices, task blocks one after another, and say how each person is doing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import explorelab as xl
from explorelab.companions.assessment.weaknesses import SHOWN, Weakness
from explorelab.study.assessment.asked import Asked, Recipe, maker_of, model_of, recipe_of
from explorelab.study.assessment.assessment_answer import Found
from explorelab.study.assessment.assessors import Assessors, _worst
from explorelab.study.computing.pipe import Job, Told
from explorelab.study.config.design import Advice
from tests.support.study.small_study import small_study

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.grid([[1.0, 4.0, 9.0], [3.0, 8.0, 12.0], [2.0, 5.0, 7.0]], noise_var=1.0)
NEAR = xl.tasks.on_graph(TASK)
RECIPE = Recipe({("A", "standard"): TASK, ("A", "neighbour"): NEAR}, (TASK,), 6, "stochastic-ucl", None, 8)


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
