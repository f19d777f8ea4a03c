"""Several worker processes are one server: one design, one limit, and gone when the process that started them is."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from uvicorn.supervisors import Multiprocess

from explorelab import InputError
from explorelab.study.config.study_folder import load_study
from explorelab.study.database import claim
from explorelab.study.server.serve import begun, bound, trusted
from explorelab.study.server.supervising import Supervisor
from tests.support.study.postgres import Cluster
from tests.support.study.server import Served, write_study


@contextmanager
def workers(folder: Path, database: str) -> Iterator[Served]:
    write_study(folder, database)
    served = Served(folder, workers=2)
    asyncio.run(served.start())
    try:
        until(lambda: len(served.pids) == 3 and len(processes(served)) == 2)
        yield served
        pids = served.pids
    finally:
        served.stop()
    assert not any(is_there(pid) for pid in pids)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, server: Cluster) -> Iterator[Served]:
    """Two workers; tests may kill them, for they are replaced."""
    with workers(tmp_path_factory.mktemp("two") / "study", server.new_database()) as served:
        yield served


def until(true: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 30
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.05)


def processes(served: Served) -> set[str]:
    """Which processes answer, told apart by the inode of their listening socket."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[9] for row in rows if row[1].endswith(f":{served.port:04X}") and row[3] == "0A"}


def ask(served: Served, method: str, path: str, **more: Any) -> httpx.Response:
    """On a connection of its own, so that any worker may answer."""
    return httpx.request(method, f"http://127.0.0.1:{served.port}{path}", timeout=20, trust_env=False, **more)


def wrong_password(served: Served, **headers: str) -> int:
    own = {"Origin": f"http://127.0.0.1:{served.port}", "Sec-Fetch-Site": "same-origin"}
    return ask(served, "POST", "/admin/login", json={"password": "wrong"}, headers={**own, **headers}).status_code


def test_a_worker_that_is_replaced_serves_the_design_of_the_others(two: Served) -> None:
    before = {ask(two, "GET", "/api/texts").text for _ in range(8)}
    assert len(before) == 1
    for name in ("study.toml", "texts.toml", "consent.md"):
        text = (two.folder / name).read_text(encoding="utf-8")
        text = text.replace("A short study", "Another title").replace("Start", "Begin") + "\n# More\n"
        (two.folder / name).write_text(text, encoding="utf-8")
    victim = two.pids[1]
    os.kill(victim, signal.SIGKILL)
    until(lambda: victim not in two.pids and len(two.pids) == 3 and len(processes(two)) == 2)
    assert {ask(two, "GET", "/api/texts").text for _ in range(16)} == before
    body = {"page": "0" * 32, "query": {}}
    shown = [ask(two, "POST", "/api/arrive", json={**body, "key": f"{k:064x}"}).json() for k in range(12)]
    assert "More" not in json.dumps(shown)
    assert len({state["state"]["consent_version"] for state in shown}) == 1
    assert "A worker process ended (exit code -9) and is being replaced." in two.log()


def test_workers_share_a_limit_and_believe_no_header(two: Served) -> None:
    with ThreadPoolExecutor(10) as at_once:
        tried = list(at_once.map(lambda k: wrong_password(two, **{"X-Forwarded-For": f"10.0.{k}.1"}), range(60)))
    assert 5 <= tried.count(401) < 15  # and one more each 12 s; where the header is believed, all 60 are let through
    assert set(tried) == {401, 429}


def test_a_named_proxy_is_believed_as_far_as_it_saw(tmp_path: Path) -> None:
    write_study(tmp_path / "study", "sqlite:///study.db")
    served = Served(tmp_path / "study", workers=1, more=("--trusted-proxies", "127.0.0.1,10.7.0.0/16"))
    asyncio.run(served.start())
    try:
        # What a client wrote itself stands to the left of what proxies add.
        passed_on = [wrong_password(served, **{"X-Forwarded-For": f"10.0.{k}.1, 10.3.0.1, 10.7.0.9"}) for k in range(8)]
        assert 429 in passed_on
        assert [wrong_password(served, **{"X-Forwarded-For": f"10.4.{k}.1"}) for k in range(7)] == [401] * 7
    finally:
        served.stop()


def test_when_the_supervisor_is_killed_the_address_is_free(tmp_path: Path, server: Cluster) -> None:
    with workers(tmp_path / "study", server.new_database()) as served:
        pids = served.pids
        with socket.create_connection(("127.0.0.1", served.port)):  # somebody is there
            os.kill(pids[0], signal.SIGKILL)
            until(lambda: not any(is_there(pid) for pid in pids[1:]))
        bound("127.0.0.1", served.port).close()


def test_a_second_server_on_the_same_database_is_refused(
    tmp_path: Path, server: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claim, "ENDING_S", 0.3)
    database = server.new_database()
    with workers(tmp_path / "study", database):
        other = tmp_path / "other"
        write_study(other, database)
        with pytest.raises(InputError, match="a server of this study is already using the database"):
            begun(load_study(other), other)


def is_there(pid: int) -> bool:
    """Whether a process runs (one that ended and was not asked for its exit code does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("named", ["*", "proxy.example.org", "10.0.0.1/8", "127.0.0.1;10.0.0.1", "127.0.0.1, x"])
def test_proxies_are_named_by_their_address(named: str) -> None:
    with pytest.raises(InputError, match="--trusted-proxies must be comma-separated addresses or networks"):
        trusted(named)


def test_no_proxy_is_trusted_unless_it_is_named() -> None:
    assert trusted("") == []
    assert trusted(" 127.0.0.1, ::1 ") == ["127.0.0.1/32", "::ffff:127.0.0.1/128", "::1/128"]


@pytest.mark.parametrize(("exit_code", "slower"), [(1, True), (-9, False)])
def test_workers_that_keep_failing_are_replaced_more_and_more_slowly(
    exit_code: int, slower: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, started = [1000.0], []
    supervisor = Supervisor.__new__(Supervisor)
    supervisor.processes = [SimpleNamespace(exitcode=exit_code)]

    def replace(self: Supervisor) -> None:  # as if each died at once
        started.append(clock[0])
        self.processes = [SimpleNamespace(exitcode=exit_code)]

    monkeypatch.setattr(Multiprocess, "keep_subprocess_alive", replace)
    monkeypatch.setattr("explorelab.study.server.supervising.time.monotonic", lambda: clock[0])
    while clock[0] < 1200:
        supervisor.keep_subprocess_alive()
        clock[0] += 0.5
    pauses = [later - earlier for earlier, later in pairwise(started)]
    assert pauses[:7] == ([0.5, 1, 2, 4, 8, 16, 30] if slower else [0.5] * 7)
    assert set(pauses[7:]) == ({30} if slower else {0.5})
