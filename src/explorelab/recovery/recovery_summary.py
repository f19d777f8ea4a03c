"""Summaries of recovery and predictive checks, for other programs."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab._support.written_numbers import JsonObject, finite_or_none

OF_PARAMETER = ("rank_correlation", "rank_low", "rank_high", "pearson", "bias", "rmse", "coverage", "coverage_low",
                "coverage_high", "share_at_bound", "share_identified")  # fmt: skip
OF_MODELS = ("count", "confusion", "confusion_low", "confusion_high", "inversion", "inversion_low", "inversion_high")


def parameters_summary(result: xr.Dataset) -> JsonObject:
    """The results for every parameter and their correlations, ready for JSON."""
    names = [str(name) for name in result["parameter"].values]
    found = {name: {part: finite_or_none(result[part].sel(parameter=name)) for part in OF_PARAMETER} for name in names}
    tables = {
        part: _table(result[part].values) for part in ("true_correlation", "estimate_correlation", "cross_correlation")
    }
    return {**_attrs(result), "parameters": found, "order": names, **tables}


def models_summary(result: xr.Dataset) -> JsonObject:
    """Confusion and inversion, rows in the order of the models, ready for JSON."""
    names = [str(name) for name in result["generated"].values]
    return {**_attrs(result), "models": names, **{part: _table(result[part].values) for part in OF_MODELS}}


def predictive_summary(result: xr.Dataset) -> JsonObject:
    """Every number of the check, for people and simulated groups, ready for JSON."""
    parts = ("human", "simulated", "low", "high", "p")
    names = [str(name) for name in result["statistic"].values]
    found = {name: {part: finite_or_none(result[part].sel(statistic=name)) for part in parts} for name in names}
    return {**_attrs(result), "statistics": found}


def loo_summary(result: xr.Dataset) -> JsonObject:
    """The totals of a leave-one-out, ready for JSON."""
    found = {name: finite_or_none(result[name]) for name in ("elpd_total", "standard_error", "p_loo_total", "n_bad_total")}
    k = result["pareto_k"].values
    n_units = int((~np.isnan(k)).sum())
    return {**_attrs(result), **found, "n_units": n_units, "largest_pareto_k": finite_or_none(np.nanmax(k))}


def _attrs(result: xr.Dataset) -> JsonObject:
    return {str(name): value.item() if isinstance(value, np.generic) else value for name, value in result.attrs.items()}


def _table(values: np.ndarray) -> list[list[float | None]]:
    return [[finite_or_none(value) for value in along] for along in values]
