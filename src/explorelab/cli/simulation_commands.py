"""Commands about agents and tasks: agents, simulate, bounds, reproduce."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from explorelab.cli.options import AsJson, check_targets, long_work, option_groups
from explorelab.cli.run_flags import AgentFlags, Horizon, RunFlags, TaskFlags, Times, settings_from
from explorelab.cli.work_flags import WorkerFlags, shared_work


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command line."""
    for command in (agents, simulate, bounds, reproduce):
        app.command()(command)


def agents(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show only this agent: a name, or FILE.py:NAME.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the agents, with their parameters and defaults."""
    from explorelab.agents.catalogue import catalogue
    from explorelab.cli.tables.run_tables import show_agents

    entries = catalogue(name)
    if as_json:
        print(json.dumps(entries, indent=2))
    else:
        show_agents(entries)


@option_groups
def simulate(
    *,
    agent: AgentFlags,
    agents: Annotated[
        str | None,
        typer.Option(help="Comma-separated agents, compared on the same random numbers; each as for --agent."),
    ] = None,
    sweep: Annotated[
        list[str] | None, typer.Option(metavar="NAME=V1,V2,...", help="Try several values of a parameter; may be repeated.")
    ] = None,
    task: TaskFlags,
    run: RunFlags,
    as_json: AsJson = False,
    csv: Annotated[Path | None, typer.Option(help="Write means and standard errors over time as a table.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw regret with its bounds (.png, .svg or .pdf).")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the full data set as netCDF.")] = None,
    work: WorkerFlags,
) -> None:
    """Simulate agents on a task and report regret, transitions, transition cost and visits."""
    from explorelab.cli import simulation_runs

    settings = settings_from(agent, task, run, sweep, agents)
    check_targets(csv, save, figure=figure)
    with shared_work(work, "simulate") as how_done:
        played = simulation_runs.play(settings, few_times=as_json, statistics=save is None, **how_done)
    simulation_runs.deliver(played, csv, figure, save, as_json)


@option_groups
def bounds(
    *,
    agent: AgentFlags,
    task: TaskFlags,
    horizon: Horizon = None,
    times: Times = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Epsilon of the corrected bounds; default: the one that gives the tightest bound.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the theoretical bounds for an agent on a task, and why any of them do not apply."""
    from explorelab.cli import simulation_runs
    from explorelab.cli.tables.run_tables import show_bounds
    from explorelab.theory.agent_bounds import bounds_as_json

    table = simulation_runs.promised(settings_from(agent, task, RunFlags(horizon=horizon, times=times)), epsilon)
    if as_json:
        print(json.dumps(bounds_as_json(table), allow_nan=False))
    else:
        show_bounds(table)


def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for the page and its figures.")] = Path("out"),
    seed: Annotated[int, typer.Option(help="Same seed, same figures.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Use few replicates: a preview, not a result.")] = False,
    only: Annotated[
        str | None,
        typer.Option(help="Comma-separated figures, by name (block-regret) or by number in the paper (10); default: all."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="Change horizon or replicates: -s horizon=5000."),
    ] = None,
) -> None:
    """Reproduce the paper's simulations: figures and data on one page, OUT/index.html."""
    from explorelab._support.name_value import name_and_value
    from explorelab.paper import reproduce as make

    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    given = dict(name_and_value("--set", text) for text in setting or [])
    with long_work():
        page = make(out, seed=seed, quick=quick, only=names, given=given)
    print(f"Wrote {page}")
