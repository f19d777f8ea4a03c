"""The server's side of a process beside it: starts it, sends it jobs, and starts it again if it dies."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from explorelab.study.computing.pipe import HEAD, READY, Job, Reply, packed

ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
"""One thread for each process: the others are for the server."""
MOST_WAITING = 1_000_000
"""Bytes that may wait to be read; beyond them the process is behind, and nobody else is sent to it."""
LONGEST_PAUSE_S = 30.0

log = logging.getLogger("explorelab.study")


def program_of(module: str) -> tuple[str, ...]:
    """The command that runs a module as a program."""
    return (sys.executable, "-P", "-m", module)


class BehindError(Exception):
    """The process is not there, or has too much to do."""


class ProcessLink:
    """One process, from `start` to `stop`. `what` it computes is for the log."""

    def __init__(self, recipe: Any, program: Sequence[str], what: str) -> None:
        self._recipe, self._program, self._what = packed(recipe), tuple(program), what
        self._to: asyncio.WriteTransport | None = None
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._numbers = count()
        self._task: asyncio.Task[None] | None = None
        self.life = 0
        """Counts starts: what an earlier process knew is gone."""
        self.is_ready = False
        """Whether everything is compiled."""

    def start(self) -> None:
        """Start the process, and keep it running."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._task, self.is_ready = None, False

    @property
    def is_started(self) -> bool:
        """Whether the process runs, or is about to."""
        return self._task is not None

    async def ask(self, asked: Any) -> Reply:
        """What the process replies, whenever it does."""
        if self._to is None or self._to.is_closing() or self._to.get_write_buffer_size() > MOST_WAITING:
            raise BehindError
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._to.write(packed(Job(number, asked)))
            return await future
        finally:
            self._waiting.pop(number, None)

    async def _run(self) -> None:
        pause_s = 1.0
        while True:
            try:
                self.life += 1
                await self._live()
                if self.is_ready:
                    pause_s = 1.0
                log.error("The process that computes %s ended and is started again; until then there is none.", self._what)
            except Exception as error:
                log.error("The process that computes %s cannot be started: %s.", self._what, error)
            self.is_ready = False
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _live(self) -> None:
        """From the start of the process to its end."""
        # Not asyncio's own way: uvloop forks, and threads of JAX may be in this process.
        pipe = subprocess.PIPE
        process = subprocess.Popen(self._program, stdin=pipe, stdout=pipe, env=_environment())
        back: asyncio.BaseTransport | None = None
        try:
            loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
            self._to, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
            back, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
            self._to.write(self._recipe)
            await self._listen(reader)
        finally:
            if back is not None:
                back.close()
            self._over(process)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (size,) = HEAD.unpack(await reader.readexactly(HEAD.size))
                reply: Reply = pickle.loads(await reader.readexactly(size))
                if reply.number == READY.number:
                    self.is_ready = True
                elif (future := self._waiting.get(reply.number)) is not None and not future.done():
                    future.set_result(reply)

    def _over(self, process: subprocess.Popen[bytes]) -> None:
        """Nobody waits for this process any more, and nothing that it knows would be lost."""
        process.kill()
        process.wait()
        # A pipe whose other end is gone has closed itself, and cannot be closed again.
        if self._to is not None and not self._to.is_closing():
            self._to.abort()
        self._to = None
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(BehindError())


def _environment() -> dict[str, str]:
    """The server's environment, with few threads, and with a place to keep compiled programs for the next start."""
    kept = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "explorelab" / "programs"
    usual = {"JAX_COMPILATION_CACHE_DIR": str(kept), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.3"}
    return {**usual, **os.environ, **ENVIRONMENT}
