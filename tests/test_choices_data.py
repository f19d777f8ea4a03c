"""Files of people's choices: read, checked, written; everything wrong with one is told at once, by row and column."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import explorelab as xl
from explorelab.people.data import NOWHERE, Choices, Layout
from explorelab.people.reading import CheckReport, check_choices, choices_from_frame, read_choices
from explorelab.people.schema import problems
from explorelab.people.writing import choices_from_runs, write_choices
from explorelab.people.wu2018 import load_wu2018

WU2018 = Path(__file__).parents[2] / "shared" / "data" / "wu2018"
ARRAYS = ("participant", "block", "arm", "reward", "observed", "scored", "present", "available", "means", "start")
FOUR = {"arms": 4}


def tidy(n_people: int = 3, n_blocks: int = 2, n_trials: int = 5, n_arms: int = 4, seed: int = 0) -> pd.DataFrame:
    """Rows that are fine, with arms 0 to n_arms - 1 all chosen."""
    chance = np.random.default_rng(seed)
    n = n_people * n_blocks * n_trials
    return pd.DataFrame(
        {
            "participant": np.repeat([f"p{i}" for i in range(n_people)], n_blocks * n_trials),
            "block": np.tile(np.repeat(np.arange(1, n_blocks + 1), n_trials), n_people),
            "trial": np.tile(np.arange(1, n_trials + 1), n_people * n_blocks),
            "arm": (np.arange(n) + chance.integers(0, 2)) % n_arms,
            "reward": chance.normal(size=n).round(3),
        }
    )


def written(folder: Path, frame: pd.DataFrame | str | bytes, task: str = "", name: str = "choices.csv") -> Path:
    path = folder / name
    if isinstance(frame, pd.DataFrame):
        frame.to_csv(path, index=False)
    else:
        path.write_bytes(frame if isinstance(frame, bytes) else frame.encode())
    if task:
        path.with_suffix(".toml").write_text(task)
    return path


def same(one: Choices, other: Choices) -> None:
    """Fail unless both hold the same choices, whatever file they came from."""
    assert one.participants == other.participants
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        np.testing.assert_array_equal(a, b, err_msg=name)
    assert set(one.conditions) == set(other.conditions)
    for name, values in one.conditions.items():
        np.testing.assert_array_equal(values, other.conditions[name], err_msg=name)
    assert (one.layout.n_arms, one.layout.noise_var, one.layout.shape) == (
        other.layout.n_arms,
        other.layout.noise_var,
        other.layout.shape,
    )
    assert (one.layout.name, one.note) == (other.layout.name, other.note)
    np.testing.assert_array_equal(one.layout.places, other.layout.places)


# What is read ---------------------------------------------------------------------------------------------------------


def test_arrays_hold_what_the_rows_say(tmp_path: Path) -> None:
    text = "participant,block,trial,arm,reward,group\nb,2,1,3,1.5,old\nb,1,2,0,2.5,old\nb,1,1,1,-1,old\n"
    text += "a,1,1,2,0,new\na,1,2,2,4,new\n"
    choices = read_choices(written(tmp_path, text, "[task]\narms = 4\nnoise_var = 2\n"))
    assert choices.participants == ("b", "a")
    assert choices.participant.tolist() == [0, 0, 1]
    assert choices.block.tolist() == ["1", "2", "1"]
    assert choices.arm.tolist() == [[1, 0], [3, NOWHERE], [2, 2]]
    assert choices.reward.tolist() == [[-1, 2.5], [1.5, 0], [0, 4]]
    assert choices.present.tolist() == choices.scored.tolist() == [[True, True], [True, False], [True, True]]
    assert choices.conditions["group"].tolist() == ["old", "old", "new"]
    assert (choices.layout.n_arms, choices.layout.noise_var, choices.available, choices.means) == (4, 2.0, None, None)
    assert choices.arm.dtype == np.int32
    assert choices.table is not None
    assert choices.table.participant.tolist() == ["b", "b", "b", "a", "a"]


def test_numbered_blocks_are_in_the_order_of_their_numbers_and_named_ones_in_that_of_the_file() -> None:
    frame = tidy(n_people=1, n_blocks=3)
    assert choices_from_frame(frame.assign(block=frame.block.map({1: 10, 2: 9, 3: 1})), FOUR).block.tolist() == [
        "1",
        "9",
        "10",
    ]
    assert choices_from_frame(frame.assign(block=frame.block.map({1: "z", 2: "a", 3: "m"})), FOUR).block.tolist() == list(
        "zam"
    )


def test_missed_and_forced_trials_are_told_apart() -> None:
    frame = tidy(n_people=1, n_blocks=1, n_trials=5).assign(missed=[0, 1, 1, 0, 0], forced=[1, 0, 0, 0, 0])
    frame["arm"] = frame.arm.astype("Int64")
    frame.loc[2, "arm"], frame.loc[2, "reward"] = pd.NA, np.nan
    choices = choices_from_frame(frame, FOUR)
    assert choices.observed.tolist() == [[True, True, False, True, True]]
    assert choices.scored.tolist() == [[False, False, False, True, True]]
    assert choices.present.all()
    assert choices.arm[0, 2] == NOWHERE
    assert choices.reward[0, 2] == 0


@pytest.mark.parametrize(
    ("yes", "no"), [("1", "0"), ("true", "false"), ("True", "False"), ("yes", "no"), ("YES", ""), ("T", "F")]
)
def test_flags_may_be_written_in_many_ways(tmp_path: Path, yes: str, no: str) -> None:
    frame = tidy().assign(forced=[yes if trial == 1 else no for trial in tidy().trial])
    choices = read_choices(written(tmp_path, frame), FOUR)
    assert choices.scored.tolist() == [[False, True, True, True, True]] * 6


def test_x_and_y_number_the_squares_of_a_grid() -> None:
    frame = tidy().drop(columns="arm").assign(x=[0, 1, 2, 0, 1] * 6, y=[0, 1, 0, 1, 0] * 6)
    choices = choices_from_frame(frame, {"grid": [3, 2]})
    assert choices.arm[0].tolist() == [0, 3, 4, 1, 2]
    assert choices.layout.places is not None
    assert choices.layout.places[3].tolist() == [1, 1]


def test_x_and_y_are_looked_up_among_coordinates() -> None:
    places = [[0.5, 2], [1.5, -1], [3, 0.25]]
    which = np.arange(30) % 3
    frame = tidy().drop(columns="arm").assign(x=np.array(places)[which, 0], y=np.array(places)[which, 1])
    assert choices_from_frame(frame, {"coordinates": places}).arm.ravel().tolist() == which.tolist()


def test_first_arm_and_first_xy_shift_the_numbers() -> None:
    frame = tidy()
    plain = choices_from_frame(frame, FOUR)
    available = [f"{arm + 1} {(arm + 1) % 4 + 1}" for arm in frame.arm]
    shifted = choices_from_frame(
        frame.assign(arm=frame.arm + 1, available=available), {"arms": 4, "first_arm": 1, "start": 4}
    )
    np.testing.assert_array_equal(plain.arm, shifted.arm)
    assert shifted.available is not None
    assert shifted.available.sum() == 60
    assert shifted.start is not None
    assert shifted.start.tolist() == [3] * 6
    squares = frame.drop(columns="arm").assign(x=frame.arm // 2 + 1, y=frame.arm % 2 + 1)
    np.testing.assert_array_equal(choices_from_frame(squares, {"grid": [2, 2], "first_xy": 1}).arm, plain.arm)


def test_available_arms_and_none_means_all() -> None:
    frame = tidy(n_people=1, n_blocks=1, n_trials=3).assign(arm=[0, 1, 3], available=["0 2", "", "3"])
    available = choices_from_frame(frame, FOUR).available
    assert available is not None
    assert available[0].astype(int).tolist() == [[1, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]]
    assert choices_from_frame(frame.assign(available=""), FOUR).available is None


def test_conditions_are_what_is_constant_within_blocks() -> None:
    frame = tidy().assign(age=30, mood=np.arange(30) % 7, group=["x", "y", "x"][0], rt=1)
    path_like = choices_from_frame(frame, FOUR)
    assert set(path_like.conditions) == {"age", "group", "rt"}
    assert path_like.table is not None
    assert path_like.table.mood.tolist() == (np.arange(30) % 7).tolist()


def test_columns_are_renamed_as_the_task_file_says(tmp_path: Path) -> None:
    frame = tidy().rename(columns={"participant": "subj", "arm": "choice"})
    task = '[task]\narms = 4\ncolumns = { participant = "subj", arm = "choice" }\n'
    same(read_choices(written(tmp_path, frame, task)), choices_from_frame(tidy(), FOUR))


def test_without_a_task_file_arms_are_inferred_and_the_check_says_so(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, tidy()))
    assert report.ok
    assert report.choices is not None
    assert report.choices.layout.n_arms == 4
    assert "4 were inferred" in " ".join(report.notes)
    assert "inferred" in report.choices.note
    squares = tidy().drop(columns="arm").assign(x=[0, 1, 2, 0, 1] * 6, y=[0, 4, 0, 1, 0] * 6)
    report = check_choices(written(tmp_path, squares))
    assert report.choices is not None
    assert report.choices.layout.shape == (3, 5)
    assert "3 x 5 was inferred" in " ".join(report.notes)


def test_if_nobody_chose_arm_0_and_nothing_is_known_the_check_asks_whether_arms_count_from_1(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, tidy().assign(arm=tidy().arm + 1)))
    assert report.ok
    assert any("first_arm = 1" in str(warning) for warning in report.warnings)
    assert not check_choices(written(tmp_path, tidy())).warnings


# The task file --------------------------------------------------------------------------------------------------------


def test_a_landscape_gives_grid_noise_and_means() -> None:
    choices = choices_from_frame(tidy(), {"landscape": "B"})
    assert choices.layout.shape == (10, 10)
    assert choices.layout.noise_var == 10
    assert choices.means is not None
    np.testing.assert_array_equal(choices.means, np.tile(xl.landscape("B").means, (6, 1)))
    assert "reconstructed" in choices.note


@pytest.mark.parametrize(
    "task",
    [
        "means = [[1, 2], [3, 4]]",
        "means = [1, 2, 3, 4]\ngrid = [2, 2]",
        'means = "means.csv"\ngrid = [2, 2]',
        "grid = [2, 2]\nmeans = [[1, 2], [3, 4]]",
    ],
)
def test_means_for_every_block_in_any_form(tmp_path: Path, task: str) -> None:
    (tmp_path / "means.csv").write_text("1,2\n3,4\n")
    choices = read_choices(written(tmp_path, tidy(), f"[task]\n{task}\n"))
    assert choices.means is not None
    assert choices.means.tolist() == [[1, 2, 3, 4]] * 6
    assert choices.layout.shape == (2, 2)


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_means_by_the_value_of_a_column(tmp_path: Path, form: str) -> None:
    (tmp_path / "m.csv").write_text("land,0,1,2,3\nA,1,2,3,4\nB,4,3,2,1\n")
    (tmp_path / "m.json").write_text('{"A": [1, 2, 3, 4], "B": [[4, 3, 2, 1]]}'.replace("[[", "[").replace("]]", "]"))
    means = {
        "table": "[task.means]\nA = [1, 2, 3, 4]\nB = [4, 3, 2, 1]",
        "csv": 'means = "m.csv"',
        "json": 'means = "m.json"',
    }
    frame = tidy().assign(land=np.where(tidy().block == 1, "A", "B"))
    choices = read_choices(written(tmp_path, frame, f'[task]\narms = 4\nmeans_by = "land"\n{means[form]}\n'))
    assert choices.means is not None
    assert choices.means.tolist() == [[1, 2, 3, 4], [4, 3, 2, 1]] * 3


def test_coordinates_from_a_file_with_a_header_and_arms_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("arm,x,y\n2,5,6\n1,3,4\n3,7,8\n0,1,2\n")
    choices = read_choices(written(tmp_path, tidy(), '[task]\ncoordinates = "places.csv"\n'))
    assert choices.layout.places is not None
    assert choices.layout.places.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_start_for_everyone_or_by_a_column() -> None:
    assert choices_from_frame(tidy(), {"arms": 4, "start": 2}).start.tolist() == [2] * 6  # type: ignore[union-attr]
    frame = tidy().assign(begin=np.where(tidy().block == 1, 3.0, np.nan))
    choices = choices_from_frame(frame, {"arms": 4, "start": "begin"})
    assert choices.start is not None
    assert choices.start.tolist() == [3, NOWHERE] * 3
    assert "begin" not in choices.conditions


TASK_FILES = {
    "unknown key": ("[task]\nhorizn = 5", "'horizn'", "'horizon'"),
    "unknown table": ("[tsk]\narms = 4", "'tsk'", "'task'"),
    "key outside the table": ("arms = 4", "arms", "[task]"),
    "no table": ("", "[task]"),
    "not TOML": ("[task\narms = 4", "TOML"),
    "two layouts": ("[task]\narms = 4\ngrid = [2, 2]", "one of", "grid and arms"),
    "grid of one side": ("[task]\ngrid = [4]", "[width, height]", "[4]"),
    "grid of half a square": ("[task]\ngrid = [1.5, 2]", "whole number", "1.5"),
    "no arms": ("[task]\narms = 0", "at least 1", "0"),
    "too few means": ("[task]\narms = 4\nmeans = [1, 2]", "4 arms", "(2,)"),
    "means of another grid": ("[task]\ngrid = [2, 2]\nmeans = [[1, 2, 3, 4]]", "2 x 2", "1 x 4"),
    "means without a column": ("[task]\narms = 4\n[task.means]\nA = [1, 2, 3, 4]", "means_by"),
    "column without means": ('[task]\narms = 4\nmeans_by = "land"', "means"),
    "means of a landscape": ('[task]\nlandscape = "A"\nmeans = [1]', "own means"),
    "unknown landscape": ('[task]\nlandscape = "C"', "landscape", "'C'"),
    "missing file of means": ('[task]\narms = 4\nmeans = "nowhere.csv"', "nowhere.csv", "cannot read"),
    "missing file of places": ('[task]\ncoordinates = "nowhere.csv"', "nowhere.csv", "cannot read"),
    "negative noise": ("[task]\narms = 4\nnoise_var = -1", "noise_var", "at least 0", "-1"),
    "text for noise": ('[task]\narms = 4\nnoise_var = "much"', "noise_var", "number", "'much'"),
    "both kinds of noise": ("[task]\narms = 4\nnoise_var = 1\ninteger_noise = 5", "noise_var", "integer_noise"),
    "horizon of zero": ("[task]\narms = 4\nhorizon = 0", "horizon", "at least 1"),
    "unknown column": ('[task]\narms = 4\ncolumns = { participent = "s" }', "'participent'", "'participant'"),
    "start out of range": ("[task]\narms = 4\nstart = 4", "start", "0 to 3", "got 4"),
    "name is no text": ("[task]\narms = 4\nname = 3", "name", "text"),
}


@pytest.mark.parametrize(("task", "words"), [(case[0], case[1:]) for case in TASK_FILES.values()], ids=list(TASK_FILES))
def test_a_wrong_task_file_is_one_sentence(tmp_path: Path, task: str, words: tuple[str, ...]) -> None:
    path = written(tmp_path, tidy())
    path.with_suffix(".toml").write_text(task)
    report = check_choices(path)
    assert len(report.problems) == 1
    for word in (*words, "choices.toml"):
        assert word in report.message()
    with pytest.raises(xl.InputError):
        read_choices(path)


def test_a_task_file_of_simulate_is_read_and_what_only_simulate_needs_is_noted(tmp_path: Path) -> None:
    task = '[agent]\nname = "ucb1"\n[task]\nmeans = [0, 1, 2, 3]\nlayout = "line"\ninteger_noise = 5\ncosts = "distance"\n'
    report = check_choices(written(tmp_path, tidy(), task))
    assert report.choices is not None
    assert report.choices.layout.noise_var == 10
    assert report.choices.layout.places is not None
    assert report.choices.layout.places.ravel().tolist() == [0, 1, 2, 3]
    assert report.notes == ["Settings that only simulate needs were passed over: costs."]


def test_a_task_that_can_be_simulated_says_what_the_arms_are() -> None:
    choices = choices_from_frame(tidy(), xl.on_graph(xl.grid([[1, 2], [3, 4]], noise_var=4), start=1))
    assert (choices.layout.shape, choices.layout.noise_var) == ((2, 2), 4)
    assert choices.means is not None
    assert choices.means[0].tolist() == [1, 2, 3, 4]
    assert choices.start is not None
    assert choices.start.tolist() == [1] * 6
    with pytest.raises(xl.InputError, match="task must be"):
        choices_from_frame(tidy(), 4)  # type: ignore[arg-type]
    with pytest.raises(xl.InputError, match="DataFrame"):
        choices_from_frame([1, 2])  # type: ignore[arg-type]


def test_a_column_that_another_one_stands_in_for_is_a_problem() -> None:
    found = problems(tidy().assign(choice=0), {"arms": 4, "columns": {"arm": "choice"}})
    assert "expected one column for arm, got 'choice'" in str(found[0])


# What is wrong --------------------------------------------------------------------------------------------------------


def change(**values: dict[int, object]) -> pd.DataFrame:
    """Rows that are fine, but for these: {column: {index: value}}."""
    frame = tidy().astype(object)
    for column, cells in values.items():
        if column not in frame.columns:
            frame[column] = None
        for index, value in cells.items():
            frame.loc[index, column] = value
    return frame


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
        ("block", "round"),
    ],
)
def test_a_missing_column_is_named_with_a_near_one(tmp_path: Path, column: str, other: str) -> None:
    report = check_choices(written(tmp_path, tidy().rename(columns={column: other})), FOUR)
    assert [problem.column for problem in report.problems] == [column]
    assert f'{column} = "{other}"' in report.message()


def test_with_a_missing_column_the_others_are_checked_all_the_same(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, change(reward={3: "lots"}, arm={4: 8}).drop(columns=["trial", "block"])), FOUR)
    assert {problem.column for problem in report.problems} == {"trial", "block", "reward", "arm"}


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


# Files as they come ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty file"),
        (b"\n\n  \n", "empty file"),
        (b"participant,block,trial,arm,reward\n", "header and nothing below"),
        (b"PK\x03\x04rest", "spreadsheet"),
        ("participant,block\nM\u00fcller,1".encode("latin-1"), "row 2: expected text in UTF-8, got the byte 0xfc"),
        ("participant,block".encode("utf-16-le"), "UTF-16"),
    ],
)
def test_a_file_that_is_no_table_is_one_clear_sentence(tmp_path: Path, data: bytes, words: str) -> None:
    report = check_choices(written(tmp_path, data))
    assert len(report.problems) == 1
    assert words in report.message()
    assert "choices.csv" in report.message()


def test_a_missing_file_a_folder_and_broken_parquet_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(xl.InputError, match="cannot read the file"):
        read_choices(tmp_path / "none.csv")
    with pytest.raises(xl.InputError, match="folder"):
        read_choices(tmp_path)
    with pytest.raises(xl.InputError, match="Parquet"):
        read_choices(written(tmp_path, b"PAR1 but no more", name="choices.parquet"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_encodings_separators_and_line_ends_that_tell_themselves_are_read(
    tmp_path: Path, encoding: str, separator: str, ending: str
) -> None:
    frame = tidy().assign(participant=tidy().participant + "\u00e9")
    text = frame.to_csv(index=False, sep=separator).replace("\n", ending)
    report = check_choices(written(tmp_path, text.encode(encoding)), FOUR)
    assert report.choices is not None, report.message()
    same(report.choices, choices_from_frame(frame, FOUR))
    notes = " ".join(report.notes)
    assert ("UTF-16" in notes) == (encoding == "utf-16")
    assert ("separated by" in notes) == (separator != ",")


def test_blank_rows_are_passed_over_and_rows_keep_their_numbers(tmp_path: Path) -> None:
    lines = change(arm={9: 8}).to_csv(index=False).splitlines()
    lines[3:3] = ["", ",,,,"]
    report = check_choices(written(tmp_path, "\n".join([*lines, "", ""])), FOUR)
    assert [problem.row for problem in report.problems] == [13]
    assert "Blank rows were passed over: 3 (rows 4, 5, " in " ".join(report.notes)


def test_rows_with_too_many_or_too_few_values_are_reported_with_the_others(tmp_path: Path) -> None:
    lines = change(arm={9: 8}).to_csv(index=False).splitlines()
    lines[4] += ",5"
    lines[6] = "p0,1"
    report = check_choices(written(tmp_path, "\n".join(lines)), FOUR)
    ragged = next(problem for problem in report.problems if not problem.column)
    assert (ragged.row, ragged.rows, ragged.n) == (5, (5, 7), 2)
    assert "expected 5 values, as in the header, got 6" in str(ragged)
    assert next(problem for problem in report.problems if problem.column == "arm").row == 11


def test_rows_of_parquet_count_from_1_and_those_of_a_table_from_0(tmp_path: Path) -> None:
    frame = tidy()
    frame.loc[3, "arm"] = 7
    frame.to_parquet(tmp_path / "choices.parquet")
    assert check_choices(tmp_path / "choices.parquet", FOUR).problems[0].row == 4
    assert problems(frame, FOUR)[0].row == 3


def test_parquet_with_categories_lists_and_missing_values(tmp_path: Path) -> None:
    frame = tidy(n_people=2, n_blocks=1, n_trials=3)
    frame["arm"] = pd.array([0, 1, None, 2, 3, 0], "Int64")
    frame["reward"] = [1.0, 2.0, np.nan, 1.0, 2.0, 3.0]
    frame = frame.assign(participant=frame.participant.astype("category"), missed=[False, False, True, False, False, False])
    frame["available"] = [[0, 1], [1, 2], [], [2], [3, 1], [0]]
    frame.to_parquet(tmp_path / "choices.parquet")
    choices = read_choices(tmp_path / "choices.parquet", FOUR)
    assert choices.participants == ("p0", "p1")
    assert choices.arm.tolist() == [[0, 1, NOWHERE], [2, 3, 0]]
    assert choices.available is not None
    assert choices.available.sum(2).tolist() == [[2, 2, 4], [1, 2, 1]]


def test_participants_that_are_whole_floats_are_labelled_as_whole_numbers() -> None:
    assert choices_from_frame(tidy().assign(participant=np.repeat([1.0, 2.0, 3.0], 10)), FOUR).participants == (
        "1",
        "2",
        "3",
    )


# Worth a look ---------------------------------------------------------------------------------------------------------


def test_a_participant_with_one_trial_is_left_out_listed_and_counted(tmp_path: Path) -> None:
    frame = pd.concat([tidy(), pd.DataFrame([["late", 1, 1, 0, 1.0]], columns=tidy().columns)])
    report = check_choices(written(tmp_path, frame), FOUR)
    assert report.ok
    assert [(e.participant, e.n_trials) for e in report.exclusions] == [("late", 1)]
    assert report.counts["excluded"] == 1
    assert report.counts["participants"] == 4
    assert report.choices is not None
    assert report.choices.participants == ("p0", "p1", "p2")
    assert report.choices.exclusions == report.exclusions
    assert report.choices.table is not None
    assert len(report.choices.table) == 30
    assert any("late" in str(warning) for warning in report.warnings)


def test_a_participant_who_never_chose_is_left_out() -> None:
    frame = tidy().assign(missed=(tidy().participant == "p1").astype(int))
    assert [e.participant for e in choices_from_frame(frame, FOUR).exclusions] == ["p1"]


def test_if_everyone_would_be_left_out_that_is_a_problem() -> None:
    assert "nothing to fit" in str(problems(tidy(n_people=2, n_blocks=1, n_trials=1), FOUR)[0])


def test_warnings_do_not_stop_reading(tmp_path: Path) -> None:
    frame = tidy().drop(index=[28, 29])
    frame.loc[frame.participant == "p0", "arm"] = 2
    frame["reaction_time_ms"] = 0.8
    report = check_choices(written(tmp_path, frame), {"arms": 4, "horizon": 5})
    assert report.choices is not None
    told = [str(warning) for warning in report.warnings]
    assert any("expected 5 trials in a block (the horizon), got 3 for participant p2, block 2" in text for text in told)
    assert any("arm 2 in every trial" in text and "p0" in text for text in told)
    assert any("in seconds" in text for text in told)
    assert len(told) == 3


def test_blocks_that_begin_differently_are_a_warning() -> None:
    frame = tidy().drop(index=0)
    frame["trial"] -= 1
    looked = check_frame(frame)
    assert looked.ok
    assert "Is the first trial missing" in str(looked.warnings[0])


def check_frame(frame: pd.DataFrame) -> CheckReport:
    from explorelab.people.raw import raw_of_frame
    from explorelab.people.reading import _report
    from explorelab.people.schema import look_at
    from explorelab.people.task_file import task_of

    return _report(look_at(raw_of_frame(frame), task_of(FOUR)), "table")


def test_ten_thousand_people_are_checked_in_seconds(tmp_path: Path) -> None:
    frame = tidy(n_people=10_000, n_blocks=2, n_trials=90, n_arms=100).assign(missed=0, group="a")
    path = written(tmp_path, frame)
    began = time.perf_counter()
    report = check_choices(path, {"grid": [10, 10], "horizon": 90})
    took = time.perf_counter() - began
    assert report.ok
    assert report.counts["trials"] == 1_800_000
    assert took < 20, f"{took:.1f} s"


# Written and read again -----------------------------------------------------------------------------------------------

LABELS = (
    st.text("abcxyz 0123456789_-\u00e9\u4e2d\"',;#", min_size=1, max_size=8)
    .map(str.strip)
    .filter(
        lambda text: text != "" and not text.replace(".", "").lstrip("-").isdigit() and text.lower() not in ("true", "false")
    )
)
FLOATS = st.floats(-1e12, 1e12, allow_subnormal=False)


@st.composite
def any_choices(draw: st.DrawFn) -> Choices:
    """Choices with everything that a file can say, each present or not."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_people, n_blocks, n_trials, n_arms = (draw(st.integers(low, 4)) for low in (1, 1, 3, 2))
    n = n_people * n_blocks
    people = draw(st.lists(LABELS, min_size=n_people, max_size=n_people, unique=True))
    length = np.where(np.arange(n) % n_blocks == 0, n_trials, chance.integers(1, n_trials + 1, n))
    present = np.arange(n_trials) < length[:, None]
    observed = present & ((np.arange(n_trials) < 2) | (chance.random((n, n_trials)) < draw(st.sampled_from([0.5, 1.0]))))
    scored = observed & ((np.arange(n_trials) < 2) | (chance.random((n, n_trials)) < draw(st.sampled_from([0.5, 1.0]))))
    arm = np.where(observed, chance.integers(0, n_arms, (n, n_trials)), NOWHERE).astype(np.int32)
    reward = np.where(
        observed, np.array(draw(st.lists(FLOATS, min_size=n, max_size=n)))[:, None] + chance.normal(size=arm.shape), 0
    )
    available = None
    if draw(st.booleans()):
        available = (chance.random((n, n_trials, n_arms)) < 0.5) | (np.arange(n_arms) == arm[..., None])
        available |= ~present[..., None]
        available |= ~available.any(2, keepdims=True)
        available = None if available.all() else available
    kind = draw(st.sampled_from(["none", "places", "line"]))
    places = {"none": None, "places": chance.normal(size=(n_arms, 2)), "line": np.arange(n_arms)[:, None] * 1.0}[kind]
    layout = Layout(n_arms, places, draw(st.sampled_from([None, 0.1, 2.0])), name=draw(LABELS))
    means = {"no": None, "one": np.tile(chance.normal(size=n_arms), (n, 1)), "each": chance.normal(size=(n, n_arms))}
    start = {"no": None, "one": np.full(n, 1), "each": np.r_[1, chance.integers(-1, n_arms, n - 1)]}
    chosen = draw(st.sampled_from(list(means)))
    return Choices(
        layout,
        tuple(people),
        np.repeat(np.arange(n_people), n_blocks),
        np.tile(np.arange(1, n_blocks + 1).astype(str), n_people),
        arm,
        reward,
        observed,
        scored,
        present,
        available,
        means[chosen],
        start[draw(st.sampled_from(list(start)))],
        {"landscape": np.arange(n), "age": chance.normal(size=n), "group": np.array(draw(LABELS)).repeat(n).astype(object)},
        note=draw(st.sampled_from(["", 'a "note"\\ with\nlines \x7f'])),
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(choices=any_choices(), ending=st.sampled_from(["csv", "parquet"]))
def test_what_is_written_is_read_again(tmp_path: Path, choices: Choices, ending: str) -> None:
    path = write_choices(choices, tmp_path / f"choices.{ending}")
    again = read_choices(path)
    same(again, choices)
    same(read_choices(write_choices(again, tmp_path / f"more.{ending}")), choices)


@settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(data=st.data())
def test_no_file_however_spoilt_ends_in_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    frame = tidy(n_people=2, n_blocks=1).assign(missed=0, available="", x=0, y=1, reaction_time_ms=500, land="A")
    text = frame.to_csv(index=False)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.text(',;"\n\r\t 0919.-eE\x00inf\u00e9_', max_size=4)) + text[at + cut :]
    task = data.draw(
        st.sampled_from([None, FOUR, {"grid": [2, 2]}, {"arms": 4, "means_by": "land", "means": {"A": [1, 2, 3, 4]}}])
    )
    report = check_choices(written(tmp_path, text), task)
    assert report.ok == (report.choices is not None)
    assert all(str(problem) for problem in report.problems)


