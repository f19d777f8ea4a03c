"""The only reader of [task] tables: in a run's file, next to a file of choices, in a study, or from Python.

[task]
landscape = "B"                # the paper's, with its grid and noise; or profile = "A"; or
# means = [0.0, 0.5, 1.0]      # one for each arm; or a table means[x][y], which makes a grid; or a file
# layout = "line"              # how means lie: "bandit" (nowhere), "line" or "grid"; or one of these three instead:
# grid = [10, 10]              # width and height; means may then be a list, arm number = x * height + y
# coordinates = "places.csv"   # or [[x, y], ...], a place for each arm
# arms = 3                     # as many, nowhere in particular; or their names, ["red", "blue"], also beside a grid
noise_var = 10                 # variance of normal noise; or integer_noise = 5, a whole number drawn from -5 .. 5
graph = "neighbours"           # or a file of edges (from, to, length), or a list of them; with directed = true or false
start = 0                      # where one stands before the first choice
costs = "distance"             # or "edges", a number, a matrix, a file with one; with cost_kind and cost_scale
# restless = 4, switching, path, horizon_game, points, blocked, forced: tasks that change, see tasks/change_table.py
name = "my task"
note = "what a reader must know"

A `Door` says what is different at one of the places: what else may stand there, and what may not.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.toml.toml_file import SettingError, about, shown, text_of
from explorelab.errors import InputError, unknown_name
from explorelab.tasks.arms_table import (
    PLACES,
    SOURCES,
    Arms,
    arms_in,
    columns_of,
    either,
    flat_means,
    means_in,
    paths_in,
    ready_task,
)
from explorelab.tasks.change_table import KINDS, OWN, SCHEDULE, TRIAL, points_of, with_schedule
from explorelab.tasks.changing import checked_points
from explorelab.tasks.graphs import Graph
from explorelab.tasks.noise import NOISES, Noise, NoiseKind, gaussian_noise
from explorelab.tasks.number_files import read_numbers
from explorelab.tasks.task import Task, bandit, on_graph, with_costs, with_noise

GRAPH = ("graph", "directed", "start")
COSTS = ("costs", "cost_kind", "cost_scale")
CHOICES_KEYS = ("means_by", "horizon", "first_arm", "first_xy", "columns", "gaps", "players", "leave_out")
"""Settings of the table beside a file of choices that say how the file is written."""
CHANGES = (*KINDS, *OWN, *SCHEDULE)
"""Settings of tasks that change."""
FILE_KEYS = ("means", "coordinates", "graph", "costs", "path")
"""Settings that may name a file."""


def noise_settings() -> dict[str, Callable[[Unchecked], Noise]]:
    """Settings that give a task's noise: the scale of a kind that has one, or the variance of Gaussian noise."""
    own = {kind.key: partial(_noise_of_scale, kind) for kind in NOISES.values() if kind.key}
    return {**own, "noise_var": gaussian_noise}


def _noise_of_scale(kind: NoiseKind, scale: object) -> Noise:
    if kind.whole:
        return Noise(kind.name, checks.whole(kind.key, scale, at_least=0))
    return Noise(kind.name, float(checks.scalar(kind.key, scale, at_least=0)))


def task_keys() -> tuple[str, ...]:
    """Every setting of a task."""
    return (*SOURCES, "layout", *PLACES, *noise_settings(), *GRAPH, *COSTS, *OWN, *SCHEDULE, "name", "note")


class Door(NamedTuple):
    """A place where tasks are described, and how it differs from others."""

    more: Collection[str] = ()
    """Settings that only this place has, and reads itself."""
    refused: Mapping[str, str] = {}
    """Settings that make no sense here, and why: the rest of a sentence that begins with the setting."""
    largest: float = math.inf
    """The largest mean reward and deviation from it, in points."""

    @property
    def known(self) -> tuple[str, ...]:
        """Settings that may stand here."""
        return tuple(key for key in (*task_keys(), *self.more) if key not in self.refused)

    @property
    def sources(self) -> tuple[str, ...]:
        """Settings that give the means here."""
        return tuple(key for key in SOURCES if key not in self.refused)


