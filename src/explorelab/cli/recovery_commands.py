"""The commands that ask what a fit can be trusted with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from explorelab.cli.options import AsJson, Data, Seed, Task, check_targets, long_work


def register(app: typer.Typer) -> None:
    """Enter the commands of this file into the command line."""
    for command in (recover, predict, latent):
        app.command()(command)


def recover(
    data: Annotated[
        Path | None, typer.Option(help="Choices whose blocks simulated people play; by default those of the fit.")
    ] = None,
    task: Task = None,
    agent: Annotated[str | None, typer.Option(help="Whose parameters to recover; that of the fit by default.")] = None,
    like: Annotated[Path | None, typer.Option(help="A fit: its people's parameters, method and space are taken.")] = None,
    agents: Annotated[str | None, typer.Option(help="Recover models: which of these, with commas, fits best?")] = None,
    criterion: Annotated[str, typer.Option(help="What names the best model: bic, aic or cv.")] = "bic",
    n: Annotated[int, typer.Option(help="Simulated people; of models, for each agent.")] = 100,
    method: Annotated[str | None, typer.Option(help="ml, map or em; that of the fit, or map.")] = None,
    starts: Annotated[int, typer.Option(help="Starts of every fit.")] = 4,
    noise: Annotated[str, typer.Option(help="Reward noise: gaussian, or integer (whole numbers).")] = "gaussian",
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as netCDF.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw it: .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate people with known parameters, refit them, and report which parameters (or models) are found again."""
    from explorelab.choices.reading import read_choices
    from explorelab.cli import recovery_runs

    fit = recovery_runs.loaded(like)
    check_targets(out, figure=figure)
    choices = read_choices(data if data is not None else recovery_runs.source_of(fit), task)
    how: dict[str, Any] = {"n_starts": starts, "noise": noise, "seed": seed}
    with long_work():
        if agents is None:
            found = recovery_runs.recover(choices, agent, fit, n, method, **how)
        else:
            found = recovery_runs.models(choices, agents, fit, n, method, criterion, **how)
    recovery_runs.deliver(found, out, figure, as_json)


def predict(
    data: Data,
    fit: Annotated[Path, typer.Option(help="A fit of an agent to these choices.")],
    task: Task = None,
    copies: Annotated[int, typer.Option(help="How often the whole group is simulated.")] = 100,
    noise: Annotated[str, typer.Option(help="Reward noise: gaussian, or integer (whole numbers).")] = "gaussian",
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as netCDF.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw it: .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lay people simulated at the fitted parameters over the real ones: regret, phenotypes, repeats, walks."""
    from explorelab.choices.reading import read_choices
    from explorelab.cli import recovery_runs

    tree = recovery_runs.loaded(fit)
    check_targets(out, figure=figure)
    choices = read_choices(data, task)
    with long_work():
        found = recovery_runs.predict(choices, tree, copies, noise=noise, seed=seed)
    recovery_runs.deliver(found, out, figure, as_json)


def latent(
    data: Data,
    fit: Annotated[Path, typer.Option(help="A fit of an agent to these choices.")],
    out: Annotated[Path, typer.Option(help=".csv: a row for each trial; .parquet: for each arm of it; .nc: all.")],
    task: Task = None,
) -> None:
    """Write what the fitted agent believed before every trial: beliefs, limits, bonuses, probabilities."""
    from explorelab.choices.reading import read_choices
    from explorelab.cli import recovery_runs

    tree = recovery_runs.loaded(fit)
    check_targets(out)
    choices = read_choices(data, task)
    with long_work():
        recovery_runs.write_latent(choices, tree, out)
    print(f"Wrote {out}")
