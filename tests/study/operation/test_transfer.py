"""A study moves: to another computer, and from SQLite to PostgreSQL, with its people, who play on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, select, text

from explorelab import InputError
from explorelab.study.config.study_folder import load_study
from explorelab.study.database import tables
from explorelab.study.database.change_numbers import FEED
from explorelab.study.database.store import engine_for, open_store
from explorelab.study.operation.backup import backup
from explorelab.study.operation.restore import restore
from tests.support.study.lab import Lab, Tab
from tests.support.study.postgres import Cluster
from tests.support.study.server import write_study


def moved(folder: Path, database: str) -> None:
    """Let the study have another database."""
    toml = folder / "study.toml"
    lines = [f'url = "{database}"' if line.startswith("url = ") else line for line in toml.read_text().splitlines()]
    toml.write_text("\n".join(lines) + "\n")


def everything(database: str, folder: Path) -> dict[str, list[Any]]:
    """All rows of all tables, but for what a running server writes of itself."""
    engine = engine_for(database, folder)
    own = ("proved", "alive", FEED)
    try:
        with engine.connect() as connection:
            found = {
                table.name: [tuple(row) for row in connection.execute(select(table))]
                for table in tables.metadata.sorted_tables
            }
    finally:
        engine.dispose()
    found["settings"] = [row for row in found["settings"] if row[0] not in own and ":" not in row[0]]
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


@pytest.fixture
def begun(tmp_path: Path) -> tuple[Path, Path, Tab]:
    """A study on SQLite with somebody in the middle of a block, and a backup of it."""
    folder = tmp_path / "study"
    write_study(folder, "sqlite:///study.db", fast_ms=20, slow_ms=20)
    lab = Lab(load_study(folder), folder)
    with lab.client:
        for _ in range(3):
            Tab(lab)
        tab = Tab(lab)
        tab.consent()
        tab.play_block(0)
        tab.go("begin", block=1)
        for trial in range(5):
            assert tab.choose(trial, square=None).status_code == 200
        backup(folder, tmp_path / "saved.db")
    return folder, tmp_path / "saved.db", tab


def goes_on(tab: Tab, folder: Path, database: str, clock: float) -> None:
    """The person plays on with the page that they have open."""
    lab = Lab(load_study(folder), folder, database)
    lab.clock.now = clock
    with lab.client:
        tab.lab = lab
        assert tab.choose(5, square=None).status_code == 200
        Tab(lab)


def test_a_study_moves_to_another_computer(begun: tuple[Path, Path, Tab], tmp_path: Path) -> None:
    folder, saved, tab = begun
    there = tmp_path / "there"
    shutil.copytree(folder, there, ignore=shutil.ignore_patterns("study.db*", "backups"))
    before = everything("sqlite:///study.db", folder)
    restore(there, saved)
    assert everything("sqlite:///study.db", there) == before
    goes_on(tab, there, "sqlite:///study.db", tab.lab.clock.now)


def test_a_study_moves_from_sqlite_to_postgresql_and_people_play_on(
    begun: tuple[Path, Path, Tab], server: Cluster, tmp_path: Path
) -> None:
    folder, saved, tab = begun
    before, database = everything("sqlite:///study.db", folder), server.new_database()
    moved(folder, database)
    assert "4 people, 8 choices" in restore(folder, saved)
    assert everything(database, folder) == before
    goes_on(tab, folder, database, tab.lab.clock.now)
    # A second time, over what is there now, which is kept.
    assert "The previous database is kept as" in restore(folder, saved)
    assert everything(database, folder) == before
    (kept,) = (folder / "backups").iterdir()
    restore(folder, kept)
    assert len(everything(database, folder)["choices"]) == 9


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_restores_in_the_same_second_keep_each_database_that_they_replace(
    kind: str, begun: tuple[Path, Path, Tab], server: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, saved, tab = begun
    database = "sqlite:///study.db" if kind == "sqlite" else server.new_database()
    monkeypatch.setattr("explorelab.study.operation.backup.moment", lambda: "20260301-120000")
    moved(folder, database)
    restore(folder, saved)
    goes_on(tab, folder, database, tab.lab.clock.now)
    restore(folder, saved)
    played = len(everything(database, folder)["choices"])
    kept = sorted(folder.rglob("*before-restore*"))
    assert len(kept) == (2 if kind == "sqlite" else 1)
    restore(folder, kept[-1])
    assert len(everything(database, folder)["choices"]) == played + 1


def test_what_cannot_be_moved_changes_nothing(begun: tuple[Path, Path, Tab], server: Cluster) -> None:
    folder, saved, _ = begun
    database = server.new_database()
    moved(folder, database)
    restore(folder, saved)
    before = everything(database, folder)
    engine = create_engine(f"sqlite:///{saved}")
    with engine.begin() as connection:  # SQLite keeps what PostgreSQL has no room for
        connection.execute(text("UPDATE people SET code = code || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' || id"))
    engine.dispose()
    with pytest.raises(InputError, match=r"cannot be restored to PostgreSQL.*Nothing was changed"):
        restore(folder, saved)
    assert everything(database, folder) == before
    store = open_store(database, folder)
    store.claim()
    with pytest.raises(InputError, match="a server of this study is already using"):
        restore(folder, saved)
    store.close()
