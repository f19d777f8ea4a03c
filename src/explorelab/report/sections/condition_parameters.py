"""Parameters by condition: how estimates of the reported agent differ between levels."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd

from explorelab._support.counted import counted
from explorelab.choices.conditions import Condition
from explorelab.fitting.effects.effects_table import CHANGES, in_natural_units
from explorelab.fitting.effects.formulas import parsed
from explorelab.plots.words import fixed, interval, joined, name_of, named, plain
from explorelab.report.analysis import Analysis
from explorelab.report.condition_results import ConditionResults
from explorelab.report.section import Table

IN_FULL = 4
"""Clear differences up to which each is told in full."""
MOST_DRAWN = 24
"""Contrasts in the figure."""
MOST_ROWS = 16
"""Differences beyond which the page lists only those that are clear."""


def _shown(found: Analysis, results: ConditionResults) -> pd.DataFrame:
    """The differences between levels: every pair of up to three levels, else from the first; without what a formula has."""
    levels = {each.name: each.levels for each in results.columns.conditions}
    covered = {} if not found.settings.effects else parsed(found.settings.effects).of
    frames = []
    for name, one in results.parameters.items():
        table = one.differences.assign(parameter=name)
        few = table["condition"].map(lambda each: len(levels[each]) < 4)
        first = table["against"] == table["condition"].map(lambda each: levels[each][0])
        right = covered.get(name, "")
        in_formula = np.array([_names(each, right) for each in table["condition"]], bool)
        frames.append(table[(few | first) & ~in_formula])
    if not frames or not sum(map(len, frames)):
        return pd.DataFrame()
    called = {each.name: each.called for each in results.columns.conditions}
    shown = pd.concat(frames, ignore_index=True)
    for side in ("level", "against"):
        words = [called[condition](level) for condition, level in zip(shown["condition"], shown[side], strict=True)]
        shown[f"{side}_said"] = words
    pair = {each.name: each.pair for each in results.columns.conditions}
    rows = zip(shown["condition"], shown["level"], shown["against"], strict=True)
    return shown.assign(contrast=[pair[condition](level, against) for condition, level, against in rows])


def _names(condition: str, formula: str) -> bool:
    """Whether a formula is about this condition."""
    return bool(re.search(rf"\b{re.escape(condition)}\b", formula))


def parameter_contrasts(found: Analysis, results: ConditionResults) -> pd.DataFrame:
    """The differences as a figure needs them."""
    table = _shown(found, results)
    if not len(table):
        return table
    if table.drop_duplicates(["contrast", "condition"])["contrast"].duplicated().any():
        table = table.assign(contrast=[f"{row.condition}: {row.contrast}" for row in table.itertuples()])
    shown = list(dict.fromkeys(table["contrast"]))[:MOST_DRAWN]
    return table[table["contrast"].isin(shown)]


def parameters_told(found: Analysis, results: ConditionResults) -> str:
    """The parameters that differ clearly."""
    table = _shown(found, results)
    if not len(table):
        return ""
    clear = table[(table["low"] > 0) | (table["high"] < 0)]
    n = int(np.isfinite(table["low"]).sum())
    if not n:
        return ""
    if not len(clear):
        return f"No interval of {counted(n, 'difference')} in parameters of {found.main} excludes 0."
    verb = "has an interval that excludes" if len(clear) == 1 else "have intervals that exclude"
    return (
        f"Of {counted(n, 'difference')} in parameters of {found.main}, {len(clear)} {verb} 0 (without any true difference, "
        f"about {max(1, round(0.05 * n))} would): {_in_full(clear) if len(clear) <= IN_FULL else _by_condition(clear)}."
    )


def _in_full(clear: pd.DataFrame) -> str:
    return joined(
        f"{name_of(row.parameter)} is {'lower' if row.difference < 0 else 'higher'} with {row.level_said} than with "
        f"{row.against_said} (by {fixed(abs(row.difference))} standard units, 95 % interval {fixed(row.low)} to "
        f"{fixed(row.high)})"
        for row in clear.itertuples()
    )


def _by_condition(clear: pd.DataFrame) -> str:
    """The parameters that differ by each condition."""
    return joined(
        f"{joined(dict.fromkeys(map(name_of, one['parameter'])))} by {condition}"
        for condition, one in clear.groupby("condition", sort=False)
    )


def parameter_table(found: Analysis, results: ConditionResults) -> list[Table]:
    """Means at both levels in natural units, and the difference."""
    table, rows = _shown(found, results), []
    several = len(table) > MOST_ROWS
    if several:
        table = table[(table["low"] > 0) | (table["high"] < 0)]
    for row in table.itertuples():
        levels = results.parameters[row.parameter].levels
        means = []
        for level in (row.against, row.level):
            one = levels[(levels["condition"] == row.condition) & (levels["level"] == level)].iloc[0]
            means.append(_natural(results, row.parameter, one["mean"], True))
        ends = f"{fixed(row.low)} to {fixed(row.high)}" if np.isfinite(row.low) else "–"
        scale = str(results.space["scale"].sel(parameter=row.parameter).item())
        change = [_natural(results, row.parameter, value, False) for value in (row.difference, row.low, row.high)]
        natural = f"{plain(change[0])} ({interval(change[1], change[2])})" if np.isfinite(row.low) else plain(change[0])
        rows.append([named(row.parameter), row.contrast, plain(means[1]), plain(means[0]),
                     fixed(row.difference), ends, f"{CHANGES[scale]} {natural}"])  # fmt: skip
    if not rows:
        return []
    heads = ("parameter", "levels", "first", "second", "difference, standard units", "95 % interval", "in natural units")
    caption = f"Parameters of {found.main} by condition: typical values at both levels, and their difference"
    if several:
        caption += "; intervals without 0 only, all are in table_condition_differences.csv"
    return [Table(caption, heads, rows, (0, 1, 6))]


def effects_option(results: ConditionResults) -> str:
    """An example of an option for these conditions, to be pasted into a shell as it stands."""
    names = [_in_formula(each) for each in results.columns.conditions]
    names = [name for name in names if name] or ["group"]
    parameter = "temperature" if "temperature" in results.parameters else next(iter(results.parameters))
    formula = f"{parameter} ~ {' + '.join(names)}"
    # Between double quotes, a shell would run what stands between backticks.
    return f"--effects {shlex.quote(formula)}" if "`" in formula else f'--effects "{formula}"'


def _in_formula(condition: Condition) -> str:
    """The condition as a formula names it; empty if none can."""
    name = condition.name
    if not name.isidentifier():
        name = "" if "`" in name or not name.isprintable() else f"`{name}`"
    numeric = all(level.replace(".", "", 1).replace("-", "", 1).isdigit() for level in condition.levels)
    return f"C({name})" if numeric and name else name


def _natural(results: ConditionResults, parameter: str, value: float, is_value: bool) -> float:
    return in_natural_units(results.space, parameter, float(value), is_value) if np.isfinite(value) else float("nan")
