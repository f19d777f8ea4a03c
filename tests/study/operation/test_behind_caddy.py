"""A study as it is deployed: a real Caddy with TLS, from the file that `study deploy` writes, before a real server."""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from explorelab.study.operation.write_deployment import write_deployment
from tests.support.study.postgres import Cluster, free_port
from tests.support.study.server import Served, write_study

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed here"),
]

NEW_PEOPLE = 3
"""From one address in an hour: more are refused."""
OPTIONS = """{{
	admin off
	skip_install_trust
	http_port {http}
	https_port {https}
	storage file_system {storage}
"""
"""What a test needs among the file's options: other ports than 80 and 443, and nothing of the computer's changed."""


class Deployed:
    """Caddy and the server behind it."""

    def __init__(self, folder: Path, database: str, workers: int) -> None:
        self.folder, self.http, self.https = folder, free_port(), free_port()
        write_study(folder / "study", database)
        toml = folder / "study" / "study.toml"
        few = re.sub("new_people_per_hour = .*", f"new_people_per_hour = {NEW_PEOPLE}", toml.read_text())
        toml.write_text(few)
        more = ["--trusted-proxies", "127.0.0.1,::1", "--public-url", f"https://localhost:{self.https}"]
        self.served = Served(folder / "study", workers, more=more)
        write_deployment(folder / "study", folder / "deploy", "localhost")
        caddyfile = (folder / "deploy" / "server" / "Caddyfile").read_text()
        options = OPTIONS.format(http=self.http, https=self.https, storage=folder / "caddy")
        changed = caddyfile.replace("127.0.0.1:8000", f"127.0.0.1:{self.served.port}").replace("{\n", options, 1)
        (folder / "Caddyfile").write_text(changed)

    def start(self) -> None:
        asyncio.run(self.served.start())
        command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(self.folder / "Caddyfile")]
        env = {"PATH": "/usr/bin", "HOME": str(self.folder)}
        self._log = (self.folder / "caddy.log").open("wb")
        self.caddy = subprocess.Popen(command, stdout=self._log, stderr=self._log, env=env)
        until = time.monotonic() + 60
        while not self._listens():
            assert time.monotonic() < until, (self.folder / "caddy.log").read_text()[-2000:]
            time.sleep(0.1)

    def _listens(self) -> bool:
        if not self.authority.is_file():
            return False
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.https)) == 0

    @property
    def authority(self) -> Path:
        """The certificate of Caddy's own authority, which it uses for localhost."""
        return self.folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"

    def client(self, address: str = "127.0.0.1", **how: Any) -> httpx.Client:
        """Somebody who comes from this address and checks the certificate."""
        context = ssl.create_default_context(cafile=str(self.authority))
        transport = httpx.HTTPTransport(verify=context, local_address=address)
        return httpx.Client(base_url=f"https://localhost:{self.https}", transport=transport, timeout=60, **how)

    def stop(self) -> None:
        self.caddy.terminate()
        assert self.caddy.wait(20) == 0
        self._log.close()
        self.served.stop()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def deployed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    database, workers = "sqlite:///study.db", 1
    if request.param == "postgresql":
        server: Cluster = request.getfixturevalue("server")
        database, workers = server.new_database(), 2
    made = Deployed(tmp_path_factory.mktemp("deployed"), database, workers)
    made.start()
    yield made
    made.stop()


def arrive(client: httpx.Client, **headers: str) -> httpx.Response:
    body = {"page": secrets.token_hex(16), "key": secrets.token_hex(32), "query": {}}
    return client.post("/api/arrive", json=body, headers=headers)


def test_the_page_comes_encrypted_with_its_headers(deployed: Deployed) -> None:
    with deployed.client() as client:
        page, health = client.get("/"), client.get("/api/health")
        script = client.get("/static/study.js", headers={"Accept-Encoding": "gzip"})
    assert (page.status_code, health.json()) == (200, {"ok": True})
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert "server" not in page.headers
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert script.headers["Content-Encoding"] == "gzip"


def test_what_holds_secrets_is_not_compressed(deployed: Deployed) -> None:
    with deployed.client("127.0.0.9") as client:
        assert "Content-Encoding" not in arrive(client, **{"Accept-Encoding": "gzip"}).headers


def test_who_comes_without_encryption_is_sent_on(deployed: Deployed) -> None:
    answer = httpx.get(f"http://localhost:{deployed.http}/?PROLIFIC_PID=x", follow_redirects=False)
    assert answer.status_code == 308
    assert answer.headers["Location"].startswith("https://localhost")
    assert answer.headers["Location"].endswith("/?PROLIFIC_PID=x")


def test_limits_are_each_persons_own_and_cannot_be_evaded_by_a_header(deployed: Deployed) -> None:
    with deployed.client("127.0.0.2") as one, deployed.client("127.0.0.3") as other:
        said = [arrive(one, **{"X-Forwarded-For": f"203.0.113.{number}"}).status_code for number in range(NEW_PEOPLE + 2)]
        assert said == [200] * NEW_PEOPLE + [429] * 2
        assert arrive(other).status_code == 200


def test_large_uploads_are_refused(deployed: Deployed) -> None:
    with deployed.client("127.0.0.4") as client:
        for size in (70_000, 12_000_000):
            try:
                status = client.post("/api/arrive", content=b" " * size).status_code
            except httpx.TransportError:  # the connection was closed while this side was still sending
                continue
            assert status in (413, 502), size  # 502: the server hangs up before Caddy has sent it everything
        assert client.get("/api/alive").status_code == 200


def test_people_wait_while_the_server_restarts_and_then_go_on(deployed: Deployed) -> None:
    answers: dict[str, list[int]] = {"GET": [], "POST": []}

    def look() -> None:
        with deployed.client("127.0.0.5") as client:
            answers["GET"].append(client.get("/api/health").status_code)

    def come() -> None:
        # Caddy 2.6 does not send a body again, so the page does, as after every answer of 500 and above.
        with deployed.client("127.0.0.5") as client:
            while answers["POST"][-1:] != [200] and len(answers["POST"]) < 60:
                answers["POST"].append(arrive(client).status_code)
                time.sleep(0.5)

    deployed.served.kill_all()
    asking = [threading.Thread(target=ask) for ask in (look, come)]
    for each in asking:
        each.start()
    time.sleep(1)
    assert answers["GET"] == []
    asyncio.run(deployed.served.start())
    for each in asking:
        each.join(90)
    assert answers["GET"] == [200]
    assert set(answers["POST"][:-1]) <= {502}
    assert answers["POST"][-1] == 200


def test_nothing_is_logged_of_who_came(deployed: Deployed) -> None:
    with deployed.client("127.0.0.6") as client:
        client.get("/", params={"PROLIFIC_PID": "5f00secret"})
        with pytest.raises(httpx.HTTPError):  # also when something fails
            client.post("/?PROLIFIC_PID=5f00secret", content=b" " * 12_000_000).raise_for_status()
    assert b"error" in (deployed.folder / "caddy.log").read_bytes()
    for log in (deployed.folder / "caddy.log", deployed.folder / "study" / "server.log"):
        assert "5f00secret" not in log.read_text()
        assert "127.0.0.6" not in log.read_text()
