"""jsPsych's own JSON: one object per jsPsych trial. Blocks of our plugin are unfolded; otherwise an object is a choice.

A file may hold one person's data or several people's: a list of objects, a list of such lists, or one of either per line, as
JATOS exports results.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from explorelab._support.counted import counted
from explorelab._support.written_numbers import Json, JsonObject
from explorelab.choices.checks.column_names import COLUMNS, near
from explorelab.choices.raw import Raw
from explorelab.choices.table import Layout
from explorelab.choices.task_file import DataTask, grid_layout
from explorelab.errors import InputError

PLUGIN = "grid-bandit"
PER_CHOICE = ("trial", "arm", "goal", "reward", "missed", "elapsed_ms", "overrun_ms", "pauses", "attempts", "advised")
"""Lists of the plugin's data with an entry for each choice; `available` is one more, written otherwise here."""
OF_BLOCK = ("points", "complete", "width", "height", "layout", "n_arms", "directed")
"""What the plugin's data say about a whole block; nothing of it is a condition."""
OF_JSPSYCH = ("trial_type", "trial_index", "time_elapsed", "internal_node_id", "plugin_version")
"""What jsPsych adds to every object; nothing of it is a condition."""


def read_json(data: bytes, path: Path, columns: Mapping[str, str]) -> Raw:
    """The choices in a file of jsPsych's data."""
    people = [list(_objects(one, path)) for one in _sessions(_parsed(data, path))]
    if not any(people):
        raise InputError(f"{path}: expected a list of jsPsych's trials, got an empty one.")
    if any(one.get("trial_type") == PLUGIN for person in people for one in person):
        return _of_plugin(people, path)
    return _of_trials(people, path, columns)


def _parsed(data: bytes, path: Path) -> list[Json]:
    """The values in the file: one, or one per line."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8, got the byte 0x{data[error.start]:02x}.") from None
    try:
        return [json.loads(text)]
    except ValueError as error:
        first = error
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        raise InputError(f"{path}: cannot be read as JSON: {first}.") from None


def _sessions(values: list[Json]) -> Iterator[Json]:
    """What each person's data are: lists of objects."""
    for value in values:
        if isinstance(value, list) and value and all(isinstance(one, list) for one in value):
            yield from value
        else:
            yield value


def _objects(value: Json, path: Path) -> Iterator[JsonObject]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(f"{path}: expected a list of jsPsych's trials, each an object, got {_kind(value)}.")
    yield from value


def _kind(value: Json) -> str:
    if isinstance(value, list):
        odd = next(one for one in value if not isinstance(one, dict))
        return f"a list with {json.dumps(odd)[:40]} in it"
    return json.dumps(value)[:40]


def _labels(people: list[list[JsonObject]], path: Path) -> list[str]:
    """Everyone's name: what the data call them if that tells them apart, or where they were found."""
    found = [_called(trials) for trials in people]
    if all(found) and len(set(found)) == len(found):
        return found
    return [path.stem] if len(people) == 1 else [f"{path.stem} {number}" for number in range(1, len(people) + 1)]


def _called(trials: list[JsonObject]) -> str:
    names = {"participant", *COLUMNS["participant"]}
    for one in trials:
        for key, value in one.items():
            plain = "".join(letter for letter in key.lower() if letter.isalnum())
            if (
                value not in (None, "")
                and not isinstance(value, list | dict)
                and plain in {n.replace(" ", "") for n in names}
            ):
                return str(value)
    return ""


