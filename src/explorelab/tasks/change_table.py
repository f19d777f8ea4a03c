"""The part of a [task] table that says how means change, which arms are blocked or forced, and how rewards are paid.

path = "means.csv"             # means[time][arm], or a list of lists
restless = 4                   # so many arms that walk at random; with decay, centre, diffusion_sd, trend, first_means
switching = [70, 30]           # means that change places, or a number of arms whose means are drawn anew at change points
                               # (with centre, spread, together); with hazard
horizon_game = 6               # two arms, forced choices, then so many free ones; with base, difference, seen
path_seed = 1                  # of one path that everybody meets; without it each replicate draws its own
points = [1, 100]              # rewards are paid in whole points from 1 to 100; false if they are paid as drawn
blocked = [[2, 11, 20]]        # arm 2 is not on offer on trials 11 to 20
forced = [0, 1, 0, 1]          # arms that must be taken on the first trials; -1 where the choice is free
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from explorelab._support.checks import Unchecked
from explorelab._support.counted import counted
from explorelab._support.toml.toml_file import SettingError, about, shown
from explorelab.errors import InputError
from explorelab.tasks.changing import moving, restless, switching, with_blocked, with_forced, with_points
from explorelab.tasks.horizon_games import horizon_game
from explorelab.tasks.number_files import read_numbers
from explorelab.tasks.task import Task

SCHEDULE = ("points", "blocked", "forced")
"""Settings that any task may have."""
TRIAL = "trial"


class Built(NamedTuple):
    """A kind of task that a table can name: how it is made, and the settings that belong to it alone."""

    make: Callable[..., Task]
    settings: Mapping[str, str]
    """By their names in the table, those of the function's arguments."""


def _path(value: Unchecked, **given: Unchecked) -> Task:
    return moving(value, **given)


def _switching(value: Unchecked, **given: Unchecked) -> Task:
    if isinstance(value, list | tuple):
        for key in ("centre", "spread", "together"):
            if key in given:
                raise InputError(
                    f"{key} is for means that are drawn: give switching a number of arms instead of their means."
                )
        return switching(value, **given)
    return switching(n_arms=value, **given)


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


KINDS: dict[str, Built] = {
    "path": Built(_path, {}),
    "restless": Built(restless, {**_same("decay", "centre", "diffusion_sd", "trend", "first_means"), "path_seed": "seed"}),
    "switching": Built(_switching, {**_same("hazard", "centre", "spread", "together"), "path_seed": "seed"}),
    "horizon_game": Built(horizon_game, _same("base", "difference", "seen")),
}
"""Every kind of changing task, by the setting that names it."""

OWN = tuple(dict.fromkeys(key for kind in KINDS.values() for key in kind.settings))
"""Settings that belong to one of the kinds."""


def changing_task(table: Mapping[str, Unchecked], folder: Path) -> Task | None:
    """The changing task that a table names, or None; its noise is its own, and its points if the table gives none."""
    source = next((key for key in KINDS if key in table), None)
    known = KINDS[source].settings if source is not None else {}
    for key in OWN:
        if key in table and key not in known:
            owners = " or ".join(name for name, kind in KINDS.items() if key in kind.settings)
            raise SettingError((key,), f"{key} belongs to {owners}, which this task does not have.")
    if source is None:
        return None
    value = table[source]
    if source == "path" and isinstance(value, str):
        with about("path"):
            value = np.atleast_2d(read_numbers(str(folder / value)))
    given = {name: table[key] for key, name in known.items() if key in table}
    given |= {"points": None} if "points" in table and source in ("path", "restless", "switching") else {}
    with about(source, *known, table=table):
        return KINDS[source].make(value, **given)


def with_schedule(task: Task, table: Mapping[str, Unchecked]) -> Task:
    """The task with the points, blocked arms and forced choices of the table."""
    if "points" in table:
        with about("points"):
            task = with_points(task, points_of(table["points"]))
    if "blocked" in table:
        with about("blocked"):
            if not isinstance(table["blocked"], list | tuple):
                raise InputError(f"blocked must be a list of [arm, first trial, last trial], got {shown(table['blocked'])}.")
            task = with_blocked(task, [_plain(span) for span in table["blocked"]])
    if "forced" in table:
        with about("forced"):
            if not isinstance(table["forced"], list | tuple):
                raise InputError(f"forced must be a list of arms, got {shown(table['forced'])}.")
            task = with_forced(task, list(table["forced"]))
    return task


def _plain(span: Unchecked) -> Unchecked:
    if isinstance(span, list) and any(isinstance(each, bool) for each in span):
        raise InputError(f"blocked must be a list of [arm, first trial, last trial], got {shown(span)}.")
    return span


def points_of(points: Unchecked) -> Unchecked:
    """The points of a table, whose false means that rewards are paid as drawn."""
    return None if points is False else points


def paths_by(columns: Sequence[str], value: Unchecked, folder: Path) -> dict[str, np.ndarray]:
    """Means over time from a CSV file, time x arm, by the values of the columns other than the trial.

    The file has a header with these columns and `trial`; all others are arms, in order. Trials count on from the first.
    """
    if not isinstance(value, str):
        raise InputError(
            f"means by trial must be a CSV file with columns {', '.join(columns)} and the arms, got {shown(value)}."
        )
    path = folder / value
    header, rows = _table(path)
    lacking = [name for name in columns if name not in header]
    if lacking:
        raise InputError(f"{path}: expected columns {', '.join(columns)}, which means_by names, got no {lacking[0]}.")
    arms = [i for i, name in enumerate(header) if name not in columns]
    if not arms:
        raise InputError(f"{path}: expected a column for each arm besides {', '.join(columns)}, got none.")
    others = [header.index(name) for name in columns if name != TRIAL]
    found: dict[str, list[tuple[float, int, list[float]]]] = {}
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise InputError(f"{path}, row {number}: expected {counted(len(header), 'value')}, got {len(row)}.")
        label = label_of([row[i] for i in others])
        numbers = [_number(path, number, row[i]) for i in arms]
        found.setdefault(label, []).append((_number(path, number, row[header.index(TRIAL)]), number, numbers))
    return {label: _in_order(path, label, each) for label, each in found.items()}


def label_of(values: Sequence[str]) -> str:
    """One text for the values of several columns."""
    return ", ".join(values)


def _in_order(path: Path, label: str, rows: list[tuple[float, int, list[float]]]) -> np.ndarray:
    rows.sort(key=lambda row: row[0])
    for before, after in pairwise(rows):
        if after[0] != before[0] + 1:
            where = f" of {label}" if label else ""
            raise InputError(f"{path}, row {after[1]}: expected trial {before[0] + 1:g}{where} once, got {after[0]:g}.")
    return np.array([row[2] for row in rows])


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot read the file: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8: {error}.") from None
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise InputError(f"{path}: expected a header and a row for each trial, got {counted(len(rows), 'row')}.")
    return rows[0], rows[1:]


def _number(path: Path, row: int, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"{path}, row {row}: expected a number, neither NaN nor infinite, got {shown(text)}.")
    return number
