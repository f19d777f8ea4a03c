"""Options that describe an agent, a task and a run, filling the same settings as a TOML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from explorelab._support.name_value import Written, name_and_value
from explorelab.cli.options import NAMED, one_agent, several_agents
from explorelab.errors import InputError

if TYPE_CHECKING:
    from explorelab._support.checks import Unchecked
    from explorelab._support.toml.toml_file import TomlTable
    from explorelab.simulation.run_file import RunSettings


class Keep(StrEnum):
    """What a saved data set holds."""

    AUTO = "auto"
    STATISTICS = "statistics"
    REPLICATES = "replicates"
    TRAJECTORIES = "trajectories"


class Precision(StrEnum):
    """Floating-point precision of a simulation."""

    AUTO = "auto"
    SINGLE = "single"
    DOUBLE = "double"


@dataclass(frozen=True)
class AgentFlags:
    """The configuration file and the agent's options, which override it."""

    config: Annotated[
        Path | None, typer.Option(help="TOML file with tables [agent], [task], [run], [sweep]; options override it.")
    ] = None
    agent: Annotated[str | None, typer.Option("--agent", help=f"Agent: {NAMED}.")] = None
    parameter: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="Set a parameter of the agent; may be repeated."),
    ] = None


@dataclass(frozen=True)
class TaskFlags:
    """The task's options, named as in its TOML table."""

    landscape: Annotated[str | None, typer.Option(help="The paper's 10 x 10 task: A, B or training (reconstructions).")] = (
        None
    )
    profile: Annotated[str | None, typer.Option(help="Ten arms on a line: the profile of landscape A or B.")] = None
    means: Annotated[
        str | None, typer.Option(help="Mean rewards: comma-separated numbers, or a file (a table becomes a grid).")
    ] = None
    layout: Annotated[str | None, typer.Option(help="Arrangement of the arms: bandit (none), line or grid.")] = None
    noise_var: Annotated[float | None, typer.Option(help="Variance of Gaussian reward noise.")] = None
    integer_noise: Annotated[int | None, typer.Option(help="Reward noise: a random whole number from -N to N.")] = None
    path: Annotated[
        str | None, typer.Option(help="File of means over time: a row for each trial, a column for each arm.")
    ] = None
    restless: Annotated[int | None, typer.Option(help="Number of arms whose means walk at random (Daw et al. 2006).")] = None
    decay: Annotated[
        float | None, typer.Option(help="Share of its distance from the centre that a walking mean keeps on each trial.")
    ] = None
    centre: Annotated[
        float | None, typer.Option(help="Value to which walking means return, or around which new means are drawn.")
    ] = None
    diffusion_sd: Annotated[float | None, typer.Option(help="Standard deviation of one step of a walking mean.")] = None
    trend: Annotated[float | None, typer.Option(help="Amount by which walking means rise on each trial.")] = None
    switching: Annotated[
        str | None,
        typer.Option(help="Means that swap arms at change points (70,30), or a number of arms that get new means there."),
    ] = None
    hazard: Annotated[float | None, typer.Option(help="Probability of a change point on each trial.")] = None
    spread: Annotated[float | None, typer.Option(help="Standard deviation of means drawn at a change point.")] = None
    together: Annotated[
        bool | None, typer.Option("--together/--apart", help="Whether all arms change at the same time.")
    ] = None
    path_seed: Annotated[
        int | None, typer.Option(help="Seed of one path shared by all replicates; default: a path each.")
    ] = None
    horizon_game: Annotated[
        int | None, typer.Option(help="Number of free choices in a game of the horizon task (Wilson et al. 2014).")
    ] = None
    base: Annotated[float | None, typer.Option(help="Mean of the first arm (horizon games).")] = None
    difference: Annotated[float | None, typer.Option(help="How much higher the second arm's mean is (horizon games).")] = (
        None
    )
    seen: Annotated[str | None, typer.Option(help="How often each arm is forced, such as 1,3 (horizon games).")] = None
    points: Annotated[
        str | None, typer.Option(help="Lowest and highest reward, in whole points, such as 1,100; or none.")
    ] = None
    blocked: Annotated[
        list[str] | None,
        typer.Option(metavar="ARM,FIRST,LAST", help="Arm that is unavailable from one trial to another; may be repeated."),
    ] = None
    forced: Annotated[
        str | None, typer.Option(help="Arms forced on the first trials, such as 0,1,0,1; -1 is a free choice.")
    ] = None
    graph: Annotated[
        str | None, typer.Option(help='Allowed moves: "neighbours", or a file of edges (from, to, length).')
    ] = None
    directed: Annotated[bool | None, typer.Option("--directed/--undirected", help="Whether edges go one way only.")] = None
    start: Annotated[int | None, typer.Option(help="Arm where the agent starts (graphs only).")] = None
    costs: Annotated[
        str | None, typer.Option(help='Transition costs: "distance", "edges", a number, or a file with a matrix.')
    ] = None
    cost_kind: Annotated[str | None, typer.Option(help="fixed, or random with the given mean: exponential or uniform.")] = (
        None
    )
    cost_scale: Annotated[float | None, typer.Option(help="Factor by which to multiply the transition costs.")] = None


