"""The description of the task that people faced: a small TOML file next to the choices, or the same from Python.

[task]                         # what the arms are and what they are worth: see tasks/task_table.py
grid = [10, 10]
noise_var = 10
means_by = "landscape"         # then means is a table, [task.means], or a file (.csv, .json): means for each value there;
                               # ["block", "trial"]: a CSV file with these columns and one for each arm, a row for each trial
start = 0                      # where people stand before a block's first trial; or the name of a column that says it
horizon = 90                   # how many trials a block should have
first_arm = 1                  # if arms count from 1; first_xy = 1 if x and y do
players = "people"             # or "robots", "simulated": who made the choices
columns = { participant = "subject", arm = "choice" }
leave_out = "excluded"         # a column that says why someone is to be left out; empty for everyone else
gaps = "missed"                # if trials that were missed have no rows: numbers that are skipped count as missed
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.toml.toml_file import SettingError, read_toml, shown, told_where
from explorelab.choices.checks.column_names import COLUMNS
from explorelab.choices.checks.gaps import GAPS, REFUSED
from explorelab.choices.table import PLAYERS, Layout
from explorelab.errors import InputError, unknown_name
from explorelab.tasks import Task
from explorelab.tasks.arms_table import Arms
from explorelab.tasks.change_table import KINDS, OWN
from explorelab.tasks.places import grid_places, grid_shape
from explorelab.tasks.task_table import CHOICES_KEYS, Door, read_task_table

DOOR = Door(more=CHOICES_KEYS)
DRAWN = tuple(key for key in KINDS if key not in ("path", "horizon_game"))
"""Settings that say how means are drawn, which does not say what they were."""
ONLY_SIMULATED = ("graph", "directed", "costs", "cost_kind", "cost_scale", *DRAWN, *OWN, "blocked", "forced")
"""Settings of a task that `simulate` needs but choices do not."""
OTHER_TABLES = ("agent", "run", "sweep")
"""Tables of a file that `simulate` also reads."""


@dataclass(frozen=True, eq=False)
class DataTask:
    """What is known about the task that people faced, and how the file of choices is written."""

    layout: Layout | None = None
    """None if it must be inferred from the rows."""
    means: Mapping[str, np.ndarray] = field(default_factory=dict)
    """True mean rewards by the value of the column `means_by`; without such a column, those of every block, under ""."""
    paths: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Mean rewards over time (time x arm), instead of `means`, where they change."""
    means_by: str | tuple[str, ...] = ""
    noise_var: float | None = None
    horizon: int | None = None
    """Number of trials that a block should have."""
    first_arm: int = 0
    first_xy: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    """The file's names of columns that differ from the names here."""
    gaps: str = REFUSED
    """What a number means that is skipped between two trials: one of `GAPS`."""
    leave_out: str = ""
    """The column that says why someone is left out of every analysis; empty for none."""
    start: int | str | None = None
    """Arm (from 0) where people stand before a block's first trial, or the column that gives it (file's numbering)."""
    notes: tuple[str, ...] = ()
    note: str = ""
    players: str = "people"
    source: str = ""

    @property
    def columns_of_means(self) -> tuple[str, ...]:
        """The columns that tell means apart; none if all blocks have the same."""
        by = self.means_by
        return by if isinstance(by, tuple) else (by,) if by else ()


type AnyTask = DataTask | Task | Layout | Mapping[str, Unchecked] | str | os.PathLike[str] | None


def task_of(task: AnyTask, choices: Path | None = None) -> DataTask:
    """What is known about the task: from a file, settings, or a task; by default from the TOML file next to the choices."""
    if task is None:
        beside = choices.with_suffix(".toml") if choices is not None and choices.name and choices.suffix != ".toml" else None
        return read_task(beside) if beside is not None and beside.is_file() else DataTask()
    if isinstance(task, DataTask):
        return task
    if isinstance(task, Layout):
        return DataTask(task, noise_var=task.noise_var)
    if isinstance(task, Task):
        means, paths = _means_of(task)
        return DataTask(layout_of(task), means, paths, noise_var=task.noise.var, start=task.start, note=task.note)
    if isinstance(task, Mapping):
        return task_from_table(task)
    if isinstance(task, str | os.PathLike):
        return read_task(Path(task))
    raise InputError(f"task must be a TOML file, a table of settings, or a task, got {checks.shown(task)}.")


