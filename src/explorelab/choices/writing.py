"""Write choices to a file from which `read_choices` reads the same choices back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.counted import counted
from explorelab._support.door import door
from explorelab._support.extras import needs
from explorelab._support.files import check_writable, write_bytes, write_whole
from explorelab._support.written_numbers import Json
from explorelab.choices.advice_given import AdviceGiven
from explorelab.choices.checks.column_names import COLUMNS
from explorelab.choices.checks.schema import look_at
from explorelab.choices.raw import raw_of_frame
from explorelab.choices.reading import choices_from_frame
from explorelab.choices.table import NOWHERE, Choices, Layout
from explorelab.choices.task_file import AnyTask, DataTask, is_grid, layout_of
from explorelab.errors import InputError
from explorelab.tasks import Task

if TYPE_CHECKING:
    import xarray as xr

type Written = tuple[pd.DataFrame, dict[str, Json], pd.DataFrame | None]


@door
def write_choices(choices: Choices | pd.DataFrame, path: str | os.PathLike[str], task: AnyTask = None) -> Path:
    """Write choices as CSV or Parquet, depending on the file extension, with a TOML file next to it; return the path.

    Where blocks have different mean rewards, these go into a third file, choices-means.csv, keyed by a column that tells the
    landscapes apart (`landscape` if no condition does). Where they change, that file has a row for each trial: of every path
    if all blocks have the same path, otherwise of every participant and block.

    Parameters
    ----------
    choices
        Choices, or a table, which is checked first as in `choices_from_frame`.
    path
        File to write, ending in .csv or .parquet.
    task
        Description of the task if `choices` is a table, as in `read_choices`.
    """
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise InputError(f"{target}: expected a name ending in .csv or .parquet, got {target.suffix or 'neither'}.")
    if target.suffix == ".parquet":
        needs("parquet", "writing a Parquet file")
    if isinstance(choices, pd.DataFrame):
        choices = choices_from_frame(choices, task)
    frame, table, means = _written(choices, target)
    beside, third = target.with_suffix(".toml"), target.with_name(f"{target.stem}-means.csv")
    for each in (target, beside, *([third] if means is not None else [])):
        check_writable(each)
    text = toml_of(
        table,
        [f"Left out: participant {e.participant}, {counted(e.n_trials, 'trial')}, {e.reason}." for e in choices.exclusions],
    )
    write_whole(
        target, lambda at: frame.to_csv(at, index=False) if target.suffix == ".csv" else frame.to_parquet(at, index=False)
    )
    write_bytes(beside, text.encode())
    if means is not None:
        write_whole(third, lambda at: means.to_csv(at, index=False))
    return target


def _written(choices: Choices, target: Path) -> Written:
    """The rows, the table [task] and the means by landscape that describe these choices; an error if no file can."""
    if (choices.scored & ~choices.observed).any():
        row, trial = np.argwhere(choices.scored & ~choices.observed)[0]
        raise InputError(f"row {row}, trial {trial} is scored but not observed, which a file of choices cannot say.")
    frame = frame_of(choices)
    table = _layout_table(choices.layout)
    means = None
    if choices.means is not None and choices.means_change:
        columns, means = _means_by_trial(choices)
        table |= {"means_by": columns, "means": f"{target.stem}-means.csv"}
    elif choices.means is not None:
        different = np.unique(choices.means, axis=0)
        if len(different) <= 1:
            table["means"] = different[0].tolist() if len(different) else []
        else:
            by, means = _means_rows(choices, frame, different)
            table |= {"means_by": by, "means": f"{target.stem}-means.csv"}
    if choices.start is not None:
        table["start"] = _start(choices.start, frame, choices)
    if choices.note:
        table["note"] = choices.note
    if choices.players != "people":
        table["players"] = choices.players
    known = DataTask(choices.layout, start=_as_read(table.get("start"), choices.layout))
    problems = look_at(raw_of_frame(frame.astype({"participant": str, "block": str})), known).problems
    if problems:
        raise InputError(f"{target}: these choices cannot be written in a form that can be read back: {problems[0]}")
    return frame, table, means


def _as_read(start: Unchecked, layout: Layout) -> Unchecked:
    """Where people start, as it would be read from a task file: an arm's name becomes its number."""
    return layout.arm_names.index(start) if layout.arm_names is not None and start in layout.arm_names else start


