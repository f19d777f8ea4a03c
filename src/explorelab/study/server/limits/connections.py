"""Connections: how long a browser may take over a request, how much it may send, and how many may be open at once.

Uvicorn closes a connection that stays idle after an answer. This module also closes one that never asks, that asks or reads
a byte at a time, or that sends endless headers; if there are too many, the one that has waited longest makes room.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from typing import Any

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Plain
except ImportError:  # httptools is not available on Windows
    from uvicorn.protocols.http.h11_impl import H11Protocol as Plain  # type: ignore[assignment]

from explorelab.study.server.limits.request_limits import LARGEST_HEAD

IDLE_S = 150
"""How long a connection is kept between two requests: longer than clocks run, and than proxies keep theirs (Caddy: 120)."""
REQUEST_S = 20.0
"""From the first byte of a request (or the opening of the connection) to its last."""
STALLED_S = 30.0
"""How long a browser may leave an answer unread."""
MOST = 4000
"""Connections of one process, if the system allows that many files."""
RESERVED = 128
"""Files for everything else: the database, pages, the log."""
LARGEST_REQUEST = 1024 * 1024
"""Bytes of a whole request on the wire. A body has far fewer, but may come in pieces of a byte, each with a length."""
NEAR = 0.8

log = logging.getLogger("explorelab.study.server.limits.connections")


def most_connections() -> int:
    """How many connections this process may have, after the limit on open files has been raised as far as is allowed."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # macOS says "unlimited" and means less
            pass
    files = MOST + RESERVED if soft == resource.RLIM_INFINITY else soft
    most = max(1, min(MOST, files - min(RESERVED, files // 2)))
    if most < MOST:
        log.warning(
            "This process may open only %d files, so at most %d connections instead of %d: raise `ulimit -n`.",
            files, most, MOST,
        )  # fmt: skip
    return most


class Seldom(logging.Filter):
    """Lets each kind of line through once a minute, so that nobody can fill the disk with them."""

    def __init__(self, every_s: float = 60.0) -> None:
        super().__init__()
        self._every_s = every_s
        self._last: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; it then says how many before it were not."""
        then, left_out = self._last.get(str(record.msg), (-self._every_s, 0))
        if time.monotonic() - then < self._every_s:
            self._last[str(record.msg)] = (then, left_out + 1)
            return False
        self._last[str(record.msg)] = (time.monotonic(), 0)
        if left_out:
            record.msg = f"{record.msg} ({left_out} more like it before)"
        return True


def write_seldom() -> None:
    """Keep lines that anyone can cause from filling the log."""
    for name in ("uvicorn.error", log.name, "explorelab.study.failures"):
        logger = logging.getLogger(name)
        if not any(isinstance(each, Seldom) for each in logger.filters):
            logger.addFilter(Seldom())


class Crowd:
    """The connections of a process that wait for their browser, the one that has waited longest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.waiting: OrderedDict[Careful, None] = OrderedDict()

    def room_for_one_more(self, n_open: int) -> bool:
        """Whether this many connections can be open; if not, the one that has waited longest is closed."""
        if n_open >= NEAR * self.most:
            log.warning("%d connections are open; the limit is %d.", n_open, self.most)
        if n_open <= self.most:
            return True
        if not self.waiting:
            log.error("All %d connections are busy: someone was turned away.", self.most)
            return False
        self.waiting.popitem(last=False)[0].hang_up()
        return True


def _crowd_of(server_state: object) -> Crowd:
    """The one crowd of a server; all its connections share the state."""
    if "crowd" not in vars(server_state):
        vars(server_state)["crowd"] = Crowd(most_connections())
    return vars(server_state)["crowd"]


class Careful(Plain):
    """Uvicorn's protocol with these limits. Its `cycle` is the request that was read last."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock of the first request."""
        super().connection_made(transport)
        self._n_bytes, self._n_answers = 0, 0
        self._answered: object = None
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._crowd = _crowd_of(self.server_state)
        if not self._crowd.room_for_one_more(len(self.connections)):
            self._refuse(503, "Service Unavailable", "busy", "Too many people at once: try again in a minute.")
            return
        self._crowd.waiting[self] = None
        self._reading = self.loop.call_later(REQUEST_S, self._late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._crowd.waiting.pop(self, None)
        for timer in (self._reading, self._writing):
            if timer is not None:
                timer.cancel()
        # Uvicorn leaves its own timer running if the connection broke.
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Read on, within the limits."""
        super().data_received(data)
        self._n_bytes += len(data)
        if self.transport.is_closing():
            return
        cycle: Any = self.cycle  # None before the first request
        under_way = cycle is not None and not cycle.response_complete
        if under_way and not cycle.more_body and cycle is not self._answered:
            self._answered = cycle
            self._whole_request()
        elif self._n_bytes > LARGEST_REQUEST:
            self._refuse(413, "Content Too Large", "too-large", f"A request must have at most {LARGEST_REQUEST} bytes.")
        elif self._n_bytes > LARGEST_HEAD and not under_way:
            message = f"Address and headers must have at most {LARGEST_HEAD} bytes."
            self._refuse(431, "Request Header Fields Too Large", "too-large", message)
        elif self._reading is None:
            self._reading = self.loop.call_later(REQUEST_S, self._late)

    def _whole_request(self) -> None:
        self._n_bytes = 0
        self._crowd.waiting.pop(self, None)
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def on_response_complete(self) -> None:
        """Wait for the next request, and make sure that the answer is read."""
        super().on_response_complete()
        self._n_answers += 1
        if self.transport.get_write_buffer_size() and self._writing is None:
            self._watch_writing()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._n_bytes = 0
            self._crowd.waiting[self] = None

    def pause_writing(self) -> None:
        """The browser reads more slowly than we write: make sure that it reads at all."""
        super().pause_writing()
        if self._writing is None:
            self._watch_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that has been idle for too long."""
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection; what was written before may still be read."""
        self.transport.close()
        if self._writing is None and self.transport.get_write_buffer_size():
            self._watch_writing()

    def _watch_writing(self) -> None:
        before = (self._n_answers, self.transport.get_write_buffer_size())
        self._writing = self.loop.call_later(STALLED_S, self._go_on_writing, *before)

    def _go_on_writing(self, n_answers: int, size: int) -> None:
        self._writing = None
        left = self.transport.get_write_buffer_size()
        if left and left >= size and n_answers == self._n_answers:
            log.warning("A connection was closed because the browser did not read the answer.")
            self.transport.abort()
        elif left:
            self._watch_writing()

    def _late(self) -> None:
        # Without an answer: pages and proxies retry after a lost connection, but not after a refusal.
        self._reading = None
        self.hang_up()

    def _refuse(self, status: int, phrase: str, error: str, message: str) -> None:
        """Answer below the level of HTTP and close: the request is incomplete, or there is none."""
        body = json.dumps({"error": error, "message": message})
        head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        again = "Retry-After: 60\r\n" if status == 503 else ""
        self.transport.write(f"{head}{again}Connection: close\r\n\r\n{body}".encode())
        self._crowd.waiting.pop(self, None)
        self.hang_up()
