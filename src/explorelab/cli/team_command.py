"""The command team: simulated teams of person and adviser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from explorelab.cli.options import AsJson, Seed, check_targets, long_work


def register(app: typer.Typer) -> None:
    """Add this file's command to the command line."""
    app.command()(team)


def team(
    task: Annotated[str, typer.Option(help="Task: landscape:A, landscape:B, profile:A or profile:B, or a TOML file.")],
    people: Annotated[
        Path | None, typer.Option(help="A saved em or nuts fit to draw people from; default: the paper's phenotypes.")
    ] = None,
    group: Annotated[Path | None, typer.Option(help="A saved em or nuts fit: what the adviser expects of people.")] = None,
    policies: Annotated[str, typer.Option(help="Comma-separated policies of advice.")] = "impersonal,personal",
    follow: Annotated[str, typer.Option(help="Comma-separated probabilities of following a suggestion.")] = "0.3,0.6,0.9",
    n: Annotated[int, typer.Option(help="Number of simulated people of each kind.")] = 20,
    horizon: Annotated[int, typer.Option(help="Number of choices of each.")] = 90,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as netCDF.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the result (.png, .svg or .pdf).")] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate teams: a person alone, an adviser alone, and both, for each kind of person and policy of advice."""
    from explorelab.cli import team_runs

    check_targets(out, figure=figure)
    played = team_runs.task_named(task)
    with long_work():
        result = team_runs.simulated(played, people, group, policies, follow, n, horizon, seed)
    team_runs.deliver(result, out, figure, as_json)
