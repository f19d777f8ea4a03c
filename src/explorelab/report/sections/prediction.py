"""Whether people simulated at the fitted parameters do what people did."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab.recovery.predictive_figure import draw_predictive
from explorelab.report.analysis import Analysis
from explorelab.report.section import Picture, Section, Table, left_out
from explorelab.report.words import counted, joined, percent, percents, plain

KEY, TITLE = "prediction", "Predictive checks"
SHARES = ("mean repeat", "share of new arms", "phenotype")
WORDS = {
    "final regret": "final regret",
    "mean reward": "mean reward",
    "mean repeat": "share of repeated choices",
    "mean travel": "mean walk to the next arm",
    "share of new arms": "share of choices that were new arms",
    "phenotype linear": "share of linear regret",
    "phenotype power": "share of power-law regret",
    "phenotype log": "share of logarithmic regret",
}


def prediction_section(found: Analysis) -> Section:
    """What people did beside what the fitted agent would do in their place."""
    result = found.predictive
    if result is None:
        return left_out(KEY, TITLE, found.missing["predictive"])
    return Section(
        KEY,
        TITLE,
        [_lead(found, result), _misses(found, result)],
        _short(found, result),
        [_picture(found, result)],
        [_table(result)],
        _notes(result),
    )


def _is_share(name: str) -> bool:
    return name.startswith(SHARES)


def _said(name: str, value: float) -> str:
    return percent(value) if _is_share(name) else plain(value)


def _range(name: str, one: xr.Dataset) -> str:
    low, high = float(one["low"]), float(one["high"])
    return percents(low, high) if _is_share(name) else f"{plain(low)} to {plain(high)}"


def _outside(result: xr.Dataset) -> list[str]:
    """Statistics of which people lie outside 95 % of simulated groups."""
    human, low, high = (result[name].values for name in ("human", "low", "high"))
    out = (human < low) | (human > high)
    return [str(name) for name, bad in zip(result["statistic"].values, out, strict=True) if bad]


def _lead(found: Analysis, result: xr.Dataset) -> str:
    reward = result.sel(statistic="final regret")
    return (
        f"The whole group was simulated {counted(int(result.attrs['n_copies']), 'time')} under {found.main}, everyone on their "
        "own blocks with parameters drawn from their own posterior. People's final regret was "
        f"{_said('final regret', float(reward['human']))}, that of simulated people "
        f"{_said('final regret', float(reward['simulated']))} (95 % of groups {_range('final regret', reward)})."
    )


def _misses(found: Analysis, result: xr.Dataset) -> str:
    known = [str(name) for name in result["statistic"].values if np.isfinite(float(result["human"].sel(statistic=name)))]
    out = [name for name in _outside(result) if name in known]
    if not out:
        return (
            f"All {len(known)} statistics of people lie within 95 % of simulated groups: in these respects {found.main} does "
            "what people do. That is no proof that people do it in this way."
        )
    said = joined(
        f"{WORDS.get(name, name)} ({_said(name, float(one['human']))} beside {_range(name, one)} simulated)"
        for name, one in ((name, result.sel(statistic=name)) for name in out)
    )
    return (
        f"Of {len(known)} statistics, {len(out)} of people {'lies' if len(out) == 1 else 'lie'} outside 95 % of simulated "
        f"groups: {said}. There {found.main} does not do what people do."
    )


def _short(found: Analysis, result: xr.Dataset) -> str:
    n, out = result.sizes["statistic"], _outside(result)
    if not out:
        return f"People simulated under {found.main} do what people do in all {n} respects looked at."
    which = joined(WORDS.get(name, name) for name in out)
    return f"People simulated under {found.main} differ from people in {len(out)} of {n} respects: {which}."


def _picture(found: Analysis, result: xr.Dataset) -> Picture:
    caption = (
        f"People (black) and groups simulated under {found.main} with everyone's fitted parameters (blue: mean and 95 % of "
        "groups): observed regret, phenotypes, repeated choices, walks, and new arms over time."
    )
    return Picture("prediction", draw_predictive(result), caption, f"{_lead(found, result)} {_misses(found, result)}")


def _table(result: xr.Dataset) -> Table:
    rows = []
    for name in map(str, result["statistic"].values):
        one = result.sel(statistic=name)
        if not np.isfinite(float(one["human"])):
            continue
        p = float(one["p"])
        rows.append(
            [WORDS.get(name, name), _said(name, float(one["human"])), _said(name, float(one["simulated"])), _range(name, one),
             plain(p, 2) if p < 1 else "1"]
        )  # fmt: skip
    return Table("People beside simulated groups", ("statistic", "people", "simulated", "95 % of groups", "p"), rows)


def _notes(result: xr.Dataset) -> list[str]:
    least = 2 / (int(result.attrs["n_copies"]) + 1)
    return [
        f"p: how often a simulated group is as far off, on both sides; it cannot be below {plain(least, 2)} here. The same "
        "choices were used for the fit, so that agreement is easier than prediction."
    ]