def frame_of(choices: Choices) -> pd.DataFrame:
    """The choices as tidy rows, block by block, as `write_choices` writes them."""
    row, column = np.nonzero(choices.present)
    observed, scored = choices.observed[row, column], choices.scored[row, column]
    frame = pd.DataFrame(
        {
            "participant": np.array(choices.participants, object)[choices.participant[row]],
            "block": choices.block[row].astype(object),
            "trial": column + 1,
            "arm": _arm_labels(np.where(observed, choices.arm[row, column], NOWHERE), choices.layout),
            "reward": np.where(observed, choices.reward[row, column], np.nan),
        }
    )
    if choices.available is not None:
        frame["available"] = _available_text(choices.available[row, column], choices.layout)
    missed = ~observed if choices.missed is None else ~observed | choices.missed[row, column]
    forced = ~missed & ~scored & (_n_on_offer(choices)[row, column] > 1)  # a single arm on offer implies it anyway
    if forced.any() or missed.any():
        frame["missed"], frame["forced"] = missed.astype(int), forced.astype(int)
    if choices.advice is not None:
        given = AdviceGiven(*(values[row, column] for values in choices.advice))
        frame["advised"] = _arm_labels(given.arm, choices.layout)
        frame["advice_shown"] = given.shown.astype(int)
        frame["followed"] = pd.array(np.where(given.shown, given.followed, -1), "Int64")
        frame.loc[~given.shown, "followed"] = pd.NA
        if (given.reason != "").any():
            frame["advice_reason"] = given.reason
    for name, values in choices.conditions.items():
        frame[name] = values[row]
    return _with_table(frame, choices, column) if choices.table is not None else frame


def _arm_labels(arm: np.ndarray, layout: Layout) -> np.ndarray | pd.api.extensions.ExtensionArray:
    """The arms as written in a file: by number or, if they have names, by name; empty for no arm."""
    if layout.arm_names is None:
        numbers = pd.array(arm, "Int64")
        numbers[arm == NOWHERE] = pd.NA
        return numbers
    return np.array([*layout.arm_names, ""], object)[arm]  # NOWHERE is the last


def _n_on_offer(choices: Choices) -> np.ndarray:
    """Number of arms on offer at every trial."""
    if choices.available is None:
        return np.full(choices.arm.shape, choices.layout.n_arms)
    return np.asarray(choices.available.sum(2))


def _available_text(available: np.ndarray, layout: Layout) -> np.ndarray:
    """Arms separated by spaces (by commas if names contain spaces); empty where all were available."""
    masks, which = np.unique(available, axis=0, return_inverse=True)
    between = "," if any(" " in name for name in layout.arm_names or ()) else " "
    texts = [
        "" if mask.all() else between.join(layout.label(arm) for arm in np.flatnonzero(mask).tolist()) for mask in masks
    ]
    return np.array(texts, object)[which.ravel()]


def _with_table(frame: pd.DataFrame, choices: Choices, column: np.ndarray) -> pd.DataFrame:
    """The rows with what only the original table holds: trial numbers, reaction times, why a trial is not scored."""
    table = choices.table
    if table is None:
        return frame
    ordered = table.sort_values("trial", kind="stable")
    place = ordered.groupby(["participant", "block"], sort=False).cumcount()
    kept = [
        name for name in table.columns if name not in frame.columns and name not in ("x", "y", "arm", "reward", "available")
    ]
    replaced = [name for name in ("trial", "missed", "forced") if name in table.columns and name in frame.columns]
    more = ordered[["participant", "block", *replaced, *kept]].assign(_place=place)
    joined = frame.drop(columns=replaced).assign(_place=column).merge(more, "left", on=["participant", "block", "_place"])
    if len(joined) != len(frame) or joined[replaced].isna().any().any():
        return frame
    for name in replaced:
        joined[name] = joined[name].astype(int)
    return joined[[*frame.columns, *kept]]


