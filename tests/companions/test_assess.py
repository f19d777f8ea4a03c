"""Everyone in a file, replayed: what the live companion says, in one data set."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab.choices.table import NOWHERE, Choices
from explorelab.companions.assessment.assess import assess, assessment_summary, people_table, tasks_of, trials_table
from explorelab.companions.live import begun, observed, started
from explorelab.companions.past import past_blocks
from explorelab.companions.posterior import Settings
from explorelab.companions.scene import scene_of
from tests.support.people import population

pytestmark = pytest.mark.quick_programs

T = 8
QUICK: dict[str, Any] = {"n_points": 32, "n_futures": 16, "progress": False}


@cache
def uneven() -> Choices:
    """Three people with two blocks: a missed trial, a forced one, arms not on offer, and a block that ends early."""
    choices = population(n=3, horizon=T, blocks=2, seed=1)
    arm, reward, seen, scored, present = (
        getattr(choices, name).copy() for name in ("arm", "reward", "observed", "scored", "present")
    )
    arm[0, 3], reward[0, 3], seen[0, 3], scored[0, 3] = NOWHERE, 0.0, False, False
    scored[1, 2] = False
    arm[5, 5:], reward[5, 5:] = NOWHERE, 0.0
    seen[5, 5:] = scored[5, 5:] = present[5, 5:] = False
    available = np.ones((*arm.shape, 5), bool)
    available[2, 1] = np.arange(5) == arm[2, 1]
    available[2, 1, (arm[2, 1] + 1) % 5] = True
    changed = {"arm": arm, "reward": reward, "observed": seen, "scored": scored, "present": present, "available": available}
    return replace(choices, **changed)


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return assess(uneven(), "stochastic-ucl", every=3, **QUICK)


def test_it_says_what_the_live_companion_says(found: xr.Dataset) -> None:
    mind = begun(scene_of(uneven(), "stochastic-ucl", None), Settings(n_points=32), T)
    for b, (start, trials) in enumerate(past_blocks(uneven(), np.array([2, 3]))):
        mind = started(mind, b, start)
        for t, trial in enumerate(trials):
            p = mind.predict(trial.available)[trial.arm]
            assert found["probability"].values[2 + b, t] == p
            mind = observed(mind, trial)
            np.testing.assert_array_equal(found["estimate"].values[2 + b, t], mind.estimates["estimate"].values)
            np.testing.assert_array_equal(found["high"].values[2 + b, t], mind.estimates["high"].values)


def test_only_free_choices_are_predicted(found: xr.Dataset) -> None:
    np.testing.assert_array_equal(np.isfinite(found["probability"].values), uneven().scored)
    lost = -np.log(found["probability"].values[:2][uneven().scored[:2]]).mean()
    assert float(found["nats"][0]) == pytest.approx(lost)


def test_forms_are_told_every_so_often_and_end_with_the_label(found: xr.Dataset) -> None:
    known = np.isfinite(found["form_probability"].values).all(2)
    assert np.flatnonzero(known[0]).tolist() == [2, 5, 7]
    assert np.flatnonzero(known[5]).tolist() == [2, 4]
    np.testing.assert_array_equal(known, np.isfinite(found["regret_to_come"].values))
    labels = xl.label_phenotypes(uneven(), bootstrap=0)["label"].values
    np.testing.assert_array_equal(found["label"].values, labels)
    for row, last in enumerate([7, 7, 7, 7, 7, 4]):
        at_the_end = found.isel(row=row, trial=last)
        assert float(at_the_end["form_probability"].sel(form=labels[row])) == 1
        assert float(at_the_end["regret_to_come"]) == 0


def test_the_same_seed_gives_the_same_bits(found: xr.Dataset) -> None:
    assert found.identical(assess(uneven(), "stochastic-ucl", every=3, **QUICK))


@pytest.mark.slow
def test_somebody_is_assessed_the_same_whoever_else_is_there(found: xr.Dataset) -> None:
    # The weak prior is in units of everyone's rewards: a group is needed for people to be independent.
    group = xl.fit(uneven(), "stochastic-ucl", "em", n_starts=1, progress=False)
    alone = assess(uneven().rows([2, 3]), None, group, every=8, **QUICK)
    among = assess(uneven(), None, group, every=8, **QUICK).isel(row=[2, 3])
    np.testing.assert_array_equal(alone["estimate"].values, among["estimate"].values)
    np.testing.assert_array_equal(alone["probability"].values, among["probability"].values)


def test_tables_have_a_row_for_each_person_and_trial(found: xr.Dataset) -> None:
    people, trials = people_table(found), trials_table(found)
    assert people["participant"].tolist() == ["1", "2", "3"]
    assert people["n_trials"].tolist() == [16, 16, 13]
    assert len(trials) == uneven().present.sum()
    assert (people["temperature_low"] < people["temperature"]).all()
    assert people["temperature"].iloc[2] == pytest.approx(trials["temperature"].iloc[-1])
    assert people[["n_linear", "n_power", "n_log", "n_none"]].sum(axis=1).tolist() == [2, 2, 2]


def test_the_summary_counts_people_and_forms(found: xr.Dataset) -> None:
    told = assessment_summary(found)
    assert (told["n_people"], told["n_blocks"], sum(told["forms"].values())) == (3, 6, 6)
    assert 0 < told["nats_per_choice"] < np.log(5) * 1.5


@pytest.mark.quick
def test_blocks_of_one_landscape_share_a_task_with_the_moves_that_people_had() -> None:
    tasks = tasks_of(uneven())
    assert len(set(tasks)) == 1
    assert tasks[0].moves is None  # an arm that was once not on offer from somewhere was so at other times
    steps = np.abs(np.arange(5)[:, None] - np.arange(5)) <= 1
    at = np.array([[0, 1, 2, 3, 4, 4, 3, 2]])
    walk = replace(uneven().rows([3]), arm=at.astype(np.int32))
    offered = np.concatenate([np.ones((1, 1, 5), bool), steps[at[:, :-1]]], axis=1)
    moves = tasks_of(replace(walk, available=offered))[0].moves
    assert moves is not None
    np.testing.assert_array_equal(np.isfinite(moves.length), steps)


@pytest.mark.quick
def test_without_means_there_is_nothing_to_assess() -> None:
    with pytest.raises(xl.InputError, match=r"needs the true mean rewards.*\[task\]"):
        assess(replace(uneven(), means=None), "stochastic-ucl")
