"""`explorelab assess` and `explorelab forecast`, run as a user runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import explorelab as xl
from explorelab.plots.companions.companion_page import FILES
from tests.support.command_line import in_turn, interrupted
from tests.support.people import population
from tests.support.siblings import slow

SMALL = ["--points", "16"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with choices of four people and what the commands write."""
    place = tmp_path_factory.mktemp("people")
    xl.write_choices(population(n=4, horizon=8, blocks=2), place / "choices.csv")
    agent = ["--agent", "win-stay-lose-shift"]
    commands = [
        ["fit", "choices.csv", *agent, "--method", "em", "--starts", "1", "--out", "fit.nc"],
        ["assess", "choices.csv", *agent, "--group", "fit.nc", "--every", "4", "--futures", "8", *SMALL, "--json"],
        ["forecast", "choices.csv", *agent, "--folds", "2", *SMALL, "--json", "--figure", "forecast.png", "--csv", "f.csv"],
    ]
    fit, assess, forecast = in_turn(commands, place)
    for name, done in (("fit", fit), ("assess", assess), ("forecast", forecast)):
        assert done.returncode == 0, done.stderr
        (place / f"{name}.out").write_text(done.stdout, encoding="utf-8")
    return place


def test_a_forecast_is_told_in_the_form_that_was_promised(folder: Path) -> None:
    told = json.loads((folder / "forecast.out").read_text(encoding="utf-8"))
    assert list(told)[:3] == ["nats_per_choice", "r2", "n_people"]
    assert told["n_people"] == 4
    assert 0 < told["nats_per_choice"] < 3
    assert {"nats_per_choice_group", "nats_per_choice_table", "agent", "n_folds"} <= set(told)
    assert len(pd.read_csv(folder / "f.csv")) == 4
    assert (folder / "forecast.png").read_bytes().startswith(b"\x89PNG")


def test_an_assessment_leaves_a_whole_folder(folder: Path) -> None:
    told = json.loads((folder / "assess.out").read_text(encoding="utf-8"))
    assert (told["n_people"], told["n_blocks"], told["agent"]) == (4, 8, "win-stay-lose-shift")
    assert {path.name for path in (folder / "minds").iterdir()} == set(FILES)
    people = pd.read_csv(folder / "minds" / "people.csv")
    assert {"participant", "win_stay", "win_stay_low", "n_linear", "nats"} <= set(people.columns)
    assert len(pd.read_csv(folder / "minds" / "trials.csv")) == 64
    assert xr.load_dataset(folder / "minds" / "minds.nc", engine="h5netcdf").attrs["every"] == 4
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_the_page_stands_alone_and_can_be_sorted_from_the_keyboard(folder: Path) -> None:
    page = (folder / "minds" / "page.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(?!data:)([^"#]+)"', page) == [
        "people.csv", "trials.csv", "minds.nc", "assessment.png", "assessment.svg", "assessment.csv"
    ]  # fmt: skip
    head = page.partition("<thead>")[2].partition("</thead>")[0]
    assert head.count("<th ") == head.count('<button type="button">') == 8
    assert page.count('<svg class="curve" role="img" aria-label="') == 4
    assert page.count("<polyline ") == 8
    assert "aria-sort" in page


def test_tables_are_printed_and_an_earlier_assessment_is_replaced(folder: Path) -> None:
    arguments = ["--agent", "win-stay-lose-shift", *SMALL]
    commands = [
        ["assess", "choices.csv", *arguments, "--every", "8", "--futures", "8"],
        ["forecast", "choices.csv", *arguments, "--folds", "2"],
    ]
    assess, forecast = in_turn(commands, folder)
    assert "Wrote minds/page.html" in assess.stdout
    assert "Regret at the end of a block:" in assess.stdout
    assert "the group alone" in forecast.stdout
    assert xr.load_dataset(folder / "minds" / "minds.nc", engine="h5netcdf").attrs["every"] == 8


def refused(folder: Path, *arguments: str) -> str:
    (done,) = in_turn([arguments], folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_folder_with_something_else_in_it_is_left_alone(folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.txt").write_text("precious", encoding="utf-8")
    said = refused(folder, "assess", "choices.csv", "--out", "mine")
    assert "mine: expected a new folder or an earlier assessment, got one that contains thesis.txt." in said
    assert (folder / "mine" / "thesis.txt").read_text(encoding="utf-8") == "precious"


def test_what_does_not_fit_is_told_in_one_line(folder: Path) -> None:
    assert "not of stochastic-ucl" in refused(
        folder, "assess", "choices.csv", "--agent", "stochastic-ucl", "--group", "fit.nc", "--out", "new"
    )
    assert "does not exist" in refused(folder, "assess", "choices.csv", "--group", "none.nc", "--out", "new")
    assert "n_folds must be" in refused(folder, "forecast", "choices.csv", "--folds", "1")
    assert not (folder / "new").exists()


@pytest.mark.parametrize("at", ["forecasting", *slow("everyone alone", "groups")])
def test_an_interrupted_forecast_leaves_at_most_its_parts_and_what_was_there_as_it_was(at: str, tmp_path: Path) -> None:
    xl.write_choices(population(n=60, horizon=8), tmp_path / "choices.csv")
    for name in ("f.csv", "f.png"):
        (tmp_path / name).write_text("of last week", encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    files = ["--csv", "f.csv", "--figure", "f.png"]
    command = ["forecast", "choices.csv", "--agent", "win-stay-lose-shift", "--folds", "2", *SMALL, *files]
    done = interrupted(*command, cwd=tmp_path, at=at)
    assert done.returncode == 130
    left = [path.name for path in tmp_path.iterdir() if path.name not in before]
    assert left in ([], ["f.csv.parts"])
    assert done.stderr.strip().endswith("--resume continues from there." if left else "interrupted; nothing was written.")
    assert (tmp_path / "f.csv").read_text(encoding="utf-8") == (tmp_path / "f.png").read_text() == "of last week"


def test_an_interrupted_assessment_leaves_nothing(tmp_path: Path) -> None:
    xl.write_choices(population(n=60, horizon=8), tmp_path / "choices.csv")
    before = sorted(path.name for path in tmp_path.iterdir())
    command = ["assess", "choices.csv", "--agent", "win-stay-lose-shift", *SMALL, "--futures", "8", "--out", "minds"]
    done = interrupted(*command, cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr.strip().endswith("interrupted; nothing was written.")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
