"""Units of work for tests, in a module that other processes can import, and a Dask cluster of one's own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from explorelab._support.parallel import cores
from explorelab.errors import InputError

ROOT = Path(__file__).parents[2]


def doubled(x: float, wait_s: float = 0.0) -> float:
    time.sleep(wait_s)
    return 2 * x


def where(x: int, wait_s: float = 0.0) -> tuple[int, int, int]:
    """What was given, the process, and the cores that it may use."""
    time.sleep(wait_s)
    return x, os.getpid(), cores()


def refusing(x: int) -> int:
    raise InputError(f"x must not be {x}.")


def deadly_once(x: int, mark: str) -> int:
    """Ends its process if nobody has done so yet."""
    if x == 3:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return x
        os._exit(9)
    return x


def deadly(x: int) -> int:
    os._exit(9)


def noted(x: int, folder: str) -> int:
    """Leaves a file for every time that it is called."""
    Path(folder, f"{x}-{time.monotonic_ns()}").touch()
    return x + 1


def setting(name: str) -> object:
    """A setting of JAX."""
    import jax

    return jax.config.values[name]


class Cluster(NamedTuple):
    """A Dask scheduler and its workers, as processes."""

    address: str
    workers: list[subprocess.Popen[bytes]]


@contextmanager
def cluster(n_workers: int) -> Iterator[Cluster]:
    """A scheduler and workers of one thread each, started as on a command line."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    quiet = ["--no-dashboard", "--host", "127.0.0.1"]
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", *quiet, "--port", "0"],
        stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    workers: list[subprocess.Popen[bytes]] = []
    try:
        assert scheduler.stderr is not None
        address = next(found[1] for line in scheduler.stderr if (found := re.search(r"Scheduler at:\s+(tcp://\S+)", line)))
        one = [sys.executable, "-m", "distributed.cli.dask_worker", address, *quiet, "--nthreads", "1", "--no-nanny"]
        for _ in range(n_workers):
            workers.append(subprocess.Popen(one, stderr=subprocess.DEVNULL, env=environment))
        yield Cluster(address, workers)
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
        if scheduler.stderr is not None:
            scheduler.stderr.close()
