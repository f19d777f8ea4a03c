"""Summaries of a fit, for other programs, the report and the terminal."""

from __future__ import annotations

import json
from typing import TypedDict

import numpy as np
import pandas as pd
import xarray as xr

from explorelab._support.written_numbers import JsonObject, finite_or_none
from explorelab.fitting.effects.effects_table import effects
from explorelab.fitting.results import OF_A_GROUP, SAMPLED
from explorelab.fitting.search.identified import SILENT


def fit_summary(tree: xr.DataTree) -> JsonObject:
    """A fit as one JSON object: estimates over people, quality of fit, and warnings."""
    estimates = tree["estimates"].to_dataset()
    return {
        **{name: tree.attrs[name] for name in ("agent", "method", "free", "source") if name in tree.attrs},
        "participants": estimates.sizes["participant"],
        "choices": int(estimates["n_choices"].sum()),
        "log_likelihood": float(estimates["log_likelihood"].sum()),
        "mean_pseudo_r2": finite_or_none(estimates["pseudo_r2"].mean()),
        "without_information": silent_people(tree),
        "converged": int(estimates["converged"].sum()) if "converged" in estimates else None,
        "not_converged": _reasons(estimates),
        "parameters": {str(name): parameter_summary(estimates, str(name)) for name in estimates["parameter"].values},
        "convergence": tree.attrs.get("convergence", "passed" if tree.attrs.get("method") in SAMPLED else ""),
        "note": str(estimates.attrs.get("note", "")),
        **({"effects": effects_summary(tree)} if "effects" in tree.children else {}),
    }


def effects_summary(tree: xr.DataTree) -> list[JsonObject]:
    """The effects of conditions, one object each."""
    table = effects(tree)
    numbers = table.select_dtypes("number").columns
    return [
        {str(name): finite_or_none(value) if name in numbers else str(value) for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def _reasons(estimates: xr.Dataset) -> dict[str, int]:
    """The number of people for each reason that a fit did not converge."""
    if "status" not in estimates:
        return {}
    told = estimates["status"].values[~estimates["converged"].values.astype(bool)]
    reasons, counts = np.unique(told.astype(str), return_counts=True)
    return dict(zip(reasons.tolist(), counts.tolist(), strict=True))


def silent_people(tree: xr.DataTree) -> list[str]:
    """People without any informative choice."""
    return [str(who) for who in json.loads(tree.attrs.get("without_information", "[]"))]


class ParameterSummary(TypedDict):
    """One parameter over people."""

    median: float
    quartiles: list[float]
    median_standard_error: float
    at_bound: int
    identified: int
    reasons: dict[str, int]


def parameter_summary(table: xr.Dataset, name: str) -> ParameterSummary:
    """Median and quartiles over people, how certain estimates are, and how many are at a bound or not identified.

    People without any informative choice count as not identified and are left out of everything else.
    """
    one = table.sel(parameter=name)
    one = one.where(one["remark"] != SILENT, drop=True) if (one["remark"] == SILENT).any() else one
    low, middle, high = np.quantile(one["estimate"].values, [0.25, 0.5, 0.75]).tolist()
    remarks = table["remark"].sel(parameter=name).values.tolist()
    reasons, counts = np.unique([_kind(text) for text in remarks if text], return_counts=True)
    return {
        "median": middle,
        "quartiles": [low, high],
        "median_standard_error": float(np.median(one["standard_error"].values)),
        "at_bound": int(one["at_bound"].sum()),
        "identified": int(one["identified"].sum()),
        "reasons": dict(zip(reasons.tolist(), counts.tolist(), strict=True)),
    }


def _kind(remark: str) -> str:
    return remark.split(" (")[0].split(", ")[0]


def estimates_table(tree: xr.DataTree) -> pd.DataFrame:
    """One row per person and parameter: estimate, uncertainty, remark, what draws it, and quality of the person's fit."""
    estimates = tree["estimates"].to_dataset()
    of_parameters = ["estimate", "standard_error", "low", "high", "at_bound", "identified", "remark", "variance_left"]
    of_people = [
        name for name in ("log_likelihood", "n_choices", "aic", "bic", "pseudo_r2", "converged") if name in estimates
    ]
    frame = estimates[of_parameters].to_dataframe().reset_index()
    frame["drawn_towards"] = _drawn_towards(tree)
    return frame.merge(estimates[of_people].to_dataframe().reset_index(), on="participant")


def _drawn_towards(tree: xr.DataTree) -> str:
    """What draws the estimates towards it: nothing (an empty text), a prior, the group, or what conditions predict."""
    method = tree.attrs.get("method", "")
    if method in OF_A_GROUP:
        return "conditions" if tree.attrs.get("effects") else "group"
    return "prior" if method == "map" else ""
