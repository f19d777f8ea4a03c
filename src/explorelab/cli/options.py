"""Options shared by several commands, and how they check output paths and handle interruption."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from explorelab.errors import InterruptedByUserError

Data = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA",
        help="File of choices, one row per trial: CSV, Parquet, hBayesDM's text, jsPsych's JSON, Psych-201's JSON lines, or "
        "a Psych-DS folder. Several are joined, with the condition dataset.",
    ),
]
Task = Annotated[Path | None, typer.Option(help="TOML file describing the task; default: the one next to DATA.")]
Starts = Annotated[int, typer.Option(help="Number of starting points per person.")]
NAMED = "a name (see `explorelab agents`) or FILE.py:NAME, with habits and values as in stochastic-ucl+lapse:length_scale=0"
"""How agents are named on the command line, wherever they are."""
Seed = Annotated[int, typer.Option(help="Same seed, same result.")]
OfFit = Annotated[
    str | None, typer.Option(metavar="FILE.py:NAME", help="The fit's agent, if it is your own and its file has moved.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON summary and nothing else.")]


def option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Expand each dataclass among the command's parameters into one option per field.

    The command still receives one object per dataclass, so commands can share options without repeating them.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: each.annotation for name, each in signature.parameters.items() if is_dataclass(each.annotation)
    }

    @wraps(command)
    def with_groups(**given: object) -> None:
        made = {name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()}
        command(**given, **made)

    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        parameters += _parameters_of(groups[name]) if name in groups else [parameter]
    with_groups.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_groups


def _parameters_of(group: type) -> list[inspect.Parameter]:
    kinds = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=kinds[field.name])
        for field in fields(group)
    ]


def whole_summaries(app: typer.Typer) -> None:
    """Show each command's whole first sentence in lists of commands; Typer would otherwise cut it short."""
    for command in app.registered_commands:
        command.short_help = " ".join((inspect.getdoc(command.callback) or "").partition("\n\n")[0].split())
    for group in app.registered_groups:
        if group.typer_instance is not None:
            whole_summaries(group.typer_instance)


def one_agent(text: str) -> str:
    """The agent that an option names; an error if there are several."""
    from explorelab.agents.agent_names import one

    return one(text)


def several_agents(text: str) -> list[str]:
    """The agents that an option lists, separated by commas."""
    from explorelab.agents.agent_names import listed

    return listed(text)


def check_targets(*targets: Path | None, figure: Path | None = None) -> None:
    """Raise before any work starts if an output file cannot be written."""
    from explorelab._support.files import check_writable

    for target in (*targets, figure):
        if target is not None:
            check_writable(target)
    if figure is not None:
        from explorelab.plots.style import check_format

        check_format(figure)


@contextmanager
def long_work() -> Iterator[None]:
    """Turn Ctrl-C during long work into an error; nothing is written until the work is done."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedByUserError("interrupted; nothing was written.") from None
