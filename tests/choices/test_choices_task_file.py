"""The task file beside the choices: grid, means, coordinates, starts; what is wrong in it is one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import explorelab as xl
from explorelab.choices.checks.schema import problems
from explorelab.choices.reading import check_choices, choices_from_frame, read_choices
from explorelab.choices.table import NOWHERE
from tests.support.choice_files import tidy, written

pytestmark = pytest.mark.quick


def test_a_landscape_gives_grid_noise_and_means() -> None:
    choices = choices_from_frame(tidy(), {"landscape": "B"})
    assert choices.layout.shape == (10, 10)
    assert choices.layout.noise_var == 10
    assert choices.means is not None
    np.testing.assert_array_equal(choices.means, np.tile(xl.tasks.landscape("B").means, (6, 1)))
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
    "means of a landscape": ('[task]\nlandscape = "A"\nmeans = [1]', "got landscape and means"),
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
    assert report.notes == ["Settings that only simulate needs were ignored: costs."]


def test_a_task_that_can_be_simulated_says_what_the_arms_are() -> None:
    choices = choices_from_frame(tidy(), xl.tasks.on_graph(xl.tasks.grid([[1, 2], [3, 4]], noise_var=4), start=1))
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