Horizon = Annotated[int | None, typer.Option("--horizon", "-T", help="Number of choices.")]
Times = Annotated[str | None, typer.Option(help="Comma-separated times to report, such as 10,100,1000.")]


@dataclass(frozen=True)
class RunFlags:
    """The run's options, named as in its TOML table."""

    horizon: Horizon = None
    replicates: Annotated[
        int | None, typer.Option("--replicates", "-n", help="Number of independent runs (default 1000).")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Same seed, same result (default 0).")] = None
    times: Times = None
    precision: Annotated[
        Precision | None, typer.Option(help="auto (single where it is accurate enough), single or double.")
    ] = None
    device: Annotated[str | None, typer.Option(help="auto, cpu or gpu.")] = None
    memory: Annotated[str | None, typer.Option(help="Memory limit, such as 512MiB (default 1GiB).")] = None
    keep: Annotated[Keep | None, typer.Option(help="What --save holds; auto keeps replicates if they fit.")] = None


def settings_from(
    agent: AgentFlags, task: TaskFlags, run: RunFlags, sweep: Sequence[str] | None = None, agents: str | None = None
) -> RunSettings:
    """The settings of the configuration file, if any, overridden by the options."""
    from explorelab.simulation.run_file import RunSettings, read_spec

    settings = read_spec(agent.config) if agent.config is not None else RunSettings()
    of_run = {name: str(value) if isinstance(value, StrEnum) else value for name, value in _given(run).items()}
    if "times" in of_run:
        of_run["times"] = _whole_numbers("--times", of_run["times"])
    _fill_agent(settings.agent, agent, agents)
    _fill_task(settings.task, _given(task))
    settings.run.update(of_run)
    settings.sweep.update(_swept(text) for text in sweep or [])
    return settings


def _given(flags: RunFlags | TaskFlags) -> dict[str, Unchecked]:
    values = {field.name: getattr(flags, field.name) for field in fields(flags)}
    return {name: value for name, value in values.items() if value is not None}


def _fill_agent(table: TomlTable, flags: AgentFlags, agents: str | None) -> None:
    if agents is not None:
        for flag, given in (("--agent", flags.agent), ("--set", flags.parameter)):
            if given:
                raise InputError(f"{flag} is for one agent: with --agents, write values as in delta-rule:learning_rate=0.5.")
        table.clear()
        table["names"] = several_agents(agents)
    if flags.agent is not None:
        name = one_agent(flags.agent)
        if name != table.get("name", name) or "names" in table:
            table.clear()  # parameters of another agent mean nothing to this one
        table["name"] = name
    table.update(name_and_value("--set", text) for text in flags.parameter or [])


def _fill_task(table: TomlTable, given: dict[str, Unchecked]) -> None:
    from explorelab.tasks.arms_table import PLACES, SOURCES
    from explorelab.tasks.change_table import OWN
    from explorelab.tasks.task_table import noise_settings

    if "means" in given and not Path(given["means"]).is_file():
        given["means"] = _numbers_or_file("--means", given["means"])
    for key in ("seen", "forced"):
        if key in given:
            given[key] = _whole_numbers(f"--{key}", given[key])
    if "points" in given:
        given["points"] = False if given["points"] == "none" else _whole_numbers("--points", given["points"])
    if "blocked" in given:
        given["blocked"] = [_whole_numbers("--blocked", span) for span in given["blocked"]]
    if "switching" in given:
        given["switching"] = _levels_or_arms(given["switching"])
    # If a flag gives one of the first settings, the file's second ones no longer mean anything.
    for flags, settings in ((SOURCES, (*SOURCES, *PLACES, *OWN, "layout")), (noise_settings(), noise_settings())):
        if given.keys() & set(flags):
            for key in table.keys() & set(settings):
                del table[key]
    table.update(given)


def _swept(text: str) -> tuple[str, list[Written]]:
    name, values = name_and_value("--sweep", text)
    return name, values if isinstance(values, list) else [values]


def _numbers_or_file(flag: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} must be comma-separated numbers or an existing file, got {text!r}.") from None


def _levels_or_arms(text: str) -> list[float] | int:
    """Means, or a number of arms: 70,30 or 4."""
    if "," in text:
        return _numbers_or_file("--switching", text)
    return _whole_numbers("--switching", text)[0]


def _whole_numbers(flag: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} must be comma-separated whole numbers, got {text!r}.") from None
