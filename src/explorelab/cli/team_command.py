"""The command team: simulated teams of person and adviser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from explorelab.cli.options import AsJson, OfFit, Seed, check_targets, long_work, one_agent
from explorelab.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from explorelab.tasks import Task


def register(app: typer.Typer) -> None:
    """Add this file's command to the command line."""
    app.command()(team)


def team(
    task: Annotated[str, typer.Option(help="Task: landscape:A, landscape:B, profile:A, profile:B, or a TOML file.")],
    people: Annotated[
        Path | None, typer.Option(help="A saved em, bayes or nuts fit to draw people from; default: the paper's phenotypes.")
    ] = None,
    group: Annotated[
        Path | None, typer.Option(help="A saved em, bayes or nuts fit: what the adviser expects of people.")
    ] = None,
    agent: OfFit = None,
    policies: Annotated[str, typer.Option(help="Comma-separated advice policies.")] = "impersonal,personal",
    follow: Annotated[str, typer.Option(help="Comma-separated probabilities of following a suggestion.")] = "0.3,0.6,0.9",
    n: Annotated[int, typer.Option(help="Number of simulated people of each kind.")] = 20,
    horizon: Annotated[int, typer.Option(help="Number of choices per person.")] = 90,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as netCDF.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the result (.png, .svg or .pdf).")] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate teams: a person alone, an adviser alone, and both, for each kind of person and policy of advice."""
    from explorelab.agents.agent_names import agent_of
    from explorelab.companions.team.simulate_team import simulate_team
    from explorelab.fitting.fit_people import load_fit

    check_targets(out, figure=figure)
    played, chances = _task(task), _chances(follow)
    if agent is not None:
        agent_of(one_agent(agent))  # the fits find it by its name
    fits = [None if path is None else load_fit(path) for path in (people, group)]
    names = [name.strip() for name in policies.split(",") if name.strip()]
    with long_work():
        result = simulate_team(
            played, people=fits[0], group=fits[1], policies=names, follow=chances, n_people=n, horizon=horizon, seed=seed
        )
    _deliver(result, out, figure, as_json)


def _task(text: str) -> Task:
    """The task: one of the paper's, as in landscape:B, or that of a TOML file."""
    from explorelab.simulation.run_file import build_task, read_spec
    from explorelab.tasks import landscape, profile

    kind, colon, name = text.partition(":")
    paper = {"landscape": landscape, "profile": profile}
    if colon and kind in paper:
        return paper[kind](name)
    if not Path(text).is_file():
        raise InputError(f"--task must be one of the paper's tasks, such as landscape:B, or a TOML file, got {text!r}.")
    return build_task(read_spec(Path(text)).task)


def _chances(text: str) -> list[float]:
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise InputError(f"--follow must be numbers from 0 to 1, separated by commas, got {text!r}.") from None


def _deliver(result: xr.Dataset, out: Path | None, figure: Path | None, as_json: bool) -> None:
    """Write the requested files and print the result."""
    from explorelab._support.files import write_whole
    from explorelab.cli.tables.team_tables import show_team
    from explorelab.companions.team.team_result import team_summary

    if out is not None:
        write_whole(out, lambda path: result.to_netcdf(path, engine="h5netcdf"))
    if figure is not None:
        from explorelab.plots.advice_figures import draw_team
        from explorelab.plots.style import write_figure

        write_figure(lambda: draw_team(result), figure)
    if as_json:
        print(json.dumps(team_summary(result), allow_nan=False))
    else:
        show_team(result)
