"""What is checked before a study is served, and the commands around it."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import insert
from typer.testing import CliRunner

from explorelab import InputError
from explorelab.cli.app import app
from explorelab.study.config.start_study import init_study
from explorelab.study.database import tables
from explorelab.study.database.store import open_store
from explorelab.study.server.serve import EACH_ITS_OWN, PASSWORD, bound, is_local, password_for, serve
from tests.support.study.people_rows import PERSON
from tests.support.study.postgres import Cluster
from tests.support.study.server import Served, write_study


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(PASSWORD, raising=False)
    init_study(tmp_path / "study")
    return tmp_path / "study"


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("10.0.0.7", False)]
)
def test_local_addresses_are_known(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_a_public_address_needs_a_password(folder: Path) -> None:
    with pytest.raises(InputError, match="needs a password"):
        serve(folder, host="0.0.0.0", allow_unfinished=True)


def test_a_password_has_no_default_and_is_not_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PASSWORD, raising=False)
    made = {password_for("127.0.0.1", None) for _ in range(5)}
    assert len(made) == 5
    assert all(fresh and len(password) >= 16 for password, fresh in made)
    monkeypatch.setenv(PASSWORD, "short")
    with pytest.raises(InputError, match="at least 8 characters, got 5"):
        password_for("127.0.0.1", None)
    with pytest.raises(InputError, match="cannot read the password"):
        password_for("127.0.0.1", tmp_path / "nothing")
    (tmp_path / "password").write_text("from a file\n")
    assert password_for("0.0.0.0", tmp_path / "password") == ("from a file", False)


def test_a_study_that_is_not_filled_in_does_not_go_public(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD, "long enough")
    for where in ({"host": "0.0.0.0"}, {"public_url": "https://study.uni-bonn.de"}):
        with pytest.raises(InputError, match="not ready for participants") as refused:
            serve(folder, **where)
        for said in ("consent.md, line 7: has", "declined.md, line 9: has 1 placeholder left, the first: [", "CHANGE-ME"):
            assert said in str(refused.value)


def test_a_port_in_use_is_one_sentence() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(InputError, match="another program is using it"):
            bound("127.0.0.1", other.getsockname()[1])


def test_another_server_of_the_same_address_is_noticed_though_sockets_can_share_it() -> None:
    with bound("127.0.0.1", 0, shared=True) as other:
        other.listen()
        with pytest.raises(InputError, match="another program is using it"):
            bound("127.0.0.1", other.getsockname()[1])


@pytest.mark.skipif(not EACH_ITS_OWN, reason="this system does not share connections among sockets")
def test_several_workers_have_their_share_of_the_connections(tmp_path: Path, server: Cluster) -> None:
    write_study(tmp_path / "study", server.new_database())
    served = Served(tmp_path / "study", workers=2)
    asyncio.run(served.start())
    try:
        until = time.monotonic() + 30
        while listeners(served.port) < 2:  # of a shared socket there is one, however many processes wait
            assert time.monotonic() < until, "the workers share a socket"
            time.sleep(0.05)
        workers = served.pids[1:]
        before = [sockets_of(pid) for pid in workers]
        with ExitStack() as people:
            for _ in range(200):
                people.enter_context(socket.create_connection(("127.0.0.1", served.port)))
            until = time.monotonic() + 10
            while sum(more := [sockets_of(pid) - n for pid, n in zip(workers, before, strict=True)]) < 200:
                assert time.monotonic() < until, more
                time.sleep(0.05)
        assert min(more) > 60  # of 200 thrown to two, fewer once in a hundred million
    finally:
        served.stop()


def listeners(port: int) -> int:
    """How many sockets wait for connections to this port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def sockets_of(pid: int) -> int:
    """How many sockets a process has open."""
    links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    return sum(link.startswith("socket:") for link in links)


def test_several_workers_need_postgresql(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InputError, match="--workers must be 1, got 2"):
        serve(folder, port=port, workers=2)


def test_an_address_for_people_is_a_whole_one(folder: Path) -> None:
    with pytest.raises(InputError, match="--public-url must be an address such as https"):
        serve(folder, public_url="study.example.org")


def test_a_person_is_found_by_the_name_that_a_platform_gave_them(folder: Path) -> None:
    store = open_store("sqlite:///study.db", folder)
    with store.engine.begin() as connection:
        connection.execute(insert(tables.people).values({**PERSON, "source": "prolific", "platform_id": "5f00"}))
    store.close()
    told = CliRunner().invoke(app, ["study", "find", str(folder), "5f00"])
    assert told.output.split() == ["abc", "(prolific,", "play)"]
    assert isinstance(CliRunner().invoke(app, ["study", "find", str(folder), "other"]).exception, InputError)


def test_init_export_and_pay_from_the_command_line(tmp_path: Path) -> None:
    run = CliRunner()
    folder, data = tmp_path / "study", tmp_path / "data"
    assert "Wrote" in run.invoke(app, ["study", "init", str(folder)]).output
    told = run.invoke(app, ["study", "export", str(folder), "--out", str(data)])
    assert "0 people, 0 choices" in told.output
    assert (data / "dataset_description.json").is_file()
    assert run.invoke(app, ["study", "pay", str(folder), "--out", str(tmp_path / "pay")]).exit_code == 0
    assert stat.S_IMODE((folder / "study.db").stat().st_mode) == 0o600
