"""A hierarchical run that has not converged is not a result, and not lost either."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr
from typer.main import get_command

import explorelab as xl
from explorelab.cli.app import app
from explorelab.fitting.bayes.convergence import ConvergenceWarning, warning_of
from explorelab.fitting.fit_people import load_fit
from explorelab.fitting.search.optimise import REASONS, Status
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


SENTENCE = "The fit has not converged ("
FEW = ["--n", 4, "--method", "ml", "--starts", 1]
MADE_FROM_A_FIT: dict[str, list[object]] = {
    "predict": ["predict", "choices.csv", "--fit", "fit.nc", "--copies", 2],
    "recover": ["recover", "--like", "fit.nc", *FEW],
    "recover --agents": ["recover", "--like", "fit.nc", "--agents", "win-stay-lose-shift,random-choice", *FEW],
    "latent": ["latent", "choices.csv", "--fit", "fit.nc", "--out", "latent.csv"],
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with choices, and a fit that was kept although it has not converged."""
    folder = tmp_path_factory.mktemp("kept")
    means = "[task]\narms = 4\nmeans = [0, 1, 2, 3]\nnoise_var = 1\n"
    written(folder, tidy(), means)
    done = explorelab("fit", "choices.csv", *SHORT, "--keep-unconverged", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("command", MADE_FROM_A_FIT)
def test_what_is_made_from_it_says_so_in_a_sentence(command: str, kept: Path) -> None:
    done = explorelab(*MADE_FROM_A_FIT[command], cwd=kept)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = [line for line in done.stdout.splitlines() if SENTENCE in line]
    assert line.endswith("cannot be trusted.")


@pytest.mark.parametrize("command", [command for command in MADE_FROM_A_FIT if command != "latent"])
def test_the_json_of_what_is_made_from_it_says_so(command: str, kept: Path) -> None:
    done = explorelab(*MADE_FROM_A_FIT[command], "--json", cwd=kept)
    assert SENTENCE in json.loads(done.stdout)["warning"]


def test_every_command_that_reads_a_fit_is_tried() -> None:
    reading = {
        name
        for name, command in get_command(app).commands.items()
        for each in command.params
        if each.name in ("fit", "like")
    }
    assert reading == {command.split()[0] for command in MADE_FROM_A_FIT}


def test_the_library_warns_too(kept: Path) -> None:
    choices, fit = xl.read_choices(kept / "choices.csv"), load_fit(kept / "fit.nc")
    with pytest.warns(ConvergenceWarning, match="has not converged") as caught:
        found = xl.latent_variables(choices, None, fit, progress=False)
    assert caught[0].filename == __file__
    assert found.attrs["warning"] == str(caught[0].message)


def test_a_fit_whose_people_have_not_all_converged_is_told_of() -> None:
    table = xr.Dataset({"status": ("participant", ["converged", REASONS[Status.STUCK], REASONS[Status.FLAT]])})
    told = warning_of(xr.DataTree.from_dict({"/estimates": table}))
    assert told == "The fit has not converged (1 of 3 people), so that what is made from it cannot be trusted."
    assert warning_of(xr.DataTree.from_dict({"/estimates": table.isel(participant=[0, 2])})) == ""


def test_a_group_that_still_moved_is_told_of() -> None:
    for moving in (True, False):
        tree = xr.DataTree.from_dict({"/estimates": xr.Dataset(), "/group": xr.Dataset({"converged": not moving})})
        assert ("still moving" in warning_of(tree)) == moving


@pytest.mark.parametrize("option", ["--keep-unconverged", "--correlated", "--target-accept=0.9", "--max-tree-depth=8"])
def test_options_of_nuts_are_refused_elsewhere(option: str, tmp_path: Path) -> None:
    written(tmp_path, tidy(), "[task]\narms = 4\n")
    done = explorelab("fit", "choices.csv", "--method", "ml", option, cwd=tmp_path)
    assert done.returncode == 2
    assert f"{option.split('=')[0]} belongs to --method nuts, got --method ml." in done.stderr
