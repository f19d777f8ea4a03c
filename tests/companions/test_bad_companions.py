"""What a companion cannot work with is told in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab.choices.table import Choices
from explorelab.companions.assessment.assess import assess
from explorelab.companions.live import Companion, companion
from tests.support.people import MEANS, population

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.line(MEANS, 1.0)


@cache
def four() -> Choices:
    """Four people with six choices each."""
    return population(n=4, horizon=6)


@pytest.fixture(scope="module")
def fits() -> dict[str, xr.DataTree]:
    return {
        method: xl.fit(four(), "win-stay-lose-shift", method, n_starts=1, progress=False)  # type: ignore[arg-type]
        for method in ("ml", "map", "em")
    }


@pytest.fixture(scope="module")
def mind() -> Companion:
    return companion("win-stay-lose-shift", None, TASK, n_points=16, horizon=6)


def said(call: Callable[[], Any]) -> str:
    with pytest.raises(xl.InputError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith((".", "?"))
    return text


def test_an_agent_without_a_likelihood() -> None:
    told = said(lambda: companion("thompson", None, TASK))
    assert told.startswith("thompson with correlated arms cannot be fitted")
    assert said(lambda: assess(four(), "thompson")) == told


def test_an_unknown_agent() -> None:
    assert "did you mean 'situated-ucl'" in said(lambda: companion("situated-ucb", None, TASK))


@pytest.mark.parametrize("method", ["ml", "map"])
def test_a_group_that_is_no_group(method: str, fits: dict[str, xr.DataTree]) -> None:
    told = said(lambda: companion(None, fits[method], TASK))
    assert "by em, bayes or nuts" in told
    assert f"got one by {method}" in told


def test_a_group_of_another_agent(fits: dict[str, xr.DataTree]) -> None:
    assert said(lambda: companion("stochastic-ucl", fits["em"], TASK)) == (
        "the fit is of win-stay-lose-shift, not of stochastic-ucl."
    )


def test_a_group_of_another_task(fits: dict[str, xr.DataTree]) -> None:
    more, elsewhere = xl.tasks.line([*MEANS, 1.0]), replace(TASK, places=2 * np.asarray(TASK.places))
    assert "a task of 5 arms, but this one has 6" in said(lambda: companion(None, fits["em"], more))
    assert "arms lie elsewhere" in said(lambda: companion(None, fits["em"], elsewhere))
    assert "of 5 arms" in said(lambda: assess(population(n=2, horizon=6, task=more), None, fits["em"]))


def test_a_next_block_on_other_arms(mind: Companion) -> None:
    more, elsewhere = xl.tasks.line([*MEANS, 1.0]), replace(TASK, places=2 * np.asarray(TASK.places))
    assert said(lambda: mind.next_block(task=more)) == "the companion is for a task of 5 arms, but the next block's has 6."
    assert "arms of the next block's task lie elsewhere" in said(lambda: mind.next_block(task=elsewhere))
    assert said(lambda: mind.next_block(task="landscape:B")).startswith("task must be a task, got 'landscape:B'")  # type: ignore[arg-type]
    assert mind.next_block(task=replace(TASK, places=None)).task is not TASK


@pytest.mark.parametrize("arm", [-1, 5, 2**40, 1.5, "1", np.nan, None])
def test_an_arm_out_of_range(arm: Any, mind: Companion) -> None:
    assert said(lambda: mind.observe(arm, 1.0)).startswith("arm must be ")
    assert said(lambda: mind.observe(arm, 1.0, missed=True)).startswith("arm must be ") if arm is not None else True


@pytest.mark.parametrize("reward", [np.nan, np.inf, "much", None, [1.0, 2.0]])
def test_a_reward_that_is_not_a_number(reward: Any, mind: Companion) -> None:
    assert said(lambda: mind.observe(1, reward)).startswith("reward must ")


@pytest.mark.parametrize("available", [[True] * 4, [False] * 5, [1, 1, 1, 1, 1], "all", [True, None, True, True, True]])
def test_an_offer_that_does_not_name_each_arm(available: Any, mind: Companion) -> None:
    assert said(lambda: mind.observe(1, 1.0, available=available)).startswith("available must have a truth value for each")
    assert said(lambda: mind.predict(available)).startswith("available must ")


def test_a_choice_that_was_not_on_offer(mind: Companion) -> None:
    assert "must be available" in said(lambda: mind.observe(1, 1.0, available=[True, False, True, True, True]))


def test_a_companion_is_not_changed_by_what_it_refuses(mind: Companion) -> None:
    before = mind.next_choice.copy()
    said(lambda: mind.observe(9, 1.0))
    np.testing.assert_array_equal(mind.next_choice, before)
    assert mind.past.t == 1


@pytest.mark.quick
def test_no_task() -> None:
    assert "needs the task" in said(lambda: companion("stochastic-ucl"))


@pytest.mark.parametrize("offer", [[True, True, False, True, True], [True, True, False, False, True]])
def test_advice_that_was_not_on_offer_says_nothing(offer: list[bool], mind: Companion) -> None:
    alone, advised = (mind.observe(1, 1.0, available=offer, advised=arm) for arm in (None, 2))
    assert advised.follow_probability == alone.follow_probability == pytest.approx(0.5)
    np.testing.assert_array_equal(advised.next_choice, alone.next_choice)
    np.testing.assert_array_equal(mind.predict(offer, advised=2), mind.predict(offer))
    assert mind.predict(offer, advised=1)[1] > mind.predict(offer)[1]
