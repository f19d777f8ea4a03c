"""Several agents on one task, on the same random numbers: one data set, and what each differs from the first by.

Replicate r of every agent meets the same noise at the same times. So differences are taken replicate by replicate, and their
standard errors are those of the differences, often far smaller than two separate standard errors suggest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import xarray as xr

from explorelab.simulation.summary import quantities_of


def together(labels: Mapping[str, Callable[[], xr.Dataset]], keep_curves: bool) -> xr.Dataset:
    """One data set of all agents, each simulated by its function with every replicate's curves kept.

    `keep_curves` says whether the result has the curves too.
    """
    first: xr.Dataset | None = None
    parts = []
    for simulate in labels.values():
        runs = simulate()
        first = runs if first is None else first
        runs = runs.assign({name: value for q in quantities_of(runs) for name, value in _difference(q, runs, first).items()})
        parts.append(runs if keep_curves else runs.drop_dims("replicate"))
    result = xr.concat(
        parts, pd.Index(list(labels), name="agent"), combine_attrs="drop", coords="minimal", compat="override"
    )
    for name in result.data_vars:
        result[name].attrs = parts[0][name].attrs
    return result.assign_attrs(_attributes(list(labels), [part.attrs for part in parts]))


def _difference(quantity: str, runs: xr.Dataset, first: xr.Dataset) -> dict[str, xr.DataArray]:
    """Mean and standard error of the difference from the first agent, replicate by replicate."""
    difference = runs[quantity] - first[quantity]
    n = difference.sizes["replicate"]
    se = difference.std("replicate", ddof=1) / np.sqrt(n) if n > 1 else difference.mean("replicate") * np.nan
    long_name = f"{runs[quantity].attrs['long_name']}, difference from the first agent"
    return {
        f"{quantity}_difference_mean": difference.mean("replicate").assign_attrs(long_name=f"{long_name}, mean"),
        f"{quantity}_difference_se": se.assign_attrs(long_name=f"{long_name}, standard error"),
    }


def _attributes(labels: list[str], each: list[dict[str, str]]) -> dict[str, str]:
    shared = {name: value for name, value in each[0].items() if all(one.get(name) == value for one in each)}
    notes = [f"{label}: {one['precision_note']}" for label, one in zip(labels, each, strict=True) if "precision_note" in one]
    note = {"precision_note": " ".join(notes)} if notes and "precision_note" not in shared else {}
    precisions = dict.fromkeys(one["precision"] for one in each)
    return {
        **shared,
        **note,
        "agent": ", ".join(one["agent"] for one in each),
        "precision": ", ".join(precisions),
        "first": labels[0],
    }
