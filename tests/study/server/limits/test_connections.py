"""Connections that ask nothing, or slowly, or too much, or are too many, keep nobody out. All with real sockets."""

from __future__ import annotations

import asyncio
import resource
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from explorelab.study.server.limits import connections
from tests.support.study.server import COMMAND, Served, write_study

SHORT = """
import sys
from explorelab.study.server.limits import connections
connections.REQUEST_S, connections.STALLED_S, connections.MOST = 0.6, 0.6, 60
from explorelab.cli.app import main
main()
"""
"""The server as it is, but less patient, and with room for fewer."""
HEALTH = b"GET /api/health HTTP/1.1\r\nHost: study\r\n\r\n"
POST = b"POST /api/arrive HTTP/1.1\r\nHost: study\r\nContent-Type: application/json\r\n"


@contextmanager
def served(folder: Path, patched: str = "", files: int | None = None) -> Iterator[Served]:
    write_study(folder, "sqlite:///study.db")
    server = Served(folder, 1, (sys.executable, "-c", patched) if patched else COMMAND, files=files)
    asyncio.run(server.start())
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("impatient") / "study", SHORT) as server:
        yield server


def connect(server: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def until_closed(one: socket.socket) -> bytes:
    """Everything that comes until the server closes; it must within 10 s."""
    told = b""
    try:
        while part := one.recv(65536):
            told += part
    except ConnectionResetError:
        pass
    return told


def answer(one: socket.socket, request: bytes = HEALTH) -> tuple[int, bytes]:
    """Status and body of the answer, on a connection that stays open."""
    one.sendall(request)
    told = b""
    while b"\r\n\r\n" not in told:
        part = one.recv(65536)
        if not part:
            raise ConnectionResetError
        told += part
    head, _, body = told.partition(b"\r\n\r\n")
    lines = [line.lower() for line in head.split(b"\r\n")]
    length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length"))
    while len(body) < length:
        body += one.recv(65536)
    return int(head.split()[1]), body


def is_well(server: Served) -> bool:
    with connect(server) as one:
        return answer(one)[0] == 200


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"G",
        b"GET /api/health HTTP/1.1\r\nHost: study\r\nX-Never-End",
        POST + b"Content-Length: 100\r\n\r\n{",
        POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
        POST + b"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
    ],
    ids=["nothing", "a letter", "half a head", "half a body", "half of the pieces", "a promise"],
)
@pytest.mark.parametrize("first", [True, False], ids=["first request", "second request"])
def test_a_request_that_does_not_end_is_given_up(impatient: Served, begun: bytes, first: bool) -> None:
    with connect(impatient) as one:
        if not first and begun:  # without anything begun, it would be idle
            assert answer(one)[0] == 200
        one.sendall(begun)
        assert until_closed(one).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n") == b""
    assert is_well(impatient)
    assert "Traceback" not in impatient.log()


def send_until_refused(one: socket.socket, parts: Iterable[bytes], pause_s: float = 0.0) -> int:
    """How many bytes could be sent before the server closed."""
    sent = 0
    with suppress(ConnectionError):
        for part in parts:
            one.sendall(part)
            sent += len(part)
            time.sleep(pause_s)
    return sent


def test_a_byte_at_a_time_is_no_way_round_the_clock(impatient: Served) -> None:
    with connect(impatient) as one:
        sent = send_until_refused(one, (bytes([letter]) for letter in HEALTH), 0.05)
    assert sent < len(HEALTH)


@pytest.mark.parametrize("kind", ["one header", "many headers", "the address", "one piece", "trailers", "extensions"])
def test_headers_without_end_are_refused_early(impatient: Served, kind: str) -> None:
    begin, again = {
        "one header": (b"GET / HTTP/1.1\r\nX: ", b"a" * 1000),
        "many headers": (b"GET / HTTP/1.1\r\n", b"X-Some: " + b"a" * 990 + b"\r\n"),
        "the address": (b"GET /", b"a" * 1000),
        "one piece": (b"GET / HTTP/1.1\r\nHost: study\r\nX: " + b"a" * 60_000 + b"\r\n\r\n", b""),
        "trailers": (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Some: " + b"a" * 990 + b"\r\n"),
        "extensions": (POST + b"Transfer-Encoding: chunked\r\n\r\n1", b";a=" + b"b" * 997),
    }[kind]
    with connect(impatient) as one:
        one.sendall(begin)
        sent = send_until_refused(one, [again] * 20_000 if again else [])
        told = b"" if again else until_closed(one)
    assert sent < 8_000_000  # what the system itself holds on its way is not ours
    if kind == "one piece":
        assert told.split()[1] == b"431"
    assert is_well(impatient)


def test_too_many_connections_close_the_one_that_waited_longest(impatient: Served) -> None:
    with ExitStack() as open_ones:
        person = open_ones.enter_context(connect(impatient))
        idle = []
        for _ in range(80):
            assert answer(person)[0] == 200  # somebody who plays on is never closed
            one = open_ones.enter_context(connect(impatient))
            idle.append(one)
            assert answer(one)[0] == 200
        assert answer(person)[0] == 200
        gone = [one for one in idle if is_closed(one)]
        assert 20 <= len(gone) <= 30
        assert gone == idle[: len(gone)]
    assert "connections are open; the limit is 60" in impatient.log()


def is_closed(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    finally:
        one.settimeout(10)


def test_whoever_does_not_read_the_answer_is_let_go(impatient: Served) -> None:
    with connect(impatient) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ask = b"GET /static/study.js HTTP/1.1\r\nHost: study\r\n\r\n"
        send_until_refused(one, [ask * 50] * 200, 0.02)
    assert "did not read the answer" in impatient.log()
    assert is_well(impatient)


def test_an_idle_connection_outlives_the_slow_clock() -> None:
    assert connections.IDLE_S > 30  # the paper's slow clock is 6 s, and people rest between blocks


def test_with_few_files_people_still_get_in_and_the_log_says_so(tmp_path: Path) -> None:
    with served(tmp_path / "study", files=256) as server, ExitStack() as open_ones:
        for _ in range(300):
            open_ones.enter_context(connect(server))
        assert all(answer(open_ones.enter_context(connect(server)))[0] == 200 for _ in range(20))
        assert "may open only 256 files" in server.log()


def test_the_limit_on_files_is_raised(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert connections.most_connections() == min(connections.MOST, hard - connections.RESERVED)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