@dataclass(frozen=True, eq=False)
class TaskTable:
    """What a table says about a task, apart from graph and costs; parts may be missing."""

    ready: Task | None
    """The task with arms of its own, if it is one: a landscape or profile of the paper, or one that changes."""
    arms: Arms | None
    means: Mapping[str, np.ndarray]
    """By the value of the column `means_by`; without such a column, under ""."""
    paths: Mapping[str, np.ndarray]
    """Means over time (time x arm), instead of `means`: by the values of the columns `means_by`, or under ""."""
    means_by: tuple[str, ...]
    """Columns that tell means apart, without the trial."""
    noise: Noise | None
    noise_var: float | None
    """As it is written: the square of a root may differ in the last digit."""
    start: int | str | None
    """An arm, from 0, or some other word than the name of an arm."""
    name: str | None
    note: str
    points: tuple[float, float] | None


def read_task(table: Mapping[str, Unchecked], door: Door, folder: Path = Path()) -> Task:
    """The task that a table describes; its files are relative to the folder."""
    told = read_task_table(table, door, folder)
    if told.arms is None or "" not in told.means:
        raise SettingError((), f"a task needs {either(door.sources)}, got none of them.")
    kind = "grid" if told.arms.shape is not None else table.get("layout", "bandit")
    task = told.ready or replace(bandit(told.means[""], name=kind), places=told.arms.places)
    task = replace(task, name=task.name if told.name is None else told.name, note=told.note)
    task = with_schedule(task if told.noise is None else with_noise(task, told.noise), table)
    return _with_costs(_on_graph(task, table, told.start, folder), table, folder)


def read_task_table(table: Mapping[str, Unchecked], door: Door, folder: Path = Path(), first_arm: int = 0) -> TaskTable:
    """Read a table; raises a `SettingError` with everything wrong with it.

    Files that it names lie in the folder. `start` counts arms from `first_arm`.
    """
    parts = _Parts(_misplaced(table, door))
    table = {key: value for key, value in table.items() if key in door.known}
    ready = parts.read(lambda: ready_task(table, folder, door.sources))
    paths = parts.read(lambda: paths_in(table, folder)) or {}
    rows = parts.read(lambda: means_in(table, folder, door.largest, "means_by" in door.known)) or {}
    first = {label: path[0] for label, path in paths.items()}
    arms = None if parts.wrong else parts.read(lambda: arms_in(table, folder, ready, rows or first))
    means = parts.read(lambda: {label: flat_means(label, row, arms) for label, row in rows.items()}) if arms else None
    noise = parts.read(lambda: _noise(table, door))
    start = parts.read(lambda: _start(table.get("start"), first_arm, arms))
    name, note = (parts.read(partial(text_of, table, key)) for key in ("name", "note"))
    if arms is not None:
        for label, path in first.items():
            parts.read(partial(flat_means, label, path, arms))
    parts.raise_if_wrong()
    if ready is not None:
        means, noise, note = {"": ready.means}, noise or ready.noise, note or ready.note
        name = ready.name if name is None else name
    noise_var = float(table["noise_var"]) if "noise_var" in table else noise.var if noise is not None else None
    by = tuple(column for column in columns_of(table) if column != TRIAL)
    points = parts.read(lambda: _points(table, ready))
    parts.raise_if_wrong()
    return TaskTable(ready, arms, means or {}, paths, by, noise, noise_var, start, name, note or "", points)


def _points(table: Mapping[str, Unchecked], ready: Task | None) -> tuple[float, float] | None:
    """The lowest and highest reward, if rewards are paid in whole points."""
    if "points" not in table:
        return None if ready is None else ready.points
    with about("points"):
        return checked_points(points_of(table["points"]))


class _Parts:
    """Parts of a table, read one by one; an error in one does not keep the others from being read."""

    def __init__(self, wrong: list[SettingError]) -> None:
        self.wrong = wrong

    def read[Part](self, part: Callable[[], Part]) -> Part | None:
        try:
            return part()
        except SettingError as error:
            self.wrong.append(error)
            return None

    def raise_if_wrong(self) -> None:
        if self.wrong:
            first, *others = self.wrong
            raise SettingError(first.at, str(first), tuple(others))


