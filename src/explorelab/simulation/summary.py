"""Results for other programs and for people: a nested summary and a tidy table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr

from explorelab._support.written_numbers import Json, for_json

QUANTITIES = ("regret", "observed_regret", "transitions", "cost", "hindsight_regret")
"""Quantities over time; the last is only there if the means change."""


def quantities_of(runs: xr.Dataset) -> list[str]:
    """The quantities that these runs have."""
    return [name for name in QUANTITIES if f"{name}_mean" in runs]


def with_differences(runs: xr.Dataset) -> list[str]:
    """The same and, of several agents, how much each differs from the first."""
    names = quantities_of(runs)
    return [*names, *(f"{name}_difference" for name in names if f"{name}_difference_mean" in runs)]


def summary(runs: xr.Dataset) -> dict[str, Json]:
    """Mean and standard error of every quantity at each recorded time, for each setting, ready for JSON.

    Of several agents, each setting names its agent, and `..._difference` is the difference from the first.
    """
    return {
        **{name: runs.attrs[name] for name in ("agent", "task", "horizon", "replicates", "seed", "precision")},
        **{name: runs.attrs[name] for name in ("precision_note", "note", "first") if name in runs.attrs},
        "settings": [{"sweep": setting, "times": _times(one)} for setting, one in each_setting(runs)],
    }


def each_setting(runs: xr.Dataset) -> Iterator[tuple[dict[str, Json], xr.Dataset]]:
    """The values of the swept parameters and the results, setting by setting."""
    swept = [str(name) for name in runs.regret_mean.dims if name != "time"]
    for places in product(*(range(runs.sizes[name]) for name in swept)):
        at = dict(zip(swept, places, strict=True))
        yield {name: runs[name].values.tolist()[place] for name, place in at.items()}, runs.isel(at)


def in_words(setting: dict[str, Json]) -> str:
    """The values of the swept parameters for a reader: temperature = 2, prior_mean = 30; empty without a sweep."""
    return ", ".join(str(value) if name == "agent" else f"{name} = {_shown(value)}" for name, value in setting.items())


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _times(one: xr.Dataset) -> list[dict[str, Json]]:
    rows = []
    for time in one.time.values.tolist():
        now = one.sel(time=time)
        row: dict[str, Json] = {"time": time}
        shown = with_differences(one)
        row |= {name: {"mean": _plain(now[f"{name}_mean"]), "se": _plain(now[f"{name}_se"])} for name in shown}
        if "time" in one.visits_mean.dims or time == one.attrs["horizon"]:
            row["visits"] = {"mean": _plain(now.visits_mean), "se": _plain(now.visits_se)}
        rows.append(row)
    return rows


def _plain(array: xr.DataArray) -> Json:
    """The values as JSON can hold them: NaN (the standard error of a single replicate) becomes null."""
    values = np.asarray(array.values, dtype=float)
    return for_json(values.item() if values.ndim == 0 else values.ravel().tolist())


def tidy(runs: xr.Dataset) -> pd.DataFrame:
    """One row per setting and time: means and standard errors, and visits of each arm where recorded."""
    parts = []
    for setting, one in each_setting(runs):
        shown = with_differences(one)
        columns = {"time": one.time.values, **{f"{q}_{s}": one[f"{q}_{s}"].values for q in shown for s in ("mean", "se")}}
        frame = pd.DataFrame(columns)
        if "time" in one.visits_mean.dims:
            visits = pd.DataFrame(one.visits_mean.values, columns=[f"visits_mean_{arm}" for arm in one.arm.values])
            frame = pd.concat([frame, visits], axis=1)
        for position, (name, value) in enumerate(setting.items()):
            frame.insert(position, name, value)
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)
