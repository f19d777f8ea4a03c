"""The arms in a [task] table: their number, places, names and means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.counted import each_of
from explorelab._support.toml.toml_file import SettingError, about, shown, text_of
from explorelab.errors import InputError
from explorelab.tasks.change_table import KINDS, TRIAL, changing_task, paths_by
from explorelab.tasks.number_files import means_for_each, numbers_of, places_of
from explorelab.tasks.places import grid_places, grid_shape
from explorelab.tasks.task import Task, landscape, profile

PAPERS: dict[str, Callable[[str], Task]] = {"landscape": landscape, "profile": profile}
READY = (*PAPERS, *KINDS)
"""Settings that name a task with arms of its own."""
SOURCES = ("landscape", "profile", "means", *KINDS)
PLACES = ("grid", "coordinates", "arms")
LAYOUTS = ("bandit", "line", "grid")


class Arms(NamedTuple):
    """The arms: number, places and names."""

    n_arms: int
    places: np.ndarray | None = None
    """Place of each arm (arm x dimension), or None."""
    shape: tuple[int, int] | None = None
    """Width and height of a grid."""
    names: tuple[str, ...] | None = None


def either(words: Collection[str]) -> str:
    """The words as alternatives in a sentence."""
    *first, last = words
    return f"{', '.join(first)} or {last}"


def ready_task(table: Mapping[str, Unchecked], folder: Path, known: Sequence[str] = SOURCES) -> Task | None:
    """The task with arms of its own that the table names, if any: the paper's, or one that changes."""
    sources = [key for key in SOURCES if key in table]
    if len(sources) > 1:
        raise SettingError((sources[0],), f"a task takes either {either(known)}, got {' and '.join(sources)}.")
    source = next((key for key in READY if key in table), None)
    for key in ("layout", "means_by"):
        if source is not None and key in table:
            raise SettingError((key,), f"{key} belongs to means; a {source} has its own.")
    if source not in PAPERS:
        return changing_task(table, folder)
    text_of(table, source)
    with about(source):
        return PAPERS[source](table[source])


def means_in(table: Mapping[str, Unchecked], folder: Path, largest: float, by_column: bool) -> dict[str, np.ndarray]:
    """The means under "" or, if a column `means_by` may tell them apart, by its values."""
    means = table.get("means")
    if TRIAL in columns_of(table):
        return {}
    if "means_by" in table and "means" in table:
        with about("means"):
            return means_for_each(means, folder)
    if "means_by" in table and not set(READY) & table.keys():
        sentence = "means_by needs means: a table [task.means], or a file, with means for each value of that column."
        raise SettingError(("means_by",), sentence)
    if isinstance(means, Mapping) and by_column:
        sentence = "means for several values need means_by: the name of the column that holds those values."
        raise SettingError(("means",), sentence)
    with about("means"):
        return {"": numbers_of("means", means, folder, ("means",), largest)} if "means" in table else {}


def columns_of(table: Mapping[str, Unchecked]) -> tuple[str, ...]:
    """The columns that tell means apart; those that change have the trial among them."""
    by = table.get("means_by", ())
    columns = [by] if isinstance(by, str) else by
    if not isinstance(columns, list | tuple) or not all(isinstance(each, str) and each for each in columns):
        raise SettingError(("means_by",), f"means_by must be a column in quotes, or a list of columns, got {shown(by)}.")
    if len(columns) > 1 and TRIAL not in columns:
        raise SettingError(("means_by",), f"means_by has several columns only with {TRIAL} among them, got {shown(by)}.")
    return tuple(columns)


def paths_in(table: Mapping[str, Unchecked], folder: Path) -> dict[str, np.ndarray]:
    """Means over time (time x arm) by the values of the columns `means_by` other than the trial, if it is among them."""
    columns = columns_of(table)
    if TRIAL not in columns:
        return {}
    if "means" not in table:
        raise SettingError(
            ("means_by",), f"means_by needs means: a CSV file with columns {', '.join(columns)} and the arms."
        )
    with about("means"):
        return paths_by(columns, table["means"], folder)


