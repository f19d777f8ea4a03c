"""The command-line program: its commands, errors and exit statuses."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from explorelab import __version__
from explorelab.cli import (
    companion_commands,
    people_commands,
    simulation_commands,
    team_command,
)
from explorelab.cli.options import whole_summaries
from explorelab.cli.recovery import plan_command, recovery_commands
from explorelab.cli.study import study_commands
from explorelab.errors import ExplorelabError, InterruptedByUserError

app = typer.Typer(
    name="explorelab",
    no_args_is_help=True,
    # Rich would read [agent] in a help text as markup and drop it.
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)


def main() -> None:
    """Run the command line; errors that explorelab raises on purpose print one sentence and exit with status 2."""
    _keep_compiled_code()
    try:
        app()
    except InterruptedByUserError as interrupted:
        _fail(str(interrupted), 130)
    except ExplorelabError as error:
        _fail(str(error), 2)


def _keep_compiled_code() -> None:
    """Store JAX's compiled code in the user's cache, so that the same fit starts at once next time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "explorelab"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")


def _fail(message: str, status: int) -> NoReturn:
    print(f"explorelab: {message}", file=sys.stderr)
    sys.stderr.flush()
    sys.stdout.flush()
    # Workers may be in the middle of a compiled call that cannot be stopped: leave without waiting for them.
    os._exit(status)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"explorelab {__version__}")
        raise typer.Exit


@app.callback()
def explorelab(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A laboratory for explore-exploit tasks: simulate decision rules, run experiments, model the people in them."""


simulation_commands.register(app)
people_commands.register(app)
recovery_commands.register(app)
plan_command.register(app)
companion_commands.register(app)
team_command.register(app)
study_commands.register(app)
whole_summaries(app)
