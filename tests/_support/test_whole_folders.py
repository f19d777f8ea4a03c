"""Folders and files of results: everything or nothing, and nothing left lying about."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from explorelab._support import files, whole_folders
from explorelab._support.whole_folders import (
    add_files,
    check_folder_writable,
    nearest_folder,
    put_files,
    put_folder,
    workshop,
)
from explorelab.errors import InputError
from explorelab.report.place import place_for

pytestmark = pytest.mark.quick

PUTTING = {"files": put_files, "new files": add_files, "folder": put_folder}


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text(name)


def names_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("put", PUTTING.values(), ids=PUTTING)
def test_what_was_made_aside_is_put_in_place_and_the_workshop_is_gone(tmp_path: Path, put: Callable[..., None]) -> None:
    target = tmp_path / "out"
    target.mkdir()
    with workshop(target, "test", within=tmp_path) as made:
        fill(made, "a", "b")
        assert names_in(target) == []
        put(made, target)
    assert names_in(tmp_path) == ["out/a", "out/b"]


def test_a_folder_that_is_moved_whole_may_be_read_as_others_are(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with workshop(tmp_path / "out", "test", within=tmp_path) as made:
        put_folder(made, tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_work_that_fails_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def work() -> None:
        with workshop(tmp_path / "out", "test", within=tmp_path) as made:
            fill(made, "a")
            raise error

    with pytest.raises(error):
        work()
    assert list(tmp_path.iterdir()) == []


def test_files_replace_those_of_their_names_and_leave_others_alone(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    target.mkdir(parents=True)
    (target / "a").write_text("old")
    fill(target, "mine")
    with workshop(target, "test", within=nearest_folder(target)) as made:
        fill(made, "a")
        put_files(made, target)
    assert {path.name: path.read_text() for path in target.iterdir()} == {"a": "a", "mine": "mine"}


def test_new_files_are_added_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, real = tmp_path / "out", shutil.move
    target.mkdir()

    def full_at_b(source: Path, place: Path) -> None:
        if place.name == "b":
            raise OSError(28, "No space left on device")
        real(source, place)

    monkeypatch.setattr(shutil, "move", full_at_b)
    with workshop(target, "test", within=tmp_path) as made:
        fill(made, "a", "b")
        with pytest.raises(OSError, match="No space"):
            add_files(made, target)
    assert names_in(tmp_path) == []
    assert target.is_dir()


def test_what_was_killed_is_cleared_away_and_what_still_runs_is_not(tmp_path: Path) -> None:
    left, running, other = (tmp_path / name for name in (".out-test-killed", ".out-test-running", ".out2-test-killed"))
    for folder in (left, running, other):
        folder.mkdir()
    with whole_folders.held(running), workshop(tmp_path / "out", "test", within=tmp_path):
        assert [left.exists(), running.exists(), other.exists()] == [False, True, True]


@pytest.mark.parametrize("below", ["", "out", "deeper/out"])
def test_a_file_in_the_way_of_a_folder_is_told_before_any_work(tmp_path: Path, below: str) -> None:
    fill(tmp_path, "taken")
    for check in (check_folder_writable, lambda folder: place_for(tmp_path / "report.html", folder)):
        with pytest.raises(InputError, match=r"expected a folder, but .*taken is a file"):
            check(tmp_path / "taken" / below)


def test_a_folder_that_may_not_be_written_is_told_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(InputError, match="out: cannot be written: no permission in"):
        check_folder_writable(tmp_path / "out")


def test_a_workshop_that_cannot_be_made_is_told_in_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="out: cannot be written: No such file or directory"),
        workshop(tmp_path / "none" / "out", "test", within=tmp_path / "none"),
    ):
        pass


# Files ----------------------------------------------------------------------------------------------------------------


def test_a_file_appears_whole_with_the_usual_permissions(tmp_path: Path) -> None:
    fill(tmp_path, "other")
    files.write_bytes(tmp_path / "a.txt", b"all")
    assert (tmp_path / "a.txt").read_bytes() == b"all"
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    with files.new_private_file(tmp_path / "a.db") as made:
        made.write_text("half")
        assert not (tmp_path / "a.db").exists()
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600


def fill_privately(path: Path, write: Callable[[Path], object]) -> None:
    with files.new_private_file(path) as made:
        write(made)


@pytest.mark.parametrize("write", [files.write_whole, fill_privately])
def test_a_file_that_fails_leaves_the_old_one(tmp_path: Path, write: Callable[..., None]) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(target, fail)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "old")]
