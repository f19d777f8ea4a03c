"""Means that changed from trial to trial: given beside the choices, read, checked, used for regret, and written again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import explorelab as xl
from explorelab.regret.observed import observed_regret

pytestmark = pytest.mark.quick

ROWS = "participant,block,trial,arm,reward\na,1,1,0,5\na,1,2,1,6\na,1,3,0,4\nb,1,1,1,3\nb,1,2,1,7\n"
OWN = "participant,block,trial,left,right\na,1,1,5,3\na,1,2,4,6\nb,1,1,2,3\nb,1,2,8,7\na,1,3,5,9\n"
SHARED = "trial,left,right\n1,5,3\n2,4,6\n3,5,9\n"


def read(folder: Path, means: str, by: str, more: str = "") -> xl.Choices:
    (folder / "choices.csv").write_text(ROWS)
    (folder / "means.csv").write_text(means)
    (folder / "choices.toml").write_text(f'[task]\narms = 2\nnoise_var = 1\nmeans_by = {by}\nmeans = "means.csv"\n{more}')
    return xl.read_choices(folder / "choices.csv")


def test_each_block_has_means_of_its_own(tmp_path: Path) -> None:
    choices = read(tmp_path, OWN, '["participant", "block", "trial"]')
    assert choices.means_change
    np.testing.assert_array_equal(choices.means[0], [[5, 3], [4, 6], [5, 9]])
    np.testing.assert_array_equal(choices.means[1], [[2, 3], [8, 7], [np.nan, np.nan]])
    # The best of each moment, minus the rewards.
    np.testing.assert_allclose(observed_regret(choices).values, [[0, 0, 5], [0, 1, np.nan]])


@pytest.mark.parametrize("by", ['["trial"]', '"trial"'])
def test_all_blocks_have_the_same_means(by: str, tmp_path: Path) -> None:
    choices = read(tmp_path, SHARED, by)
    np.testing.assert_array_equal(choices.means, np.tile([[5, 3], [4, 6], [5, 9]], (2, 1, 1)))


def test_a_path_in_the_task_file_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "choices.csv").write_text(ROWS)
    (tmp_path / "choices.toml").write_text("[task]\npath = [[5, 3], [4, 6], [5, 9]]\nnoise_var = 1\n")
    path = xl.read_choices(tmp_path / "choices.csv")
    np.testing.assert_array_equal(path.means, read(tmp_path, SHARED, '"trial"').means)


def test_a_walk_that_is_drawn_tells_the_arms_but_not_the_means(tmp_path: Path) -> None:
    (tmp_path / "choices.csv").write_text(ROWS)
    (tmp_path / "choices.toml").write_text("[task]\nrestless = 2\n")
    choices = xl.read_choices(tmp_path / "choices.csv")
    assert (choices.means, choices.layout.n_arms, choices.layout.points) == (None, 2, (1, 100))
    with pytest.raises(xl.InputError, match="regret needs the true mean rewards"):
        observed_regret(choices)


@pytest.mark.parametrize(
    ("means", "by", "words"),
    [
        ("trial,l,r\n1,5,3\n2,4,6\n", '"trial"', r"row 4, column trial: expected no more trials than .* \(2\), got 3"),
        ("trial,l,r\n1,5,3\n3,4,6\n", '"trial"', "row 3: expected trial 2 once, got 3"),
        ("trial,l,r\n1,5,3\n2,4,x\n", '"trial"', "row 3: expected a number, neither NaN nor infinite, got 'x'"),
        ("trial,l,r\n1,5,3\n2,4\n", '"trial"', "row 3: expected 3 values, got 2"),
        ("trial,l\n1,5\n2,4\n3,4\n", '"trial"', "each of the 2 arms"),
        ("block,l,r\n1,5,3\n", '["block", "trial"]', "got no trial"),
        ("trial\n1\n", '"trial"', "a column for each arm"),
        (SHARED, '["participant", "block"]', "only with trial among them"),
        (SHARED, "3", "means_by must be a column in quotes"),
        (OWN.replace("b,", "c,"), '["participant", "block", "trial"]', "gives means for"),
        (SHARED, '["land", "trial"]', "got no land"),
    ],
)
def test_what_is_wrong_with_them_is_one_sentence(means: str, by: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(xl.InputError, match=words):
        read(tmp_path, means, by)


@pytest.mark.parametrize("seed", [None, 4])
def test_written_choices_are_read_back(seed: int | None, tmp_path: Path) -> None:
    task = xl.tasks.with_forced(xl.tasks.with_blocked(xl.tasks.restless(3, seed=seed), [(0, 2, 3)]), [1, -1])
    design = xl.blank_choices([task, task], 2, horizon=5, seed=2)
    choices = xl.simulate_choices(design, "random-choice", progress=False)
    again = xl.read_choices(xl.write_choices(choices, tmp_path / "choices.csv"))
    for part in ("arm", "reward", "observed", "scored", "present", "means", "available"):
        np.testing.assert_array_equal(getattr(again, part), getattr(choices, part), err_msg=part)
    assert again.layout.points == (1, 100)
    assert len((tmp_path / "choices-means.csv").read_text().splitlines()) == (6 if seed is not None else 21)


def test_games_of_different_lengths_are_read_back(tmp_path: Path) -> None:
    design = xl.blank_choices(xl.tasks.horizon_task(6), 2)
    choices = xl.simulate_choices(design, "random-choice", progress=False)
    assert (choices.present.sum(1) == 4 + choices.conditions["free_choices"]).all()
    assert (choices.scored.sum(1) == choices.conditions["free_choices"]).all()
    again = xl.read_choices(xl.write_choices(choices, tmp_path / "choices.csv"))
    for part in ("arm", "reward", "observed", "scored", "present", "means"):
        np.testing.assert_array_equal(getattr(again, part), getattr(choices, part), err_msg=part)
