"""The database: on disk before it is answered, nothing half-written, and readable after an upgrade."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, MetaData, insert, select

from explorelab import InputError
from explorelab.study.database import tables
from explorelab.study.database.migrating import form_of, migrate, newest
from explorelab.study.database.store import engine_for, open_store
from explorelab.study.session import participants
from explorelab.study.session.identity import keyed_identity, who
from tests.support.study.people_rows import PERSON
from tests.support.study.postgres import Cluster
from tests.support.study.small_study import small_study

CHOICE = {
    "person": 1, "block": 0, "trial": 0, "position": 3, "goal": 4, "arm": 4, "reward": 12.0, "missed": False, "n_clicks": 1,
    "first_click_ms": 1.0, "last_click_ms": 1.0, "clicks": "[[4,1.0]]", "elapsed_ms": 20.0, "overrun_ms": 0.0, "pauses": 0,
    "epoch": 1, "attempts": 1, "received_at": 5.0, "flags": "",
}  # fmt: skip


def deleted(n: int) -> Callable[[Connection], int]:
    """Work that writes one row."""

    def work(connection: Connection) -> int:
        connection.execute(insert(tables.deletions).values(at=0.0, by="x", n_choices=n))
        if n < 0:
            raise ValueError(n)
        return n

    return work


def kept(path: Path) -> list[int]:
    """What another program finds in the file."""
    with sqlite3.connect(path) as connection:
        return [row[0] for row in connection.execute("SELECT n_choices FROM deletions ORDER BY n_choices")]


def test_what_is_answered_is_in_the_file_and_what_failed_is_not(tmp_path: Path) -> None:
    async def write() -> list[Any]:
        store = open_store("sqlite:///study.db", tmp_path)
        answers = await asyncio.gather(*(store.write(deleted(n)) for n in range(-20, 80)), return_exceptions=True)
        assert kept(tmp_path / "study.db") == list(range(80))
        store.close()
        return answers

    answers = asyncio.run(write())
    assert [answer for answer in answers if isinstance(answer, int)] == list(range(80))
    assert sum(isinstance(answer, ValueError) for answer in answers) == 20


def test_a_commit_that_fails_is_nobodys_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def write() -> list[Any]:
        store = open_store("sqlite:///study.db", tmp_path)

        def broken(*_: Any) -> None:
            raise OSError("the disk is full")

        monkeypatch.setattr(store.engine.dialect, "do_commit", broken)
        answers = await asyncio.gather(*(store.write(deleted(n)) for n in range(5)), return_exceptions=True)
        monkeypatch.undo()
        assert kept(tmp_path / "study.db") == []
        assert await store.write(deleted(7)) == 7
        store.close()
        return answers

    assert all(isinstance(answer, OSError) for answer in asyncio.run(write()))


def test_a_group_that_the_disk_refuses_is_nobodys_answer(tmp_path: Path) -> None:
    """SQLite rolls everything back when the disk is full; what went before in the same group is then gone too."""

    async def write() -> list[Any]:
        store = open_store("sqlite:///study.db", tmp_path)

        def work(n: int) -> Callable[[Connection], int]:
            def one(connection: Connection) -> int:
                if n == 0:
                    time.sleep(0.2)  # so that the others wait, and are written together
                if n == 4:
                    connection.exec_driver_sql("ROLLBACK")  # what SQLite does by itself then
                    raise OSError("the disk is full")
                return deleted(n)(connection)

            return one

        answers = await asyncio.gather(*(store.write(work(n)) for n in range(8)), return_exceptions=True)
        store.close()
        return answers

    answers = asyncio.run(write())
    assert [answer for answer in answers if isinstance(answer, int)] == kept(tmp_path / "study.db")
    assert isinstance(answers[4], Exception)


def test_a_request_that_was_given_up_does_not_stop_the_others(tmp_path: Path) -> None:
    async def write() -> int:
        store = open_store("sqlite:///study.db", tmp_path)
        waiting = [asyncio.create_task(store.write(deleted(n))) for n in range(20)]
        await asyncio.sleep(0)
        for task in waiting[::2]:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        answer = await asyncio.wait_for(store.write(deleted(99)), 5)
        store.close()
        return answer

    assert asyncio.run(write()) == 99


def test_every_commit_waits_for_the_disk(tmp_path: Path) -> None:
    store = open_store("sqlite:///study.db", tmp_path)
    with store.engine.connect() as connection:
        pragmas = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "journal_mode")]
    store.close()
    assert pragmas == [2, "wal"]
    assert (tmp_path / "study.db").stat().st_mode & 0o777 == 0o600


def test_the_migrations_make_the_tables_of_today(tmp_path: Path) -> None:
    engine = engine_for("sqlite:///study.db", tmp_path)
    migrate(engine)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []
        assert form_of(connection) == newest()
    engine.dispose()


def upgraded(url: str, folder: Path) -> None:
    """Write with the first form of the database, open with the last."""
    engine = engine_for(url, folder)
    migrate(engine, "0001")
    first = MetaData()
    first.reflect(engine)
    assert "events" not in first.tables
    with engine.begin() as connection:
        connection.execute(insert(first.tables["settings"]).values(name="secret", value="ab" * 32))
        connection.execute(insert(first.tables["people"]).values(PERSON))
        connection.execute(insert(first.tables["choices"]).values(CHOICE))
    engine.dispose()
    store = open_store(url, folder)
    with store.engine.connect() as connection:
        (person,) = connection.execute(select(tables.people))
        (choice,) = connection.execute(select(tables.choices))
        assert connection.execute(select(tables.events)).all() == []
        assert form_of(connection) == newest() != "0001"
    assert {name: getattr(person, name) for name in PERSON} == PERSON | {"identity": keyed_identity("i", store.secret)}
    assert {name: getattr(choice, name) for name in CHOICE} == CHOICE
    assert store.secret.hex() == "ab" * 32
    store.close()


def test_a_database_of_the_first_form_opens_with_its_data(tmp_path: Path) -> None:
    upgraded("sqlite:///study.db", tmp_path)


def test_a_database_of_the_first_form_opens_with_its_data_on_postgresql(tmp_path: Path, server: Cluster) -> None:
    upgraded(server.new_database(), tmp_path)


def test_many_first_arrivals_of_one_person_are_one_person_on_postgresql(tmp_path: Path, server: Cluster) -> None:
    async def arrive() -> set[str]:
        store = open_store(server.new_database(), tmp_path)
        arrival = who({}, "0" * 64, pilot=False)
        works = [
            lambda connection, page=page: participants.arrive(connection, small_study(), arrival, page, 1.0)
            for page in map(str, range(8))
        ]
        arrived = await asyncio.gather(*(store.write(work) for work in works))
        store.close()
        assert sorted(person.epoch for person in arrived) == list(range(1, 9))
        return {person.code for person in arrived}

    assert len(asyncio.run(arrive())) == 1


def test_conditions_stay_balanced_when_all_come_at_once_on_postgresql(tmp_path: Path, server: Cluster) -> None:
    study = small_study()

    def take_part(connection: Connection, number: int) -> str:
        person = participants.arrive(connection, study, who({}, f"{number:064x}", pilot=False), "p", 1.0)
        version = participants.version_of(study.texts.pages["consent"])
        return str(participants.consent(connection, study, person, True, version, 1.0).cell)

    async def everyone() -> Counter[str]:
        store = open_store(server.new_database(), tmp_path)
        works = [lambda connection, n=n: take_part(connection, n) for n in range(48)]
        cells = await asyncio.gather(*(store.write(work) for work in works))
        store.close()
        return Counter(cells)

    counts = asyncio.run(everyone())
    assert (len(counts), set(counts.values())) == (24, {2})


def test_a_database_of_a_later_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    open_store("sqlite:///study.db", tmp_path).close()
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match="another version of explorelab"):
        open_store("sqlite:///study.db", tmp_path)
    with sqlite3.connect(tmp_path / "study.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "must be an address such as"),
        ("sqlite:///:memory:", "not in memory"),
        ("mysql://somewhere/db", "must be sqlite or postgresql, got 'mysql'"),
        ("sqlite:///no/such/folder/study.db", "cannot open the database"),
        ("postgresql://user:hidden@127.0.0.1:1/db", "cannot open the database"),
    ],
)
def test_a_wrong_address_is_one_sentence(url: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as raised:
        open_store(url, tmp_path)
    assert "hidden" not in str(raised.value)
    assert "\n" not in str(raised.value)
