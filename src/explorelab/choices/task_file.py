"""What the arms were: the small TOML file beside the choices, or the same told from Python.

[task]
grid = [10, 10]                # one of grid (width, height), coordinates, arms, landscape, profile; means alone do, too
# coordinates = "places.csv"   # or [[x, y], ...], a place for each arm
# arms = 4                     # as many, nowhere in particular; or their names, ["red", "blue"], as in the file (grid and
#                              # coordinates may have names, too)
# landscape = "B"              # the paper's; it has a grid, noise and means
noise_var = 10                 # or integer_noise = 5
horizon = 90                   # how many trials a block should have
means = [0.0, 0.5, 1.0]        # or a table means[x][y], or a file
# means_by = "landscape"       # then means is a table, [task.means], or a file (.csv, .json): means for each value there
start = 0                      # where people stand before a block's first trial; or the name of a column that says it
first_arm = 1                  # if arms count from 1; first_xy = 1 if x and y do
name = "my task"
note = "what a reader must know"
players = "people"             # or "robots", "simulated": who made the choices
columns = { participant = "subject", arm = "choice" }
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorelab._support import checks
from explorelab._support.counted import each_of
from explorelab.choices.table import PLAYERS, Layout
from explorelab.errors import InputError, unknown_name
from explorelab.tasks import Task, integer_noise, landscape, profile
from explorelab.tasks.number_files import means_for_each, numbers_of, places_of

COLUMNS = ("participant", "block", "trial", "arm", "x", "y", "reward", "available", "missed", "forced", "reaction_time_ms")
"""Columns with a meaning; every other one is a condition."""
SHAPES = ("grid", "coordinates", "arms", "landscape", "profile")
REWARDS = ("means", "means_by", "layout", "noise_var", "integer_noise")
KEYS = (*SHAPES, *REWARDS, "horizon", "first_arm", "first_xy", "columns", "start", "name", "note", "players")
ONLY_SIMULATED = ("graph", "directed", "costs", "cost_kind", "cost_scale")
"""Settings of a task that `simulate` needs and choices do not."""
OTHER_TABLES = ("agent", "run", "sweep")
"""Tables of a file that `simulate` reads as well."""


@dataclass(frozen=True, eq=False)
class DataTask:
    """What is known of the task that people faced, and how the file writes it."""

    layout: Layout | None = None
    """None: to be inferred from the rows."""
    means: Mapping[str, np.ndarray] = field(default_factory=dict)
    """True mean rewards by the value of the column `means_by`; without such a column, those of every block, under ""."""
    means_by: str = ""
    noise_var: float | None = None
    horizon: int | None = None
    """How many trials a block should have."""
    first_arm: int = 0
    first_xy: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    """What the file calls a column, where that is not its name here."""
    start: int | str | None = None
    """Where people stand before a block's first trial (from 0), or the column that says it (as the file counts arms)."""
    notes: tuple[str, ...] = ()
    note: str = ""
    players: str = "people"
    source: str = ""


type AnyTask = DataTask | Task | Layout | Mapping[str, Any] | str | os.PathLike[str] | None


def task_of(task: AnyTask, choices: Path | None = None) -> DataTask:
    """What is known of the task: from a file, a table of settings, or a task; by default from the TOML file beside."""
    if task is None:
        beside = choices.with_suffix(".toml") if choices is not None and choices.name and choices.suffix != ".toml" else None
        return read_task(beside) if beside is not None and beside.is_file() else DataTask()
    if isinstance(task, DataTask):
        return task
    if isinstance(task, Layout):
        return DataTask(task, noise_var=task.noise_var)
    if isinstance(task, Task):
        return DataTask(layout_of(task), {"": task.means}, noise_var=task.noise.var, start=task.start, note=task.note)
    if isinstance(task, Mapping):
        return task_from_table(task)
    if isinstance(task, str | os.PathLike):
        return read_task(Path(task))
    raise InputError(f"task must be a TOML file, a table of settings, or a task, got {checks.shown(task)}.")