def test_trial_numbers_reaction_times_and_why_a_trial_is_not_scored_survive_the_round_trip(tmp_path: Path) -> None:
    frame = tidy().assign(
        reaction_time_ms=np.arange(30) + 0.5, missed=[0, 0, 1, 0, 0] * 6, forced=[1, 0, 0, 0, 0] * 6, mood=np.arange(30)
    )
    frame["trial"] -= 1
    first = choices_from_frame(frame, FOUR)
    again = read_choices(write_choices(first, tmp_path / "choices.csv"))
    same(first, again)
    assert again.table is not None
    for column in ("trial", "missed", "forced", "reaction_time_ms", "mood"):
        assert again.table[column].tolist() == frame[column].tolist()


def test_a_table_is_checked_before_it_is_written(tmp_path: Path) -> None:
    write_choices(tidy(), tmp_path / "choices.csv", FOUR)
    same(read_choices(tmp_path / "choices.csv"), choices_from_frame(tidy(), FOUR))
    with pytest.raises(xl.InputError, match="expected arm to be 0 to 1"):
        write_choices(tidy(), tmp_path / "bad.csv", {"arms": 2})
    assert not (tmp_path / "bad.csv").exists()
    with pytest.raises(xl.InputError, match=r"\.csv or \.parquet"):
        write_choices(tidy(), tmp_path / "choices.xlsx", FOUR)