def _layout_table(layout: Layout) -> dict[str, Json]:
    table: dict[str, Json] = {"name": layout.name}
    if layout.shape is not None and is_grid(layout):
        table["grid"] = list(layout.shape)
    elif layout.places is not None:
        table["coordinates"] = layout.places.tolist()
    elif layout.arm_names is None:
        table["arms"] = layout.n_arms
    if layout.arm_names is not None:
        table["arms"] = list(layout.arm_names)
    if layout.points is not None:
        table["points"] = [int(each) for each in layout.points]
    return table if layout.noise_var is None else {**table, "noise_var": float(layout.noise_var)}


def _means_rows(choices: Choices, frame: pd.DataFrame, different: np.ndarray) -> tuple[str, pd.DataFrame]:
    """The column that tells landscapes apart (added if no condition does), and a row of means for each of its values."""
    which = (
        np.unique(choices.means, axis=0, return_inverse=True)[1].ravel() if choices.means is not None else np.zeros(0, int)
    )
    tells = next((name for name, values in choices.conditions.items() if _tells_apart(values, which)), "")
    by = tells or _free_name("landscape", frame)
    if not tells:
        frame[by] = which[np.nonzero(choices.present)[0]]
    labels = choices.conditions[tells] if tells else which
    first = pd.DataFrame({"label": labels}).drop_duplicates().index.to_numpy()
    rows = pd.DataFrame(different[which[first]], columns=[str(arm) for arm in range(different.shape[1])])
    rows.insert(0, by, labels[first])
    return by, rows


def _means_by_trial(choices: Choices) -> tuple[list[Json], pd.DataFrame]:
    """The columns that tell means apart, and a row of means for each trial."""
    assert choices.means is not None
    arms = [choices.layout.label(arm) for arm in range(choices.layout.n_arms)]
    row, column = np.nonzero(choices.present)
    means = pd.DataFrame(choices.means[row, column], columns=[f"mean_{arm}" for arm in arms])
    if len(np.unique(choices.means.reshape(choices.n_rows, -1), axis=0, equal_nan=True)) == 1 < choices.n_rows:
        longest = choices.present.sum(1).argmax()
        means = means[row == longest]
        means.insert(0, "trial", column[row == longest] + 1)
        return ["trial"], means
    means.insert(0, "trial", column + 1)
    means.insert(0, "block", choices.block[row])
    means.insert(0, "participant", np.array(choices.participants, object)[choices.participant[row]])
    return ["participant", "block", "trial"], means


def _tells_apart(values: np.ndarray, which: np.ndarray) -> bool:
    """Whether each value of a condition belongs to one landscape, and every block has a value that text can hold."""
    pairs = pd.DataFrame({"value": values, "which": which})
    fine = pd.api.types.is_integer_dtype(values.dtype) or all(isinstance(v, str) and v == v.strip() != "" for v in values)
    return bool(fine and (pairs.groupby("value").which.nunique() == 1).all())


def _free_name(name: str, frame: pd.DataFrame) -> str:
    while name in frame.columns or name in COLUMNS:
        name += "_"
    return name


def _start(start: np.ndarray, frame: pd.DataFrame, choices: Choices) -> int | str:
    """The one place where everyone begins, or the name of a column that says where each block begins."""
    names = choices.layout.arm_names
    if len(set(start.tolist())) == 1 and start[0] != NOWHERE:
        return int(start[0]) if names is None else names[start[0]]
    name = _free_name("start", frame)
    frame[name] = _arm_labels(start[np.nonzero(choices.present)[0]], choices.layout)
    return name