def _misplaced(table: Mapping[str, Unchecked], door: Door) -> list[SettingError]:
    """Errors for settings that should not be there at all."""
    refused = [SettingError((key,), f"{key} {door.refused[key]}") for key in table if key in door.refused]
    known = door.known
    unknown = [
        SettingError((key,), str(unknown_name("setting of the task", str(key), known)))
        for key in table
        if key not in known and key not in door.refused
    ]
    return [*refused, *unknown]


def _noise(table: Mapping[str, Unchecked], door: Door) -> Noise | None:
    settings = noise_settings()
    given = [key for key in settings if key in table]
    if len(given) > 1:
        raise SettingError((given[-1],), f"a task takes either {either(settings)}, got both.")
    for key in given:
        with about(key):
            if any(kind.key == key and kind.whole for kind in NOISES.values()):
                checks.whole(key, table[key], at_least=-(2**63))
            _amount(key, table[key], door.largest**2 if key == "noise_var" else door.largest)
            return settings[key](table[key])
    return None


def _amount(key: str, value: Unchecked, most: float = math.inf) -> float:
    """A number from 0 to `most`."""
    number = value.item() if hasattr(value, "item") and np.ndim(value) == 0 else value
    if not checks.is_number(number) or abs(number) > sys.float_info.max:
        raise InputError(f"{key} must be a number, got {shown(value)}.")
    if not 0 <= number <= most:
        wanted = "at least 0" if math.isinf(most) else f"0 to {most:.15g}"
        raise InputError(f"{key} must be {wanted}, got {shown(value)}.")
    return float(number)


def _start(start: object, first_arm: int, arms: Arms | None) -> int | str | None:
    if arms is not None and arms.names is not None and isinstance(start, str) and start in arms.names:
        return arms.names.index(start)
    if start is None or isinstance(start, str):
        return start
    with about("start"):
        arm = checks.whole("start", start, at_least=first_arm) - first_arm
        if arms is not None and arm >= arms.n_arms:
            raise InputError(f"start must be an arm from {first_arm} to {arms.n_arms - 1 + first_arm}, got {start}.")
    return arm


def _on_graph(task: Task, table: Mapping[str, Unchecked], start: int | str | None, folder: Path) -> Task:
    if "graph" in table:
        with about(*GRAPH, table=table):
            at: Unchecked = 0 if start is None else start  # of text, on_graph says what is wrong
            return on_graph(task, _edges(table["graph"], folder), table.get("directed"), at)
    for key in ("start", "directed"):
        if key in table:
            raise SettingError((key,), "start and directed need a graph of moves: give the task a graph.")
    return task


def _edges(graph: Graph, folder: Path) -> Graph:
    if not isinstance(graph, str) or graph == "neighbours":
        return graph
    file = folder / graph
    if not file.is_file():
        raise InputError(f"graph must be 'neighbours' or a file of edges (from, to, and perhaps length), got {graph!r}.")
    edges = np.atleast_2d(read_numbers(str(file)))
    if edges.shape[1] not in (2, 3):
        raise InputError(f"{file}: a file of edges has two or three columns (from, to, length), got {edges.shape[1]}.")
    return [(int(edge[0]), int(edge[1]), *map(float, edge[2:])) for edge in edges]


def _with_costs(task: Task, table: Mapping[str, Unchecked], folder: Path) -> Task:
    if "costs" in table:
        with about(*COSTS, table=table):
            scale = _amount("cost_scale", table.get("cost_scale", 1.0))
            return with_costs(task, _costs(table["costs"], folder), table.get("cost_kind", "fixed"), scale)
    for key in ("cost_kind", "cost_scale"):
        if key in table:
            raise SettingError((key,), "cost_kind and cost_scale need transition costs: give the task costs.")
    return task


def _costs(costs: Unchecked, folder: Path) -> Unchecked:
    if not isinstance(costs, str) or costs in ("distance", "edges"):
        return costs
    if (folder / costs).is_file():
        return read_numbers(str(folder / costs))
    try:
        return float(costs)
    except ValueError:
        raise InputError(
            f"costs must be 'distance', 'edges', a number or the path of a file with a matrix, got {costs!r}."
        ) from None