def arms_in(
    table: Mapping[str, Unchecked], folder: Path, ready: Task | None, means: Mapping[str, np.ndarray]
) -> Arms | None:
    """The arms, as far as the table describes them."""
    names = _names(table)
    given = [key for key in (*PLACES, *READY) if key in table and not (names and key == "arms")]
    if len(given) > 1:
        raise SettingError((given[0],), f"a task has only one of {', '.join((*PLACES, *READY))}, got {' and '.join(given)}.")
    if "layout" in table and (given or not means):
        sentence = "layout arranges means: remove it if the task has a grid, coordinates or arms."
        raise SettingError(("layout",), sentence)
    arms = Arms(len(names)) if names else None
    if ready is not None:
        arms = Arms(ready.n_arms, ready.places, grid_shape(ready.places))
    elif given:
        with about(given[0]):
            arms = _placed(given[0], table[given[0]], folder)
    elif means:
        arms = _lying(next(iter(means.values())), text_of(table, "layout"))
    if arms is None or names is None:
        return arms
    if len(names) != arms.n_arms:
        raise SettingError(("arms",), f"arms must have a name for {each_of(arms.n_arms, 'arm')}, got {len(names)}.")
    return arms._replace(names=names)


def _names(table: Mapping[str, Unchecked]) -> tuple[str, ...] | None:
    """The names of the arms, if they have any: text, each once, that a list of arms can hold."""
    names = table.get("arms")
    if not isinstance(names, list | tuple):
        return None
    if not names:
        raise SettingError(("arms",), "arms must be a number, or a list of names, got an empty list.")
    for number, name in enumerate(names):
        if not isinstance(name, str) or not name.strip() or name != name.strip() or set(name) & set(",;|[](){}\n\t"):
            wanted = "a number, or names without commas, semicolons, bars and brackets"
            raise SettingError(("arms", number), f"arms must be {wanted}, got {shown(name)}.")
        if name in names[:number]:
            sentence = f"arms must have each name once, got {name!r} {names.count(name)} times."
            raise SettingError(("arms", number), sentence)
    return tuple(names)


def _placed(key: str, value: Unchecked, folder: Path) -> Arms:
    """The arms on a grid, at coordinates, or as a mere number without places."""
    if key == "coordinates":
        places = places_of(key, value, folder)
        return Arms(len(places), places)
    if key == "arms":
        return Arms(checks.whole(key, value, at_least=1))
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(f"grid must be [width, height], got {shown(value)}.")
    width, height = (checks.whole(f"grid[{i}]", side, at_least=1) for i, side in enumerate(value))
    return Arms(width * height, grid_places(width, height), (width, height))


def _lying(means: np.ndarray, layout: str | None) -> Arms:
    """Arms arranged like their means, or as `layout` says."""
    with about("layout"):
        checks.one_of("layout", "bandit" if layout is None else layout, dict.fromkeys(LAYOUTS, 0))
    if means.ndim == 2 and layout in (None, "grid"):
        return Arms(means.size, grid_places(*means.shape), (means.shape[0], means.shape[1]))
    if layout == "grid" or means.ndim != 1:
        sentence = f"means[x][y] of a grid have two dimensions, others one, got shape {means.shape}."
        raise SettingError(("means",), sentence)
    return Arms(len(means), np.arange(len(means), dtype=float)[:, None] if layout == "line" else None)


def flat_means(label: str, means: np.ndarray, arms: Arms) -> np.ndarray:
    """The means as a list, one for each arm."""
    name = f"means of {label}" if label else "means"
    if means.ndim == 2 and arms.shape is not None and means.shape != arms.shape:
        came = " x ".join(map(str, means.shape))
        raise SettingError(
            ("means",), f"{name} must be a table means[x][y] of {arms.shape[0]} x {arms.shape[1]}, got {came}."
        )
    if means.size != arms.n_arms or (means.ndim == 2 and arms.shape is None):
        sentence = f"{name} must have one number for {each_of(arms.n_arms, 'arm')}, got shape {means.shape}."
        raise SettingError(("means",), sentence)
    return means.ravel()
