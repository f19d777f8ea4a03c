"""A network that fails: a small proxy for HTTP/1.1 which loses, halves, delays and repeats requests and answers."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Callable

CUTS = ("before", "half-request", "gone-after", "answer-lost", "half-answer", "delayed")
"""Where the connection is cut: before the request goes on; in the middle of it; after it, without waiting for the server;
once the server has answered; in the middle of the answer; or the request goes on much later than the connection lasted."""


KEPT = (b"POST /api/choice ", b"POST /api/page ")
"""How requests begin whose answers say that something is on disk."""


class Proxy:
    """Listens on a port of its own and passes on to the server; `cut()` and `repeat()` strike the next choice."""

    def __init__(self, port: int, rng: random.Random, late: Callable[[bytes, bytes], None]) -> None:
        self._upstream, self._rng, self._late = port, rng, late
        self._cuts: deque[str] = deque()
        self._repeats = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.StreamWriter] = set()
        self.struck: Counter[str] = Counter()

    async def start(self) -> int:
        """The port to talk to."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close what is open."""
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._open:
            writer.close()
        while self._open:
            await asyncio.sleep(0.01)

    def cut(self) -> None:
        """Cut a choice's connection in one of the ways."""
        self._cuts.append(self._rng.choice(CUTS))

    def repeat(self) -> None:
        """Send a choice's request to the server a second time, some time later, out of order."""
        self._repeats += 1

    @property
    def waiting(self) -> int:
        """Faults that have not struck yet."""
        return len(self._cuts) + self._repeats

    async def settled(self) -> None:
        """Wait for what was delayed or repeated."""
        while self._tasks:
            await asyncio.gather(*list(self._tasks), return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._open.add(writer)
        try:
            upstream = await asyncio.open_connection("127.0.0.1", self._upstream, limit=1 << 20)
            while request := await message(reader):
                if not await self._pass_on(request, writer, *upstream):
                    return
        except (OSError, asyncio.IncompleteReadError):
            pass  # one side has gone; the other is told by closing it
        finally:
            for each in (writer, *([upstream[1]] if upstream else [])):
                each.close()
            self._open.discard(writer)

    async def _pass_on(
        self, request: bytes, writer: asyncio.StreamWriter, server: asyncio.StreamReader, to_server: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection lives on."""
        is_choice = request.startswith(KEPT)
        if is_choice and self._repeats:
            self._repeats -= 1
            self.struck["repeated"] += 1
            self._later(request, self._rng.uniform(0.2, 3.0))
        cut = self._cuts.popleft() if is_choice and self._cuts else ""
        if cut:
            self.struck[cut] += 1
        if cut == "delayed":
            self._later(request, self._rng.uniform(0.05, 2.0))
        if cut in ("before", "delayed"):
            return False
        to_server.write(request[: len(request) // 2] if cut == "half-request" else request)
        await to_server.drain()
        if cut in ("half-request", "gone-after"):
            return False
        answer = await message(server)
        if cut == "answer-lost" or not answer:
            return False
        writer.write(answer[: len(answer) // 2] if cut == "half-answer" else answer)
        await writer.drain()
        return cut != "half-answer"

    def _later(self, request: bytes, wait_s: float) -> None:
        task = asyncio.create_task(self._send_late(request, wait_s))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_late(self, request: bytes, wait_s: float) -> None:
        """Deliver the request after a while, and again for as long as the server is down."""
        await asyncio.sleep(wait_s)
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._upstream)
                try:
                    writer.write(request)
                    await writer.drain()
                    answer = await message(reader)
                finally:
                    writer.close()
            except (OSError, asyncio.IncompleteReadError):
                answer = b""
            if answer:
                self._late(request, answer)
                return
            await asyncio.sleep(0.05)


async def message(reader: asyncio.StreamReader) -> bytes:
    """One whole request or answer; nothing at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return b""
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return head + await reader.readexactly(length)
