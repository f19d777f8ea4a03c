"""The server's side of a process that computes advice: starts it, sends it jobs, and starts it again if it dies."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from explorelab.study.advice.messages import HEAD, READY, Answer, Job, Moment, packed

PROGRAM = (sys.executable, "-P", "-m", "explorelab.study.advice.adviser_process")
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
END_S = 2.0

log = logging.getLogger("explorelab.study")


class BehindError(Exception):
    """The process is not there, or has too much to do."""


class AdviserLink:
    """One process, as long as the server runs."""

    def __init__(self, recipe: Any, program: Sequence[str] = PROGRAM) -> None:
        self._recipe, self._program = packed(recipe), tuple(program)
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
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

    async def ask(self, moment: Moment) -> Answer:
        """What the process answers, whenever it does."""
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            raise BehindError
        if process.stdin.transport.get_write_buffer_size() > MOST_WAITING:
            raise BehindError
        number = next(self._numbers)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            process.stdin.write(packed(Job(number, moment)))
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
                log.error("The process that computes advice ended and is started again; until then there is none.")
            except OSError as error:
                log.error("The process that computes advice cannot be started: %s.", error)
            self.is_ready = False
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _live(self) -> None:
        """From the start of the process to its end."""
        process = await asyncio.create_subprocess_exec(
            *self._program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env={**os.environ, **ENVIRONMENT}
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        try:
            process.stdin.write(self._recipe)
            await self._listen(process.stdout)
        finally:
            self._process = None
            self._give_up()
            await _ended(process)

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (size,) = HEAD.unpack(await stream.readexactly(HEAD.size))
                answer: Answer = pickle.loads(await stream.readexactly(size))
                if answer == READY:
                    self.is_ready = True
                    log.info("advice is ready")
                elif (future := self._waiting.get(answer.number)) is not None and not future.done():
                    future.set_result(answer)

    def _give_up(self) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(BehindError())


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the process to end by itself, which it does when its input ends; then make it."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(asyncio.shield(process.wait()), END_S)
    except (TimeoutError, asyncio.CancelledError):
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
