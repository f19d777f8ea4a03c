"""What arms are worth: a table of study.toml as a task of the library, on the grid of the paper's design or any board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from explorelab._support.toml.toml_file import SettingError
from explorelab.study.config.fields import Table
from explorelab.tasks import Task, bandit
from explorelab.tasks.arms_table import PLACES, SOURCES
from explorelab.tasks.places import grid_places
from explorelab.tasks.task_table import CHANGES, CHOICES_KEYS, COSTS, GRAPH, Door, noise_settings, read_task

MOST_POINTS = 1_000_000
NOISY = ("landscape", "restless", "switching", "horizon_game")
"""Tasks with noise of their own."""
OF_FILES = "describes a file of choices and does not belong in a study."
DOOR = Door(
    refused={
        **dict.fromkeys((*GRAPH, *COSTS), "does not belong in a study, where the dynamics decide which moves are allowed."),
        **dict.fromkeys(PLACES, "does not belong in a study, where [grid] sets the squares."),
        **dict.fromkeys(
            CHANGES, "belongs in a study with [blocks.NAME]: here means are fixed, choices free and rewards as drawn."
        ),
        **dict.fromkeys(CHOICES_KEYS, OF_FILES),
        "name": "does not belong in a study, where a landscape is named by its table.",
    },
    largest=MOST_POINTS,
)
BLOCKS_DOOR = Door(
    refused={
        **dict.fromkeys(COSTS, "does not belong in a study, where moves cost nothing."),
        **dict.fromkeys(CHOICES_KEYS, OF_FILES),
        "name": "does not belong in a study, where a task is named by its table.",
    },
    largest=MOST_POINTS,
)
"""Of tasks that blocks of one's own are played on."""


def read_landscape(table: Table, folder: Path, sides: tuple[int, int] | None) -> Task:
    """The task that a table describes, with the positions of the grid's squares; its files are in the study folder."""
    task = task_in(table, folder, DOOR)
    if task is None:
        return bandit([0.0])
    source = next((key for key in SOURCES if key in table.values), "")
    wrong = _wrong_size(task, sides) if sides is not None else ""
    if wrong:
        table.toml.problem((*table.at, source), f"{table.title} {wrong}")
    return task if wrong or sides is None else replace(task, places=grid_places(*sides))


def task_in(table: Table, folder: Path, door: Door) -> Task | None:
    """The task that a table describes, as far as it is fit for this door; None if it is not."""
    unknown = [key for key in table.values if key not in door.known and key not in door.refused]
    table.toml.only(f"setting in {table.title}", unknown, door.known, table.at)
    if not table.there or unknown:
        return None
    try:
        task = read_task(table.values, door, folder)
    except SettingError as error:
        for each in (error, *error.also):
            table.toml.problem((*table.at, *each.at), f"{table.title} {each}")
        return None
    if not {*NOISY, *noise_settings()} & table.values.keys():
        table.problem("", f"must have one of {' and '.join(noise_settings())}, got none of them.")
        return None
    return task


def _wrong_size(task: Task, sides: tuple[int, int]) -> str:
    """What is wrong with the number of squares, if anything."""
    width, height = sides
    if task.places is not None and task.places.shape[1] == 2:
        came = (int(task.places[:, 0].max()) + 1, int(task.places[:, 1].max()) + 1)
        if came != sides:
            return f"must have the {width} x {height} squares of [grid], got {came[0]} x {came[1]}."
    if task.n_arms != width * height:
        return f"must have a mean for each of the {width * height} squares of [grid], got {task.n_arms}."
    return ""