def read_task(path: Path) -> DataTask:
    """Read the description of the task from a TOML file."""
    toml = read_toml(path)
    for name in toml.values:
        if name in DOOR.known:
            raise toml.error((name,), f"{name} belongs in the table [task]; write [task] on a line above it.")
        if name not in ("task", *OTHER_TABLES):
            raise toml.error((name,), str(unknown_name("table", name, ("task", *OTHER_TABLES))))
    if not isinstance(toml.values.get("task"), dict):
        raise toml.error(("task",), "expected a table [task] that says what the arms are, got none.")
    table = toml.table("task")
    with told_where(table):
        return replace(task_from_table(table, path.parent), source=str(path))


def task_from_table(table: Mapping[str, Unchecked], folder: Path = Path()) -> DataTask:
    """Read the description of the task from a table of settings; its files are relative to the folder."""
    first_arm = checks.whole("first_arm", table.get("first_arm", 0), at_least=0)
    told = read_task_table(table, DOOR, folder, first_arm)
    if told.arms is not None and told.arms.names is not None and "first_arm" in table:
        raise SettingError(("first_arm",), "first_arm says how arms are numbered: leave it out where arms have names.")
    means, paths = (told.means, told.paths) if told.ready is None else _means_of(told.ready)
    unused = [key for key in ONLY_SIMULATED if key in table]
    return DataTask(
        None if told.arms is None else _layout(told.arms, told.noise_var, told.name, told.points),
        means,
        paths,
        means_by=told.means_by,
        noise_var=told.noise_var,
        horizon=checks.whole("horizon", table["horizon"], at_least=1) if "horizon" in table else None,
        first_arm=first_arm,
        first_xy=checks.whole("first_xy", table.get("first_xy", 0), at_least=0),
        columns=columns_of(table.get("columns", {})),
        gaps=gaps_of(table.get("gaps", REFUSED)),
        start=told.start,
        notes=(f"Settings that only simulate needs were ignored: {', '.join(unused)}.",) if unused else (),
        note=told.note,
        players=_players(table.get("players", "people")),
        leave_out=_leave_out(table.get("leave_out", "")),
    )


def _means_of(task: Task) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The means of a task for every block, and those over time; none if they are drawn anew for each block."""
    if task.change is None:
        return {"": task.means}, {}
    return {}, {"": task.change.numbers["path"]} if "path" in task.change.numbers else {}


def _layout(arms: Arms, noise_var: float | None, name: str | None, points: tuple[float, float] | None) -> Layout:
    layout = Layout(arms.n_arms, arms.places, noise_var, arms.shape, arm_names=arms.names, points=points)
    return layout if name is None else replace(layout, name=name)


def _players(value: object) -> str:
    checks.one_of("kind of players", value, PLAYERS)
    return str(value)


def _leave_out(value: object) -> str:
    if not isinstance(value, str):
        raise SettingError(("leave_out",), f"leave_out must be the name of a column in quotes, got {shown(value)}.")
    return value


def gaps_of(value: object) -> str:
    """What skipped numbers of trials mean, checked."""
    checks.one_of("gaps", value, GAPS)
    return str(value)


def columns_of(columns: object) -> dict[str, str]:
    """The file's names of columns, checked."""
    if not isinstance(columns, Mapping):
        raise InputError(f'columns must say what the file calls each, as {{ arm = "choice" }}, got {shown(columns)}.')
    for name, value in columns.items():
        if name not in COLUMNS:
            raise SettingError(("columns", name), str(unknown_name("column", str(name), COLUMNS)))
        if not isinstance(value, str):
            raise SettingError(("columns", name), f"columns.{name} must be text in quotes, got {shown(value)}.")
    return dict(columns)


def grid_layout(width: int, height: int) -> Layout:
    """The squares of a grid with unit spacing; arm number = x * height + y."""
    return Layout(width * height, grid_places(width, height), shape=(width, height))


def layout_of(task: Task) -> Layout:
    """The layout of a task that can be simulated: its arms, places and noise; a grid if the places form one."""
    return Layout(task.n_arms, task.places, task.noise.var, grid_shape(task.places), task.name, points=task.points)


def is_grid(layout: Layout) -> bool:
    """Whether the arms lie like the squares of a grid, in the same order."""
    return layout.shape is not None and grid_shape(layout.places) == layout.shape
