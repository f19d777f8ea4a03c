"""Regret, phenotypes, parameters and agents by condition, with people as the units of every interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from explorelab.choices.conditions import BETWEEN, MISSING, Condition
from explorelab.plots.condition_figures import (
    MOST_CURVES,
    can_draw_cells,
    draw_condition_cells,
    draw_condition_curves,
    draw_condition_levels,
    draw_contrasts,
)
from explorelab.plots.words import counted, interval, joined, plain, probability
from explorelab.report.analysis import Analysis
from explorelab.report.condition_results import REGRET, ConditionResults
from explorelab.report.section import Picture, Section, left_out
from explorelab.report.sections.condition_parameters import (
    effects_option,
    parameter_contrasts,
    parameter_table,
    parameters_told,
)
from explorelab.report.sections.condition_tables import (
    condition_files,
    frequency_tables,
    level_tables,
    measure,
    share_tables,
    slope_tables,
)

KEY = "conditions"
MOST_LEVELS = 30
"""Levels in one figure."""
MOST_TOLD = 4
"""Conditions in the summary at the top."""
SAME = 0.95
"""Probability from which groups are said to share the same frequencies of agents, or not to."""


def conditions_section(found: Analysis) -> Section | None:
    """What differs between the levels of each condition and with covariates; None for choices without either."""
    columns = found.columns
    if not columns.conditions and not columns.covariates:
        return None
    title = "Conditions" if columns.conditions else "Covariates"
    results = found.by_condition
    if results is None:
        return left_out(KEY, title, found.missing["conditions"])
    lead = [_design(results), _main(results), _phenotypes(found, results), parameters_told(found, results), _agents(results)]
    lead.append(_covariates(results))
    tables = [*level_tables(results), *share_tables(results), *parameter_table(found, results), *frequency_tables(results)]
    return Section(
        KEY,
        title,
        [each for each in lead if each],
        _short(results),
        _pictures(found, results),
        [*tables, *slope_tables(results)],
        _notes(found, results),
        condition_files(results),
    )


def _design(results: ConditionResults) -> str:
    told = [
        f"{each.name} ({joined(each.levels)}; {each.design}"
        + (f"; the same as {joined(each.also)}" if each.also else "")
        + ")"
        for each in results.columns.conditions
    ]
    if not told:
        return ""
    n = len(told)
    apart = " where these can be told apart" if _unadjusted(results) else ""
    adjusted = "" if n == 1 else f" Differences between levels are adjusted for the other conditions{apart}."
    return f"The file has {counted(n, 'condition')}: {joined(told)}.{adjusted}"


def _pairs(results: ConditionResults, condition: Condition) -> pd.DataFrame:
    """The differences of one condition in the foreground outcome: every pair of up to three levels, else from the first."""
    table = results.outcomes[results.main].differences
    one = table[table["condition"] == condition.name]
    return one if len(condition.levels) < 4 else one[one["against"] == condition.levels[0]]


def _clear(row: pd.Series) -> bool:
    return bool(row["low"] > 0 or row["high"] < 0)


def _difference(condition: Condition, row: pd.Series) -> str:
    """133 lower with slow than with fast, with the interval."""
    gap = float(row["difference"])
    ends = interval(row["low"], row["high"])
    said = f"95 % interval {ends}" if ends else "too few people for an interval"
    way = "the same" if gap == 0 else f"{plain(abs(gap))} {'lower' if gap < 0 else 'higher'}"
    first, second = condition.called(row["against"]), condition.called(row["level"])
    return f"{way} with {second} {'than' if gap else 'as'} with {first} ({said})"


def _main(results: ConditionResults) -> str:
    """The differences that are clear, and the conditions without any."""
    told: list[str] = []
    nothing: list[str] = []
    unknown: list[str] = []
    what = measure(results)
    for condition in results.columns.conditions:
        pairs = _pairs(results, condition)
        known = pairs[np.isfinite(pairs["low"])]
        clear = [_difference(condition, row) for _, row in known.iterrows() if _clear(row)]
        if clear:
            told.append(f"By {condition.name}, {what} was {joined(clear)}.")
        elif len(condition.levels) == 2 and len(known):
            nothing.append(f"by {condition.name} it was {_difference(condition, known.iloc[0])}")
        else:
            (nothing if len(known) else unknown).append(
                f"by {condition.name}, all intervals include 0" if len(known) else condition.name
            )
    if nothing:
        told.append(f"{'No other' if told else 'No'} difference in {what} is clear: {joined(nothing)}.")
    if unknown:
        told.append(f"There are too few people to compare levels of {joined(unknown)}.")
    return " ".join(told)


def _phenotypes(found: Analysis, results: ConditionResults) -> str:
    if found.choices.means_change and results.length:
        return "Phenotypes are not compared: where means change, the form of a curve says little about the person."
    return ""


def _agents(results: ConditionResults) -> str:
    """Whether groups use the same agents, and conditions about which nothing can be said."""
    told = []
    for name, same in results.frequencies.same.items():
        verdict = "they share them" if same > SAME else "they do not" if same < 1 - SAME else "the choices do not decide"
        told.append(f"The probability that the levels of {name} share the same frequencies of agents is "
                    f"{probability(same)}: {verdict}.")  # fmt: skip
    if results.frequencies.without:
        told.append(
            f"Agents are not compared by {joined(results.frequencies.without)}: BIC judges people as a whole, not their "
            "blocks at each level."
        )
    return " ".join(told)


def _covariates(results: ConditionResults) -> str:
    """Slopes of the outcome in the foreground."""
    table, said = results.outcomes[results.main].slopes, []
    for _, row in table[np.isfinite(table["difference"])].iterrows():
        ends, gap = interval(row["low"], row["high"]), float(row["difference"])
        way = "the same" if gap == 0 else f"{plain(abs(gap))} {'lower' if gap < 0 else 'higher'}"
        sure = "" if not ends or _clear(row) else ", which includes no difference"
        said.append(
            f"for one standard deviation more of {row['covariate']} ({plain(row['sd'])}) it was {way}"
            + (f" (95 % interval {ends}{sure})" if ends else "")
        )
    what = measure(results)
    return f"Covariates and {what}: {joined(said)}." if said else ""


def _short(results: ConditionResults) -> str:
    parts = []
    for condition in results.columns.conditions:
        pairs = _pairs(results, condition)
        pairs = pairs[np.isfinite(pairs["low"])]
        if not len(pairs):
            continue
        # the largest difference relative to its interval
        row = pairs.loc[(pairs["difference"].abs() / (pairs["high"] - pairs["low"]).clip(lower=1e-300)).idxmax()]
        pair = condition.pair(row["level"], row["against"])
        parts.append(f"{pair} {plain(row['difference'])} ({interval(row['low'], row['high'])})")
    if not parts:
        return _covariates(results) or "Too few people to compare conditions."
    what = measure(results)
    more = f"; and {len(parts) - MOST_TOLD} more" if len(parts) > MOST_TOLD else ""
    return f"{what[0].upper()}{what[1:]}, differences with 95 % intervals: {'; '.join(parts[:MOST_TOLD])}{more}."


def _pictures(found: Analysis, results: ConditionResults) -> list[Picture]:
    conditions, main = results.columns.conditions, results.outcomes[results.main]
    if not conditions:
        return []
    words = "mean observed regret" if results.main == REGRET else "mean reward"
    more = f" (the first {MOST_CURVES} conditions)" if len(conditions) > MOST_CURVES else ""
    phenotypes = {form: each.levels for form, each in results.phenotypes.get("raw", {}).items()}
    table = results.frequencies.table
    frequencies = table[np.isfinite(table["frequency"])]
    alt = f"{_short(results)} {_main(results)}"
    caption = f"{words[0].upper()}{words[1:]} over time at each level, with 95 % bands over people{more}."
    pictures = [Picture("conditions_curves", draw_condition_curves(results.bands, words), caption, alt)]
    few = _few(conditions)
    names = {each.name for each in few}
    phenotypes = {form: each[each["condition"].isin(names)] for form, each in phenotypes.items()}
    frequencies = frequencies[frequencies["condition"].isin(names)]
    means = main.levels[main.levels["condition"].isin(names)]
    levels = draw_condition_levels(few, means, measure(results), phenotypes, frequencies)
    pictures.append(Picture("conditions_levels", levels, _levels_caption(results, phenotypes, frequencies), alt))
    if can_draw_cells(results.cells, conditions):
        cells = draw_condition_cells(results.cells, conditions, measure(results))
        caption = f"Mean {measure(results)} in every combination of levels, with 95 % intervals over the people in it."
        pictures.append(Picture("conditions_cells", cells, caption, f"{len(results.cells)} combinations. {alt}"))
    contrasts = parameter_contrasts(found, results)
    if len(contrasts):
        caption = (
            f"Differences in the parameters of {found.main} between levels, in standard units of each parameter, with 95 % "
            "intervals (blue: without 0)."
        )
        pictures.append(
            Picture("conditions_parameters", draw_contrasts(contrasts), caption, parameters_told(found, results))
        )
    return pictures


def _few(conditions: Sequence[Condition]) -> Sequence[Condition]:
    """The first conditions, with as many levels as a figure has room for."""
    room = np.cumsum([len(each.levels) for each in conditions]) <= MOST_LEVELS
    return conditions[: max(1, int(room.sum()))]


def _levels_caption(results: ConditionResults, phenotypes: dict[str, pd.DataFrame], frequencies: pd.DataFrame) -> str:
    parts = [f"mean {measure(results)}"]
    parts += ["shares of phenotypes (power law fitted on the raw scale)"] if phenotypes else []
    parts += ["estimated frequencies of agents among people"] if len(frequencies) else []
    if len(parts) == 1:
        return f"{parts[0][0].upper()}{parts[0][1:]} at each level, with 95 % intervals."
    said = "; ".join(f"({letter}) {part}" for letter, part in zip("abc", parts, strict=False))
    return f"Each level, with 95 % intervals: {said}."


def _notes(found: Analysis, results: ConditionResults) -> list[str]:
    conditions = results.columns.conditions
    notes = []
    if conditions:
        notes.append(
            "People are the units: a person's blocks at one level are averaged first, and intervals allow for one person's "
            "blocks being alike and for levels in which people differ more. They are not corrected for the number of "
            "comparisons. A condition is a column with few values that is constant within blocks: here "
            f"{joined(each.name for each in conditions)}."
        )
    notes += [_unadjusted(results), _left_out(found, results)]
    if results.parameters:
        notes.append(_on_parameters(found, results))
    if not results.frequencies.table.empty and any(each.design != BETWEEN for each in conditions):
        notes.append(
            "Where a condition changes within people, an agent is judged by the left-out blocks at that level, predicted "
            "from the person's other blocks, at whichever levels these were played."
        )
    return notes


def _on_parameters(found: Analysis, results: ConditionResults) -> str:
    """Where parameters by condition come from, and what is better."""
    weak = "drawn towards the middle of a weak prior, so that differences come out somewhat too small"
    if found.settings.effects:
        return f"What the formulas below do not cover is from MAP fits of {found.main}; such estimates are {weak}."
    cells = " to everybody's blocks at each combination of levels" if results.refitted else ""
    return (
        f"Parameters by condition are from MAP fits of {found.main}{cells}. Such estimates are {weak}. Effects estimated "
        "together with everyone's parameters use the choices better: repeat the report with "
        f"{effects_option(results)}."
    )


def _unadjusted(results: ConditionResults) -> str:
    """Conditions that had to be compared alone."""
    table, several = results.outcomes[results.main].differences, len(results.columns.conditions) > 1
    alone = table[table["adjusted_for"] == ""].drop_duplicates("condition") if several else table[:0]
    told = []
    for _, row in alone.iterrows():
        apart = row["not_apart_from"]
        why = f"cannot be told apart from {apart}" if apart else "has too few people for an adjustment"
        told.append(f"{row['condition']} {why}, and is compared without regard to the other conditions")
    return f"{joined(told)}.".capitalize() if told else ""


def _left_out(found: Analysis, results: ConditionResults) -> str:
    """Short blocks, missing values, and columns that are neither conditions nor covariates."""
    told = []
    short = int((found.phenotypes["n_trials"] < results.length).sum()) if found.phenotypes is not None else 0
    if short:
        told.append(f"{counted(short, 'block')} shorter than {counted(results.length, 'choice')} are left out of regret")
    for each in results.columns.conditions:
        missing = each.level == MISSING
        if missing.any():
            people = len(set(found.choices.participant[missing].tolist()))
            told.append(f"{each.name} is missing in {counted(int(missing.sum()), 'block')} of "
                        f"{counted(people, 'person', 'people')}, left out where it is compared")  # fmt: skip
    if results.columns.labels:
        told.append(f"{joined(results.columns.labels)} {'has' if len(results.columns.labels) == 1 else 'have'} too many "
                    "values to be compared")  # fmt: skip
    return f"{'; '.join(told)}." if told else ""