def _of_plugin(people: list[list[JsonObject]], path: Path) -> Raw:
    rows: list[JsonObject] = []
    layouts = set()
    for who, trials in zip(_labels(people, path), people, strict=True):
        for block, one in enumerate((one for one in trials if one.get("trial_type") == PLUGIN), 1):
            lists = {name: one[name] for name in PER_CHOICE if isinstance(one.get(name), list)} | _offers(one)
            lengths = {name: len(values) for name, values in lists.items()}
            if not {"trial", "arm", "reward"} <= lists.keys() or len(set(lengths.values())) != 1:
                raise InputError(
                    f"{path}, {who}, block {block}: expected lists trial, arm and reward of one length, "
                    f"got {', '.join(f'{name} of {n}' for name, n in lengths.items()) or 'none'}."
                )
            same = {key: value for key, value in one.items() if _is_condition(key, value)}
            layouts.add(tuple(one.get(name) for name in ("width", "height", "layout", "n_arms")))
            rows += [
                {"participant": who, "block": block, **dict(zip(lists, values, strict=True)), **same}
                for values in zip(*lists.values(), strict=True)
            ]
    raw = _raw(rows, path)
    raw.notes.append(f"The file has jsPsych's data of the plugin {PLUGIN}: each of its trials is a block.")
    if len(layouts) == 1:
        raw.task = _task(*layouts.pop())
    return raw


def _offers(one: JsonObject) -> dict[str, list[Json]]:
    """The arms on offer at each choice, as the column of that name has them."""
    offers = one.get("available")
    if not isinstance(offers, list):
        return {}
    return {"available": [" ".join(map(str, offer)) if isinstance(offer, list) else "" for offer in offers]}


def _task(width: Json, height: Json, layout: Json, n_arms: Json) -> DataTask | None:
    """The arms of blocks that all have the same."""
    if isinstance(layout, str) and isinstance(n_arms, int):
        return DataTask(Layout(n_arms, np.arange(n_arms, dtype=float)[:, None] if layout == "line" else None))
    if isinstance(width, int) and isinstance(height, int):
        return DataTask(grid_layout(width, height))
    return None


def _is_condition(key: str, value: Json) -> bool:
    return key not in (*OF_JSPSYCH, *PER_CHOICE, *OF_BLOCK) and isinstance(value, str | int | float | bool)


def _of_trials(people: list[list[JsonObject]], path: Path, columns: Mapping[str, str]) -> Raw:
    """Each object that has a reward is a choice."""
    keys = list(dict.fromkeys(key for person in people for one in person for key in one))
    reward = columns.get("reward") or ("reward" if "reward" in keys else "")
    if not reward:
        other = near("reward", keys)
        hint = f" Is it {other!r}? Then pass columns = {{reward = {other!r}}}." if other else ""
        raise InputError(f"{path}: expected 'reward' in the objects of the choices, got {', '.join(keys[:12])}.{hint}")
    rows: list[JsonObject] = []
    arm = columns.get("arm", "arm")
    missed = columns.get("missed", "missed")
    for who, trials in zip(_labels(people, path), people, strict=True):
        chosen = [one for one in trials if reward in one and (one[reward] is not None or arm in one)]
        for one in chosen:
            kept = {key: value for key, value in one.items() if key not in OF_JSPSYCH or key in columns.values()}
            if one[reward] is None:
                kept |= {missed: 1}
            rows.append(kept if "participant" in {*one, *columns} else {"participant": who, **kept})
    raw = _raw(rows, path)
    left_out = sum(map(len, people)) - len(rows)
    if left_out:
        raw.notes.append(f"Left out: {counted(left_out, 'object')} of jsPsych without {reward!r}, such as instructions.")
    if "trial" not in {*raw.frame.columns, *columns}:
        by = [
            name for name in (columns.get("participant", "participant"), columns.get("block", "block")) if name in raw.frame
        ]
        raw.frame["trial"] = raw.frame.groupby(by, sort=False).cumcount() + 1
        raw.notes.append("Trials are numbered in the order of jsPsych's objects.")
    return raw


def _raw(rows: list[JsonObject], path: Path) -> Raw:
    frame = pd.DataFrame(rows).astype(object)
    return Raw(frame.where(frame.notna(), None), np.arange(1, len(rows) + 1), str(path))
