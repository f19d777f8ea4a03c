"""Backups hold all that was acknowledged, also after a crash; restoring puts them back, and loses nothing."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from typer.testing import CliRunner

from explorelab.cli.app import app
from explorelab.study.config.study_folder import load_study
from explorelab.study.database import tables
from explorelab.study.database.store import open_store
from tests.support.study.lab import Lab, Tab
from tests.support.study.postgres import Cluster
from tests.support.study.server import write_study

run = CliRunner()


def command(*words: object) -> Any:
    """What a command of the study says."""
    return run.invoke(app, ["study", *map(str, words)])


def said(result: Any) -> str:
    """All that was printed, in one line."""
    text = (
        result.output + (result.stderr if result.stderr_bytes else "") + (str(result.exception) if result.exception else "")
    )
    return re.sub(r"\s+", " ", text)


class Kept:
    """A study's folder with people in its database, as a server leaves it that is killed."""

    def __init__(self, folder: Path, database: str = "sqlite:///study.db") -> None:
        self.folder = folder / "study"
        write_study(self.folder, database)
        self.study = load_study(self.folder)
        self.lab = Lab(self.study, self.folder, database)

    def arrive(self, n: int) -> None:
        """So many people come."""
        for _ in range(n):
            Tab(self.lab)

    def crash(self, into: Path) -> Path:
        """The folder as it would be found after a crash: nothing was closed."""
        shutil.copytree(self.folder, into)
        return into

    def n_people(self) -> int:
        """How many people the database has, read anew."""
        store = open_store(self.study.database, self.folder)
        with store.engine.connect() as connection:
            n = connection.execute(select(func.count()).select_from(tables.people)).scalar_one()
        store.close()
        return int(n)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    made = Kept(tmp_path)
    with made.lab.client:
        made.arrive(3)
    return made


