"""The command line as a user runs it: a process of its own, with its real exit status, but without loading JAX anew.

The processes are forked from one that has imported everything and computed nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(
    [
        "explorelab.cli.app",
        "explorelab.cli.tables.run_tables",
        "explorelab.simulation.run_file",
        "explorelab.theory.agent_bounds",
        "explorelab.fitting.fit_people",
        "explorelab.comparison.compare",
        "explorelab.choices.reading",
        "explorelab.recovery.simulated_choices",
        "h5netcdf",
        "jax",
        "matplotlib.pyplot",
        "pandas",
        "xarray",
    ]
)
LONGEST_S = 300.0


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def explorelab(*arguments: object, cwd: Path | None = None) -> Done:
    """Run `explorelab` with these arguments."""
    return in_turn([arguments], cwd)[0]


def in_turn(commands: Iterable[Iterable[object]], cwd: Path | None = None) -> list[Done]:
    """Run `explorelab` with each of these arguments, all in one process, which compiles once what they share.

    The first that fails is the last: it ends the process.
    """
    typed = [[str(each) for each in arguments] for arguments in commands]
    with tempfile.TemporaryDirectory() as folder:
        process = FORKING.Process(target=_run, args=(typed, str(cwd or Path.cwd()), folder))
        process.start()
        process.join(LONGEST_S)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"explorelab {typed}")
        said = [tuple(path.read_text(encoding="utf-8") for path in _files(folder, i)) for i in range(_count(folder))]
    return [Done(0 if i + 1 < len(said) else process.exitcode, *each) for i, each in enumerate(said)]


def _files(folder: str, i: int) -> tuple[Path, Path]:
    """Where a command's output and errors go."""
    return Path(folder) / f"{i}.out", Path(folder) / f"{i}.err"


def _count(folder: str) -> int:
    """How many commands were begun."""
    return len(list(Path(folder).glob("*.out")))


TELLING_OF_PROGRESS = """
import os
import signal

# What a shell starts in the background ignores interrupts, and so do its children: here they must be heard.
signal.signal(signal.SIGINT, signal.default_int_handler)

from explorelab._support.progress import Progress
from explorelab.cli.app import main

silent = Progress.advance

def advance(self, by=1):
    silent(self, by)
    os.write(1, f"under way: {self._label}\\n".encode())  # threads take turns only at whole writes

Progress.advance = advance
main()
"""


def interrupted(*arguments: object, cwd: Path, at: str = "") -> Done:
    """Run `explorelab` with these arguments, in a Python of its own, until Ctrl-C while it is at work (at this part)."""
    command = [sys.executable, "-c", TELLING_OF_PROGRESS, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        while not (line := process.stdout.readline()).startswith(f"under way: {at}"):
            assert line.startswith("under way: "), line
        process.send_signal(signal.SIGINT)
        said, error = process.communicate(timeout=LONGEST_S)
    finally:
        process.kill()
    return Done(process.returncode, said, error)


def _run(commands: list[list[str]], cwd: str, folder: str) -> None:
    from explorelab.cli.app import main

    for i, arguments in enumerate(commands):
        for descriptor, path in zip((1, 2), _files(folder, i), strict=True):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
        sys.stdout, sys.stderr = (open(each, "w", encoding="utf-8", closefd=False) for each in (1, 2))  # noqa: SIM115
        os.chdir(cwd)
        sys.argv = ["explorelab", *arguments]
        try:
            main()
        except SystemExit as ended:
            if ended.code or i + 1 == len(commands):
                raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()


def killed(n_parts: int, *arguments: object, cwd: Path) -> None:
    """Run `explorelab` with these arguments, and kill it once it has kept so many finished parts."""
    process = FORKING.Process(target=_until_killed, args=(n_parts, list(map(str, arguments)), str(cwd)))
    process.start()
    process.join(LONGEST_S)
    assert process.exitcode == -signal.SIGKILL, f"explorelab {arguments} ended with {process.exitcode} before it was killed"


def _until_killed(n_parts: int, arguments: list[str], cwd: str) -> None:
    from explorelab._support.work.finished import Finished

    put, kept = Finished.put, []

    def put_and_count(self: Finished, key: str, result: object) -> None:
        put(self, key, result)
        kept.append(key)
        if len(kept) == n_parts:
            os.kill(os.getpid(), signal.SIGKILL)

    Finished.put = put_and_count  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        _run([arguments], cwd, folder)
