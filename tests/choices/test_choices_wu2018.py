"""The choices of Wu et al. (2018) as a worked example."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import explorelab as xl
from explorelab.choices.reading import read_choices
from explorelab.choices.writing import write_choices
from explorelab.choices.wu2018 import load_wu2018
from tests.support.choice_files import same, tidy, written

WU2018 = Path(__file__).parents[3] / "shared" / "data" / "wu2018"


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
