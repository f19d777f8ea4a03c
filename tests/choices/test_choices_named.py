"""Files as people have them: arms by name, no column block, columns under other names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import explorelab as xl
from explorelab.choices.checks.column_names import ALSO_CALLED
from explorelab.choices.reading import check_choices, choices_from_frame, read_choices
from explorelab.choices.writing import frame_of, write_choices
from tests.support.choice_files import same, tidy, written

NAMES = ["red", "blue", "7", "dark green"]
NAMED = f"[task]\narms = {NAMES}\n".replace("'", '"')


def named() -> pd.DataFrame:
    """Rows that are fine, with arms by name, some of them not on offer."""
    frame = tidy()
    on_offer = ["", *(f"{NAMES[arm]}, dark green, red" for arm in frame.arm[1:])]
    return frame.assign(arm=[NAMES[arm] for arm in frame.arm], available=on_offer)


def test_arms_by_name_are_read_as_those_by_number_are(tmp_path: Path) -> None:
    choices = read_choices(written(tmp_path, named(), NAMED))
    plain = choices_from_frame(tidy(), {"arms": 4})
    np.testing.assert_array_equal(choices.arm, plain.arm)
    assert choices.layout.arm_names == tuple(NAMES)
    assert choices.available is not None
    assert choices.available[0, 0].all()
    assert choices.available[0, 1].sum() < 4


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("start", ["", 'start = "blue"\n', 'start = "door"\n'])
def test_named_arms_are_written_by_name_and_read_again(tmp_path: Path, ending: str, start: str) -> None:
    frame = named().assign(missed=[1, *[0] * 29]).assign(door=["red"] * 10 + [""] * 10 + ["dark green"] * 10)
    frame.loc[0, ["arm", "reward"]] = None
    frame = frame if "door" in start else frame.drop(columns="door")
    choices = read_choices(written(tmp_path, frame, NAMED + start))
    path = write_choices(choices, tmp_path / f"again.{ending}")
    assert set(frame_of(choices).arm) <= {*NAMES, ""}
    assert '"dark green"' in path.with_suffix(".toml").read_text()
    again = read_choices(path)
    same(again, choices)
    assert again.layout.arm_names == tuple(NAMES)


def test_names_go_with_places_and_means(tmp_path: Path) -> None:
    task = '[task]\narms = ["a", "b", "c", "d"]\ngrid = [2, 2]\nmeans = [[1, 2], [3, 4]]\n'
    frame = tidy().assign(arm=[list("abcd")[arm] for arm in tidy().arm])
    choices = read_choices(written(tmp_path, frame, task))
    assert choices.layout.shape == (2, 2)
    same(read_choices(write_choices(choices, tmp_path / "more.csv")), choices)


def test_an_unknown_name_is_named_with_those_that_are_known(tmp_path: Path) -> None:
    frame = named()
    frame.loc[3, "arm"] = "Red"
    frame.loc[5, "available"] = "red, purple"
    report = check_choices(written(tmp_path, frame, NAMED))
    assert "expected one of the arms red, blue, 7, dark green, got 'Red'" in str(report.problems[0])
    assert "Is it 'red'?" in str(report.problems[0])
    assert "purple" in str(report.problems[1])


def test_somebody_who_chose_one_arm_throughout_is_told_of_by_its_name(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, named().assign(arm="blue", available=""), NAMED))
    assert any("chose one arm" in str(w) or "chose arm blue" in str(w) for w in report.warnings)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("arms = []", "got an empty list"),
        ('arms = ["a", "a"]', "each name once, got 'a' 2 times"),
        ('arms = ["a", 2]', "without commas"),
        ('arms = ["a", "b, c"]', "without commas"),
        ('arms = ["a", ""]', "without commas"),
        ('arms = ["a", "b"]\nfirst_arm = 1', "leave it out where arms have names"),
        ('arms = ["a", "b"]\nmeans = [1, 2, 3]', "a name for each of the 3 arms, got 2"),
        ('arms = ["a", "b"]\ngrid = [2, 2]', "a name for each of the 4 arms, got 2"),
        ('arms = "red"', "arms must be a whole number"),
    ],
)
def test_names_that_are_none_are_an_error(tmp_path: Path, setting: str, says: str) -> None:
    report = check_choices(written(tmp_path, named(), f"[task]\n{setting}\n"))
    assert says in report.message()


def test_a_fit_and_what_it_thought_speak_of_arms_by_name(tmp_path: Path) -> None:
    from explorelab.recovery.latent import arm_table, latent_variables, trial_table

    frame = named().drop(columns="available")
    choices = read_choices(written(tmp_path, frame, NAMED))
    fit = xl.fit(choices, "delta-rule", "map", n_starts=1)
    latent = latent_variables(choices, "delta-rule", fit)
    assert trial_table(latent).arm.tolist() == frame.arm.tolist()
    assert set(arm_table(latent).arm) == set(NAMES)
    assert arm_table(latent).query("chosen").arm.tolist() == frame.arm.tolist()


# block


def test_without_a_column_block_everyone_has_one_block(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, tidy(n_blocks=1).drop(columns="block")), {"arms": 4})
    assert report.ok, report.message()
    assert any("no column block" in note for note in report.notes)
    same(report.choices, choices_from_frame(tidy(n_blocks=1), {"arms": 4}))


def test_trials_that_come_twice_without_a_block_point_to_the_column_that_may_be_it(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, tidy().rename(columns={"block": "Game"})), {"arms": 4})
    assert 'set columns = { block = "Game" } in the task file' in report.message()
    assert "Add a column block" in check_choices(written(tmp_path, tidy().drop(columns="block")), {"arms": 4}).message()


# names of columns


@pytest.mark.parametrize(
    ("column", "other"),
    [
        *((column, other) for column in ("participant", "trial", "arm", "reward") for other in ALSO_CALLED[column]),
        *(("participant", other) for other in ("subjID", "Subject.ID", "PARTICIPANT_ID", "Prolific PID", "partcipant")),
        *(("arm", other) for other in ("choice", "Chosen_Arm")),
    ],
)
def test_a_column_under_another_name_is_suggested(column: str, other: str) -> None:
    frame = tidy(n_blocks=1).rename(columns={column: other})
    with pytest.raises(xl.InputError) as error:
        choices_from_frame(frame, {"arms": 4})
    assert f'set columns = {{ {column} = "{other}" }}' in str(error.value)
    assert choices_from_frame(frame, {"arms": 4, "columns": {column: other}}).n_participants == 3


@pytest.mark.parametrize("about", ["[task]\narms = 4\n", None])
def test_names_that_nobody_announced_are_asked_for_with_the_line_to_write(tmp_path: Path, about: str | None) -> None:
    frame = tidy().assign(arm=[["red", "blue"][arm % 2] for arm in tidy().arm])
    path = written(tmp_path, frame, about or "[task]\n")
    (problem,) = check_choices(path).problems
    assert problem.cause == 'Do arms have names? Then list them in the task file: arms = ["blue", "red"].'


def test_one_word_among_numbers_is_a_slip(tmp_path: Path) -> None:
    frame = tidy().astype({"arm": object})
    frame.loc[0, "arm"] = "red"
    (problem,) = check_choices(written(tmp_path, frame, "[task]\narms = 4\n")).problems
    assert not problem.cause


def test_a_question_ends_in_one_mark(tmp_path: Path) -> None:
    report = check_choices(written(tmp_path, tidy(), "[task]\narms = 4\nhorizn = 5\n"))
    assert str(report.problems[0]).endswith("did you mean 'horizon'?")
