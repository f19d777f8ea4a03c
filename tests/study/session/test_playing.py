"""The game over HTTP: what may be chosen, what comes of it, and what cannot have happened."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from explorelab.study.database import tables
from explorelab.study.session.game import start_square
from tests.support.study.lab import Lab, Tab, in_play


def test_the_whole_way_from_arrival_to_the_code(lab: Lab) -> None:
    tab = Tab(lab, query={"PROLIFIC_PID": "abc"})
    assert tab.state["stage"] == "consent"
    assert "Text of consent" in tab.state["html"]["consent"]
    assert tab.consent()["stage"] == "instructions"
    for number in range(5):
        state = tab.play_block(number)
        assert state["stage"] == ("ready" if number < 4 else "debriefing")
    assert tab.go("finish")["stage"] == "finished"
    assert tab.state["completion"]["code"] == "THANKS42"
    assert lab.count(tables.choices) == 3 * 3 + 2 * 6
    person = lab.rows(tables.people)[0]
    task = [row.reward for row in lab.rows(tables.choices) if row.block >= 3]
    assert person.points == sum(task) == tab.state["points"]
    assert tab.state["payment"]["bonus"] == lab.study.payment.bonus(sum(task))


def test_the_second_block_takes_the_other_timing_and_landscape_and_another_dynamic(lab: Lab) -> None:
    tab = Tab(lab)
    tab.consent()
    for number in range(5):
        tab.play_block(number)
    first, second = (row for row in lab.rows(tables.blocks) if row.kind == "task")
    assert {first.timing, second.timing} == {"fast", "slow"}
    assert {first.landscape, second.landscape} == {"A", "B"}
    assert first.dynamic != second.dynamic


def test_a_page_is_told_of_the_block_in_play_and_nothing_else(lab: Lab) -> None:
    tab = in_play(lab)
    told = str(tab.state) + str(tab.choose(0, 3).json())
    for secret in ("landscape", "means", "training_peak", "'A'", "'B'", "cell", "fast", "slow", "seed"):
        assert secret not in told


def test_rewards_are_the_landscape_plus_a_whole_number_up_to_five(lab: Lab) -> None:
    tab = in_play(lab)
    made = [tab.choose(trial, 55).json() for trial in range(3)]
    assert all(each["reward"] - 100 in range(-5, 6) for each in made)
    assert [each["reward"] for each in made] == [row.reward for row in lab.rows(tables.choices)]


def test_no_click_repeats_the_last_choice(lab: Lab) -> None:
    tab = in_play(lab)
    start = tab.state["block"]["position"]
    assert tab.choose(0, None).json()["arm"] == start
    assert tab.choose(1, 42).json()["arm"] == 42
    assert tab.choose(2, None).json()["arm"] == 42
    assert [row.missed for row in lab.rows(tables.choices)] == [True, False, True]


def test_a_neighbour_can_be_chosen_and_others_are_refused(lab: Lab) -> None:
    tab = in_play(lab, "neighbour")
    position = tab.state["block"]["position"]
    near = set(lab.study.board.next_to(position))
    far = next(square for square in range(100) if square not in near)
    refused = tab.choose(0, far)
    assert (refused.status_code, refused.json()["error"]) == (422, "invalid")
    there = max(near)
    assert tab.choose(0, there).json()["arm"] == there


def test_who_travels_walks_one_square_at_a_time_and_keeps_the_goal(lab: Lab) -> None:
    tab = in_play(lab, "travel")
    x, y = divmod(tab.state["block"]["position"], 10)
    goal = (x + 2 if x < 5 else x - 2) * 10 + y
    first = tab.choose(0, goal).json()
    assert abs(divmod(first["arm"], 10)[0] - x) == 1
    assert (first["position"], first["goal"]) == (first["arm"], goal)
    assert tab.choose(1, None).json()["arm"] == goal
    assert tab.choose(2, None).json()["arm"] == goal


def test_the_same_choice_again_gets_the_same_answer_and_is_kept_once(lab: Lab) -> None:
    tab = in_play(lab)
    first = tab.choose(0, 55).json()
    assert tab.choose(0, 55, attempt=2).json() == first
    assert tab.choose(0, 11, attempt=3).json() == first
    assert lab.count(tables.choices) == 1


def test_the_last_choice_of_a_block_again_also_says_what_follows(lab: Lab) -> None:
    tab = in_play(lab)
    for trial in range(3):
        last = tab.choose(trial, 1).json()
    assert last["state"]["stage"] == "ready"
    assert tab.choose(2, 1).json() == last


def test_choices_come_in_order(lab: Lab) -> None:
    tab = in_play(lab)
    answer = tab.choose(1, 5)
    assert (answer.status_code, answer.json()["error"]) == (409, "out-of-order")
    assert tab.post("choice", **tab.report(0, 5, block=1)).status_code == 409
    assert lab.count(tables.choices) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"goal": 100, "clicks": [[100, 5.0]]},
        {"goal": 4, "clicks": [[5, 5.0]]},
        {"goal": None, "clicks": [[5, 5.0]]},
        {"goal": 5, "clicks": []},
        {"clicks": [[5, 30.0], [5, 20.0]]},
        {"clicks": [[5, 9_000.0]]},
        {"elapsed_ms": 10.0},
        {"elapsed_ms": -1.0},
        {"goal": "5"},
        {"goal": 5.5},
        {"trial": "0"},
        {"reward": 100},
        {"pauses": -1},
        {"attempt": 0},
        {"clicks": [[5, "1"]]},
        {"clicks": [[5, 1.0]] * 201},
    ],
    ids=range(16),
)  # fmt: skip
def test_what_cannot_have_happened_is_refused(lab: Lab, changes: dict[str, Any]) -> None:
    tab = in_play(lab)
    answer = tab.post("choice", **{**tab.report(0, 5), **changes})
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
    assert lab.count(tables.choices) == 0


def test_doubts_are_flagged(lab: Lab) -> None:
    tab = in_play(lab)
    tab.choose(0, 5)
    lab.clock.now += 0.075
    tab.post("choice", **tab.report(1, 5))
    lab.clock.now += 5.0
    tab.choose(2, 5, elapsed_ms=500.0, pauses=1, attempt=2, clicks=[[5, 5.1]], by_hand=0)
    flags = ["", "early", "overrun paused retried slow synthetic regular"]
    assert [row.flags for row in lab.rows(tables.choices)] == flags


def test_rewards_do_not_depend_on_when_they_are_drawn(lab: Lab) -> None:
    tab = in_play(lab)
    made = [tab.choose(trial, 7).json()["reward"] for trial in range(3)]
    seed = lab.rows(tables.people)[0].seed
    expected = [float(np.random.default_rng([seed, 0, trial]).integers(-5, 5, endpoint=True)) for trial in range(3)]
    assert made == expected


def test_every_start_square_is_as_likely() -> None:
    starts = [start_square(seed, block, 100) for seed, block in itertools.product(range(2000), range(2))]
    counts = np.bincount(starts, minlength=100)
    chi2 = ((counts - 40) ** 2 / 40).sum()
    assert len(counts) == 100
    assert chi2 < 99 + 4 * np.sqrt(2 * 99)
