"""Folders laid out as Psych-DS asks: a description, and data/ with files that end in _data.csv."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from explorelab._support.counted import counted
from explorelab.choices.checks.column_names import near
from explorelab.choices.raw import Raw, read_raw
from explorelab.errors import InputError

DESCRIPTION = "dataset_description.json"
OWN = "choices.csv"
"""The file that explorelab's own exports have for analysis."""
KEYWORD = re.compile(r"([A-Za-z]+)-([A-Za-z0-9]+)(?=_)")


def own_file(folder: Path) -> Path:
    """The file of choices in one of our own exports, or the folder itself if it is somebody else's."""
    return folder / OWN if (folder / OWN).is_file() else folder


def read_folder(folder: Path) -> Raw:
    """The rows of all data files that have rewards; keywords in their names, such as subject-01, become columns."""
    files = sorted((folder / "data").rglob("*_data.csv")) if (folder / "data").is_dir() else []
    if not (folder / DESCRIPTION).is_file() or not files:
        what = f"no {DESCRIPTION}" if not (folder / DESCRIPTION).is_file() else "no files data/*_data.csv"
        raise InputError(
            f"{folder}: expected a file of choices, or a Psych-DS folder with {DESCRIPTION} and data/, got {what}."
        )
    parts = [(file, read_raw(file)) for file in files]
    used = [(file, raw) for file, raw in parts if _has_rewards(raw)]
    if not used:
        columns = ", ".join(map(str, parts[0][1].frame.columns[:8]))
        raise InputError(f"{folder}: expected a data file with a column reward, got {files[0].name} with {columns}.")
    frames = [_with_keywords(raw.frame, file.name) for file, raw in used]
    rows = used[0][1].rows if len(used) == 1 else np.arange(1, sum(map(len, frames)) + 1)
    raw = Raw(pd.concat(frames, ignore_index=True), rows, str(folder))
    raw.problems = [problem for _, one in used for problem in one.problems]
    raw.notes = [note for _, one in used for note in one.notes]
    skipped = [file.name for file, one in parts if not _has_rewards(one)]
    raw.notes.append(
        f"Psych-DS: {counted(len(used), 'data file')} read"
        + (f", {counted(len(skipped), 'file')} without rewards left out ({', '.join(skipped[:4])})." if skipped else ".")
    )
    return raw


def _has_rewards(raw: Raw) -> bool:
    return "reward" in raw.frame or bool(near("reward", raw.frame.columns))


def _with_keywords(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows with the keywords of their file's name, where no column has that name."""
    new = {key: value for key, value in KEYWORD.findall(name) if key not in frame}
    if "subject" in new and "participant" not in frame:
        new["participant"] = new.pop("subject")
    return frame.assign(**new)
