"""A hierarchical run that has not converged is not a result, and not lost either."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

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
from tests.support.command_line import Done, explorelab, in_turn

SHORT = ["--agent", "win-stay-lose-shift", "--method", "nuts", "--chains", 2, "--draws", 50, "--warmup", 10, "--starts", 1]


SENTENCE = "The fit has not converged ("
FEW = ["--n", 4, "--method", "ml", "--starts", 1]
MADE_FROM_A_FIT: dict[str, list[object]] = {
    "predict": ["predict", "choices.csv", "--fit", "fit.nc", "--copies", 2],
    "recover": ["recover", "--like", "fit.nc", *FEW],
    "recover --agents": ["recover", "--like", "fit.nc", "--agents", "win-stay-lose-shift,random-choice", *FEW],
    "latent": ["latent", "choices.csv", "--fit", "fit.nc", "--out", "latent.csv"],
    "loo": ["loo", "choices.csv", "--fit", "fit.nc"],
}
IN_JSON = {command: [*words, "--json"] for command, words in MADE_FROM_A_FIT.items() if command != "latent"}
ASKED_FOR: list[object] = ["fit", "choices.csv", *SHORT, "--on-failure", "warn", "--csv", "people.csv"]
NOT_ASKED_FOR: list[object] = ["fit", "choices.csv", *SHORT, "--out", "refused.nc"]
WITH_MORE: list[object] = [*NOT_ASKED_FOR, "--resume", "--draws", 120, "--on-failure", "warn"]


class Ran(NamedTuple):
    """What commands left behind."""

    folder: Path
    asked_for: Done
    made: dict[str, Done]
    in_json: dict[str, Done]
    not_asked_for: Done
    with_more: Done


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A fit that was kept although it has not converged, all that is made from it, and one that was refused."""
    folder = tmp_path_factory.mktemp("unconverged")
    written(folder, tidy(), "[task]\narms = 4\nmeans = [0, 1, 2, 3]\nnoise_var = 1\n")
    done = in_turn([ASKED_FOR, *MADE_FROM_A_FIT.values(), *IN_JSON.values(), NOT_ASKED_FOR], folder)
    assert len(done) == 2 + len(MADE_FROM_A_FIT) + len(IN_JSON), done[-1]
    middle = 1 + len(MADE_FROM_A_FIT)
    made, in_json = zip(MADE_FROM_A_FIT, done[1:middle], strict=True), zip(IN_JSON, done[middle:-1], strict=True)
    assert not (folder / "refused.nc").exists()
    return Ran(folder, done[0], dict(made), dict(in_json), done[-1], explorelab(*WITH_MORE, cwd=folder))


def test_unless_asked_for_it_is_set_aside_and_the_message_names_options_that_exist(ran: Ran) -> None:
    done = ran.not_asked_for
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "have not converged" in done.stderr
    assert load_fit(ran.folder / "refused-unconverged.nc").attrs["convergence"].startswith("failed: ")
    options = [word.strip(".,;") for word in done.stderr.split() if word.startswith("--")]
    assert "--on-failure" in options
    helped = explorelab("fit", "--help").stdout
    assert [option for option in options if option not in helped] == []
    assert "on_failure" not in done.stderr


def test_more_draws_are_added_to_those_that_were_refused(ran: Ran) -> None:
    assert ran.with_more.returncode == 0, ran.with_more.stderr
    before, after = (load_fit(ran.folder / name)["posterior"] for name in ("refused-unconverged.nc", "refused.nc"))
    assert after.sizes["draw"] == 120
    xr.testing.assert_identical(after.to_dataset().isel(draw=slice(50)), before.to_dataset())
    assert not (ran.folder / "refused.nc.parts").exists()


def test_asked_for_it_is_the_fit_and_marked_everywhere(ran: Ran) -> None:
    assert ran.asked_for.returncode == 0, ran.asked_for.stderr
    assert "convergence failed: " in ran.asked_for.stdout
    assert load_fit(ran.folder / "fit.nc").attrs["convergence"].startswith("failed: ")
    assert not pd.read_csv(ran.folder / "people.csv")["converged"].any()


@pytest.mark.parametrize("command", MADE_FROM_A_FIT)
def test_what_is_made_from_it_says_so_in_a_sentence(command: str, ran: Ran) -> None:
    done = ran.made[command]
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = [line for line in done.stdout.splitlines() if SENTENCE in line]
    assert line.endswith("cannot be trusted.")


@pytest.mark.parametrize("command", IN_JSON)
def test_the_json_of_what_is_made_from_it_says_so(command: str, ran: Ran) -> None:
    assert SENTENCE in json.loads(ran.in_json[command].stdout)["warning"]


def test_every_command_that_reads_a_fit_is_tried() -> None:
    reading = {
        name
        for name, command in get_command(app).commands.items()
        for each in command.params
        if each.name in ("fit", "like")
    }
    assert reading == {command.split()[0] for command in MADE_FROM_A_FIT}


def test_the_library_warns_too(ran: Ran) -> None:
    choices, fit = xl.read_choices(ran.folder / "choices.csv"), load_fit(ran.folder / "fit.nc")
    with pytest.warns(ConvergenceWarning, match="has not converged") as caught:
        found = xl.latent_variables(choices, None, fit, progress=False)
    assert caught[0].filename == __file__
    assert found.attrs["warning"] == str(caught[0].message)


def test_a_fit_whose_people_have_not_all_converged_is_told_of() -> None:
    table = xr.Dataset({"status": ("participant", ["converged", REASONS[Status.STUCK], REASONS[Status.FLAT]])})
    told = warning_of(xr.DataTree.from_dict({"/estimates": table}))
    assert told == "The fit has not converged (1 of 3 people), so results made from it cannot be trusted."
    assert warning_of(xr.DataTree.from_dict({"/estimates": table.isel(participant=[0, 2])})) == ""


def test_a_group_that_still_moved_is_told_of() -> None:
    for moving in (True, False):
        tree = xr.DataTree.from_dict({"/estimates": xr.Dataset(), "/group": xr.Dataset({"converged": not moving})})
        assert ("not settled" in warning_of(tree)) == moving


@pytest.mark.parametrize("option", ["--on-failure=warn", "--correlated", "--target-accept=0.9", "--max-tree-depth=8"])
def test_options_of_sampled_fits_are_refused_elsewhere(option: str, tmp_path: Path) -> None:
    written(tmp_path, tidy(), "[task]\narms = 4\n")
    done = explorelab("fit", "choices.csv", "--method", "ml", option, cwd=tmp_path)
    assert done.returncode == 2
    assert f"{option.split('=')[0]} needs --method bayes or nuts, got --method ml." in done.stderr