def test_who_was_left_out_is_said_in_the_task_file(tmp_path: Path) -> None:
    frame = pd.concat([tidy(), pd.DataFrame([["late", 1, 1, 0, 1.0]], columns=tidy().columns)])
    write_choices(frame, tmp_path / "choices.csv", FOUR)
    assert "# Left out: participant late" in (tmp_path / "choices.toml").read_text()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_simulate_makes_is_read_again(tmp_path: Path, ending: str) -> None:
    task = xl.on_graph(xl.landscape("B"), start=12)
    agent = xl.stochastic_ucl(prior_mean=30, prior_var=1000, length_scale=3, temperature=4)
    runs = xl.simulate(agent, task, 12, replicates=5, seed=3, keep="trajectories", sweep={"temperature": [1.0, 4.0]})
    choices = choices_from_runs(runs, task, prefix="robot ", first=7)
    assert choices.participants == tuple(f"robot {i}" for i in range(7, 17))
    np.testing.assert_array_equal(choices.arm[5:], runs.choice.sel(temperature=4.0).values)
    np.testing.assert_array_equal(choices.reward[:5], runs.reward.sel(temperature=1.0).values.astype(float))
    assert choices.conditions["temperature"].tolist() == [1.0] * 5 + [4.0] * 5
    assert choices.layout.shape == (10, 10)
    again = read_choices(write_choices(choices, tmp_path / f"choices.{ending}"))
    same(again, choices)
    assert again.start is not None
    assert again.start.tolist() == [12] * 10


