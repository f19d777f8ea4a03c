"""Options that describe an agent, a task and a run, filling the same settings as a TOML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from explorelab._support.name_value import Written, name_and_value
from explorelab.errors import InputError

if TYPE_CHECKING:
    from explorelab._support.checks import Unchecked
    from explorelab._support.toml_file import TomlTable
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
    agent: Annotated[str | None, typer.Option("--agent", help="Name of the agent; see `explorelab agents`.")] = None
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


def settings_from(agent: AgentFlags, task: TaskFlags, run: RunFlags, sweep: Sequence[str] | None = None) -> RunSettings:
    """The settings of the configuration file, if any, overridden by the options."""
    from explorelab.simulation.run_file import RunSettings, read_spec

    settings = read_spec(agent.config) if agent.config is not None else RunSettings()
    of_run = {name: str(value) if isinstance(value, StrEnum) else value for name, value in _given(run).items()}
    if "times" in of_run:
        of_run["times"] = _whole_numbers("--times", of_run["times"])
    _fill_agent(settings.agent, agent)
    _fill_task(settings.task, _given(task))
    settings.run.update(of_run)
    settings.sweep.update(_swept(text) for text in sweep or [])
    return settings


def _given(flags: RunFlags | TaskFlags) -> dict[str, Unchecked]:
    values = {field.name: getattr(flags, field.name) for field in fields(flags)}
    return {name: value for name, value in values.items() if value is not None}


def _fill_agent(table: TomlTable, flags: AgentFlags) -> None:
    if flags.agent is not None:
        if flags.agent != table.get("name", flags.agent):
            table.clear()  # parameters of another agent mean nothing to this one
        table["name"] = flags.agent
    table.update(name_and_value("--set", text) for text in flags.parameter or [])


def _fill_task(table: TomlTable, given: dict[str, Unchecked]) -> None:
    from explorelab.tasks.arms_table import PLACES, SOURCES
    from explorelab.tasks.task_table import noise_settings

    if "means" in given and not Path(given["means"]).is_file():
        given["means"] = _numbers_or_file("--means", given["means"])
    # If a flag gives one of the first settings, the file's second ones no longer mean anything.
    for flags, settings in ((SOURCES, (*SOURCES, *PLACES, "layout")), (noise_settings(), noise_settings())):
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


def _whole_numbers(flag: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} must be comma-separated whole numbers, got {text!r}.") from None
