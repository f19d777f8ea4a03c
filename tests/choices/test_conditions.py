"""Conditions and covariates: which columns are what, who played at which level, and people apart in each cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from explorelab.choices.conditions import (
    BETWEEN,
    CONDITION,
    CONSTANT,
    COVARIATE,
    LABELS,
    MISSING,
    MIXED,
    WITHIN,
    apart,
    beside_people,
    kind_of,
    sorted_columns,
)
from explorelab.choices.reading import choices_from_frame
from explorelab.choices.table import Choices

pytestmark = pytest.mark.quick

PEOPLE = np.repeat(np.arange(20), 2)
"""Twenty people with two blocks each."""


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("group", np.where(PEOPLE < 10, "a", "b"), CONDITION),
        ("session", np.tile([1, 2], 20), CONDITION),
        ("noise", np.tile([0.5, 2.0], 20), CONDITION),
        ("flag", PEOPLE < 3, CONDITION),
        ("age", 20 + PEOPLE, COVARIATE),
        ("age", 20 + PEOPLE % 3, COVARIATE),
        ("Age", 20 + PEOPLE % 5, COVARIATE),
        ("dose", PEOPLE % 5, CONDITION),
        ("score", PEOPLE % 7, COVARIATE),
        ("mood", np.linspace(0, 1, 40), COVARIATE),
        ("month", np.array([f"month {k % 12}" for k in PEOPLE], object), CONDITION),
        ("town", np.array([f"town {k % 13}" for k in PEOPLE], object), LABELS),
        ("code", np.array([f"p{k}" for k in PEOPLE], object), LABELS),
        ("site", np.full(40, "here", object), CONSTANT),
        ("site", np.array(["here", ""] * 20, object), CONSTANT),
        ("iq", np.array(["101", "NA", "98", "97", "120", "85", "101", "88"] * 5, object), CONDITION),
        ("iq", np.array(["101", "NA", "98", "97", "120", "85", "102", "88"] * 5, object), COVARIATE),
        ("advice", np.array(["none", "some"] * 20, object), CONDITION),
    ],
)
def test_what_a_column_is(name: str, values: np.ndarray, kind: str) -> None:
    assert kind_of(name, values, PEOPLE) == kind


def test_a_value_of_everybodys_own_makes_no_groups_of_few_people() -> None:
    three = np.arange(3)
    assert kind_of("dose", np.array([1.0, 2.0, 3.0]), three) == COVARIATE
    assert kind_of("name", np.array(["x", "y", "z"], object), three) == LABELS
    assert kind_of("group", np.array(["a", "b", "a"], object), three) == CONDITION
    assert kind_of("mood", np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 0, 1, 1])) == COVARIATE
    assert kind_of("dynamic", np.array(["x", "y", "z"], object), np.zeros(3, int)) == CONDITION


def file(**columns: list[object]) -> Choices:
    """Three people with two blocks of two trials each; a value of each column for every block."""
    rows = [
        {"participant": "abc"[k // 2], "block": 1 + k % 2, "trial": trial, "arm": trial % 2, "reward": 1.0}
        | {name: values[k] for name, values in columns.items()}
        for k in range(6)
        for trial in (1, 2)
    ]
    return choices_from_frame(pd.DataFrame(rows), {"arms": 2})


def test_levels_designs_and_missing_values() -> None:
    found = sorted_columns(
        file(
            group=["x", "x", "y", "y", "x", "x"],
            session=[2, 10, 2, 10, 10, 2],
            drug=["p", "q", "p", "p", "", "p"],
            again=["b", "b", "c", "c", "b", "b"],
            same=["s"] * 6,
        )
    )
    by_name = {each.name: each for each in found.conditions}
    assert list(by_name) == ["group", "session", "drug"]
    assert [each.design for each in found.conditions] == [BETWEEN, WITHIN, MIXED]
    assert by_name["session"].levels == ("2", "10")
    assert by_name["group"].also == ("again",)
    assert by_name["drug"].level.tolist() == [0, 1, 0, 0, MISSING, 0]
    assert found.constant == ("same",)
    assert by_name["session"].called("10") == "session 10"
    assert by_name["drug"].called("p") == "drug p"
    assert by_name["drug"].called("placebo") == "placebo"
    assert len(set(found.cells().tolist())) == 5


def test_people_apart_in_each_cell_have_the_blocks_that_they_played_there() -> None:
    choices = file(session=[1, 2, 1, 1, 2, 1], group=["x", "x", "y", "y", "x", "x"])
    choices = replace(choices, reward=np.arange(12.0).reshape(6, 2))
    found = sorted_columns(choices)
    units, row = apart(choices, found.cells())
    assert units.n_participants == 5
    assert units.n_rows == 6
    for unit in range(5):
        rewards = units.reward[units.participant == unit]
        mine = (choices.participant == choices.participant[row[unit]]) & (found.cells() == found.cells()[row[unit]])
        np.testing.assert_array_equal(rewards, choices.reward[mine])


def test_tables_of_people_get_the_columns_that_are_constant_within_them() -> None:
    choices = file(session=[1, 2, 1, 2, 1, 2], group=["x", "x", "y", "y", "x", "x"], estimate=[1, 1, 2, 2, 3, 3])
    table = beside_people(pd.DataFrame({"participant": ["c", "a", "b"], "estimate": [0.0, 0.1, 0.2]}), choices)
    assert table["group"].tolist() == ["x", "x", "y"]
    assert table["estimate_"].tolist() == [3, 1, 2]
    assert "session" not in table


def test_two_levels_are_named_so_that_a_reader_knows_what_they_are_of() -> None:
    found = {each.name: each for each in sorted_columns(file(session=[1, 2] * 3, speed=["fast", "slow"] * 3)).conditions}
    assert found["session"].also == ("speed",)
    assert found["session"].pair("2", "1") == "session: 2 against 1"
    (speed,) = sorted_columns(file(speed=["fast", "slow"] * 3)).conditions
    assert speed.pair("slow", "fast") == "slow against fast"