def toml_of(table: Mapping[str, Json], comments: list[str]) -> str:
    """A table [task] as TOML, with comments below."""
    lines = ["[task]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join([*lines, *(f"# {' '.join(comment.split())}" for comment in comments), ""])


def _toml(value: Json) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return repr(float(value)) if isinstance(value, float) else str(value)


@door
def choices_from_runs(runs: xr.Dataset, task: Task, *, prefix: str = "", first: int = 1) -> Choices:
    """The choices that agents made in `simulate(..., keep="trajectories")`: each replicate is a participant with one block.

    Swept parameters become conditions, and each setting has its own participants. Free choices are the steps at which the
    agent decided and moved straight to the arm it wanted; arms it only passed on the way, or stayed at because of an earlier
    choice, are learned from but not scored. On a graph of moves the arms on offer are those one move away, so a choice is
    judged only against its real alternatives.

    Parameters
    ----------
    runs
        Result of `simulate` with `keep="trajectories"`.
    task
        Task that was simulated.
    prefix
        Text in front of each participant's number.
    first
        Number of the first participant.
    """
    if not isinstance(task, Task):
        raise InputError(f"task must be the task that was simulated, got {checks.shown(task)}.")
    if "choice" not in runs or "reward" not in runs:
        raise InputError('expected runs with every arm and reward: simulate with keep="trajectories".')
    settings = [str(name) for name in runs.choice.dims if name not in ("replicate", "time")]
    order = (*settings, "replicate", "time")
    arm = runs.choice.transpose(*order).values
    n_trials = arm.shape[-1]
    arm, reward = arm.reshape(-1, n_trials).astype(np.int32), runs.reward.transpose(*order).values.reshape(-1, n_trials)
    if arm.max(initial=0) >= task.n_arms:
        raise InputError(
            f"task must be the task that was simulated: arm {arm.max()} was chosen, and {task.name} has {task.n_arms}."
        )
    n, everywhere = len(arm), np.ones(arm.shape, bool)
    chosen = _chosen(runs, task, order).reshape(-1, n_trials)
    grid = np.meshgrid(*(runs[name].values for name in settings), np.arange(runs.sizes["replicate"]), indexing="ij")
    return Choices(
        layout=layout_of(task),
        participants=tuple(f"{prefix}{first + i}" for i in range(n)),
        participant=np.arange(n),
        block=np.full(n, "1"),
        arm=arm,
        reward=reward.astype(np.float64),
        observed=everywhere,
        scored=chosen,
        present=everywhere,
        available=_within_a_move(task, arm) if task.available is None else _on_offer(task, arm),
        means=np.tile(task.means, (n, 1)) if task.is_steady else _means_of_runs(runs, order, arm.shape),
        start=None if task.start is None else np.full(n, task.start),
        conditions={name: values.ravel() for name, values in zip(settings, grid, strict=False)},
        source=str(runs.attrs.get("agent", "simulation")),
        note=task.note,
        players="simulated",
    )


def _means_of_runs(runs: xr.Dataset, order: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
    """The means of each moment of each run."""
    if "means" not in runs:
        raise InputError("these runs do not have the means of each moment: simulate them again, on the task given.")
    return runs["means"].transpose(*order, "arm").values.reshape(*shape, -1)


def _on_offer(task: Task, arm: np.ndarray) -> np.ndarray:
    """The arms that were not blocked in each step."""
    assert task.available is not None
    table = np.ones((arm.shape[1], task.n_arms), bool)
    table[: len(task.available)] = task.available[: arm.shape[1]]
    return np.tile(table, (len(arm), 1, 1))


def _chosen(runs: xr.Dataset, task: Task, order: tuple[str, ...]) -> np.ndarray:
    """Which steps were free choices."""
    if "chosen" in runs:
        return runs["chosen"].transpose(*order).values.astype(bool)
    if task.moves is not None:
        raise InputError("these runs do not record which arms were chosen and which were only passed: simulate them again.")
    return np.ones(runs.choice.transpose(*order).shape, bool)


def _within_a_move(task: Task, arm: np.ndarray) -> np.ndarray | None:
    """The arms that could be reached in each step; None if any arm may follow any other."""
    if task.moves is None:
        return None
    # Not every edge is a move: there may be a shorter way round to the same arm.
    near = task.moves.next_hop == np.arange(task.n_arms)
    start = 0 if task.start is None else task.start
    before = np.concatenate([np.full((len(arm), 1), start), arm[:, :-1]], axis=1)
    within = near[before]
    np.put_along_axis(within, arm[..., None], values=True, axis=2)
    return within
