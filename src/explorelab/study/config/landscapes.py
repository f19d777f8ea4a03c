"""What squares are worth: a table of study.toml as a task of the library, on the grid of the study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from explorelab._support.counted import counted
from explorelab._support.toml_lines import KeyPath
from explorelab.errors import InputError
from explorelab.simulation.run_file import TASK_KEYS, build_task
from explorelab.study.config.fields import Table, is_number, shown
from explorelab.tasks import Task, bandit, grid

KEYS = ("landscape", "profile", "means", "layout", "integer_noise", "noise_var")
SOURCES = ("landscape", "profile", "means")
MOST_POINTS = 1_000_000


def read_landscape(table: Table, folder: Path, sides: tuple[int, int] | None) -> Task:
    """The task that a table describes, with the places of the grid's squares; files in it lie in the study folder."""
    values = dict(table.values)
    if not table.there or not _sound(table):
        return bandit([0.0])
    source = next((key for key in SOURCES if key in values), "")
    if isinstance(values.get("means"), str):
        values["means"] = str(folder / values["means"])
    try:
        task = build_task(values)
    except InputError as error:
        table.toml.problem((*table.at, source), f"{table.title} {error}")
        return bandit([0.0])
    if abs(task.means).max() > MOST_POINTS:
        table.problem(source, f"must be {-MOST_POINTS} to {MOST_POINTS} points, got {abs(task.means).max():g}.")
    if sides is None:
        return task
    wrong = _wrong_size(task, sides)
    if wrong:
        table.toml.problem((*table.at, source), f"{table.title} {wrong}")
        return task
    return replace(task, places=grid(task.means.reshape(sides)).places)


def _sound(table: Table) -> bool:
    """Whether the settings are of the right kind; what is not is noted."""
    known = [key for key in table.values if key in KEYS]
    for key in table.values:
        if key in TASK_KEYS and key not in KEYS:
            table.problem(key, "does not belong into a study, where the dynamics say which moves there are.")
    table.toml.only(f"setting in {table.title}", table.values, TASK_KEYS, table.at)
    sound = len(known) == len(table.values)
    noises = [key for key in ("integer_noise", "noise_var") if key in known]
    if "integer_noise" in known:
        sound &= table.whole("integer_noise", 0, MOST_POINTS) == table.values["integer_noise"]
    if "noise_var" in known:
        sound &= table.number("noise_var", 0, MOST_POINTS**2) == table.values["noise_var"]
    if sound and (len(noises) == 2 or (not noises and "landscape" not in known)):
        came = " and ".join(noises) or "none of them"
        at = (*table.at, *noises[-1:])
        table.toml.problem(at, f"{table.title} must have one of integer_noise and noise_var, got {came}.")
        sound = False
    for key in ("landscape", "profile", "layout"):
        if not isinstance(table.values.get(key, ""), str):
            table.problem(key, f"must be text in quotes, got {shown(table.values[key])}.")
            sound = False
    means = table.values.get("means", "")
    return (isinstance(means, str) or _are_numbers(table, means)) and sound


def _are_numbers(table: Table, means: Any) -> bool:
    """Whether these are numbers, or lists of numbers that all have the same length; the first that is not is noted."""
    if not isinstance(means, list) or not means or means[0] == []:
        table.problem("means", f"must be a list of numbers, of lists of numbers, or a file, got {shown(means)}.")
        return False
    nested = isinstance(means[0], list)
    for x, row in enumerate(means):
        if isinstance(row, list) != nested or (nested and len(row) != len(means[0])):
            wanted = (
                f"a list of {counted(len(means[0]), 'number')} as the first is" if nested else "a number as the first is"
            )
            table.toml.problem((*table.at, "means", x), f"{table.title} means: each must be {wanted}, got {shown(row)}.")
            return False
        for y, number in enumerate(row if nested else [row]):
            if not is_number(number) or abs(number) > MOST_POINTS:
                place: KeyPath = (*table.at, "means", x, y)  # of numbers that are not in lists, the line of means[x]
                wanted = f"{-MOST_POINTS} to {MOST_POINTS} points"
                table.toml.problem(place, f"{table.title} means must be {wanted}, got {shown(number)}.")
                return False
    return True


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
