"""Summaries of phenotypes: a table of labels, and a summary for programs and people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from explorelab._support.written_numbers import JsonObject, finite_or_none
from explorelab.regret import paper_people
from explorelab.regret.forms import FEWEST_TIMES, FORMS, NONE


def labels_table(result: xr.Dataset) -> pd.DataFrame:
    """One row per curve: participant, block, conditions, length, label, the probability of each label, and the fits."""
    of_row = [str(name) for name in result.coords if result[name].dims == ("row",)]
    table = pd.DataFrame({name: result[name].values for name in (*of_row, "n_trials", "label", "exponent")})
    for name, short in (("label_probability", "probability"), ("a", "a"), ("b", "b"), ("ssr", "ssr")):
        for form in FORMS:
            table[f"{short}_{form}"] = result[name].sel(form=form).values
    return table


def final_regret(result: xr.Dataset) -> pd.DataFrame:
    """One row per curve: participant, block, conditions, length, and regret at the end."""
    of_row = [str(name) for name in result.coords if result[name].dims == ("row",)]
    table = pd.DataFrame({name: result[name].values for name in (*of_row, "n_trials")})
    last = np.maximum(result["n_trials"].values, 1) - 1
    return table.assign(regret=result["regret"].values[np.arange(len(last)), last])


def summary(result: xr.Dataset) -> JsonObject:
    """Shares with intervals, fits of the mean curve, and stability of labels; NaN and infinity become None."""
    forms = {}
    for form in FORMS:
        one = result.sel(form=form)
        forms[form] = {
            "n": int(one["n_rows"]),
            "share": finite_or_none(one["share"]),
            "share_95": [finite_or_none(one["share_low"]), finite_or_none(one["share_high"])],
            "label_probability_mean": finite_or_none(_sure(result, form)),
            "mean_curve": {name: finite_or_none(one[f"mean_{name}"]) for name in ("a", "b", "r2")},
            "paper_share": finite_or_none(one["paper_share"]),
        }
    return {
        **({"paper": paper_people.NAME} if beside_paper(result) else {}),
        **{name: result.attrs[name] for name in ("source", "note", "power", "by", "bootstrap", "seed")},
        "n_rows": result.sizes["row"],
        "n_unlabelled": int((result["label"] == NONE).sum()),
        "n_too_short": n_too_short(result),
        "n_in_mean_curve": int(result["n_in_mean"]),
        "mean_curve_label": result["mean_label"].item(),
        "forms": forms,
    }


def beside_paper(result: xr.Dataset) -> bool:
    """Whether the paper's shares can be compared, which is only if its task was played."""
    return bool(np.isfinite(result["paper_share"]).all())


def n_too_short(result: xr.Dataset) -> int:
    """Number of curves with too few points for a form."""
    return int((result["n_trials"] < FEWEST_TIMES).sum())


def why_none(result: xr.Dataset) -> str:
    """Why curves without a form have none: "2 too short, 1 with constant regret"."""
    short = n_too_short(result)
    flat = int((result["label"] == NONE).sum()) - short
    parts = [f"{short} too short"] if short else []
    return ", ".join(parts + ([f"{flat} with constant regret"] if flat else []))


def _sure(result: xr.Dataset, form: str) -> float:
    """The mean probability of the label among the curves that have it."""
    own = result["label_probability"].sel(form=form).values[result["label"].values == form]
    return float(own.mean()) if own.size else np.nan
