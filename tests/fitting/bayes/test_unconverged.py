"""A hierarchical run that has not converged is not a result, and not lost either."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from explorelab.fitting.fit_people import load_fit
from tests.support.choice_files import tidy, written
from tests.support.command_line import Done, explorelab

SHORT = ["--agent", "win-stay-lose-shift", "--method", "nuts", "--chains", 2, "--draws", 10, "--warmup", 10, "--starts", 1]


def run(folder: Path, *more: object) -> Done:
    written(folder, tidy(), "[task]\narms = 4\n")
    return explorelab("fit", "choices.csv", *SHORT, *more, cwd=folder)


def test_unless_asked_for_it_is_set_aside_and_the_message_names_options_that_exist(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "have not converged" in done.stderr
    assert not (tmp_path / "fit.nc").exists()
    assert load_fit(tmp_path / "fit-unconverged.nc").attrs["convergence"].startswith("failed: ")
    options = [word.strip(".,;") for word in done.stderr.split() if word.startswith("--")]
    assert "--keep-unconverged" in options
    helped = explorelab("fit", "--help").stdout
    assert [option for option in options if option not in helped] == []
    assert "on_failure" not in done.stderr


def test_asked_for_it_is_the_fit_and_marked_everywhere(tmp_path: Path) -> None:
    done = run(tmp_path, "--keep-unconverged", "--csv", "people.csv")
    assert done.returncode == 0, done.stderr
    assert "convergence failed: " in done.stdout
    assert load_fit(tmp_path / "fit.nc").attrs["convergence"].startswith("failed: ")
    assert not pd.read_csv(tmp_path / "people.csv")["converged"].any()


@pytest.mark.parametrize("option", ["--keep-unconverged", "--correlated", "--target-accept=0.9", "--max-tree-depth=8"])
def test_options_of_nuts_are_refused_elsewhere(option: str, tmp_path: Path) -> None:
    written(tmp_path, tidy(), "[task]\narms = 4\n")
    done = explorelab("fit", "choices.csv", "--method", "ml", option, cwd=tmp_path)
    assert done.returncode == 2
    assert f"{option.split('=')[0]} belongs to --method nuts, got --method ml." in done.stderr
