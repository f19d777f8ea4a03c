"""A plan for other programs."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab._support.written_numbers import Json, JsonObject, finite_or_none

OF_DESIGN = (
    "horizon", "n_blocks", "n_choices", "needed", "needed_low", "needed_high", "false_alarms", "false_alarms_low",
    "false_alarms_high", "alarm_people", "rank_correlation", "rank_correlation_low", "rank_correlation_high", "coverage",
    "coverage_low", "coverage_high", "width", "width_low", "width_high", "rmse", "simulated", "correct_all",
    "correct_all_low", "correct_all_high", "correct", "correct_low", "correct_high", "confusion", "sentence",
)  # fmt: skip
OF_PEOPLE = ("power", "power_low", "power_high", "studies")


def plan_summary(result: xr.Dataset) -> JsonObject:
    """Every design with its powers, ready for JSON; null for a number that is not known, or not reached."""
    designs: dict[str, Json] = {}
    for name in result["design"].values:
        one = result.sel(design=name)
        tried = [n for n in one["people"].values.tolist() if np.isfinite(one["power"].sel(people=n))]
        powers: list[Json] = [
            {"people": int(n), **{part: finite_or_none(one[part].sel(people=n)) for part in OF_PEOPLE}} for n in tried
        ]
        designs[str(name)] = {**{part: _plain(one[part]) for part in OF_DESIGN if part in one}, "powers": powers}
    attrs = {str(key): value.item() if isinstance(value, np.generic) else value for key, value in result.attrs.items()}
    return {**attrs, "designs": designs}


def _plain(value: xr.DataArray) -> Json:
    if value.ndim:
        return [_plain(each) for each in value]
    item = value.item()
    return item if isinstance(item, str) else finite_or_none(item)
