"""The command line as a user runs it: a process of its own, with its real exit status, but without loading JAX anew.

The processes are forked from one that has imported everything and computed nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
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
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder)
        process = FORKING.Process(target=_run, args=([str(each) for each in arguments], str(cwd or Path.cwd()), folder))
        process.start()
        process.join(LONGEST_S)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"explorelab {' '.join(map(str, arguments))}")
        return Done(process.exitcode, *((said / name).read_text(encoding="utf-8") for name in ("out", "err")))


def _run(arguments: list[str], cwd: str, folder: str) -> None:
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(Path(folder) / name, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")  # noqa: SIM115
    os.chdir(cwd)
    sys.argv = ["explorelab", *arguments]
    from explorelab.cli.app import main

    try:
        main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
