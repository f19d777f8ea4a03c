"""A worked example of the data model: the grid search of Wu et al. (2018), 80 people on 11 x 11 squares."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from explorelab._support.door import door
from explorelab.choices.reading import choices_from_frame
from explorelab.choices.table import Choices
from explorelab.choices.task_file import DataTask, grid_layout
from explorelab.errors import InputError

SIDE = 11
KERNELS = ("rough", "smooth")
"""The meanings of the numbers in the column kernel: how quickly rewards change from square to square."""
NOISE_VAR = 1.0
REWARD_SCALE = 100.0
"""A surface of height 0 to 1 pays 0 to 100 points."""


@door
def load_wu2018(folder: str | os.PathLike[str]) -> Choices:
    """The choices of experiment 2 of Wu et al. (2018), Nature Human Behaviour 2, 915-924.

    A block is a round; its trial 0 is a square that was revealed, not chosen (forced). Conditions: scenario (0: collect
    reward, 1: find the maximum), kernel (0: rough, 1: smooth), round, horizon, env and surface (kernel and env combined).
    `means` are the true mean rewards, so the expected regret of every choice is known.

    Parameters
    ----------
    folder
        Folder that holds the published data files.
    """
    where = Path(folder)
    frame = _choices_in(where / "choices.csv")
    frame["block"] = frame["round"]
    frame["forced"] = frame["trial"] == 0
    frame["surface"] = np.array(KERNELS, object)[frame["kernel"]] + " " + frame["env"].astype(str).to_numpy(object)
    layout = replace(grid_layout(SIDE, SIDE), noise_var=NOISE_VAR, name="wu2018")
    task = DataTask(layout, _surfaces(where), means_by="surface", noise_var=NOISE_VAR)
    return choices_from_frame(frame, task, source=f"{where.name}/choices.csv")


def _choices_in(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read the choices: {getattr(error, 'strerror', None) or error}.") from None
    columns = {"participant", "scenario", "kernel", "round", "horizon", "env", "trial", "x", "y", "reward"}
    missing = sorted(columns - set(frame.columns))
    if missing or not frame["kernel"].isin([0, 1]).all():
        what = f"no column {missing[0]}" if missing else "a kernel that is neither 0 nor 1"
        raise InputError(f"{path}: expected the choices of experiment 2 of Wu et al. (2018), got {what}.")
    return frame


def _surfaces(folder: Path) -> dict[str, np.ndarray]:
    """Mean rewards of every square for each surface, by names such as "rough 5"; arm number = x * 11 + y."""
    means = {}
    for kernel in KERNELS:
        path = folder / f"surfaces_{kernel}.json"
        try:
            surfaces = json.loads(path.read_text(encoding="utf-8"))
            for env, squares in surfaces.items():
                heights = np.full((SIDE, SIDE), np.nan)
                for square in squares.values():
                    heights[square["x1"], square["x2"]] = square["y"]
                means[f"{kernel} {env}"] = REWARD_SCALE * heights.ravel()
        except (OSError, ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
            raise InputError(f"{path}: cannot read the surfaces: {getattr(error, 'strerror', None) or error}.") from None
    return means
