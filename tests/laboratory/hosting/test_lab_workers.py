"""The real server of a laboratory: on PostgreSQL with two workers that agree, and on SQLite with one that is killed."""

from __future__ import annotations

import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.study.postgres import Cluster, free_port
from tests.support.study.server import COMMAND

PASSWORD = "a long enough password"


class ServedLab:
    """A laboratory's server, in processes of its own."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.own = {"Origin": self.base, "Sec-Fetch-Site": "same-origin"}
        self.log = folder.with_suffix(".log")
        command = [*COMMAND, "study", "lab", str(folder), "--port", str(self.port), *more]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        until(lambda: self.process.poll() is not None or self.is_up())
        assert self.process.poll() is None, self.log.read_text(encoding="utf-8")

    def is_up(self) -> bool:
        try:
            return self.ask("GET", "/lab/login").status_code == 200
        except httpx.TransportError:
            return False

    def ask(self, method: str, path: str, **more: object) -> httpx.Response:
        """On a connection of its own, so that any worker may answer."""
        return httpx.request(method, self.base + path, trust_env=False, timeout=20, **more)  # type: ignore[arg-type]

    def change(self, path: str, body: object = None) -> httpx.Response:
        headers = {**self.own, **self.session}
        return self.ask("POST", path, json=body or {}, headers=headers)

    def enter(self) -> None:
        """Become the first owner, by the link that was printed."""
        secret = re.findall(r"/lab/join#(\S+)", self.log.read_text(encoding="utf-8"))[-1]
        body = {"invitation": secret, "login": "olga", "name": "Olga", "password": PASSWORD}
        answer = self.ask("POST", "/lab/join", json=body, headers=self.own)
        assert answer.status_code == 200, answer.text
        self.session = {"Cookie": "; ".join(f"{name}={value}" for name, value in answer.cookies.items())}
        self.session["X-CSRF-Token"] = self.ask("GET", "/lab/api/me", headers=self.session).json()["csrf"]

    def arrive(self, study: str) -> int:
        body = {"page": secrets.token_hex(16), "key": secrets.token_hex(32), "query": {}}
        return self.ask("POST", f"/s/{study}/api/arrive", json=body).status_code

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(20)


def until(true: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.05)


@contextmanager
def serving(folder: Path, *more: str) -> Iterator[ServedLab]:
    served = ServedLab(folder, *more)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.stop()


def on_postgresql(folder: Path, url: str) -> None:
    folder.mkdir()
    (folder / "laboratory.toml").write_text(
        f'[laboratory]\ntitle = "Two workers"\n[database]\nurl = "{url}"\n', encoding="utf-8"
    )


def test_two_workers_follow_what_either_was_told(tmp_path: Path, server: Cluster) -> None:
    on_postgresql(tmp_path / "lab", server.new_database())
    with serving(tmp_path / "lab", "--workers", "2") as lab:
        lab.enter()
        for name in ("a", "b"):
            made = lab.change("/lab/api/studies", {"name": name, "title": name.upper()})
            assert made.status_code == 200, made.text
            assert lab.change(f"/lab/api/studies/{name}/open", {"anyway": True}).status_code == 200
        for name in ("a", "b"):
            until(lambda name=name: {lab.ask("GET", f"/s/{name}/api/health").status_code for _ in range(12)} == {200})
        assert [lab.arrive(name) for name in ("a", "a", "b") for _ in range(4)] == [200] * 12
        shown = lab.ask("GET", "/lab/api/studies", headers=lab.session).json()["studies"]
        assert [each["n_people"] for each in shown] == [8, 4]
        lab.change("/lab/api/studies/a/close")
        assert {lab.arrive("a") for _ in range(8)} == {403}  # at once, whichever worker answers
        lab.change("/lab/api/studies/b/archive")
        until(lambda: {lab.ask("GET", "/s/b/api/health").status_code for _ in range(12)} == {404})
    with serving(tmp_path / "lab") as again:  # nothing is lost over a restart, and there is an owner
        assert "join#" not in again.log.read_text(encoding="utf-8").rpartition("researchers")[2]
        assert again.ask("GET", "/s/a/api/health").status_code == 200
        assert again.ask("GET", "/s/b/api/health").status_code == 404
        assert again.ask("GET", "/lab/api/studies", headers=lab.session).json()["studies"][0]["n_people"] == 8


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_killed_server_has_lost_nothing_and_a_second_one_is_turned_away(tmp_path: Path) -> None:
    with serving(tmp_path / "lab") as lab:
        lab.enter()
        lab.change("/lab/api/studies", {"name": "a"})
        lab.change("/lab/api/studies/a/open", {"anyway": True})
        assert lab.arrive("a") == 200
        second = [*COMMAND, "study", "lab", str(tmp_path / "lab"), "--port", str(free_port())]
        done = subprocess.run(second, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, "already using" in done.stderr) == (2, True)
        refused = [*COMMAND, "study", "lab", str(tmp_path / "lab"), "--workers", "2", "--port", str(free_port())]
        lab.stop(signal.SIGKILL)
        done = subprocess.run(refused, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, "SQLite has one writer" in done.stderr) == (2, True)
    with serving(tmp_path / "lab") as again:
        shown = again.ask("GET", "/lab/api/studies", headers=lab.session).json()["studies"]
        assert [(each["n_people"], each["state"]) for each in shown] == [(1, "open")]
