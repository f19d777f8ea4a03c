"""A companion whose model of a person is an agent in a user's file does all that others do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import explorelab as xl
from explorelab.companions.advice import POLICIES
from explorelab.companions.live import Companion
from explorelab.study.advice.advisers import Advisers
from explorelab.study.advice.messages import Moment
from explorelab.study.advice.recipe import Recipe
from explorelab.study.assessment.asked import Asked
from explorelab.study.assessment.asked import Recipe as Assessing
from explorelab.study.assessment.assessment_answer import Found
from explorelab.study.assessment.assessors import Assessors
from explorelab.study.computing.pipe import Job, Told
from tests.support.siblings import slow_but

pytestmark = pytest.mark.quick_programs

FILE = Path(__file__).parents[1] / "support" / "my_models.py"
NAMES = ("two_rates", "loyal")
TASK = xl.tasks.bandit([0.0, 0.5, 1.0, 1.5], 1.0)
TRIALS: list[dict[str, Any]] = [
    {"arm": 3, "reward": 2.0},
    {"arm": 1, "reward": 0.0, "available": [True, True, False, True]},
    {"missed": True},
    {"arm": 0, "reward": -1.0, "forced": True},
    {"arm": 3, "reward": 1.0, "advised": 3},
    {"arm": 2, "unseen": True},
]
TOLD = tuple(Told(0, 0, arm, float(TASK.means[arm]), False, None, None) for arm in (3, 1, 3))


def played(mind: Companion) -> Companion:
    for trial in TRIALS:
        mind = mind.observe(**trial)
    return mind


@pytest.mark.parametrize("method", ["laplace", "particles"])
@pytest.mark.parametrize("name", slow_but(("loyal",), NAMES))
def test_it_is_estimated_predicted_assessed_advised_and_saved(name: str, method: Any, tmp_path: Path) -> None:
    mind = played(xl.companion(f"{FILE}:{name}", None, TASK, horizon=9, method=method, n_points=16))
    mind = played(mind.next_block(task=xl.tasks.on_graph(TASK, [(0, 1), (1, 2), (2, 3), (3, 0), (1, 3), (0, 2)])))
    assert set(mind.estimates["parameter"].values) == set(mind.scene.agent.free)
    assert (mind.estimates["low"] <= mind.estimates["high"]).all()
    np.testing.assert_allclose(mind.next_choice.sum(), 1.0)
    found = mind.assessment()
    np.testing.assert_allclose(sum(found.phenotype.values()), 1.0)
    assert all(np.isfinite([found.regret, found.regret_to_come, found.regret_if_advised]))
    said = [mind.advice(policy) for policy in POLICIES]
    xl.save_companion(mind, tmp_path / "mind.nc")
    again = xl.load_companion(tmp_path / "mind.nc")
    assert [again.advice(policy) for policy in POLICIES] == said
    assert again.assessment() == found
    np.testing.assert_array_equal(played(again).next_choice, played(mind).next_choice)


@pytest.mark.parametrize("name", NAMES)
def test_it_models_the_people_of_a_study(name: str) -> None:
    agent = f"{FILE}:{name}"
    room = Advisers(Recipe((TASK,), 6, 1, ("personal",), agent, None, None, 8)).room()
    told = room.reply(Job(0, Moment(1, "personal", 0, 3, 0, None, 0, TOLD)), 0.0)
    assert told.trouble == ""
    assert told.answer.arm in range(4)
    assessing = Assessors(Assessing({("A", "standard"): TASK}, (TASK,), 6, agent, None, 8)).room()
    reply = assessing.reply(Job(0, Asked(1, 0, 0, "A", "standard", 6, 0, TOLD)), 0.0)
    assert reply.trouble == ""
    assert len(Found(**reply.answer).estimates) == len(xl.companion(agent, None, TASK, n_points=8).scene.names)
