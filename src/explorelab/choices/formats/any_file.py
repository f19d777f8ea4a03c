"""The rows of any file of choices, whatever its format; which one it is, the file itself tells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from explorelab.choices.formats import hbayesdm, jspsych, psych201, psych_ds
from explorelab.choices.raw import Raw, bytes_of, read_raw


def read_any(path: Path, columns: Mapping[str, str]) -> Raw:
    """The rows of a file or of a Psych-DS folder; `columns` are the file's names of columns, where they differ."""
    if path.is_dir():
        return psych_ds.read_folder(path)
    if path.suffix == ".jsonl":
        return psych201.read_prompts(bytes_of(path), path)
    if path.suffix == ".json":
        return jspsych.read_json(bytes_of(path), path, columns)
    raw = read_raw(path)
    return hbayesdm.as_choices(raw) if hbayesdm.fits(raw.frame, columns) else raw
