"""Everything wrong with a file of choices is told at once, by row and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import explorelab as xl
from explorelab.choices.checks.schema import problems
from explorelab.choices.reading import check_choices, read_choices
from tests.support.choice_files import FOUR, change, tidy, written

pytestmark = pytest.mark.quick

WRONG = {
    # name: rows, task, row in the file, column, value, words of the message
    "arm out of range": (change(arm={3: 9}), FOUR, 5, "arm", "9", "0 to 3"),
    "negative arm": (change(arm={3: -1}), FOUR, 5, "arm", "-1", "from 0"),
    "half an arm": (change(arm={3: 1.5}), FOUR, 5, "arm", "1.5", "whole number"),
    "arm that is text": (change(arm={3: "left"}), FOUR, 5, "arm", "left", "'left'"),
    "no arm": (change(arm={3: None}), FOUR, 5, "arm", "", "missed to 1"),
    "arms from 1": (tidy().assign(arm=tidy().arm + 1), FOUR, None, "arm", "4", "numbered from 1? Set first_arm = 1"),
    "arms from 0": (tidy(), {"arms": 4, "first_arm": 1}, None, "arm", "0", "Set first_arm = 0"),
    "no reward": (change(reward={4: None}), FOUR, 6, "reward", "", "missed to 1"),
    "NaN reward": (change(reward={4: "NaN"}), FOUR, 6, "reward", "NaN", "expected a number"),
    "text reward": (change(reward={4: "lots"}), FOUR, 6, "reward", "lots", "'lots'"),
    "decimal comma": (change(reward={4: "1,5"}), FOUR, 6, "reward", "1,5", "decimal comma"),
    "infinite reward": (change(reward={4: "inf"}), FOUR, 6, "reward", "inf", "finite"),
    "no participant": (change(participant={0: None}), FOUR, 2, "participant", "", "label"),
    "no block": (change(block={0: " "}), FOUR, 2, "block", " ", "label"),
    "two ways to write a participant": (
        tidy().assign(participant=["1"] * 10 + ["1.0"] * 10 + ["2"] * 10),
        FOUR,
        12,
        "participant",
        "1.0",
        "'1' and '1.0'",
    ),
    "no trial": (change(trial={4: None}), FOUR, 6, "trial", "", "number of the trial"),
    "half a trial": (change(trial={4: 5.5}), FOUR, 6, "trial", "5.5", "whole number"),
    "a trial twice": (
        change(trial={1: 1, 2: 2, 3: 3, 4: 4}),
        FOUR,
        3,
        "trial",
        "1",
        "trial 1 of participant p0, block 1 again",
    ),
    "a trial left out": (tidy().drop(index=2), FOUR, 4, "trial", "4", "right after trial 2"),
    "late first trial": (tidy().drop(index=0), FOUR, 2, "trial", "2", "0 or 1"),
    "missed is no flag": (change(missed={2: "perhaps"}), FOUR, 4, "missed", "perhaps", "0 or 1"),
    "forced is no flag": (change(forced={2: 7}), FOUR, 4, "forced", "7", "0 or 1"),
    "negative reaction time": (change(reaction_time_ms={2: -5}), FOUR, 4, "reaction_time_ms", "-5", "at least 0 ms"),
    "reaction time that is text": (
        change(reaction_time_ms={2: "fast"}),
        FOUR,
        4,
        "reaction_time_ms",
        "fast",
        "milliseconds",
    ),
    "arm that was not available": (change(arm={1: 2}, available={1: "0 1"}), FOUR, 3, "arm", "2", "available"),
    "available arm out of range": (change(available={1: "0 1 2 3 4"}), FOUR, 3, "available", "0 1 2 3 4", "0 to 3"),
    "available is text": (change(available={1: "all"}), FOUR, 3, "available", "all", "0 to 3"),
    "longer than the horizon": (tidy(), {"arms": 4, "horizon": 4}, 2, "", "5", "expected 4 trials"),
    "unknown landscape": (
        tidy().assign(land="C"),
        {"arms": 4, "means_by": "land", "means": {"A": [1, 2, 3, 4]}},
        2,
        "land",
        "C",
        "means for (A)",
    ),
    "landscape changes within a block": (
        tidy().assign(land=["A", "B"] * 15),
        {"arms": 4, "means_by": "land", "means": {"A": [1, 2, 3, 4], "B": [1, 2, 3, 4]}},
        3,
        "land",
        "B",
        "one value within a block",
    ),
    "start out of range": (tidy().assign(s=4), {"arms": 4, "start": "s"}, 2, "s", "4", "0 to 3"),
    "x out of the grid": (tidy().drop(columns="arm").assign(x=7, y=0), {"grid": [2, 2]}, 2, "x", "7", "0 to 1"),
    "y out of the grid": (tidy().drop(columns="arm").assign(x=0, y=2), {"grid": [2, 2]}, 2, "y", "2", "first_xy = 1"),
    "half a square": (tidy().drop(columns="arm").assign(x=0.5, y=0), {"grid": [2, 2]}, 2, "x", "0.5", "coordinates"),
    "nowhere among the coordinates": (
        tidy().drop(columns="arm").assign(x=0, y=0),
        {"coordinates": [[1, 1], [2, 2]]},
        2,
        "x",
        "0",
        "place of an arm",
    ),
    "arm and place disagree": (tidy().assign(arm=1, x=1, y=0), {"grid": [2, 2]}, 2, "arm", "1", "x * height + y"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=list(WRONG))
def test_every_problem_names_row_column_value_and_what_was_expected(tmp_path: Path, case: tuple) -> None:
    frame, task, row, column, value, words = case
    report = check_choices(written(tmp_path, frame), task)
    assert not report.ok
    found = next((problem for problem in report.problems if problem.column == column), None)
    assert found is not None, report.message()
    if row is not None:
        assert found.row == row
    assert (found.value, found.column) == (value, column)
    assert words in str(found)
    assert "choices.csv" in report.message()
    assert report.choices is None
    with pytest.raises(xl.InputError):
        read_choices(tmp_path / "choices.csv", task)


def test_what_is_right_has_no_problem() -> None:
    for frame, task in (
        (tidy(), FOUR),
        (tidy(), {"grid": [2, 2], "horizon": 5}),
        (tidy().assign(trial=tidy().trial - 1), FOUR),
    ):
        assert problems(frame, task) == []


def test_all_problems_come_at_once_and_rows_of_a_kind_are_counted(tmp_path: Path) -> None:
    frame = change(
        arm=dict.fromkeys(range(1, 9), 9), reward={3: "lots", 20: None}, missed={0: "maybe"}, reaction_time_ms={5: -1}
    )
    report = check_choices(written(tmp_path, frame), FOUR)
    assert len(report.problems) == 5
    arms = next(problem for problem in report.problems if problem.column == "arm")
    assert (arms.n, arms.n_rows, arms.rows) == (8, 30, (3, 4, 5, 6, 7))
    assert "8 rows of 30: 3, 4, 5, 6, 7, ..." in str(arms)
    assert report.message().count("\n") == 5


def test_a_long_list_of_problems_is_cut_and_counted(tmp_path: Path) -> None:
    frame = tidy(n_people=30, n_blocks=1).assign(participant=np.repeat([f"{'0' * i}1" for i in range(30)], 5))
    report = check_choices(written(tmp_path, frame), FOUR)
    assert len(report.problems) == 29
    assert report.message().endswith("and 9 more.")


@pytest.mark.parametrize(
    ("column", "other"),
    [
        ("participant", "subject"),
        ("participant", "Participant"),
        ("arm", "choice"),
        ("reward", "payoff"),
        ("trial", "trials"),
    ],
)
def test_a_missing_column_is_named_with_a_near_one(tmp_path: Path, column: str, other: str) -> None:
    report = check_choices(written(tmp_path, tidy().rename(columns={column: other})), FOUR)
    assert [problem.column for problem in report.problems] == [column]
    assert f'{column} = "{other}"' in report.message()


def test_with_a_missing_column_the_others_are_checked_all_the_same(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, change(reward={3: "lots"}, arm={4: 8}).drop(columns=["trial", "block"])), FOUR)
    assert {problem.column for problem in report.problems} == {"trial", "reward", "arm"}


def test_a_renamed_column_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, tidy()), {"arms": 4, "columns": {"participant": "particpant"}})
    assert "did you mean 'participant'" in report.message()


def test_a_column_that_may_be_a_flag_under_another_name_is_noted(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, tidy().assign(timeout=0)), FOUR)
    assert report.ok
    assert any("timeout" in note and "missed" in note for note in report.notes)


def test_a_column_that_occurs_twice_is_a_problem(tmp_path: Path) -> None:
    text = tidy().assign(extra=1).to_csv(index=False).replace("extra", "reward")
    report = check_choices(written(tmp_path, text), FOUR)
    assert [problem.column for problem in report.problems] == ["reward"]
    assert "2 times (columns 5, 6)" in report.message()
    twice = tidy().assign(extra=1).set_axis(["participant", "block", "trial", "arm", "reward", "reward"], axis=1)
    assert "2 times" in str(problems(twice, FOUR)[0])
