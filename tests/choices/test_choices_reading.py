"""What a file of people's choices says: arms, blocks, flags and conditions, and files as they come."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import explorelab as xl
from explorelab.choices.checks.schema import problems
from explorelab.choices.reading import check_choices, choices_from_frame, read_choices
from explorelab.choices.table import NOWHERE
from tests.support.choice_files import FOUR, change, same, tidy, written

pytestmark = pytest.mark.quick

# What is read ----------------------------------------------------------------------------------------------------------


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


# Files as they come ----------------------------------------------------------------------------------------------------


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
    assert "Blank rows were skipped: 3 (rows 4, 5, " in " ".join(report.notes)


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
