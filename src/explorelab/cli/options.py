"""What several files of commands share: arguments that mean the same everywhere, and work that may be interrupted."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from explorelab.errors import InterruptedByUserError

Data = Annotated[Path, typer.Argument(help="Choices, a row for each trial: a CSV or Parquet file.")]
Task = Annotated[Path | None, typer.Option(help="TOML file about the task; by default the one beside DATA.")]
Starts = Annotated[int, typer.Option(help="From how many starts each person is fitted.")]
Seed = Annotated[int, typer.Option(help="Same seed, same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON summary and nothing else.")]


def whole_summaries(app: typer.Typer) -> None:
    """Let lists of commands say what each does in a whole sentence, which is cut short otherwise; its own help says more."""
    for command in app.registered_commands:
        command.short_help = " ".join((inspect.getdoc(command.callback) or "").partition("\n\n")[0].split())
    for group in app.registered_groups:
        if group.typer_instance is not None:
            whole_summaries(group.typer_instance)


@contextmanager
def long_work() -> Iterator[None]:
    """Long work, which may be interrupted: nothing is written before it is done."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedByUserError("interrupted; nothing was written.") from None
