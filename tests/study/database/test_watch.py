"""A database that is deleted, replaced, restored or damaged under a running server is noticed before anyone is answered."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text
from typer.testing import CliRunner

from explorelab import InputError
from explorelab.cli.app import app
from explorelab.cli.study.study_commands import study as study_commands
from explorelab.study.config.study_folder import load_study
from explorelab.study.database import tables
from explorelab.study.database.store import Store, open_store
from explorelab.study.database.vitals import StoppedError
from tests.support.study.lab import Lab, Tab, in_play
from tests.support.study.operator import ATTACKS
from tests.support.study.postgres import Cluster, free_port
from tests.support.study.server import write_study
from tests.support.study.small_study import small_study


def row(n: int) -> Callable[[Connection], int]:
    """Work that writes one row."""

    def work(connection: Connection) -> int:
        connection.execute(insert(tables.deletions).values(at=0.0, by="x", n_choices=n))
        return n

    return work


def written(store: Store, *numbers: int) -> None:
    """Have each number stored."""
    for n in numbers:
        assert asyncio.run(store.write(row(n))) == n


def copied(file: Path, into: Path) -> Path:
    """A copy of the whole database."""
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(into)) as target:
        source.backup(target)
    return into


class Ready:
    """A store with five rows in its file and five in its log, an older copy of it, and another study's database."""

    def __init__(self, folder: Path) -> None:
        (folder / "study").mkdir()
        self.file = folder / "study" / "study.db"
        self.store = open_store("sqlite:///study.db", folder / "study")
        written(self.store, *range(3))
        self.older = copied(self.file, folder / "older.db")
        written(self.store, 3, 4)
        self.store._files.checkpoint()  # type: ignore[union-attr]
        written(self.store, *range(5, 10))
        open_store("sqlite:///other.db", folder).close()
        self.other = folder / "other.db"


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_database_that_is_no_longer_the_same_stops_the_study(attack: str, tmp_path: Path) -> None:
    ready = Ready(tmp_path)
    ATTACKS[attack](ready.file, ready.older, ready.other)
    with pytest.raises(StoppedError) as raised:
        asyncio.run(ready.store.write(row(99)))
    assert (raised.value.status, raised.value.retry_after_s) == (503, 15)
    assert "\n" not in raised.value.message
    with pytest.raises(StoppedError):
        asyncio.run(ready.store.read(lambda connection: connection.execute(select(tables.people)).all()))
    with pytest.raises(StoppedError):
        asyncio.run(ready.store.prove())
    ready.store.close()


@pytest.mark.parametrize("attack", ["deleted", "written over by an older copy", "without its log", "with its log emptied"])
def test_it_is_noticed_also_while_nobody_asks(attack: str, tmp_path: Path) -> None:
    ready = Ready(tmp_path)
    ATTACKS[attack](ready.file, ready.older, ready.other)
    ready.store.look()
    assert ready.store.vitals.stopped
    ready.store.close()


def test_a_file_that_goes_during_a_transaction_is_nobodys_answer(tmp_path: Path) -> None:
    ready = Ready(tmp_path)

    def work(connection: Connection) -> int:
        result = row(99)(connection)
        ready.file.unlink()
        return result

    with pytest.raises(StoppedError):
        asyncio.run(ready.store.write(work))
    ready.store.close()


def test_closing_leaves_the_files_that_were_put_there(tmp_path: Path) -> None:
    """SQLite removes a log by its name when the last connection goes; that name may belong to a restored database."""
    ready = Ready(tmp_path)
    log = ready.file.with_name("study.db-wal")
    ready.older.replace(ready.file)
    log.unlink()
    log.write_bytes(b"the log of what was restored")
    with pytest.raises(StoppedError):
        asyncio.run(ready.store.write(row(99)))
    ready.store.close()
    assert log.read_bytes() == b"the log of what was restored"


def foreign_checkpoint(db: Path) -> None:
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def foreign_write(db: Path) -> None:
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO settings VALUES ('theirs', ?)", ("x" * 100_000,))


def foreign_vacuum(db: Path) -> None:
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


HARMLESS: dict[str, Callable[[Path], Any]] = {
    "its log moved into it": foreign_checkpoint,
    "rows written by another program": foreign_write,
    "pages in another order": foreign_vacuum,
    "other permissions": lambda db: db.chmod(0o640),
    "a copy beside it": lambda db: copied(db, db.with_name("copy.db")),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_what_does_no_harm_stops_nothing(what: str, tmp_path: Path) -> None:
    ready = Ready(tmp_path)
    for n in range(3):
        HARMLESS[what](ready.file)
        written(ready.store, 10 + n)
        ready.store.look()
        written(ready.store, 20 + n)
    ready.store.close()
    assert not ready.file.with_name("study.db-wal").exists()  # the file alone is the whole database
    with closing(sqlite3.connect(ready.file)) as connection:
        kept = {n for (n,) in connection.execute("SELECT n_choices FROM deletions")}
    assert kept == {*range(10), 10, 11, 12, 20, 21, 22}


def test_participants_and_health_are_told_in_a_sentence(tmp_path: Path) -> None:
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        tab = in_play(lab)
        assert lab.client.get("/api/health").json() == {"ok": True}
        (tmp_path / "study.db").unlink()
        for answer in (tab.choose(0, 3), tab.post("state"), lab.client.get("/api/health")):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "15")
            assert "study.db has been deleted or moved" in answer.json()["message"]


# PostgreSQL -----------------------------------------------------------------------------------------------------------

WIPED = {
    "all tables emptied": "TRUNCATE people CASCADE",
    "choices emptied": "TRUNCATE choices",
    "settings emptied": "TRUNCATE settings",
    "a table dropped": "DROP TABLE choices",
}


