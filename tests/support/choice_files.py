"""Files of choices to read, to spoil and to compare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from explorelab.choices.table import Choices

ARRAYS = ("participant", "block", "arm", "reward", "observed", "scored", "present", "available", "means", "start")
FOUR = {"arms": 4}


def tidy(n_people: int = 3, n_blocks: int = 2, n_trials: int = 5, n_arms: int = 4, seed: int = 0) -> pd.DataFrame:
    """Rows that are fine, with arms 0 to n_arms - 1 all chosen."""
    chance = np.random.default_rng(seed)
    n = n_people * n_blocks * n_trials
    return pd.DataFrame(
        {
            "participant": np.repeat([f"p{i}" for i in range(n_people)], n_blocks * n_trials),
            "block": np.tile(np.repeat(np.arange(1, n_blocks + 1), n_trials), n_people),
            "trial": np.tile(np.arange(1, n_trials + 1), n_people * n_blocks),
            "arm": (np.arange(n) + chance.integers(0, 2)) % n_arms,
            "reward": chance.normal(size=n).round(3),
        }
    )


def change(**values: dict[int, object]) -> pd.DataFrame:
    """Rows that are fine, but for these: {column: {index: value}}."""
    frame = tidy().astype(object)
    for column, cells in values.items():
        if column not in frame.columns:
            frame[column] = None
        for index, value in cells.items():
            frame.loc[index, column] = value
    return frame


def written(folder: Path, frame: pd.DataFrame | str | bytes, task: str = "", name: str = "choices.csv") -> Path:
    path = folder / name
    if isinstance(frame, pd.DataFrame):
        frame.to_csv(path, index=False)
    else:
        path.write_bytes(frame if isinstance(frame, bytes) else frame.encode())
    if task:
        path.with_suffix(".toml").write_text(task)
    return path


def same(one: Choices, other: Choices) -> None:
    """Fail unless both hold the same choices, whatever file they came from."""
    assert one.participants == other.participants
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        np.testing.assert_array_equal(a, b, err_msg=name)
    assert (one.advice is None) == (other.advice is None)
    for a, b in zip(one.advice or (), other.advice or (), strict=True):
        np.testing.assert_array_equal(a, b)
    assert set(one.conditions) == set(other.conditions)
    for name, values in one.conditions.items():
        np.testing.assert_array_equal(values, other.conditions[name], err_msg=name)
    assert (one.layout.n_arms, one.layout.noise_var, one.layout.shape) == (
        other.layout.n_arms,
        other.layout.noise_var,
        other.layout.shape,
    )
    assert (one.layout.name, one.note) == (other.layout.name, other.note)
    np.testing.assert_array_equal(one.layout.places, other.layout.places)