def read_task(path: Path) -> DataTask:
    """What the TOML file says about the task."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the file: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not a TOML file: {error}.") from None
    for name in tables:
        if name not in ("task", *OTHER_TABLES):
            known = KEYS if name in KEYS else ("task", *OTHER_TABLES)
            if name in known:
                raise InputError(f"{path}: {name} belongs into the table [task]; write [task] in a line above it.")
            raise unknown_name(f"table in {path}", name, known)
    if not isinstance(tables.get("task"), dict):
        raise InputError(f"{path}: expected a table [task] that says what the arms are, got none.")
    try:
        return replace(task_from_table(tables["task"], path.parent), source=str(path))
    except InputError as error:
        raise InputError(f"{path}: {error}" if not str(error).startswith(str(path)) else str(error)) from None


def task_from_table(table: Mapping[str, Any], folder: Path = Path()) -> DataTask:
    """What a table of settings says about the task; files in it lie relative to the folder."""
    for key in table:
        if key not in (*KEYS, *ONLY_SIMULATED):
            raise unknown_name("setting of the task", str(key), KEYS)
    named = isinstance(table.get("arms"), list | tuple)
    shapes = [key for key in SHAPES if key in table and not (named and key == "arms")]
    if len(shapes) > 1:
        raise InputError(f"a task has one of {', '.join(SHAPES)}, got {' and '.join(shapes)}.")
    layout, means = _arms(table, folder)
    if named:
        layout = _with_names(layout, table)
    unused = [key for key in ONLY_SIMULATED if key in table]
    first_arm = checks.whole("first_arm", table.get("first_arm", 0), at_least=0)
    start = _start(table.get("start"), first_arm, layout)
    note = table.get("note", "") or (landscape("A").note if {"landscape", "profile"} & set(table) else "")
    return DataTask(
        layout,
        means,
        means_by=_text("means_by", table.get("means_by", "")),
        noise_var=layout.noise_var if layout is not None else _noise_var(table),
        horizon=checks.whole("horizon", table["horizon"], at_least=1) if "horizon" in table else None,
        first_arm=first_arm,
        first_xy=checks.whole("first_xy", table.get("first_xy", 0), at_least=0),
        columns=_columns(table.get("columns", {})),
        start=start,
        notes=(f"Settings that only simulate needs were passed over: {', '.join(unused)}.",) if unused else (),
        note=_text("note", note),
        players=_players(table.get("players", "people")),
    )


def _players(value: Any) -> str:
    checks.one_of("kind of players", value, PLAYERS)
    return str(value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, got {checks.shown(value)}.")
    return value


def _noise_var(table: Mapping[str, Any]) -> float | None:
    if "noise_var" in table and "integer_noise" in table:
        raise InputError("a task has one of noise_var and integer_noise, got both.")
    if "integer_noise" in table:
        return integer_noise(checks.whole("integer_noise", table["integer_noise"], at_least=0)).var
    return float(checks.scalar("noise_var", table["noise_var"], at_least=0)) if "noise_var" in table else None


def _arms(table: Mapping[str, Any], folder: Path) -> tuple[Layout | None, dict[str, np.ndarray]]:
    """What the arms are and their mean rewards, each as far as the table tells."""
    layout = _named_or_placed(table, folder)
    noise_var = _noise_var(table)
    if "landscape" in table or "profile" in table:
        if "means" in table or "means_by" in table:
            raise InputError("a landscape or profile has its own means: leave out means, or give a grid instead.")
        paper = landscape(table["landscape"]) if "landscape" in table else profile(table["profile"])
        own = paper.noise.var if noise_var is None else noise_var
        return replace(layout_of(paper), noise_var=own, name=_text("name", table.get("name", paper.name))), {"": paper.means}
    means = _means(table, folder)
    if layout is None and means:
        layout = _layout_of_means(next(iter(means.values())), table.get("layout"))
    elif "layout" in table:
        raise InputError("layout says how means lie: leave it out where the task has a grid, coordinates or arms.")
    if layout is None:
        return None, {}
    layout = replace(layout, noise_var=noise_var, name=_text("name", table.get("name", layout.name)))
    return layout, {label: _fitting(label, values, layout) for label, values in means.items()}


def _named_or_placed(table: Mapping[str, Any], folder: Path) -> Layout | None:
    if "grid" in table:
        sides = table["grid"]
        if not isinstance(sides, list | tuple) or len(sides) != 2:
            raise InputError(f"grid must be [width, height], got {checks.shown(sides)}.")
        return grid_layout(*(checks.whole(f"grid[{i}]", side, at_least=1) for i, side in enumerate(sides)))
    if "coordinates" in table:
        places = places_of("coordinates", table["coordinates"], folder)
        return Layout(len(places), places)
    if isinstance(table.get("arms"), list | tuple):
        return Layout(len(table["arms"])) if table["arms"] and "means" not in table else None
    return Layout(checks.whole("arms", table["arms"], at_least=1)) if "arms" in table else None


def _with_names(layout: Layout | None, table: Mapping[str, Any]) -> Layout:
    """The arms with their names: text, each once, that a list of arms can hold."""
    names = table["arms"]
    if not names:
        raise InputError("arms must be a number, or a list of names, got an empty list.")
    for name in names:
        if not isinstance(name, str) or not name.strip() or name != name.strip() or set(name) & set(",;|[](){}\n\t"):
            raise InputError(
                f"arms must be a number, or names without commas, semicolons, bars and brackets, got {checks.shown(name)}."
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"arms must have each name once, got {twice!r} {names.count(twice)} times.")
    if layout is None or len(names) != layout.n_arms:
        raise InputError(f"arms must have a name for {each_of(layout.n_arms if layout else 0, 'arm')}, got {len(names)}.")
    if "first_arm" in table:
        raise InputError("first_arm says how arms are numbered: leave it out where arms have names.")
    return replace(layout, arm_names=tuple(names))


def grid_layout(width: int, height: int) -> Layout:
    """The squares of a grid, one apart; arm number = x * height + y."""
    x, y = np.divmod(np.arange(width * height), height)
    return Layout(width * height, np.stack([x, y], axis=1).astype(float), shape=(width, height))


def layout_of(task: Task) -> Layout:
    """The layout of a task that can be simulated: its arms, places and noise; a grid where the places are one."""
    layout = Layout(task.n_arms, task.places, task.noise.var, name=task.name)
    if task.places is None or task.places.shape[1] != 2:
        return layout
    sides = task.places.max(0) + 1
    if sides.prod() != task.n_arms or (sides != np.round(sides)).any():
        return layout
    shaped = replace(layout, shape=(int(sides[0]), int(sides[1])))
    return shaped if is_grid(shaped) else layout


def is_grid(layout: Layout) -> bool:
    """Whether the arms lie as the squares of a grid do, in its order."""
    if layout.shape is None or layout.places is None:
        return False
    return np.array_equal(np.asarray(grid_layout(*layout.shape).places), layout.places)


def _means(table: Mapping[str, Any], folder: Path) -> dict[str, np.ndarray]:
    if "means_by" in table:
        if "means" not in table:
            raise InputError(
                "means_by needs means: a table [task.means], or a file, with means for each value of that column."
            )
        return means_for_each(table["means"], folder)
    if isinstance(table.get("means"), Mapping):
        raise InputError("means for several values need means_by: the name of the column that holds those values.")
    return {"": numbers_of("means", table["means"], folder)} if "means" in table else {}


def _layout_of_means(means: np.ndarray, name: Any) -> Layout:
    checks.one_of("layout", "bandit" if name is None else name, dict.fromkeys(["bandit", "line", "grid"], 0))
    if means.ndim == 2 and name in (None, "grid"):
        return grid_layout(*means.shape)
    if name == "grid" or means.ndim != 1:
        raise InputError(f"means[x][y] of a grid have two dimensions, others one, got shape {means.shape}.")
    return Layout(len(means), np.arange(len(means), dtype=float)[:, None] if name == "line" else None)


def _fitting(label: str, means: np.ndarray, layout: Layout) -> np.ndarray:
    """The means as a list, one for each arm."""
    name = f"means of {label}" if label else "means"
    if means.ndim == 2 and layout.shape is not None and means.shape != layout.shape:
        came = " x ".join(map(str, means.shape))
        raise InputError(f"{name} must be a table means[x][y] of {layout.shape[0]} x {layout.shape[1]}, got {came}.")
    if means.size != layout.n_arms or (means.ndim == 2 and layout.shape is None):
        raise InputError(f"{name} must have one number for {each_of(layout.n_arms, 'arm')}, got shape {means.shape}.")
    return means.ravel()


def _columns(columns: Any) -> dict[str, str]:
    if not isinstance(columns, Mapping):
        raise InputError(f'columns must say what the file calls each, as {{ arm = "choice" }}, got {checks.shown(columns)}.')
    for name, value in columns.items():
        if name not in COLUMNS:
            raise unknown_name("column", str(name), COLUMNS)
        _text(f"columns.{name}", value)
    return dict(columns)


def _start(start: Any, first_arm: int, layout: Layout | None) -> int | str | None:
    if layout is not None and layout.arm_names is not None and start in layout.arm_names:
        return layout.arm_names.index(start)
    if start is None or isinstance(start, str):
        return start
    arm = checks.whole("start", start, at_least=first_arm) - first_arm
    if layout is not None and arm >= layout.n_arms:
        raise InputError(f"start must be an arm from {first_arm} to {layout.n_arms - 1 + first_arm}, got {start}.")
    return arm
