"""Tables of what differs between conditions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from explorelab.plots.words import counted, interval, name_of, percent, percents, plain, whole
from explorelab.regret.forms import FORMS
from explorelab.report.condition_results import REGRET, ConditionResults
from explorelab.report.section import Table
from explorelab.report.sections.regret_section import LONG

MOST_ROWS = 40
"""Rows of a table on the page; the CSV files have all."""
WORDS = {"mean repeat": "share of repeated choices", "share of new arms": "share of choices that were new arms"}


def measure(results: ConditionResults) -> str:
    """The outcome in the foreground, in words."""
    return f"regret after {counted(results.length, 'choice')}" if results.main == REGRET else "mean reward"


def level_tables(results: ConditionResults) -> list[Table]:
    """The outcome in the foreground at every level, and its difference from the first."""
    main, rows = results.outcomes[results.main], []
    for _, row in main.levels.iterrows():
        cells = [f"{row['condition']}: {row['level']}", whole(row["n_people"]), whole(row["n_blocks"]), plain(row["mean"]),
                 interval(row["low"], row["high"]) or "–"]  # fmt: skip
        first = next(each for each in results.columns.conditions if each.name == row["condition"]).levels[0]
        table = main.differences
        one = table[
            (table["condition"] == row["condition"]) & (table["level"] == row["level"]) & (table["against"] == first)
        ]
        if len(one):
            told = one.iloc[0]
            cells += [plain(told["difference"]), interval(told["low"], told["high"]) or "–"]
        else:
            cells += ["", ""]
        rows.append(cells)
    what = measure(results)
    against = f"against the first level{', adjusted' if len(results.columns.conditions) > 1 else ''}"
    heads = ("condition", "people", "blocks", "mean", "95 % interval", against, "95 % interval")
    return _table(f"{what[0].upper()}{what[1:]} by condition", heads, rows) if rows else []


def share_tables(results: ConditionResults) -> list[Table]:
    """Shares of phenotypes at every level."""
    if not results.columns.conditions or "raw" not in results.phenotypes:
        return []
    raw = results.phenotypes["raw"]
    rows = []
    for k, row in raw[FORMS[0]].levels.iterrows():
        each = [raw[form].levels.loc[k] for form in FORMS]
        shares = (
            f"{percent(one['mean'])} ({percents(one['low'], one['high'])})" if one["n_blocks"] else "–" for one in each
        )
        rows.append([f"{row['condition']}: {row['level']}", *shares, whole(row["n_blocks"])])
    heads = ("condition", *(LONG[form] for form in FORMS), "blocks with a form")
    caption = "Phenotypes by condition, with 95 % intervals; the power law fitted on the raw scale"
    return _table(caption, heads, rows)


def frequency_tables(results: ConditionResults) -> list[Table]:
    """Frequencies of agents at every level."""
    table = results.frequencies.table
    if not len(table):
        return []
    rows = []
    for (condition, level), one in table.groupby(["condition", "level"], sort=False):
        known = np.isfinite(one["frequency"]).all()
        each = (f"{percent(f)} ({percents(low, high)})" if known else "–" for f, low, high in
                zip(one["frequency"], one["low"], one["high"], strict=True))  # fmt: skip
        rows.append([f"{condition}: {level}", whole(one["n_people"].iloc[0]), *each])
    heads = ("condition", "people", *dict.fromkeys(table["model"]))
    return _table("Estimated frequencies of agents by condition, with 95 % intervals", heads, rows)


def slope_tables(results: ConditionResults) -> list[Table]:
    """What goes with one standard deviation more of each covariate."""
    rows = []
    for name, one in results.outcomes.items():
        for _, row in one.slopes.iterrows():
            cells = (plain(row["sd"]), plain(row["difference"]), interval(row["low"], row["high"]) or "–")
            rows.append((row["covariate"], WORDS.get(name, name), whole(row["n_people"]), *cells))
    rows.sort(key=lambda row: row[0])
    heads = ("covariate", "outcome", "people", "s.d.", "difference for one s.d.", "95 % interval")
    caption = f"Covariates{', adjusted for the conditions' if results.columns.conditions else ''}"
    return [Table(caption, heads, rows[:MOST_ROWS], (0, 1))] if rows else []


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Table]:
    if len(rows) > MOST_ROWS:
        caption += f" (the first {MOST_ROWS} of {whole(len(rows))} rows; all are in table_conditions.csv)"
    return [Table(caption, heads, rows[:MOST_ROWS])]


def condition_files(results: ConditionResults) -> dict[str, pd.DataFrame]:
    """Every outcome, and all pairs of levels."""
    every = dict(results.outcomes)
    every |= {f"{form} ({power})": one for power, each in results.phenotypes.items() for form, one in each.items()}
    every |= {f"{name_of(name)} (standard units)": one for name, one in results.parameters.items()}

    def together(part: str) -> pd.DataFrame:
        frames = [getattr(one, part).assign(outcome=name) for name, one in every.items() if len(getattr(one, part))]
        if not frames:
            return pd.DataFrame()
        whole_frame = pd.concat(frames, ignore_index=True)
        return whole_frame[["outcome", *(name for name in whole_frame if name != "outcome")]]

    files = {"table_conditions": together("levels"), "table_condition_differences": together("differences")}
    files |= {"table_condition_cells": results.cells, "table_covariates": together("slopes")}
    files["table_condition_frequencies"] = results.frequencies.table
    return {name: table for name, table in files.items() if len(table)}
