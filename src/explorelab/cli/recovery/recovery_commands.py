"""Commands that test how far a fit can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from explorelab.cli.options import (
    NAMED,
    AsJson,
    Data,
    OfFit,
    Seed,
    Task,
    check_targets,
    long_work,
    one_agent,
    option_groups,
    several_agents,
)
from explorelab.cli.work_flags import WorkFlags, shared_work

if TYPE_CHECKING:
    from explorelab.cli.recovery.recovery_runs import Refit


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command line."""
    for command in (recover, predict, latent, loo):
        app.command()(command)


def _of_fit(agent: str | None) -> str | None:
    return None if agent is None else one_agent(agent)


@option_groups
def recover(
    data: Annotated[
        Path | None, typer.Option(help="Choices whose blocks the simulated people play; default: those of the fit.")
    ] = None,
    task: Task = None,
    agent: Annotated[
        str | None, typer.Option(help=f"Agent whose parameters to recover: {NAMED}; default: the fit's.")
    ] = None,
    like: Annotated[Path | None, typer.Option(help="A saved fit: take its parameters, method and search space.")] = None,
    agents: Annotated[
        str | None, typer.Option(help=f"Recover models instead: comma-separated agents to tell apart, each {NAMED}.")
    ] = None,
    criterion: Annotated[str, typer.Option(help="Criterion for the best model: bic, aic or cv.")] = "bic",
    n: Annotated[int, typer.Option(help="Number of simulated people; with --agents, per agent.")] = 100,
    method: Annotated[str | None, typer.Option(help="ml, map or em; default: the fit's, or map.")] = None,
    starts: Annotated[int, typer.Option(help="Number of starting points per fit.")] = 4,
    noise: Annotated[str, typer.Option(help="Reward noise: gaussian, or integer (whole numbers).")] = "gaussian",
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as netCDF.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the result (.png, .svg or .pdf).")] = None,
    as_json: AsJson = False,
    *,
    work: WorkFlags,
) -> None:
    """Simulate people with known parameters, refit them, and report how well parameters (or models) are recovered."""
    from explorelab.choices.reading import read_choices
    from explorelab.cli.recovery import recovery_runs

    fit = recovery_runs.loaded(like)
    check_targets(out, figure=figure)
    choices = read_choices(data if data is not None else recovery_runs.source_of(fit), task)
    with shared_work(work, "recover", out) as how_done:
        how: Refit = {"n_starts": starts, "noise": noise, "seed": seed, **how_done}  # type: ignore[typeddict-item]
        if agents is None:
            wanted = None if agent is None else one_agent(agent)
            found = recovery_runs.recover(choices, wanted, fit, n, method, **how)
        else:
            found = recovery_runs.models(choices, several_agents(agents), fit, n, method, criterion, **how)
    recovery_runs.deliver(found, out, figure, as_json)


def predict(
    data: Data,
    fit: Annotated[Path, typer.Option(help="A saved fit of an agent to these choices.")],
    task: Task = None,
    agent: OfFit = None,
    copies: Annotated[int, typer.Option(help="Number of times to simulate the whole group.")] = 100,
    noise: Annotated[str, typer.Option(help="Reward noise: gaussian, or integer (whole numbers).")] = "gaussian",
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as netCDF.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the result (.png, .svg or .pdf).")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare people with simulations at their fitted parameters: regret, phenotypes, repeats, distances moved."""
    from explorelab.choices.reading import read_choices
    from explorelab.cli.recovery import recovery_runs

    tree = recovery_runs.loaded(fit)
    check_targets(out, figure=figure)
    choices = read_choices(data, task)
    with long_work():
        found = recovery_runs.predict(choices, _of_fit(agent), tree, copies, noise=noise, seed=seed)
    recovery_runs.deliver(found, out, figure, as_json)


def latent(
    data: Data,
    fit: Annotated[Path, typer.Option(help="A saved fit of an agent to these choices.")],
    out: Annotated[
        Path,
        typer.Option(help="File to write: .csv (a row per trial), .parquet (a row per trial and arm) or .nc (everything)."),
    ],
    task: Task = None,
    agent: OfFit = None,
) -> None:
    """Write the fitted agent's state before every trial: beliefs, limits, bonuses and choice probabilities."""
    from explorelab.choices.reading import read_choices
    from explorelab.cli.recovery import recovery_runs

    tree = recovery_runs.loaded(fit)
    check_targets(out)
    choices = read_choices(data, task)
    with long_work():
        recovery_runs.write_latent(choices, _of_fit(agent), tree, out)
    print(f"Wrote {out}")


def loo(
    data: Data,
    fit: Annotated[Path, typer.Option(help="A saved hierarchical fit of an agent to these choices.")],
    unit: Annotated[
        str, typer.Option(help="What to leave out at a time: choice, block or person (somebody new).")
    ] = "block",
    task: Task = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as netCDF.")] = None,
    as_json: AsJson = False,
) -> None:
    """Report how well a hierarchical fit predicts choices, blocks or people left out, without refitting (PSIS-LOO)."""
    from explorelab.choices.reading import read_choices
    from explorelab.cli.recovery import recovery_runs

    tree = recovery_runs.loaded(fit)
    check_targets(out)
    choices = read_choices(data, task)
    with long_work():
        recovery_runs.leave_out(choices, tree, unit, seed, out, as_json)
