"""Backups at regular times: only ours are ever deleted, never the newest, and a failure is told and tried again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from explorelab import InputError
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import open_store
from explorelab.study.operation import backup as backing_up
from explorelab.study.operation.backup import backup, checked
from explorelab.study.operation.rotation import LEFT_OVER_S
from tests.support.study.server import COMMAND, write_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study with an empty database."""
    write_study(tmp_path / "study", "sqlite:///study.db")
    open_store(load_study(tmp_path / "study").database, tmp_path / "study").close()
    return tmp_path / "study"


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names that the next backups get, instead of the time."""
    names: list[str] = []
    monkeypatch.setattr(backing_up, "moment", lambda: names.pop(0))
    return names


def test_only_the_newest_are_kept_and_other_files_are_never_touched(
    folder: Path, tmp_path: Path, moments: list[str]
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    others = [
        "notes.txt",
        "other-20250101-000000.db",
        "short-20250101-000000.db.txt",
        "short-before-restore-20250101-000000.dump",
    ]
    for name in (*others, "short-20240101-000000.dump"):
        (kept / name).write_text("x")
    moments += [f"2025010{day}-120000" for day in range(1, 6)]
    for _ in range(5):
        backup(folder, kept, keep=3)
    names = {file.name for file in kept.iterdir()}
    assert names == {*others, *(f"short-2025010{day}-120000.db" for day in (3, 4, 5))}


@pytest.mark.parametrize("keep", [1, 2])
def test_a_clock_that_was_set_back_does_not_cost_the_backup_just_made(
    folder: Path, tmp_path: Path, moments: list[str], keep: int
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    moments += ["20300101-120000", "20290101-120000", "20250101-120000"]
    for _ in range(3):
        newest = backup(folder, kept, keep=keep)
    names = sorted(file.name for file in kept.iterdir())
    assert "short-20250101-120000.db" in names
    assert "short-20250101-120000.db" in newest
    assert len(names) == keep


def test_what_a_killed_backup_left_is_cleared_once_it_is_old(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    names = [f".short-20250101-000000-abcd.db{end}" for end in ("", "-journal")]
    for name in (*names, ".other-20250101.db"):
        (kept / name).write_text("half")
    backup(folder, kept, keep=1)
    assert {file.name for file in kept.glob(".*")} == {*names, ".other-20250101.db"}
    for file in kept.glob(".*"):
        os.utime(file, (0, time.time() - LEFT_OVER_S - 60))
    shutil.rmtree(folder / "backups", ignore_errors=True)
    time.sleep(1)  # two backups of the same second would have the same name
    backup(folder, kept, keep=1)
    assert {file.name for file in kept.glob(".*")} == {".other-20250101.db"}


@pytest.mark.parametrize("option", ["keep", "every"])
def test_a_number_of_backups_needs_a_folder(folder: Path, tmp_path: Path, option: str) -> None:
    from explorelab.study.operation.rotation import back_up_every

    nowhere = tmp_path / "one.db"
    call = {"keep": lambda: backup(folder, nowhere, keep=2), "every": lambda: back_up_every(folder, 1, print, nowhere)}[
        option
    ]
    with pytest.raises(InputError, match=f"--{option} needs a folder"):
        call()


def test_a_backup_does_not_take_the_space_that_the_study_needs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backing_up.shutil, "disk_usage", lambda _: SimpleNamespace(free=backing_up.RESERVE + 1000))
    with pytest.raises(InputError, match="the study itself needs 64"):
        backup(folder)
    assert not list((folder / "backups").iterdir())


def test_a_full_disk_is_one_sentence_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    """A real limit: the file may not grow beyond a few pages."""
    out = tmp_path / "saved.db"
    done = subprocess.run(
        ["prlimit", "--fsize=40960", *COMMAND, "study", "backup", str(folder), "--out", str(out)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["study"]


def test_backups_at_regular_times_go_on_after_a_failure_and_end_when_told(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    database = folder / "study.db"
    database.rename(tmp_path / "away.db")
    words = [*COMMAND, "study", "backup", str(folder), "--out", str(out), "--every", "0.01", "--keep", "2"]  # 36 s
    log = tmp_path / "log"
    with log.open("wb") as said, subprocess.Popen(words, stdout=said, stderr=said) as process:
        until = time.monotonic() + 60
        while b"No backup was written" not in log.read_bytes():
            assert time.monotonic() < until
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert "Trying again in 36 seconds" in log.read_text()
    (tmp_path / "away.db").rename(database)
    with log.open("wb") as said, subprocess.Popen(words, stdout=said, stderr=said) as process:
        while not (made := list(out.glob("short-*.db"))):
            assert time.monotonic() < until + 60
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert checked(made[0]).n_people == 0
    assert list(out.glob(".*")) == []
