"""Folders of finished units: found again whole, computed again if damaged, and never mistaken for another run's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from explorelab._support.work import units
from explorelab._support.work.finished import LABEL, NOTHING, Finished, remove
from explorelab.errors import InputError
from tests.support.work_to_do import noted

pytestmark = pytest.mark.quick


@units.long_work
def worked(folder: str, n: int, resume: Path | None = None, executor: object = None, progress: bool = False) -> list[int]:
    """Long work of n units, each of which leaves a note."""
    return list(units.results(noted, [(x, folder) for x in range(n)], progress=progress))


def notes(folder: Path) -> int:
    return len(list(folder.iterdir()))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    return tmp_path / "log"


def test_what_is_finished_is_not_done_again(tmp_path: Path, log: Path) -> None:
    for _ in range(2):
        assert worked(str(log), 5, resume=tmp_path / "parts") == [1, 2, 3, 4, 5]
    assert notes(log) == 5


@pytest.mark.parametrize("damage", [b"", b"x", b"x" * 100])
def test_a_damaged_part_is_done_again(tmp_path: Path, log: Path, damage: bytes) -> None:
    worked(str(log), 5, resume=tmp_path / "parts")
    part = sorted((tmp_path / "parts").glob("*.part"))[2]
    whole = part.read_bytes()
    part.write_bytes(damage or whole[:-1])
    assert worked(str(log), 5, resume=tmp_path / "parts") == [1, 2, 3, 4, 5]
    assert notes(log) == 6
    assert part.read_bytes() == whole


def test_parts_of_another_version_are_not_used(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked(str(log), 2, resume=tmp_path / "parts")
    monkeypatch.setattr("explorelab._support.work.digests.software", lambda: "explorelab of the future")
    with pytest.raises(InputError, match="parts holds parts of another run"):
        worked(str(log), 2, resume=tmp_path / "parts")


def test_another_run_is_refused_and_what_it_finished_stays(tmp_path: Path, log: Path) -> None:
    worked(str(log), 2, resume=tmp_path / "parts")
    before = sorted(tmp_path.joinpath("parts").iterdir())
    with pytest.raises(InputError, match="holds parts of another run"):
        worked(str(log), 3, resume=tmp_path / "parts")
    assert sorted(tmp_path.joinpath("parts").iterdir()) == before


@pytest.mark.parametrize("what", ["a file", "a folder"])
def test_what_is_no_folder_of_parts_is_refused_and_never_removed(tmp_path: Path, log: Path, what: str) -> None:
    mine = tmp_path / "mine"
    if what == "a folder":
        mine.mkdir()
        (mine / "thesis.tex").touch()
    else:
        mine.touch()
    with pytest.raises(InputError, match="expected a folder of finished parts"):
        worked(str(log), 2, resume=mine)
    remove(mine)
    assert mine.exists()


def test_a_folder_that_cannot_be_made_is_said_at_once(tmp_path: Path, log: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        worked(str(log), 2, resume=tmp_path / "nowhere" / "parts")
    assert notes(log) == 0


def test_results_come_back_as_they_were(tmp_path: Path) -> None:
    store = Finished(tmp_path / "parts", "run")
    values = {"a": np.array([1.0, np.nan, -0.0]), "b": (None, "text"), "c": np.array(["x", None], object)}
    assert store.get("key") is NOTHING
    store.put("key", values)
    again = store.get("key")
    assert again["a"].tobytes() == values["a"].tobytes()  # type: ignore[attr-defined]
    assert again["b"] == values["b"]
    assert json.loads((tmp_path / "parts" / LABEL).read_text())["run"] == "run"
    remove(tmp_path / "parts")
    assert not (tmp_path / "parts").exists()