def test_runs_without_trajectories_and_the_wrong_task_are_refused() -> None:
    runs = xl.simulate(xl.ucb1(), xl.bandit([0, 1, 2]), 5, replicates=2, keep="statistics")
    with pytest.raises(xl.InputError, match="trajectories"):
        choices_from_runs(runs, xl.bandit([0, 1, 2]))
    runs = xl.simulate(xl.ucb1(), xl.bandit([0, 1, 2]), 5, replicates=2, keep="trajectories")
    with pytest.raises(xl.InputError, match="task that was simulated"):
        choices_from_runs(runs, xl.bandit([0, 1]))


def test_a_choice_without_its_reward_cannot_be_written(tmp_path: Path) -> None:
    choices = choices_from_frame(tidy(), FOUR)
    choices.observed[0, 1] = False
    with pytest.raises(xl.InputError, match="scored but not observed"):
        write_choices(choices, tmp_path / "choices.csv")


# The worked example ---------------------------------------------------------------------------------------------------

needs_wu2018 = pytest.mark.skipif(
    not WU2018.is_dir(), reason="the choices of Wu et al. (2018) are not beside the repository"
)


@needs_wu2018
def test_wu2018_has_everyone_and_everything() -> None:
    choices = load_wu2018(WU2018)
    assert (choices.n_participants, choices.n_rows) == (80, 640)
    assert choices.participants == tuple(str(i) for i in range(1, 81))
    assert choices.scored.sum() == 19_200
    assert (choices.observed & ~choices.scored).sum() == 640
    assert (choices.observed & ~choices.scored)[:, 0].all()
    assert choices.layout.shape == (11, 11)
    assert choices.layout.noise_var == 1
    assert {"scenario", "kernel", "round", "horizon", "env"} <= set(choices.conditions)
    assert not choices.exclusions
    np.testing.assert_array_equal(choices.scored.sum(1), choices.conditions["horizon"])