@pytest.mark.parametrize("attack", WIPED)
def test_tables_that_were_emptied_stop_the_study_on_postgresql(attack: str, tmp_path: Path, server: Cluster) -> None:
    lab = Lab(small_study(), tmp_path, server.new_database())
    with lab.client:
        tab = in_play(lab)
        assert tab.choose(0, 3).status_code == 200
        lab.store.look()
        with lab.store.engine.begin() as connection:
            connection.execute(text(WIPED[attack]))
        lab.store.look()
        for answer in (tab.choose(1, 3), tab.post("state"), lab.client.get("/api/health")):
            assert answer.status_code == 503, answer.text


def test_who_is_no_longer_known_is_not_sent_away_on_postgresql(tmp_path: Path, server: Cluster) -> None:
    lab = Lab(small_study(), tmp_path, server.new_database())
    with lab.client:
        tab = in_play(lab)
        lab.store.look()
        with lab.store.engine.begin() as connection:
            connection.execute(text(WIPED["all tables emptied"]))
        assert tab.choose(0, 3).status_code == 503


def test_deleting_people_stops_nothing_on_postgresql(tmp_path: Path, server: Cluster) -> None:
    lab = Lab(small_study(), tmp_path, server.new_database())
    with lab.client:
        for _ in range(2):
            tab = in_play(lab)
            tab.choose(0, 3)
            lab.store.look()
            tab.go("withdraw", delete=True)
            lab.store.look()
        assert Tab(lab).state["stage"] == "consent"
        assert lab.client.get("/api/health").status_code == 200


# At the start ---------------------------------------------------------------------------------------------------------


def folder_there(file: Path) -> None:
    file.mkdir()


def another_program(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE invoices (secret TEXT)")


def lost_with_log(file: Path) -> None:
    file.with_name("study.db-wal").write_bytes(b"x" * 5000)


def damaged_inside(file: Path) -> None:
    """Every page but the first is rubbish."""
    open_store("sqlite:///study.db", file.parent).close()
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(os.urandom(file.stat().st_size - 4096))


def cut_short(file: Path) -> None:
    open_store("sqlite:///study.db", file.parent).close()
    os.truncate(file, file.stat().st_size // 2)


def without(what: str) -> Callable[[Path], None]:
    def make(file: Path) -> None:
        open_store("sqlite:///study.db", file.parent).close()
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(what)

    return make


BAD_FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "rubbish": (lambda file: file.write_bytes(os.urandom(20_000)), "not a SQLite database"),
    "text": (lambda file: file.write_text("a,b\n1,2\n" * 999), "not a SQLite database"),
    "empty": (lambda file: file.touch(), "is empty"),
    "a folder": (folder_there, "got a folder"),
    "another program's": (another_program, "another program"),
    "gone, with its log left": (lost_with_log, "holds data"),
    "damaged inside": (damaged_inside, "damaged"),
    "cut short": (cut_short, "damaged"),
    "without a table": (without("DROP TABLE events"), "table 'events' is missing"),
    "without a column": (without("ALTER TABLE people DROP COLUMN bonus"), "column of the table 'people' 'bonus' is missing"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_a_database_that_cannot_be_used_is_one_sentence(what: str, tmp_path: Path) -> None:
    from explorelab.study.server.serve import begun

    make, said = BAD_FILES[what]
    make(tmp_path / "study.db")
    with pytest.raises(InputError, match=said) as raised:
        begun(small_study(), tmp_path)
    assert "\n" not in str(raised.value)
    assert "SELECT" not in str(raised.value)


def test_the_database_of_another_study_is_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    from explorelab.study.server.serve import begun

    begun(small_study(), tmp_path)
    begun(replace(small_study(), name="renamed"), tmp_path)  # nobody has come yet
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        Tab(lab)
    with pytest.raises(InputError, match=r"1 person of the study 'renamed'"):
        begun(replace(small_study(), name="another"), tmp_path)


def test_one_server_at_a_time(tmp_path: Path) -> None:
    from explorelab.study.server.serve import begun

    store = open_store("sqlite:///study.db", tmp_path)
    store.claim()
    with pytest.raises(InputError, match="a server of this study is already using"):
        begun(small_study(), tmp_path)
    store.close()
    begun(small_study(), tmp_path)


COMMANDS: dict[str, list[str]] = {
    "init": ["{folder}/new"],
    "serve": ["{folder}", "--port", "{port}"],
    "pilot": ["{folder}", "--people", "1"],
    "export": ["{folder}", "--out", "{folder}/data"],
    "find": ["{folder}", "nobody"],
    "pay": ["{folder}", "--out", "{folder}/payments"],
    "backup": ["{folder}"],
    "restore": ["{folder}", "{folder}/study.toml"],
    "check": ["{folder}"],
    "lab": ["{folder}", "--port", "{port}"],
    "deploy": ["{folder}", "--domain", "study.example.org", "--out", "{folder}/deploy"],
}
"""How each command of the study is called beside a running server."""


@pytest.mark.parametrize(
    "name", [command.name or command.callback.__name__ for command in study_commands.registered_commands]
)
def test_no_command_of_ours_stops_a_running_server(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(folder, "sqlite:///study.db")
    lab = Lab(load_study(folder), folder)
    with lab.client:
        lab.store.claim()
        tab = Tab(lab)
        tab.consent()
        words = [word.format(folder=folder, port=free_port()) for word in COMMANDS[name]]
        CliRunner().invoke(app, ["study", name, *words])
        tab.play_block(0)
        assert lab.client.get("/api/health").status_code == 200
        assert lab.store.vitals.trouble() is None
