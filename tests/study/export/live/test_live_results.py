"""Live results: everything since a cursor or a moment, what was deleted as deleted, and a fresh start after a restore."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from explorelab.cli.app import app
from explorelab.study.admin import offline
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.tables import people
from explorelab.study.export.live import live_rows
from explorelab.study.export.rows import choice_columns
from tests.support.study.lab import Lab, Tab
from tests.support.study.postgres import Cluster
from tests.support.study.server import write_study


class Read:
    """A served study and a program that reads from it."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        write_study(folder, database, n_training=3, n_trials=4)
        self.token = offline.add_token(folder, "dashboard", "results").split()[0]
        self.lab = Lab(load_study(folder), folder, database)

    def ask(self, since: str = "", status: int = 200, **query: str) -> list[dict[str, Any]]:
        """The lines of an answer, without its end."""
        self.lab.clock.now += 1  # within the rate limit
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = self.lab.client.get("/api/results", params={"since": since, **query}, headers=headers)
        assert answer.status_code == status, answer.text
        lines = [json.loads(line) for line in answer.text.splitlines()]
        if status != 200:
            return lines
        assert answer.headers["content-type"].startswith("application/x-ndjson")
        assert answer.headers["cache-control"] == "no-store"
        assert lines[-1]["type"] == "end"
        self.cursor = lines[-1]["cursor"]
        return lines[:-1]


def kinds(lines: list[dict[str, Any]]) -> dict[str, int]:
    types = [line["type"] for line in lines]
    return {kind: types.count(kind) for kind in sorted(set(types))}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    server: Cluster | None = request.getfixturevalue("server") if request.param == "postgresql" else None
    made = Read(tmp_path_factory.mktemp("live") / "study", server.new_database() if server else "sqlite:///study.db")
    with made.lab.client:
        yield made


def playing(read: Read) -> Tab:
    """Someone who has played the training block."""
    tab = Tab(read.lab)
    tab.consent()
    tab.play_block(0)
    return tab


def test_only_what_is_new_is_read_after_a_cursor(read: Read) -> None:
    read.ask()
    first = read.cursor
    assert read.ask(first) == []
    assert read.cursor == first
    tab = playing(read)
    assert kinds(read.ask(first)) == {"choice": 3, "person": 1}
    second = read.cursor
    tab.go("begin", block=1)
    assert tab.choose(0, None).status_code == 200
    choice, person = read.ask(second)
    assert (choice["participant"], choice["block_number"], choice["trial"]) == (person["participant"], 2, 1)
    assert person["points"] == choice["reward"]
    assert kinds(read.ask(first)) == {"choice": 4, "person": 1}


def test_a_choice_has_every_exported_column(read: Read) -> None:
    playing(read)
    choice = next(line for line in read.ask() if line["type"] == "choice")
    assert set(choice) == {"type", *choice_columns(advice=False)}
    assert datetime.fromisoformat(choice["received_at"]).tzinfo == UTC


