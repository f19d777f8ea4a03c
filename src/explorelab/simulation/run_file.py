"""Agents, tasks and runs described in plain tables, from a TOML file and the command line's options.

[agent]
name = "stochastic-ucl"     # or a file and a name in it, "my_model.py:two_rates"; or names = [...] for several agents
prior_mean = 200
prior_cov = "cov.csv"       # a file, relative to the TOML file, wherever a matrix or a vector is expected

[task]                      # see tasks/task_table.py
landscape = "B"
costs = "distance"

[run]
horizon = 90
replicates = 1000

[sweep]
temperature = [1, 2, 4]
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.toml.toml_file import SettingError, TomlTable, about, read_toml, shown, told_where
from explorelab.errors import InputError, unknown_name
from explorelab.tasks import Task
from explorelab.tasks.number_files import read_numbers
from explorelab.tasks.task_table import CHOICES_KEYS, FILE_KEYS, Door, read_task

if TYPE_CHECKING:
    from explorelab.agents import Agent

RUN_KEYS = ("horizon", "replicates", "seed", "times", "keep", "visits", "precision", "device", "memory")
FILES_WANTED = ("prior_cov", "prior_mean", "prior_var")
"""Parameters that may be given as the path to a file of numbers."""
DOOR = Door(
    refused=dict.fromkeys(CHOICES_KEYS, "is only for a file of choices: remove it to simulate an agent.")
    | {"horizon": "belongs in the table [run]."}
)

type Table = Mapping[str, Unchecked]


@dataclass(frozen=True)
class RunSettings:
    """What to simulate, in the tables of a TOML file; the command line's options fill the same tables."""

    agent: TomlTable = field(default_factory=lambda: TomlTable({}, "agent"))
    task: TomlTable = field(default_factory=lambda: TomlTable({}, "task"))
    run: TomlTable = field(default_factory=lambda: TomlTable({}, "run"))
    sweep: TomlTable = field(default_factory=lambda: TomlTable({}, "sweep"))

    def told_where(self) -> AbstractContextManager[None]:
        """Prefix errors with the file and line of the setting at fault, if it came from a file."""
        return told_where(self.agent, self.task, self.run, self.sweep)


TABLES = tuple(each.name for each in fields(RunSettings))


def read_spec(path: Path) -> RunSettings:
    """The tables of a TOML file; paths in it are relative to the file."""
    toml = read_toml(path)
    for name, table in toml.values.items():
        if name not in TABLES:
            raise toml.error((name,), str(unknown_name("table", name, TABLES)))
        if not isinstance(table, dict):
            raise toml.error((name,), f"{name} must be a table, [{name}], got {shown(table)}.")
    settings = RunSettings(**{name: toml.table(name) for name in TABLES})
    for table in (settings.agent, settings.task):
        table.replace_values({key: _beside(path, table[key]) for key in (*FILES_WANTED, *FILE_KEYS) if key in table})
    for key in ("name", "names"):
        if key in settings.agent:
            settings.agent.replace_values({key: _agent_beside(path, settings.agent[key])})
    return settings


def _beside(path: Path, value: Unchecked) -> Unchecked:
    return str(path.parent / value) if isinstance(value, str) and (path.parent / value).is_file() else value


def _agent_beside(path: Path, name: Unchecked) -> Unchecked:
    """The name of an agent, with the path of its file from here if it lies beside the TOML file."""
    if isinstance(name, list):
        return [_agent_beside(path, each) for each in name]
    file, colon, rest = str(name).partition(".py:")
    return f"{path.parent / file}{colon}{rest}" if colon and (path.parent / f"{file}.py").is_file() else name


def build_agents(table: Table) -> list[str | Agent] | Agent:
    """The agent that a table describes, or the several that it names."""
    if "names" not in table:
        return build_agent(table)
    from explorelab.agents.agent_names import agent_of

    with told_where(table):
        others = [key for key in table if key != "names"]
        if others:
            raise SettingError((others[0],), f"names is for several agents, and cannot have {others[0]} beside it.")
        with about("names"):
            if not isinstance(table["names"], list) or not table["names"]:
                raise InputError(f"names must be a list of agents, got {checks.shown(table['names'])}.")
            for each in table["names"]:
                agent_of(str(each))
        return [str(each) for each in table["names"]]


def build_agent(table: Table) -> Agent:
    """The agent that a table describes: its name, and any of its parameters."""
    # Imported late: agents need JAX, and an error in the file should not wait for it.
    from explorelab.agents.agent_names import parsed
    from explorelab.agents.registry import agent_named, parameters_of

    given = dict(table)
    name = given.pop("name", "deterministic-ucl")
    with told_where(table):
        with about("name"):
            name, fixed = parsed(str(name))
            known = parameters_of(name)
            for parameter in fixed:
                if parameter not in known:
                    raise unknown_name(f"parameter of {name}", parameter, known)
        given = {**fixed, **given}
        for parameter, value in given.items():
            if parameter not in known:
                raise SettingError((parameter,), str(unknown_name(f"parameter of {name}", parameter, known)))
            if parameter in FILES_WANTED and isinstance(value, str):
                with about(parameter):
                    given[parameter] = read_numbers(value)
        return agent_named(name, **given)


def build_task(table: Table) -> Task:
    """The task that a table describes."""
    with told_where(table):
        return read_task(table, DOOR)


def check_run(table: Table) -> dict[str, Unchecked]:
    """The settings of a run as `simulate` takes them; unknown ones and a missing horizon are errors."""
    with told_where(table):
        for key in table:
            if key not in RUN_KEYS:
                raise SettingError((key,), str(unknown_name("setting of the run", key, RUN_KEYS)))
        if "horizon" not in table:
            raise SettingError((), "a run needs a horizon, the number of choices.")
        checks.whole("horizon", table["horizon"], at_least=1)
        if "replicates" in table:
            checks.whole("replicates", table["replicates"], at_least=1)
        memory = table.get("memory")
        settings = {**table, **({"memory": parse_memory(memory)} if memory is not None else {})}
        return {"n_replicates" if name == "replicates" else name: value for name, value in settings.items()}


def parse_memory(memory: object) -> int:
    """Bytes from a number, or from text such as "512 MiB" or "2GB"."""
    units = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9, "": 1}
    text = str(memory).strip().lower()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = text[len(number) :].strip()
    try:
        return int(float(number) * units[unit])
    except (ValueError, KeyError, OverflowError):
        raise InputError(f"memory must be a size such as '512 MiB' or '2 GB', got {memory!r}.") from None
