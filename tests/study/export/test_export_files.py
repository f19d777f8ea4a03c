"""The files of an export: the same every time, there whole or not at all, and written in constant memory."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event

from explorelab._support import whole_folders
from explorelab.errors import InputError
from explorelab.study.database import tables
from explorelab.study.database.store import engine_for
from explorelab.study.export import export_folder, rows, write_export
from explorelab.study.export.write_export import export_study
from tests.support.study import postgres
from tests.support.study.rows import BEGAN, Filler, contents, fill, fill_many, small_study

STUDY = small_study()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = engine_for("sqlite:///study.db", tmp_path)
    yield made
    made.dispose()


def test_the_same_every_time_and_after_another(engine: Engine, tmp_path: Path) -> None:
    fill(engine, STUDY)
    out = tmp_path / "out"
    first = contents(export_study(STUDY, engine, out).out)
    assert contents(export_study(STUDY, engine, tmp_path / "other").out) == first
    export_study(STUDY, engine, out)
    assert contents(out) == first
    assert sorted(path.name for path in tmp_path.iterdir() if "export" in path.name) == []
    with engine.begin() as connection:
        connection.execute(tables.people.update().values(seen_at=BEGAN + 10**6))
    export_study(STUDY, engine, out)
    assert contents(out) != first


def test_the_same_from_postgresql(engine: Engine, server: postgres.Cluster, tmp_path: Path) -> None:
    fill(engine, STUDY)
    first = contents(export_study(STUDY, engine, tmp_path / "first").out)
    made = engine_for(server.new_database(), tmp_path)
    try:
        fill(made, STUDY)
        assert contents(export_study(STUDY, made, tmp_path / "out").out) == first
    finally:
        made.dispose()


@pytest.mark.parametrize("where", ["sqlite", "plain sqlite", "postgresql"])
def test_others_may_write_meanwhile(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """What is written during an export is in none of its tables."""
    if where == "plain sqlite":
        made = create_engine(f"sqlite:///{tmp_path}/plain.db")
        event.listen(made, "connect", lambda connection, _: connection.execute("PRAGMA journal_mode=WAL"))
    else:
        url = "sqlite:///study.db" if where == "sqlite" else request.getfixturevalue("server").new_database()
        made = engine_for(url, tmp_path)
    filler = Filler(made, STUDY)
    filler.person()
    original = rows.participant_rows

    def with_a_newcomer(*given: Any) -> Any:
        filler.person()
        return original(*given)

    monkeypatch.setattr(rows, "participant_rows", with_a_newcomer)
    done = export_study(STUDY, made, tmp_path / "out")
    assert (done.n_people, done.n_blocks, done.n_choices, done.n_events) == (1, 3, 27, 3)
    assert export_study(STUDY, made, tmp_path / "out").n_people == 2
    made.dispose()


def test_an_export_that_fails_leaves_everything_as_it_was(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = Filler(engine, STUDY)
    filler.person()
    out = tmp_path / "out"
    before = contents(export_study(STUDY, engine, out).out)
    filler.person()

    def interrupted(*_: Any) -> Iterator[Any]:
        yield ("P1", 1, 0, "visible", None, None, 1.0, None, BEGAN)
        raise KeyboardInterrupt

    monkeypatch.setattr(rows, "event_rows", interrupted)
    for target in (out, tmp_path / "new"):
        with pytest.raises(KeyboardInterrupt):
            export_study(STUDY, engine, target)
    assert contents(out) == before
    assert sorted(path.name for path in tmp_path.iterdir() if "db" not in path.name) == ["out"]


def test_a_swap_that_fails_brings_the_old_one_back(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filler = Filler(engine, STUDY)
    filler.person()
    out = tmp_path / "out"
    before = contents(export_study(STUDY, engine, out).out)
    filler.person()
    original = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if Path(target) == out and not self.name.endswith(whole_folders.BEFORE):
            raise OSError("no")
        return original(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OSError, match="no"):
        export_study(STUDY, engine, out)
    assert contents(out) == before
    assert sorted(path.name for path in tmp_path.iterdir() if "db" not in path.name) == ["out"]


def _other_file(out: Path) -> None:
    (out / "fit.nc").write_text("mine")


def _changed(out: Path) -> None:
    (out / "README.md").write_text("mine")


def _not_an_export(out: Path) -> None:
    (out / "checksums.sha256").unlink()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_other_file, r"not from an export \(fit.nc\)"),
        (_changed, r"changed after .*README"),
        (_not_an_export, "other files"),
    ],
)
def test_only_an_earlier_export_is_replaced(
    engine: Engine, tmp_path: Path, change: Callable[[Path], None], told: str
) -> None:
    Filler(engine, STUDY).person()
    out = export_study(STUDY, engine, tmp_path / "out").out
    change(out)
    before = contents(out)
    with pytest.raises(InputError, match=told):
        export_study(STUDY, engine, out)
    assert contents(out) == before


def test_what_was_put_there_meanwhile_is_kept(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Filler(engine, STUDY).person()
    out = export_study(STUDY, engine, tmp_path / "out").out
    original = rows.event_rows

    def with_a_fit(*given: Any) -> Any:
        _other_file(out)
        return original(*given)

    monkeypatch.setattr(rows, "event_rows", with_a_fit)
    with pytest.raises(InputError, match=r"fit\.nc"):
        export_study(STUDY, engine, out)
    assert (out / "fit.nc").read_text() == "mine"


def test_where_an_export_may_go(engine: Engine, tmp_path: Path) -> None:
    Filler(engine, STUDY).person()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    assert export_study(STUDY, engine, tmp_path / "empty").n_people == 1
    with pytest.raises(InputError, match="expected a folder to write to, got a file"):
        export_study(STUDY, engine, tmp_path / "file")
    with pytest.raises(InputError, match="there is no folder"):
        export_study(STUDY, engine, tmp_path / "none" / "out")


def test_what_a_killed_export_left_is_cleared_away(engine: Engine, tmp_path: Path) -> None:
    Filler(engine, STUDY).person()
    left, running = tmp_path / ".out-export-killed", tmp_path / ".out-export-running"
    for folder in (left, running):
        folder.mkdir()
        (folder / "choices.csv").write_text("half")
    with whole_folders.held(running):
        export_study(STUDY, engine, tmp_path / "out")
    assert not left.exists()
    assert running.exists()
    # Killed between the two steps of the swap: the old one is put back first.
    before = contents(tmp_path / "out")
    shutil.move(tmp_path / "out", tmp_path / f".out-export-x{whole_folders.BEFORE}")
    with pytest.raises(KeyboardInterrupt), export_folder.new_folder(tmp_path / "out"):
        raise KeyboardInterrupt
    assert contents(tmp_path / "out") == before


def test_checksums_are_those_of_the_files(engine: Engine, tmp_path: Path) -> None:
    fill(engine, STUDY)
    found = contents(export_study(STUDY, engine, tmp_path / "out").out)
    lines = found.pop("checksums.sha256").decode().splitlines()
    assert lines == [f"{sha256(data).hexdigest()}  {name}" for name, data in sorted(found.items())]


def test_choices_without_a_block_are_not_passed_over(engine: Engine, tmp_path: Path) -> None:
    Filler(engine, STUDY).person()
    with engine.begin() as connection:
        connection.execute(tables.blocks.delete().where(tables.blocks.c.number == 1))
    with pytest.raises(InputError, match="got 12 choices without one"):
        export_study(STUDY, engine, tmp_path / "out")


# Not getrusage: it also counts what the parent had before this process became another.
MEASURED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from explorelab.study.export.write_export import export_study
from explorelab.study.database.store import engine_for
from tests.support.study.rows import small_study
done = export_study(small_study(), engine_for(sys.argv[2], Path("/")), Path(sys.argv[3]))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(done.n_choices, status["VmHWM"].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Memory is measured as Linux tells it.")
@pytest.mark.parametrize(("where", "most_mib"), [("sqlite", 6), ("postgresql", 12)])
@pytest.mark.slow
def test_memory_does_not_grow_with_the_study(
    where: str, most_mib: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The whole process, the driver's own memory included."""
    peaks = {}
    for n in (10_000, 50_000):
        url = f"sqlite:///{tmp_path}/{n}.db" if where == "sqlite" else request.getfixturevalue("server").new_database()
        made = engine_for(url, Path("/"))
        fill_many(made, STUDY, n)
        made.dispose()
        command = [sys.executable, "-c", MEASURED, str(Path(__file__).parents[3]), url, str(tmp_path / f"out{n}")]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert int(told[0]) == n
        peaks[n] = int(told[1]) / 1024
    assert peaks[50_000] - peaks[10_000] < most_mib, peaks


def test_progress_counts_what_is_written(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Filler(engine, STUDY).person()
    seen: list[Any] = []

    class Bar(write_export.Progress):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            seen.append(self)

    monkeypatch.setattr(write_export, "Progress", Bar)
    export_study(STUDY, engine, tmp_path / "out", progress=False)
    assert seen[0].done == seen[0]._total == 27 + 3