@needs_wu2018
def test_wu2018_rewards_lie_about_the_mean_of_their_square() -> None:
    choices = load_wu2018(WU2018)
    assert choices.means is not None
    means = np.take_along_axis(choices.means, np.maximum(choices.arm, 0), axis=1)
    apart = (choices.reward - means)[choices.observed]
    assert np.abs(apart).max() < 6
    assert abs(apart.mean()) < 4 * apart.std() / np.sqrt(apart.size)
    exchanged = choices.means.reshape(-1, 11, 11).transpose(0, 2, 1).reshape(-1, 121)
    wrong = (choices.reward - np.take_along_axis(exchanged, np.maximum(choices.arm, 0), axis=1))[choices.observed]
    assert np.abs(wrong).max() > 50


@needs_wu2018
def test_wu2018_survives_the_round_trip(tmp_path: Path) -> None:
    choices = load_wu2018(WU2018)
    same(read_choices(write_choices(choices, tmp_path / "choices.csv")), choices)


def test_wu2018_from_the_wrong_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(xl.InputError, match="cannot read the choices"):
        load_wu2018(tmp_path)
    written(tmp_path, tidy())
    with pytest.raises(xl.InputError, match="Wu et al"):
        load_wu2018(tmp_path)


# The command line -----------------------------------------------------------------------------------------------------


