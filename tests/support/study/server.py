"""A study's folder for tests, and the real server in processes of its own."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from explorelab.study.config.start_study import init_study
from tests.support.study import postgres

COMMAND = (str(Path(sys.executable).with_name("explorelab")),)

STUDY = """
[study]
name = "short"
title = "A short study"

[grid]
width = 10
height = 10

[landscapes.a]
landscape = "A"
[landscapes.b]
landscape = "B"
[landscapes.training]
landscape = "training"

[timings]
fast = {fast_ms}
slow = {slow_ms}

[training]
dynamics = {training}
choices = {n_training}
landscape = "training"
timing = "fast"

[task]
blocks = 2
choices = {n_trials}
timings = ["fast", "slow"]
dynamics = {dynamics}
landscapes = ["a", "b"]

[payment]
currency = "USD"
base = 5.0
per_point = 0.0005
most = 10.0

[completion]
code = "THANKS42"

[server]
arrivals_per_minute = 1_000_000
requests_per_second = 10_000
new_people_per_hour = 1_000_000
address_requests_per_second = 1_000_000

[database]
url = "{database}"

{advice}
"""


def write_study(
    folder: Path,
    database: str,
    *,
    fast_ms: int = 20,
    slow_ms: int = 40,
    training: Sequence[str] = ("standard",),
    n_training: int = 3,
    n_trials: int = 25,
    dynamics: Sequence[str] = ("standard", "neighbour", "travel"),
    advice: str = "",
) -> None:
    """A study whose clocks are short, in a new folder; `advice` is the text of its table [advice]."""
    init_study(folder)
    how = {"fast_ms": fast_ms, "slow_ms": slow_ms, "training": list(training)}
    how |= {"n_training": n_training, "n_trials": n_trials, "dynamics": json.dumps(list(dynamics))}
    how |= {"advice": f"[advice]\n{advice}" if advice else ""}
    (folder / "study.toml").write_text(STUDY.format(database=database, **how), encoding="utf-8")


class Served:
    """The real server, in processes of its own that can be killed."""

    def __init__(
        self,
        folder: Path,
        workers: int,
        program: Sequence[str] = COMMAND,
        more: Sequence[str] = (),
        files: int | None = None,
    ) -> None:
        self.folder, self.workers, self.port = folder, workers, postgres.free_port()
        self._program, self._more, self._files = program, more, files
        self._log = (folder / "server.log").open("ab")
        self.starts_s: list[float] = []

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        began = time.perf_counter()
        command = [*self._program, "study", "serve", str(self.folder), "--port", str(self.port)]
        if self._files is not None:
            command = ["prlimit", f"--nofile={self._files}", *command]
        self._process = subprocess.Popen(
            [*command, "--workers", str(self.workers), *self._more],
            stdout=self._log, stderr=self._log, start_new_session=True,
        )  # fmt: skip
        while not await self.answers():
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended by itself:\n{self.log()[-3000:]}")
            await asyncio.sleep(0.01)
        self.starts_s.append(time.perf_counter() - began)

    async def answers(self) -> bool:
        """Whether the server answers."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"GET /api/health HTTP/1.1\r\nHost: study\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
        except OSError:
            return False
        return b" 200 " in answer[:20]

    def kill(self, rng: random.Random) -> bool:
        """Kill it without warning: all of it, or where there are several workers, now and then one. Whether all of it."""
        one = self._children() if self.workers > 1 and rng.random() < 0.3 else []
        if one:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(one), signal.SIGKILL)
            return False
        self.kill_all()
        return True

    def kill_all(self) -> None:
        """Kill all of it without warning."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def reopen_log(self) -> None:
        """Go on in the log that is in the folder now."""
        self._log.close()
        self._log = (self.folder / "server.log").open("ab")

    @property
    def pids(self) -> list[int]:
        """The processes that serve."""
        return [self._process.pid, *self._children()]

    def _children(self) -> list[int]:
        """The worker processes: children of ours that listen (and not Python's own helper)."""
        found = []
        for task in Path(f"/proc/{self._process.pid}/task").glob("*/children"):
            with suppress(OSError):  # a thread or process that has just ended
                for number in task.read_text().split():
                    words = Path(f"/proc/{number}/cmdline").read_bytes()
                    found += [int(number)] if b"resource_tracker" not in words else []
        return found

    def stop(self) -> None:
        """Stop it as an operator would."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        with suppress(ProcessLookupError):  # workers whose supervisor was killed
            os.killpg(self._process.pid, signal.SIGKILL)
        self._log.close()

    def log(self) -> str:
        """All that it has said."""
        return (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")
