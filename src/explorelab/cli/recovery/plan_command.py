"""The command plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from explorelab.cli.options import NAMED, AsJson, Seed, check_targets, one_agent, option_groups, several_agents
from explorelab.cli.recovery.plan_flags import DesignFlags, numbers
from explorelab.cli.run_flags import TaskFlags
from explorelab.cli.work_flags import WorkFlags, shared_work
from explorelab.errors import InputError


def register(app: typer.Typer) -> None:
    """Add this file's command to the command line."""
    app.command()(plan)


@option_groups
def plan(
    agent: Annotated[str | None, typer.Option(help=f"Agent that people resemble: {NAMED}; default: the group's.")] = None,
    effect: Annotated[
        str | None, typer.Option(metavar="PARAMETER", help="Find an effect: the parameter that two conditions change.")
    ] = None,
    recover: Annotated[
        str | None, typer.Option(metavar="PARAMETER", help="Recover a parameter instead: rank correlation, coverage, width.")
    ] = None,
    agents: Annotated[str | None, typer.Option(help=f"Tell agents apart instead: comma-separated, each {NAMED}.")] = None,
    size: Annotated[float, typer.Option(help="Size of the effect, in standard deviations of people.")] = 0.5,
    natural: Annotated[
        bool, typer.Option("--natural", help="The size is a difference, ratio or odds ratio, by the parameter's scale.")
    ] = False,
    within: Annotated[
        bool,
        typer.Option("--within/--between", help="Everyone is in both conditions, block by block; or one group in each."),
    ] = False,
    slope_sd: Annotated[
        float, typer.Option(help="Standard deviation of people's own effects, in standard deviations of people.")
    ] = 0.5,
    at_least: Annotated[
        float | None,
        typer.Option(help="What a study must find: a rank correlation (0.8), or an exceedance probability (0.95)."),
    ] = None,
    criterion: Annotated[str, typer.Option(help="Criterion for the best agent: bic, aic or cv.")] = "bic",
    method: Annotated[str, typer.Option(help="For --recover, and the criterion cv: map or ml.")] = "map",
    people: Annotated[
        str | None, typer.Option(help="Numbers of people to try, such as 20,40,80; default: around what is needed.")
    ] = None,
    most: Annotated[int, typer.Option(help="Largest number of people that you could recruit.")] = 400,
    group: Annotated[
        list[Path] | None,
        typer.Option(help="A saved em, bayes or nuts fit to draw people from; with --agents one for each, repeated."),
    ] = None,
    typical: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE[,SD]", help="Typical value of a parameter, and its spread among people; repeated."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level of the test of an effect.")] = 0.05,
    power: Annotated[float, typer.Option(help="Probability that a study should have of succeeding.")] = 0.8,
    false_alarms: Annotated[
        bool, typer.Option("--false-alarms/--no-false-alarms", help="Also simulate studies without an effect.")
    ] = True,
    n: Annotated[
        int, typer.Option(help="Number of simulated studies of an effect; otherwise the most simulated people.")
    ] = 200,
    accuracy: Annotated[
        float, typer.Option(help="For --recover and --agents: stop when correlations or shares are known within this.")
    ] = 0.05,
    starts: Annotated[int, typer.Option(help="Number of starting points per fit.")] = 4,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as netCDF.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw power against people (.png, .svg or .pdf).")] = None,
    as_json: AsJson = False,
    *,
    design: DesignFlags,
    task: TaskFlags,
    work: WorkFlags,
) -> None:
    """Find how many people, blocks and choices a study needs to find an effect, recover a parameter or tell agents apart."""
    from explorelab.cli.recovery import plan_runs

    check_targets(out, figure=figure)
    if agent is not None and agents is not None:
        raise InputError("--agents names those to tell apart: leave --agent out.")
    tasks = plan_runs.designs(design, task)
    how = {
        "effect": effect, "recover": recover, "agents": None if agents is None else several_agents(agents), "size": size,
        "unit": "natural" if natural else "sd", "within": within, "slope_sd": slope_sd, "at_least": at_least,
        "criterion": criterion, "method": method, "horizon": numbers("--horizon", design.horizon),
        "n_blocks": numbers("--blocks", design.blocks), "people": numbers("--people", people), "most": most,
        "group": plan_runs.groups(group or [], agents is not None), "typical": plan_runs.typical_of(typical or []),
        "alpha": alpha, "power": power, "false_alarms": false_alarms, "n_simulations": n, "accuracy": accuracy,
        "n_starts": starts, "seed": seed,
    }  # fmt: skip
    with shared_work(work, "plan", out) as how_done:
        found = plan_runs.planned(tasks, None if agent is None else one_agent(agent), **how, **how_done)
    plan_runs.deliver(found, out, figure, as_json)