def explorelab(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from explorelab.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_check_says_what_was_found_and_ends_well(tmp_path: Path) -> None:
    path = written(tmp_path, tidy(), "[task]\narms = 4\nhorizon = 6\n")
    done = explorelab("check", str(path))
    assert done.returncode == 0, done.stderr
    assert "3 participants, 6 blocks, 30 trials" in done.stdout
    assert "warning: row 2: expected 6 trials in a block (the horizon), got 5" in done.stdout


def test_check_tells_all_problems_and_ends_with_status_2(tmp_path: Path) -> None:
    path = written(tmp_path, change(arm={3: 9}, reward={4: "lots [of] it"}))
    (tmp_path / "other.toml").write_text("[task]\narms = 4\n")
    done = explorelab("check", str(path), "--task", str(tmp_path / "other.toml"))
    assert done.returncode == 2
    assert "problem: row 5, column arm: expected arm to be 0 to 3, got 9." in done.stdout
    assert "problem: row 6, column reward: expected a number, got 'lots [of] it'." in done.stdout
    assert "Traceback" not in done.stderr


def test_check_as_json(tmp_path: Path) -> None:
    done = explorelab("check", str(written(tmp_path, change(arm={3: 9.5}))), "--json")
    assert done.returncode == 2
    told = json.loads(done.stdout)
    assert not told["ok"]
    assert told["problems"][0] | {"message": "", "cause": ""} == {
        "row": 5,
        "column": "arm",
        "value": "9.5",
        "message": "",
        "cause": "",
        "count": 1,
        "counted": "rows",
        "rows": [5],
    }


def test_check_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = explorelab("check", str(tmp_path / "none.csv"))
    assert done.returncode == 2
    assert "cannot read the file" in done.stdout
    assert "Traceback" not in done.stderr
