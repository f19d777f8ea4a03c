"""What the command line's flags mean: the same tables that a TOML file holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorelab._support import checks
from explorelab._support.name_value import name_and_value
from explorelab._support.toml_file import TomlTable
from explorelab.errors import InputError
from explorelab.simulation import run_file
from explorelab.tasks.arms_table import PLACES, SOURCES
from explorelab.tasks.task_table import NOISES, TASK_KEYS

INSTEAD = ((SOURCES, (*SOURCES, *PLACES, "layout")), (tuple(NOISES), tuple(NOISES)))
"""Where a flag gives one of the first settings of a task, the second ones of the file no longer mean anything."""


def task_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    """What the flags say of the task, by the names of its table."""
    given = {name: flags[name] for name in TASK_KEYS if flags.get(name) is not None}
    if "means" in given and not Path(given["means"]).is_file():
        given["means"] = _numbers_or_file("--means", given["means"])
    return given


def tables_from(
    config: Path | None, agent: str | None, parameters: list[str] | None, task: dict[str, Any]
) -> dict[str, TomlTable]:
    """The tables of the file, if there is one, with the flags written over them."""
    tables = run_file.read_spec(config) if config is not None else run_file.no_tables()
    if agent is not None:
        if agent != tables["agent"].get("name", agent):
            # Parameters of another agent's table mean nothing to this one.
            tables["agent"].clear()
        tables["agent"]["name"] = agent
    tables["agent"].update(name_and_value("--set", text) for text in parameters or [])
    for flags, settings in INSTEAD:
        if task.keys() & set(flags):
            for key in tables["task"].keys() & set(settings):
                del tables["task"][key]
    tables["task"].update(task)
    return tables


def _numbers_or_file(flag: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} must be numbers with commas or a file that is there, got {text!r}.") from None


def whole_numbers(flag: str, text: str) -> list[int]:
    """Whole numbers with commas between them."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} must be whole numbers with commas, got {text!r}.") from None


def few_times(horizon: Any) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... and the horizon."""
    end = checks.whole("horizon", horizon, at_least=1)
    steps = (digit * 10**power for power in range(len(str(end))) for digit in (1, 2, 5))
    return [*(t for t in steps if t < end), end]
