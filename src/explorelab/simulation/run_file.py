"""Agents, tasks and runs described in plain tables: what a TOML file holds and the command line's flags say.

[agent]
name = "stochastic-ucl"
prior_mean = 200
prior_cov = "cov.csv"       # a file, relative to the TOML file, wherever a matrix or a vector is wanted

[task]
landscape = "B"             # or means = [0, 0.5, 1] (or a file), with layout = "bandit", "line" or "grid"
costs = "distance"

[run]
horizon = 90
replicates = 1000

[sweep]
temperature = [1, 2, 4]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from explorelab._support import checks
from explorelab.errors import InputError, unknown_name
from explorelab.tasks import Task, bandit, grid, integer_noise, landscape, line, on_graph, profile, with_costs, with_noise
from explorelab.tasks.number_files import read_numbers

if TYPE_CHECKING:
    from explorelab.agents import Agent

TABLES = ("agent", "task", "run", "sweep")
TASK_KEYS = (
    "landscape",
    "profile",
    "means",
    "layout",
    "noise_var",
    "integer_noise",
    "graph",
    "directed",
    "start",
    "costs",
    "cost_kind",
    "cost_scale",
)
RUN_KEYS = ("horizon", "replicates", "seed", "times", "keep", "visits", "precision", "device", "memory")
LAYOUTS = {"bandit": bandit, "line": line, "grid": grid}
FILES_WANTED = ("prior_cov", "prior_mean", "prior_var")
"""Parameters that may be given as the path of a file of numbers."""

type Table = Mapping[str, Any]


def read_spec(path: Path) -> dict[str, dict[str, Any]]:
    """The tables of a TOML file, with paths in it taken relative to the file."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the file: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a TOML file: {error}.") from None
    for name, table in tables.items():
        if name not in TABLES:
            raise unknown_name(f"table in {path}", name, TABLES)
        if not isinstance(table, dict):
            raise InputError(f"{path}: {name} must be a table, [{name}], got {table!r}.")
    return {name: {key: _beside(path, key, value) for key, value in tables.get(name, {}).items()} for name in TABLES}


def _beside(path: Path, key: str, value: Any) -> Any:
    names_file = key in (*FILES_WANTED, "means", "costs", "graph") and isinstance(value, str)
    return str(path.parent / value) if names_file and (path.parent / str(value)).is_file() else value


def build_agent(table: Table) -> Agent:
    """The agent that a table describes: its name, and any of its parameters."""
    # Late: agents need JAX, and a server that only wants the task should not wait for it.
    from explorelab.agents import agent_named, parameters_of

    given = dict(table)
    name = given.pop("name", "deterministic-ucl")
    known = parameters_of(name)
    for parameter, value in given.items():
        if parameter not in known:
            raise unknown_name(f"parameter of {name}", parameter, known)
        if parameter in FILES_WANTED and isinstance(value, str):
            given[parameter] = read_numbers(value)
    return agent_named(name, **given)


def build_task(table: Table) -> Task:
    """The task that a table describes: a landscape, a profile or means; noise; a graph of moves; transition costs."""
    for key in table:
        if key not in TASK_KEYS:
            raise unknown_name("setting of the task", key, TASK_KEYS)
    task = _rewards(table)
    if "integer_noise" in table:
        task = with_noise(task, integer_noise(table["integer_noise"]))
    elif "noise_var" in table:
        task = with_noise(task, table["noise_var"])
    if "graph" in table:
        task = on_graph(task, _graph(table["graph"]), table.get("directed"), table.get("start", 0))
    elif "start" in table or "directed" in table:
        raise InputError("start and directed belong to a graph of moves: give the task a graph.")
    if "costs" in table:
        task = with_costs(task, _costs(table["costs"]), table.get("cost_kind", "fixed"), table.get("cost_scale", 1.0))
    elif "cost_kind" in table or "cost_scale" in table:
        raise InputError("cost_kind and cost_scale belong to transition costs: give the task costs.")
    return task


def _rewards(table: Table) -> Task:
    sources = [key for key in ("landscape", "profile", "means") if key in table]
    if len(sources) != 1:
        came = " and ".join(sources) or "none of them"
        raise InputError(f"a task needs one of landscape, profile and means, got {came}.")
    if "layout" in table and "means" not in table:
        raise InputError(f"layout belongs to means; a {sources[0]} has its own.")
    if "landscape" in table:
        return landscape(table["landscape"])
    if "profile" in table:
        return profile(table["profile"])
    means = table["means"]
    values = read_numbers(means) if isinstance(means, str) else checks.numbers("means", means)
    default = "grid" if values.ndim == 2 else "bandit"
    return checks.one_of("layout", table.get("layout", default), LAYOUTS)(values)


def _graph(graph: Any) -> Any:
    if not isinstance(graph, str) or graph == "neighbours":
        return graph
    if not Path(graph).is_file():
        raise InputError(f"graph must be 'neighbours' or a file of edges (from, to, and perhaps length), got {graph!r}.")
    edges = np.atleast_2d(read_numbers(graph))
    if edges.shape[1] not in (2, 3):
        raise InputError(f"{graph}: a file of edges has two or three columns (from, to, length), got {edges.shape[1]}.")
    return [(int(edge[0]), int(edge[1]), *map(float, edge[2:])) for edge in edges]


def _costs(costs: Any) -> Any:
    if not isinstance(costs, str) or costs in ("distance", "edges"):
        return costs
    if Path(costs).is_file():
        return read_numbers(costs)
    try:
        return float(costs)
    except ValueError:
        raise InputError(
            f"costs must be 'distance', 'edges', a number or the path of a file with a matrix, got {costs!r}."
        ) from None


def check_run(table: Table) -> dict[str, Any]:
    """The settings of a run, with unknown ones refused and the horizon asked for."""
    for key in table:
        if key not in RUN_KEYS:
            raise unknown_name("setting of the run", key, RUN_KEYS)
    if "horizon" not in table:
        raise InputError("a run needs a horizon: how many choices there are.")
    memory = table.get("memory")
    return {**table, **({"memory": parse_memory(memory)} if memory is not None else {})}


def parse_memory(memory: Any) -> int:
    """Bytes from a number, or from text such as "512 MiB" or "2GB"."""
    units = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9, "": 1}
    text = str(memory).strip().lower()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = text[len(number) :].strip()
    try:
        return int(float(number) * units[unit])
    except (ValueError, KeyError, OverflowError):
        raise InputError(f"memory must be a size such as '512 MiB' or '2 GB', got {memory!r}.") from None
