"""What squares are worth: a table of study.toml as a task of the library, on the grid of the study."""

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
DOOR = Door(
    refused={
        **dict.fromkeys((*GRAPH, *COSTS), "does not belong in a study, where the dynamics decide which moves are allowed."),
        **dict.fromkeys(PLACES, "does not belong in a study, where [grid] sets the squares."),
        **dict.fromkeys(
            CHANGES, "is not yet possible in a study, where means are fixed, all choices are free and rewards are as drawn."
        ),
        **dict.fromkeys(CHOICES_KEYS, "describes a file of choices and does not belong in a study."),
        "name": "does not belong in a study, where a landscape is named by its table.",
    },
    largest=MOST_POINTS,
)


def read_landscape(table: Table, folder: Path, sides: tuple[int, int] | None) -> Task:
    """The task that a table describes, with the positions of the grid's squares; its files are in the study folder."""
    unknown = [key for key in table.values if key not in DOOR.known and key not in DOOR.refused]
    table.toml.only(f"setting in {table.title}", unknown, DOOR.known, table.at)
    if not table.there or unknown:
        return bandit([0.0])
    source = next((key for key in SOURCES if key in table.values), "")
    try:
        task = read_task(table.values, DOOR, folder)
    except SettingError as error:
        for each in (error, *error.also):
            table.toml.problem((*table.at, *each.at), f"{table.title} {each}")
        return bandit([0.0])
    if "landscape" not in table.values and not noise_settings().keys() & table.values.keys():
        table.problem("", f"must have one of {' and '.join(noise_settings())}, got none of them.")
        return task
    wrong = _wrong_size(task, sides) if sides is not None else ""
    if wrong:
        table.toml.problem((*table.at, source), f"{table.title} {wrong}")
    return task if wrong or sides is None else replace(task, places=grid_places(*sides))


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