def n_people(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT count(*) FROM people").fetchone()[0])


def test_a_backup_while_the_server_runs_and_after_a_crash_has_what_is_in_the_log(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with kept.lab.client:
        kept.arrive(4)
        alone = tmp_path / "alone.db"
        shutil.copy(kept.folder / "study.db", alone)  # what the docs once advised
        crashed = kept.crash(tmp_path / "crashed")
        assert command("backup", kept.folder, "--out", tmp_path / "running.db").exit_code == 0
    (crashed / "study.db-shm").unlink()
    assert command("backup", crashed, "--out", tmp_path / "crashed.db").exit_code == 0
    for name in ("running.db", "crashed.db"):
        assert n_people(tmp_path / name) == 4
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_backup_without_a_name_is_a_new_file_of_the_study(kept: Kept) -> None:
    assert "3 people" in said(command("backup", kept.folder))
    (made,) = (kept.folder / "backups").iterdir()
    assert (made.stat().st_mode & 0o777, (kept.folder / "backups").stat().st_mode & 0o777) == (0o600, 0o700)


def test_what_is_restored_is_the_backup_and_what_was_there_is_kept(kept: Kept, tmp_path: Path) -> None:
    saved = tmp_path / "saved.db"
    command("backup", kept.folder, "--out", saved)
    lab = Lab(kept.study, kept.folder)
    with lab.client:
        kept.lab = lab
        kept.arrive(2)
    assert kept.n_people() == 5
    done = command("restore", kept.folder, saved)
    assert done.exit_code == 0, said(done)
    assert kept.n_people() == 3
    (aside,) = kept.folder.glob("study.db.before-restore-*")
    assert n_people(aside) == 5
    assert (kept.folder / "study.db").stat().st_mode & 0o777 == 0o600


def damaged(kept: Kept) -> None:
    (kept.folder / "study.db").write_bytes(os.urandom(5000))
    (kept.folder / "study.db-wal").write_bytes(os.urandom(5000))


@pytest.mark.parametrize("state", [damaged, lambda kept: (kept.folder / "study.db").unlink()], ids=["damaged", "gone"])
def test_a_database_that_is_damaged_or_gone_can_be_restored(state: Any, kept: Kept, tmp_path: Path) -> None:
    command("backup", kept.folder, "--out", tmp_path / "saved.db")
    state(kept)
    done = command("restore", kept.folder, tmp_path / "saved.db")
    assert done.exit_code == 0, said(done)
    assert kept.n_people() == 3


def test_nothing_is_restored_under_a_running_server(kept: Kept, tmp_path: Path) -> None:
    command("backup", kept.folder, "--out", tmp_path / "saved.db")
    store = open_store(kept.study.database, kept.folder)
    store.claim()
    assert "a server of this study is already using" in said(command("restore", kept.folder, tmp_path / "saved.db"))
    store.close()
    assert command("restore", kept.folder, tmp_path / "saved.db").exit_code == 0


def rubbish(file: Path, _: Kept) -> None:
    file.write_bytes(os.urandom(5000))


def half(file: Path, kept: Kept) -> None:
    command("backup", kept.folder, "--out", file)
    os.truncate(file, file.stat().st_size // 2)


def flipped(file: Path, kept: Kept) -> None:
    command("backup", kept.folder, "--out", file)
    with file.open("r+b") as opened:
        opened.seek(3 * 4096)
        opened.write(os.urandom(3 * 4096))


def changed(sql: str) -> Any:
    def make(file: Path, kept: Kept) -> None:
        command("backup", kept.folder, "--out", file)
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(sql)

    return make


BAD_BACKUPS = {
    "missing": (lambda file, kept: None, "cannot be read"),
    "a folder": (lambda file, kept: file.mkdir(), "cannot be read"),
    "rubbish": (rubbish, "not a backup"),
    "PostgreSQL's": (lambda file, kept: file.write_bytes(b"PGDMP" + bytes(100)), "expected a backup of SQLite"),
    "half of it": (half, "damaged"),
    "damaged inside": (flipped, "damaged"),
    "another program's": (changed("DROP TABLE choices"), "not a study database"),
    "of a newer version": (changed("UPDATE alembic_version SET version_num = '9999'"), "another version of explorelab"),
    "another study's": (changed("INSERT OR REPLACE INTO settings VALUES ('study', 'other')"), "the study 'other'"),
}


@pytest.mark.parametrize("what", BAD_BACKUPS)
def test_a_bad_backup_is_one_sentence_and_changes_nothing(what: str, kept: Kept, tmp_path: Path) -> None:
    make, sentence = BAD_BACKUPS[what]
    make(tmp_path / "saved.db", kept)
    before = (kept.folder / "study.db").read_bytes()
    done = command("restore", kept.folder, tmp_path / "saved.db")
    assert done.exit_code != 0
    assert sentence in said(done)
    assert (kept.folder / "study.db").read_bytes() == before
    assert list(kept.folder.glob("*before-restore*")) == []


def test_a_backup_replaces_no_file_and_needs_a_database(kept: Kept, tmp_path: Path) -> None:
    there = tmp_path / "there.db"
    there.write_text("something")
    assert "this file already exists" in said(command("backup", kept.folder, "--out", there))
    assert "there is no folder" in said(command("backup", kept.folder, "--out", tmp_path / "no" / "x.db"))
    (kept.folder / "study.db").unlink()
    assert "no database to back up" in said(command("backup", kept.folder, "--out", tmp_path / "new.db"))
    assert there.read_text() == "something"
    assert not (tmp_path / "new.db").exists()


def test_restoring_the_database_itself_is_refused(kept: Kept) -> None:
    assert "is the study's database itself" in said(command("restore", kept.folder, kept.folder / "study.db"))


def test_postgresql_is_backed_up_and_restored(tmp_path: Path, server: Cluster) -> None:
    kept = Kept(tmp_path, server.new_database())
    saved = tmp_path / "saved.dump"
    with kept.lab.client:
        kept.arrive(3)
        assert command("backup", kept.folder, "--out", saved).exit_code == 0
        kept.lab.store.claim()
        assert "a server of this study is already using" in said(command("restore", kept.folder, saved))
        kept.arrive(1)
    assert saved.stat().st_mode & 0o777 == 0o600
    store = open_store(kept.study.database, kept.folder)
    with store.engine.begin() as connection:
        connection.execute(text("DROP TABLE choices"))
        connection.execute(text("CREATE TABLE theirs (x int)"))
    store.close()
    done = command("restore", kept.folder, saved)
    assert done.exit_code == 0, said(done)
    assert kept.n_people() == 3
    assert "saved.dump" not in str(list((kept.folder / "backups").iterdir()))


def test_without_postgresqls_programs_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from explorelab import InputError
    from explorelab.study.operation import postgresql

    monkeypatch.setattr(postgresql.shutil, "which", lambda name: None)
    monkeypatch.setattr(postgresql.Path, "glob", lambda self, pattern: [])
    with pytest.raises(InputError, match="need its program pg_dump, which is not installed"):
        postgresql.program("pg_dump")
