"""Options of commands that take long: who does the work, and how to go on with one that was stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from explorelab.errors import InputError, InterruptedByUserError


@dataclass(frozen=True)
class WorkerFlags:
    """Who does the work."""

    workers: Annotated[
        int,
        typer.Option(
            metavar="N", help="Number of processes on this computer that share the work; 0 for threads of this one."
        ),
    ] = 0
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Address of the Dask scheduler whose workers do the work, such as tcp://host:8786."
        ),
    ] = None


@dataclass(frozen=True)
class WorkFlags(WorkerFlags):
    """Who does the work, and where what is finished is kept."""

    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from what the same command had finished when it was stopped.")
    ] = False
    parts: Annotated[
        Path | None,
        typer.Option(help="Folder for finished parts, removed at the end; default: the output's name plus .parts."),
    ] = None


@contextmanager
def executor_of(flags: WorkerFlags) -> Iterator[Executor | None]:
    """The executor that the options ask for, if any; on Ctrl-C its work ends too."""
    if flags.workers < 0:
        raise InputError(f"--workers must be 0 or more, got {flags.workers}.")
    if flags.workers and flags.dask is not None:
        raise InputError("--workers is for processes on this computer and --dask for a cluster: give only one of them.")
    if flags.dask is not None:
        with _cluster(flags.dask) as executor:
            yield executor
    elif flags.workers:
        from explorelab._support.work.processes import workers

        with workers(flags.workers) as executor:
            yield executor
    else:
        yield None


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    from explorelab._support.extras import needs

    needs("dask", "--dask")
    from distributed import Client

    try:
        client = Client(address, timeout="20s", set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"--dask: no scheduler answers at {address}: {why}.") from None
    executor = client.get_executor()
    try:
        yield executor
    finally:
        executor.shutdown(wait=False)  # what has not begun is cancelled
        client.close()


@contextmanager
def shared_work(flags: WorkerFlags, command: str, out: Path | None = None) -> Iterator[dict[str, Any]]:
    """The arguments `executor` and `resume` of the function that a command calls.

    When the block ends, so does the folder of finished parts; when it is left with an error, what is there stays.
    """
    folder = _folder(flags, command, out) if isinstance(flags, WorkFlags) else None
    try:
        with executor_of(flags) as executor:
            yield {"executor": executor, **({"resume": folder} if isinstance(flags, WorkFlags) else {})}
    except KeyboardInterrupt:
        if folder is None or not folder.exists():
            raise InterruptedByUserError("interrupted; nothing was written.") from None
        raise InterruptedByUserError(
            f"interrupted; finished parts are in {folder}: the same command with --resume continues from there."
        ) from None
    if folder is not None:
        from explorelab._support.work.finished import remove

        remove(folder)


def _folder(flags: WorkFlags, command: str, out: Path | None) -> Path | None:
    """Where finished parts are kept; None if nobody asked for a folder and there is no place for one."""
    from explorelab._support.work.finished import remove

    usual = Path(f"explorelab-{command}.parts") if out is None else out.with_name(f"{out.name}.parts")
    folder = flags.parts or usual
    if not flags.resume:
        remove(folder)
    asked = flags.resume or flags.parts is not None
    return folder if asked or os.access(folder.parent, os.W_OK) else None
