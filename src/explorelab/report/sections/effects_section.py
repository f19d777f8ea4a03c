"""Effects of conditions on parameters, estimated together with everyone's parameters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from explorelab.choices.conditions import CONDITION, kind_of
from explorelab.fitting.effects.effect_design import INTERCEPT
from explorelab.fitting.effects.effects_table import effects
from explorelab.plots.condition_figures import draw_contrasts
from explorelab.plots.words import counted, fixed, interval, name_of, named, plain, probability
from explorelab.report.analysis import Analysis
from explorelab.report.section import Picture, Section, Table

KEY, TITLE = "effects", "Effects of conditions on parameters"


def effects_section(found: Analysis) -> Section | None:
    """The effects that were asked for; None if none were."""
    fit = found.effects
    if fit is None:
        return None
    table, means = effects(fit), _means(fit)
    rows = _differences(table, means)
    drawn = rows.assign(contrast=[_effect(row) for _, row in rows.iterrows()], difference=rows["estimate"])
    pictures = [Picture("effects", draw_contrasts(drawn), _caption(found), _short(found, rows))] if len(rows) else []
    return Section(
        KEY,
        TITLE,
        [each for each in (_lead(found, fit), _told(rows), _settled(fit)) if each],
        _short(found, rows),
        pictures,
        [_effects(table), *_levels(means)],
        _notes(fit),
        {"table_effects": table, **({"table_effects_levels": means} if len(means) else {})},
    )


def _differences(table: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """The rows that are differences, not values; of parameters that have values only, those between levels."""
    own = table[table["natural_is"] != "value"]
    if not len(means):
        return own
    between = means[(means["natural_is"] != "value") & ~means["parameter"].isin(own["parameter"])]
    return pd.concat([own, between], ignore_index=True) if len(between) else own


def _lead(found: Analysis, fit: xr.DataTree) -> str:
    return (
        f"In one fit of {found.main} by empirical Bayes, with everyone's parameters, these formulas were estimated: "
        f"{'; '.join(str(found.settings.effects).split('; '))}. The fit has "
        f"{counted(fit['estimates'].sizes['participant'], 'person', 'people')}; a condition that changes within people has "
        "an effect of its own for everyone, around the mean that is shown."
    )


def _said(row: pd.Series) -> str:
    return (
        f"{name_of(row['parameter'])}, {_effect(row)}: {fixed(row['estimate'])} standard units (95 % interval "
        f"{fixed(row['low'])} to {fixed(row['high'])}, p {_p(row['p'])}), {_natural(row)}"
    )


def _p(value: float) -> str:
    said = probability(value)
    return said if said[0] in "<>" else f"= {said}"


def _natural(row: pd.Series) -> str:
    what = str(row["natural_is"])
    ends = interval(row["natural_low"], row["natural_high"])
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what} of {plain(row['natural'])} ({ends})"


def _effect(row: pd.Series) -> str:
    """The column of an effect as a reader would say it: group[T.b] is group b."""
    name = str(row["effect"])
    for old, new in (("[T.", " "), ("]", ""), ("[", " ")):
        name = name.replace(old, new)
    return name


def _told(rows: pd.DataFrame) -> str:
    if not len(rows):
        return ""
    clear = rows[rows["p"] < 0.05]
    if not len(clear):
        return f"No interval of {counted(len(rows), 'effect')} excludes 0."
    said = [_said(row) for _, row in clear.iterrows()]
    verb = "has an interval" if len(clear) == 1 else "have intervals"
    return f"Of {counted(len(rows), 'effect')}, {len(clear)} {verb} without 0: {'; '.join(said)}."


def _settled(fit: xr.DataTree) -> str:
    settled = bool(fit["group"].to_dataset().get("converged", True))
    return "" if settled else "The group had not settled when the rounds ended: these numbers may still move."


def _short(found: Analysis, rows: pd.DataFrame) -> str:
    if not len(rows):
        return f"Values of parameters of {found.main} in each condition."
    said = [
        f"{name_of(row['parameter'])}, {_effect(row)} {fixed(row['estimate'])} ({fixed(row['low'])} to {fixed(row['high'])})"
        for _, row in rows.head(4).iterrows()
    ]
    more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
    return f"Effects on parameters of {found.main} in standard units, with 95 % intervals: {'; '.join(said)}{more}."


def _caption(found: Analysis) -> str:
    return (
        f"Effects on the parameters of {found.main}, in standard units of each parameter, with 95 % intervals (blue: "
        "without 0)."
    )


def _effects(table: pd.DataFrame) -> Table:
    rows = []
    for _, row in table.iterrows():
        is_value = row["natural_is"] == "value"
        natural = f"{plain(row['natural'])} ({interval(row['natural_low'], row['natural_high'])})"
        effect = "intercept" if row["effect"] == INTERCEPT else _effect(row)
        rows.append([
            f"{named(row['parameter'])}: {effect}", fixed(row["estimate"]), f"{fixed(row['low'])} to {fixed(row['high'])}",
            "" if is_value else probability(row["p"]), fixed(row["size"]) if np.isfinite(row["size"]) else "",
            f"{row['natural_is']} {natural}",
        ])  # fmt: skip
    heads = ("effect", "estimate, standard units", "95 % interval", "p", "size", "in natural units")
    return Table("Effects of conditions on parameters", heads, rows, (0, 5))


def _means(fit: xr.DataTree) -> pd.DataFrame:
    """The mean of each level of every condition in the formulas, and the difference of every two."""
    conditions = fit["conditions"].to_dataset()
    who = conditions["row_participant"].values
    names = [str(name) for name, one in conditions.data_vars.items() if kind_of(str(name), one.values, who) == CONDITION]
    return effects(fit, contrasts=names) if names else pd.DataFrame()


def _levels(means: pd.DataFrame) -> list[Table]:
    if not len(means):
        return []
    rows = []
    for _, row in means.iterrows():
        ends = interval(row["natural_low"], row["natural_high"])
        is_value = row["natural_is"] == "value"
        rows.append([f"{named(row['parameter'])}: {row['effect']}", str(row["natural_is"]), plain(row["natural"]), ends,
                     "" if is_value else probability(row["p"])])  # fmt: skip
    heads = ("parameter and level", "is", "in natural units", "95 % interval", "p")
    return [Table("Means of levels and their differences, averaged over the other conditions", heads, rows, (0, 1))]


def _notes(fit: xr.DataTree) -> list[str]:
    table = fit["effects"].to_dataset()
    within = bool(table["within"].values.any())
    notes = [
        "Standard units: the spread of plausible values on the parameter's own scale. Size: the effect divided by the "
        "standard deviation of people in the same conditions. Ratios and odds ratios are of parameters on a logarithmic or "
        "logit scale: a ratio of 1 is no effect. p: two-sided, for no effect.",
    ]
    if within:
        notes.append(
            "Parameters change between the blocks of a person here: estimates of people elsewhere in this report are from a "
            "fit without effects, which takes them for constant."
        )
    return notes
