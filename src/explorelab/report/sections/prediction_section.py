"""Predictive checks: whether people simulated at the fitted parameters do what people did."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab._support.counted import plural
from explorelab._support.rounding import spread
from explorelab.plots.predictive_figure import draw_predictive
from explorelab.plots.words import (
    counted,
    fixed,
    joined,
    percent,
    percents,
    plain,
)
from explorelab.recovery.behaviour import of_each
from explorelab.report.analysis import Analysis
from explorelab.report.section import Picture, Section, Table, left_out

KEY, TITLE = "prediction", "Predictive checks"
SHARES = ("mean repeat", "share of new arms", "phenotype")
ALIKE = "no variation"
"""For a statistic that is the same in every block, so that a difference cannot be compared with those between blocks."""
SMALL, LARGE = 0.2, 0.8
"""Standard deviations between people up to which a difference is small, and from which it is large (Cohen)."""
WORDS = {
    "final regret": "final regret",
    "mean reward": "mean reward",
    "mean repeat": "share of repeated choices",
    "mean travel": "mean distance to the next arm",
    "share of new arms": "share of choices that were new arms",
    "phenotype linear": "share of linear regret",
    "phenotype power": "share of power-law regret",
    "phenotype log": "share of logarithmic regret",
}


def prediction_section(found: Analysis) -> Section:
    """What people did, compared with what the fitted agent would do in their place."""
    result, at_estimates = found.predictive, found.at_estimates
    if result is None or at_estimates is None:
        return left_out(KEY, TITLE, found.missing["predictive"])
    if found.choices.means_change:
        result, at_estimates = _formless(result), _formless(at_estimates)
    away, at_away = _away(found, result), _away(found, at_estimates)
    return Section(
        KEY,
        TITLE,
        [_lead(found, result), _misses(found, result, away), _estimates_too(result, at_estimates, at_away)],
        _short(found, (result, away), (at_estimates, at_away)),
        [_picture(found, _short(found, (result, away), (at_estimates, at_away)), result)],
        [_table(result, at_estimates, away)],
        _notes(result),
    )


def _formless(result: xr.Dataset) -> xr.Dataset:
    """The statistics without phenotypes, which say little where means change."""
    return result.sel(statistic=[name for name in result["statistic"].values if not str(name).startswith("phenotype")])


def _away(found: Analysis, result: xr.Dataset) -> dict[str, float]:
    """How far people are from simulated ones, in standard deviations between people's blocks; NaN if these do not vary.

    Alike to rounding is alike: a share that every block has would otherwise be divided by the rounding of its sum.
    """
    sds = {name: spread(values) for name, values in of_each(found.choices).numbers.items()}
    off = result["human"] - result["simulated"]
    names = map(str, result["statistic"].values)
    return {name: float(off.sel(statistic=name)) / sds[name] if sds[name] > 0 else float("nan") for name in names}


def _is_share(name: str) -> bool:
    return name.startswith(SHARES)


def _said(name: str, value: float) -> str:
    return percent(value) if _is_share(name) else plain(value)


def _range(name: str, one: xr.Dataset) -> str:
    low, high = float(one["low"]), float(one["high"])
    return percents(low, high) if _is_share(name) else f"{plain(low)} to {plain(high)}"


def _outside(result: xr.Dataset) -> list[str]:
    """Statistics for which people lie outside 95 % of simulated groups."""
    human, low, high = (result[name].values for name in ("human", "low", "high"))
    out = (human < low) | (human > high)
    return [str(name) for name, bad in zip(result["statistic"].values, out, strict=True) if bad]


def _lead(found: Analysis, result: xr.Dataset) -> str:
    reward = result.sel(statistic="final regret")
    return (
        f"The whole group was simulated {counted(int(result.attrs['n_copies']), 'time')} under {found.main}, everyone on "
        "their own blocks with parameters drawn from their own posterior. People's final regret was "
        f"{_said('final regret', float(reward['human']))}, that of simulated people "
        f"{_said('final regret', float(reward['simulated']))} (95 % of groups {_range('final regret', reward)})."
    )


def _known(result: xr.Dataset) -> list[str]:
    return [str(name) for name in result["statistic"].values if np.isfinite(float(result["human"].sel(statistic=name)))]


def _misses(found: Analysis, result: xr.Dataset, away: dict[str, float]) -> str:
    known = _known(result)
    out = [name for name in _outside(result) if name in known]
    if not out:
        return (
            f"All {len(known)} statistics of people lie within 95 % of simulated groups: in these respects {found.main} "
            "does what people do. That does not prove that people do it in the same way."
        )
    said = joined(
        f"{WORDS.get(name, name)} ({_said(name, float(one['human']))}; simulated {_range(name, one)})"
        for name, one in ((name, result.sel(statistic=name)) for name in out)
    )
    return (
        f"Of {len(known)} statistics, {len(out)} {plural(len(out), 'lies', 'lie')} outside 95 % of simulated "
        f"groups: {said}. {_how_far(out, away)}"
    )


def _how_far(out: list[str], away: dict[str, float]) -> str:
    """How large the differences are, relative to those between people."""
    sizes = {name: abs(away[name]) for name in out if np.isfinite(away[name])}
    if not sizes:
        return ""
    worst = max(sizes, key=lambda name: sizes[name])
    size = sizes[worst]
    said = f"{fixed(size, 2)} standard deviations between people's blocks ({WORDS.get(worst, worst)})"
    if size < SMALL:
        return f"They are small: the largest is {said}."
    return f"The largest is {said}: that is {'a moderate' if size < LARGE else 'a large'} difference."


def _estimates_too(result: xr.Dataset, at_estimates: xr.Dataset, away: dict[str, float]) -> str:
    """Whether simulations at the estimates themselves agree better than draws from the posterior."""
    out, still = _outside(result), _outside(at_estimates)
    n = counted(len(still), "statistic")
    if not out and not still:
        return "At everyone's estimates, without their uncertainty, all statistics lie within as well."
    said = f"Simulated at everyone's estimates, without their uncertainty, {n} {plural(len(still), 'lies', 'lie')} outside"
    said += f": {joined(WORDS.get(name, name) for name in still)}. {_how_far(still, away)}" if still else "."
    if len(still) < len(out):
        said += " Part of the difference is thus due to the parameters' uncertainty and its approximation, not to the agent."
    return said


type _Seen = tuple[xr.Dataset, dict[str, float]]


def _short(found: Analysis, drawn: _Seen, at_estimates: _Seen) -> str:
    n = len(_known(drawn[0]))
    if not _outside(drawn[0]):
        return f"People simulated under {found.main} do what people do in all {n} respects examined."
    said = [f"{len(_outside(each[0]))} of {n} respects{_most(each)}" for each in (drawn, at_estimates)]
    return (
        f"People simulated under {found.main} differ from people in {said[0]} with parameters drawn from everyone's "
        f"posterior, and in {said[1]} at everyone's estimates."
    )


def _most(seen: _Seen) -> str:
    """The largest of the visible differences, in brackets."""
    sizes = {name: abs(seen[1][name]) for name in _outside(seen[0]) if np.isfinite(seen[1][name])}
    if not sizes:
        return ""
    worst = max(sizes, key=lambda name: sizes[name])
    return f" (most in {WORDS.get(worst, worst)}, by {fixed(sizes[worst])} s.d. between blocks)"


def _picture(found: Analysis, alt: str, result: xr.Dataset) -> Picture:
    caption = (
        f"People (black) and groups simulated under {found.main} with everyone's fitted parameters (blue: mean and 95 % of "
        f"groups): {_shown(found)}, repeats, {'distances' if 'walk' in result.dims else 'reward'} and new arms."
    )
    return Picture("prediction", draw_predictive(result), caption, alt)


def _shown(found: Analysis) -> str:
    return "observed regret" if found.choices.means_change else "observed regret, phenotypes"


def _table(result: xr.Dataset, at_estimates: xr.Dataset, away: dict[str, float]) -> Table:
    rows = []
    for name in _known(result):
        one, plain_one = result.sel(statistic=name), at_estimates.sel(statistic=name)
        values = [_said(name, float(one[part])) for part in ("human", "simulated")]
        rows.append([WORDS.get(name, name), *values, _range(name, one), fixed(one["p"], 3), _sds(away[name]),
                     _range(name, plain_one), fixed(plain_one["p"], 3)])  # fmt: skip
    heads = ("statistic", "people", "simulated", "95 % of groups", "p", "difference (s.d.)", "95 %, at estimates", "p")
    return Table("People and simulated groups: drawn from everyone's posterior, and at everyone's estimates", heads, rows)


def _sds(value: float) -> str:
    """A difference in standard deviations, or a note that nothing varies."""
    return fixed(value) if np.isfinite(value) else ALIKE


def _notes(result: xr.Dataset) -> list[str]:
    least = 2 / (int(result.attrs["n_copies"]) + 1)
    return [
        f"p: how often a simulated group is as far off (two-sided); it cannot be below {fixed(least, 3)} here. "
        "Difference: people minus simulated, in standard deviations between people's blocks, where these vary. The same "
        "choices were used for the fit, so agreement is easier than prediction."
    ]