def test_many_rows_come_in_pieces_without_a_gap(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    playing(read)
    whole = read.ask()
    for at_once in (1, 2, 5):
        monkeypatch.setattr(live_rows, "AT_ONCE", at_once)
        assert read.ask() == whole


@pytest.mark.parametrize("by", ["participant", "researcher"])
def test_the_deleted_appear_as_deleted_and_their_choices_no_more(read: Read, by: str) -> None:
    tab = playing(read)
    code = tab.token.split(".")[0]
    read.ask()
    since, moment = read.cursor, datetime.fromtimestamp(read.lab.clock.now + 1, UTC).isoformat()
    if by == "participant":
        tab.go("withdraw", delete=True)
    else:
        from explorelab.study.admin.person import delete_person

        with read.lab.store.engine.begin() as connection:
            delete_person(connection, code, code, read.lab.clock.now)
    assert read.ask(since) == [{"type": "person", "participant": code, "stage": "withdrawn", "deleted": True}]
    assert [line for line in read.ask() if line["participant"] == code] == read.ask(since)
    assert code in {line["participant"] for line in read.ask(moment)}


def test_nothing_is_said_of_those_who_have_not_agreed(read: Read) -> None:
    for agreed in (None, False):
        tab = Tab(read.lab)
        if agreed is not None:
            tab.consent(agreed=False)
        assert tab.token.split(".")[0] not in {line["participant"] for line in read.ask()}


def test_no_line_says_who_someone_is_on_a_platform(read: Read) -> None:
    tab = Tab(read.lab, query={"PROLIFIC_PID": "5f0c0ffee", "SESSION_ID": "s1", "STUDY_ID": "t1"})
    tab.consent()
    told = json.dumps(read.ask())
    with read.lab.store.engine.connect() as connection:
        person = connection.execute(select(people).where(people.c.code == tab.token.split(".")[0])).one()
    for secret in (person.platform_id, person.identity, person.browser, str(person.seed), person.page):
        assert secret not in told


def test_results_since_a_moment(read: Read) -> None:
    early = playing(read)
    read.lab.clock.now += 60
    moment = datetime.fromtimestamp(read.lab.clock.now, UTC)
    late = playing(read)
    for text in (moment.isoformat(), moment.isoformat().replace("+00:00", "Z"), moment.replace(tzinfo=None).isoformat()):
        codes = {line["participant"] for line in read.ask(text) if not line.get("deleted")}
        assert late.token.split(".")[0] in codes
        assert early.token.split(".")[0] not in codes


@pytest.mark.parametrize("wrong", ["yesterday", "2026-13-01", "0.5", "x" * 64, "12345678.1e5", "'; DROP TABLE people; --"])
def test_a_wrong_since_is_one_sentence(read: Read, wrong: str) -> None:
    (refusal,) = read.ask(wrong, status=422)
    assert refusal["message"].startswith("since must be a cursor from an earlier answer or a moment")


@pytest.mark.parametrize("made_up", ["00000000.3", "ffffffff.0"])
def test_a_cursor_of_another_database_starts_again(read: Read, made_up: str) -> None:
    (refusal,) = read.ask(made_up, status=410)
    assert refusal["error"] == "start-again"


def test_a_cursor_beyond_the_last_change_starts_again(read: Read) -> None:
    """The database has been put back by hand, by means that begin no new feed."""
    read.ask()
    feed, _, number = read.cursor.partition(".")
    read.ask(f"{feed}.{int(number) + 1}", status=410)


def test_feeds_of_digits_alone_are_cursors_too() -> None:
    assert live_rows.since("12345678.42", "12345678", 50) == live_rows.Since(42)
    assert live_rows.since("20260301.42", "12345678", 50) is None


def test_after_a_restore_a_program_starts_again(request: pytest.FixtureRequest, tmp_path: Path, read: Read) -> None:
    database = "sqlite:///study.db"
    if read.lab.store.dialect == "postgresql":
        database = request.getfixturevalue("server").new_database()
    own, saved, run = Read(tmp_path / "study", database), tmp_path / "saved", CliRunner()
    with own.lab.client:
        playing(own)
        own.ask()
        assert run.invoke(app, ["study", "backup", str(own.folder), "--out", str(saved)]).exit_code == 0
        playing(own)
        own.ask(own.cursor)
    done = run.invoke(app, ["study", "restore", str(own.folder), str(saved)])
    assert done.exit_code == 0, done.output
    own.lab = Lab(own.lab.study, own.folder, database)
    with own.lab.client:
        (refusal,) = own.ask(own.cursor, status=410)
        assert "restored from a backup" in refusal["message"]
        assert kinds(own.ask()) == {"choice": 3, "person": 1}


@pytest.mark.parametrize(("pilots", "n"), [("without", 0), ("with", 1), ("only", 1)])
def test_robots_are_read_if_asked_for(read: Read, pilots: str, n: int) -> None:
    from explorelab.study.server.context import Context
    from explorelab.study.server.reception import pilot_key_of

    lab = read.lab
    key = pilot_key_of(Context(lab.study, lab.store, lab.clock))
    body = {"page": "0" * 31 + str(n), "key": f"{len(pilots):064x}", "query": {"agent": "random"}}
    arrived = lab.client.post("/api/arrive", json=body, headers={"X-Pilot-Key": key}).json()
    version = {"epoch": arrived["state"]["epoch"], "agreed": True, "version": arrived["state"]["consent_version"]}
    lab.client.post("/api/consent", json=version, headers={"Authorization": f"Bearer {arrived['token']}"})
    code = arrived["token"].split(".")[0]
    lines = read.ask(pilots=pilots)
    assert sum(line["participant"] == code for line in lines) == n
    assert pilots != "only" or all(line["pilot"] for line in lines if line["type"] == "person")
