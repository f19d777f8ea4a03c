"""What cannot be stored is said in words, and health knows it; crowds are put off, not kept waiting; clocks may be set."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Connection, insert, update
from sqlalchemy.exc import OperationalError

from explorelab.study.admin import download
from explorelab.study.database import failures, group_writer, tables, waiting
from explorelab.study.database.failures import POSTGRESQL, SQLITE, in_words, is_damaged
from explorelab.study.database.refusals import Refused
from explorelab.study.database.store import keep, open_store
from explorelab.study.database.vitals import Vitals, notices
from explorelab.study.database.waiting import LONGEST_WAIT_S, Load
from explorelab.study.export.live.request_counts import RequestCounts
from explorelab.study.server import failure_log, steady_clock
from explorelab.study.server.limits.connections import write_seldom
from explorelab.study.server.pulse import Pulse
from explorelab.study.session.participants import expired
from tests.support.study.lab import Lab, Tab, in_play
from tests.support.study.people_rows import Desk
from tests.support.study.small_study import small_study

HOURS_3 = 3 * 3600.0


def sqlite_error(name: str) -> sqlite3.OperationalError:
    """As SQLite raises it."""
    error = sqlite3.OperationalError("something technical")
    error.sqlite_errorname = name
    return error


def wrapped(error: Exception) -> OperationalError:
    """As it comes through SQLAlchemy, with values that name a person."""
    return OperationalError("INSERT INTO people VALUES (?)", ("A-NAME",), error)


# In words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SQLITE, "SQLITE_IOERR_WRITE", "SQLITE_READONLY_DBMOVED", "SQLITE_CANTOPEN_ISDIR"])
def test_sqlites_failures_are_said_in_words(name: str) -> None:
    said = in_words(wrapped(sqlite_error(name)))
    assert said == next(words for known, words in SQLITE.items() if name.startswith(known))
    assert "Error" not in said
    assert "A-NAME" not in said


@pytest.mark.parametrize("code", POSTGRESQL)
def test_postgresqls_failures_are_said_in_words(code: str) -> None:
    said = in_words(wrapped(psycopg.errors.lookup(code)("something technical")))
    assert said == POSTGRESQL[code]
    assert "Error" not in said


@pytest.mark.parametrize("text", failures.SAID)
def test_connections_that_are_not_made_are_said_in_words(text: str) -> None:
    said = in_words(wrapped(psycopg.OperationalError(f"connection failed: FATAL: {text} at ...")))
    assert said == failures.SAID[text]


def full(file: Path) -> None:
    with sqlite3.connect(file, isolation_level=None) as connection:
        connection.execute("PRAGMA max_page_count = 3")
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 100_000,))


def read_only(file: Path) -> None:
    with sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True) as connection:
        connection.execute("CREATE TABLE t (x)")


def locked(file: Path) -> None:
    with sqlite3.connect(file, isolation_level=None) as one, sqlite3.connect(file, timeout=0) as two:
        one.execute("BEGIN EXCLUSIVE")
        two.execute("CREATE TABLE t (x)")


def rubbish(file: Path) -> None:
    file.write_bytes(b"x" * 5000)
    sqlite3.connect(file).execute("SELECT * FROM t")


@pytest.mark.parametrize(
    ("how", "said"),
    [(full, "the disk is full"), (read_only, "read-only"), (locked, "locked"), (rubbish, "is not a SQLite database")],
)
def test_what_sqlite_really_raises_is_known(how: Callable[[Path], None], said: str, tmp_path: Path) -> None:
    file = tmp_path / "some.db"
    sqlite3.connect(file).execute("PRAGMA user_version = 1").close()
    with pytest.raises(sqlite3.Error) as raised:
        how(file)
    assert said in in_words(raised.value)
    assert is_damaged(raised.value) == (how is rubbish)


# Health ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SQLITE_FULL", "SQLITE_READONLY", "SQLITE_IOERR_FSYNC", "SQLITE_BUSY"])
def test_health_fails_while_nothing_can_be_stored(name: str, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    tab = in_play(lab)

    def broken(*_: Any) -> None:
        raise sqlite_error(name)

    with monkeypatch.context() as patched:
        patched.setattr(lab.store.engine.dialect, "do_commit", broken)
        refused = tab.choose(0, 3)
        health = lab.client.get("/api/health")
        assert (refused.status_code, health.status_code) == (503, 503)
        for answer in (refused, health):
            assert in_words(sqlite_error(name)) in answer.json()["message"]
        assert f"Nothing can be stored: {in_words(sqlite_error(name))}." in notices(lab.store.vitals, [], 0.0)
    assert lab.client.get("/api/health").status_code == 200  # it tries by itself
    assert notices(lab.store.vitals, [], 0.0) == []
    assert tab.choose(0, 3).status_code == 200


def test_health_tries_a_real_write_when_nobody_else_does(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.store.vitals.stored_at = -1e9

    def broken(*_: Any) -> None:
        raise sqlite_error("SQLITE_FULL")

    monkeypatch.setattr(lab.store.engine.dialect, "do_commit", broken)
    assert lab.client.get("/api/health").status_code == 503


def test_the_researcher_is_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.log_in()
    assert desk.get("/admin/api/notices") == {"notices": []}
    desk.store.vitals.put_off()
    desk.store.vitals.clock(HOURS_3)
    told = {"n_put_off": 2, "put_off_at": desk.clock.now - 5, "longest_wait_s": 0.0, "slow_at": 0.0}
    with desk.store.engine.begin() as connection:
        keep(connection, "vitals:another-process", json.dumps(told))
    busy, clock = desk.get("/admin/api/notices")["notices"]
    assert "3 requests put off" in busy
    assert "forward by 3 h 0 min" in clock
    (tmp_path / "study.db").unlink()
    answer = desk.client.get("/admin/api/overview")
    assert answer.status_code == 503
    assert "study.db has been deleted" in answer.json()["message"]
    assert desk.client.get("/admin").status_code == 200  # the page, which says so
    desk.store.close()


# The log --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The clock by which the log is written, which stands still unless it is moved."""
    clock = SimpleNamespace(now=1000.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(failure_log, "time", clock)
    return clock


def broken(*_: Any) -> None:
    raise sqlite_error("SQLITE_FULL")


def test_the_log_tells_of_a_full_disk_once_a_minute_and_of_its_end(
    lab: Lab, clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(lab.store.engine.dialect, "do_commit", broken)
        for minute in range(3):
            clock.now = 1000.0 + 61.0 * minute
            assert {lab.client.get("/api/health").status_code for _ in range(10)} == {503}
    for _ in range(10):
        assert lab.client.get("/api/health").status_code == 200
    assert caplog.messages == [
        "nothing can be stored: the disk is full",
        "still nothing can be stored: the disk is full (10 requests refused so far)",
        "still nothing can be stored: the disk is full (20 requests refused so far)",
        "choices are stored again (30 requests refused meanwhile)",
    ]


def test_trouble_that_comes_and_goes_does_not_fill_the_log(clock: SimpleNamespace, caplog: pytest.LogCaptureFixture) -> None:
    vitals = Vitals()
    for _ in range(1000):
        vitals.failed(wrapped(sqlite_error("SQLITE_FULL")))
        vitals.refused(wrapped(sqlite_error("SQLITE_FULL")))
        vitals.stored()
        clock.now += 0.125
    assert len(caplog.messages) == 6  # in 125 s: that it began and ended, three times
    assert "(479 requests refused so far)" in caplog.messages[2]


def test_people_who_only_look_do_not_fill_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk(tmp_path)
    desk.log_in()

    def unread(_: Any) -> Any:
        raise wrapped(sqlite_error("SQLITE_IOERR"))

    pulse = Pulse(desk.store, lambda: 0.0, RequestCounts(desk.store.load))
    desk.store._read = unread  # type: ignore[method-assign]
    for _ in range(10):
        asyncio.run(pulse.notices())
        assert desk.client.get("/admin/api/overview").status_code == 503
    desk.store.close()
    (line,) = caplog.messages
    assert line.startswith("nothing can be stored: the disk cannot be read or written")


def test_faults_of_the_server_do_not_fill_the_log(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger("explorelab.study.failures"), "filters", [])
    write_seldom()

    async def fails() -> None:
        raise ZeroDivisionError

    lab.store.prove = fails  # type: ignore[method-assign]
    client = TestClient(lab.client.app, raise_server_exceptions=False)
    assert {client.get("/api/health").status_code for _ in range(10)} == {500}
    assert caplog.messages == ["GET /api/health failed: ZeroDivisionError"]


def test_an_export_that_finds_no_room_leaves_the_way_free_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(**_: Any) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download.tempfile, "mkdtemp", no_room)
    store = open_store("sqlite:///study.db", tmp_path)
    for _ in range(2):
        with pytest.raises(Refused, match="The export has failed: the disk is full"):
            download.zipped_export(small_study(), store.engine, "without", 0.0)
    store.close()


# Crowds ---------------------------------------------------------------------------------------------------------------


def test_a_group_is_bounded_by_its_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that only work moves on: 3 ms each, so that seven of them are 20 ms."""
    clock = SimpleNamespace(perf_counter=lambda: clock.now, now=0.0)
    store = open_store("sqlite:///study.db", tmp_path)
    monkeypatch.setattr(group_writer, "time", clock)
    commits, groups, all_wait = store.engine.dialect.do_commit, [0], threading.Event()

    def counted(connection: Any) -> None:
        commits(connection)
        groups.append(0)

    def work(connection: Connection) -> None:
        all_wait.wait()
        groups[-1] += 1
        clock.now += 0.003

    monkeypatch.setattr(store.engine.dialect, "do_commit", counted)

    async def crowd() -> None:
        writing = [asyncio.ensure_future(store.write(work)) for _ in range(30)]
        await asyncio.sleep(0.05)
        all_wait.set()
        await asyncio.gather(*writing)

    asyncio.run(crowd())
    store.close()
    assert [n for n in groups if n] == [7, 7, 7, 7, 2]


def test_whoever_would_wait_too_long_is_asked_to_come_again() -> None:
    vitals = Vitals()
    load = Load(vitals, together_s=0.02)
    for _ in range(200):
        load.enter()
        load.served(1, 0.01, 0.005)
    n = 0
    while load.expected_s() <= LONGEST_WAIT_S:
        load.enter()
        n += 1
    with pytest.raises(Refused) as raised:
        load.enter()
    assert n == pytest.approx(LONGEST_WAIT_S / 0.0125, rel=0.05)  # 10 ms each, and 5 ms for every two of them
    assert raised.value.status == 503
    assert raised.value.retry_after_s is not None
    assert 1 <= raised.value.retry_after_s <= 4
    (said,) = notices(vitals, [], 1000.0)
    assert "1 request put off" in said
    load.served(n, 0.01 * n, 0.1)
    load.enter()


def test_the_researcher_hears_of_waiting_before_anyone_is_put_off() -> None:
    vitals = Vitals()
    load = Load(vitals)
    load.lag_s = 0.5
    load.enter()
    (said,) = notices(vitals, [], 1000.0)
    assert "people waited up to 0.5 s" in said
    vitals.slow_at -= 700.0
    assert notices(vitals, [], 1000.0) == []


def test_a_choice_that_was_put_off_is_kept_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    tab = in_play(lab)
    lab.store.load.lag_s = 1e12  # it goes down by itself
    monkeypatch.setattr(waiting.random, "randint", lambda low, high: high)
    lab.clock.now += 1.0
    report = tab.report(0, 3)
    refused = tab.post("choice", **report)
    assert (refused.status_code, refused.headers["retry-after"], refused.json()["error"]) == (503, "5", "busy")
    lab.store.load.lag_s = 0.0
    first, again = (tab.post("choice", **{**report, "attempt": 2}) for _ in range(2))
    assert first.json() == again.json()
    assert lab.count(tables.choices) == 1


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_people_who_have_gone_do_not_count_as_waiting(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    on_file = database == "sqlite"
    store = open_store("sqlite:///study.db" if on_file else request.getfixturevalue("server").new_database(), tmp_path)
    go_on = threading.Event()

    async def crowd() -> None:
        writing = [asyncio.ensure_future(store.write(lambda _: go_on.wait())) for _ in range(30)]
        await asyncio.sleep(0.05)
        for task in writing:
            task.cancel()
        await asyncio.gather(*writing, return_exceptions=True)
        go_on.set()
        await store.write(lambda _: None)

    asyncio.run(crowd())
    store.close()
    assert store.load._waiting == 0


def test_a_writer_that_hangs_keeps_nobody_waiting() -> None:
    load = Load(Vitals())
    load.enter()
    load.begins()
    load._began = time.monotonic() - 60
    with pytest.raises(Refused, match="try again"):
        load.enter()


# Clocks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moved_s", [HOURS_3, -HOURS_3, 400 * 86400.0])
def test_setting_the_computers_clock_does_not_move_the_servers(moved_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, vitals = steady_clock.SteadyClock(), Vitals()
    before, real = clock(), time.time
    monkeypatch.setattr(time, "time", lambda: real() + moved_s)
    assert 0 <= clock() - before < 60
    vitals.clock(time.time() - clock())
    assert notices(vitals, [], clock()) != []


def test_all_processes_of_a_server_have_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(steady_clock.OFFSET, repr(1000.0 - time.monotonic()))
    assert 0 <= steady_clock.told_clock()() - 1000.0 < 60


@pytest.mark.parametrize("moved_s", [0.0, HOURS_3, -HOURS_3, 30 * 86400.0])
def test_a_restart_after_the_clock_was_set_expires_nobody(
    moved_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(steady_clock.OFFSET, "")
    study = small_study()
    window_s = 60 * study.server.return_within_minutes
    lab = Lab(study, tmp_path)
    stopped_at = lab.clock.now
    with lab.client:
        here, gone = in_play(lab), in_play(lab)
        code = gone.token.partition(".")[0]
        with lab.store.engine.begin() as connection:
            keep(connection, steady_clock.ALIVE, repr(stopped_at))
            connection.execute(update(tables.people).values(seen_at=stopped_at - window_s + 600))
            long_ago = update(tables.people).where(tables.people.c.code == code)
            connection.execute(long_ago.values(seen_at=stopped_at - window_s - 600))
        monkeypatch.setattr(time, "time", lambda: stopped_at + moved_s)
        with lab.store.engine.begin() as connection:
            now = steady_clock.begin(connection, window_s)()
        assert now >= stopped_at  # what was stored then is not in the future
        assert [expired(person, study, now) for person in lab.rows(tables.people)] == [False, True]
        assert here.token != gone.token


def test_a_server_that_starts_at_once_moves_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(steady_clock.OFFSET, "")
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        Tab(lab).consent()
        (before,) = lab.rows(tables.people)
        with lab.store.engine.begin() as connection:
            connection.execute(insert(tables.settings).values(name=steady_clock.ALIVE, value=repr(time.time() - 20)))
            steady_clock.begin(connection, 7200)
        assert lab.rows(tables.people) == [before]
