"""Regret and its phenotypes, compared with the paper's."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab._support.counted import plural
from explorelab.plots.phenotype_figure import draw_moving, draw_phenotypes
from explorelab.plots.words import (
    counted,
    fixed,
    is_r2,
    joined,
    percent,
    percents,
    plain,
    r2,
    whole,
)
from explorelab.regret import paper_people
from explorelab.regret.forms import FORMS, NONE
from explorelab.regret.phenotype_summary import beside_paper, final_regret, labels_table, why_none
from explorelab.regret.phenotypes import MOVING
from explorelab.report.analysis import Analysis
from explorelab.report.section import Picture, Section, Table, left_out

KEY, TITLE = "regret", "Regret and phenotypes"
LONG = {"linear": "linear", "power": "power", "log": "logarithmic"}
CURVES = {"raw": "on the raw scale", "log-log": "as log R on log t"}


def regret_section(found: Analysis) -> Section:
    """How regret grew, the form of each curve and its certainty, and what the paper found."""
    result, other = found.phenotypes, found.other_phenotypes
    if result is None or other is None:
        return left_out(KEY, TITLE, found.missing["phenotypes"])
    if found.choices.means_change:
        return _moving(result)
    return Section(
        KEY,
        TITLE,
        [each for each in (_grown(result), _labels(result), _other(result, other)) if each],
        _short(result, other),
        [Picture("phenotypes", draw_phenotypes(result), _caption(result), _alt(result))],
        [_shares(result, other), _mean_curve(result)],
        _notes(result),
        {"table_phenotypes": labels_table(result), "table_phenotypes_log_log": labels_table(other)},
    )


def _moving(result: xr.Dataset) -> Section:
    """Regret where means change, without forms."""
    mean, low, high, time = _final(result)
    band = f" (95 % interval {plain(low)} to {plain(high)})" if np.isfinite(low) else ""
    grown = (
        f"After {counted(time, 'choice')} the mean observed regret against the best arm of each moment was {plain(mean)}"
        f"{band}, {plain(mean / time)} for each choice."
    )
    caption = "Observed regret of every block against the best arm of each moment, and the mean with its 95 % band."
    return Section(
        KEY,
        "Regret",
        [grown, f"{MOVING} Phenotypes are therefore left out."],
        f"Mean observed regret {plain(mean)} after {counted(time, 'choice')}, against the best arm of each moment; "
        "phenotypes say little where means change.",
        [Picture("regret", draw_moving(result), caption, grown)],
        [],
        ["Observed regret is the sum, over trials, of the largest mean among the arms on offer minus the reward received."],
        {"table_regret": final_regret(result)},
    )


def _what(result: xr.Dataset) -> tuple[str, str]:
    """The words for what has a curve: singular and plural."""
    return ("block", "blocks") if result.attrs["by"] == "block" else ("person", "people")


def _final(result: xr.Dataset) -> tuple[float, float, float, int]:
    """The mean regret at the end, its interval, and the time."""
    known = np.flatnonzero(np.isfinite(result["mean_regret"].values))
    at = int(known[-1])
    low, high = (float(result[f"mean_{end}"][at]) for end in ("low", "high"))
    return float(result["mean_regret"][at]), low, high, int(result["time"][at])


def _grown(result: xr.Dataset) -> str:
    mean, low, high, time = _final(result)
    best = result["mean_label"].item()
    band = f" (95 % interval {plain(low)} to {plain(high)})" if np.isfinite(low) else ""
    told = f"After {counted(time, 'choice')} the mean observed regret was {plain(mean)}{band}."
    if best == NONE:
        return f"{told} The mean curve never changes and has no form."
    one = result.sel(form=best)
    form = f"a power law with exponent {fixed(one['mean_b'])}" if best == "power" else f"a {LONG[best]} curve"
    own = "" if best == "power" else f" The exponent of the best power law is {fixed(result['mean_b'].sel(form='power'))}."
    told += f" Of the three forms, {form} fits the mean curve best (R² {is_r2(one['mean_r2'])}).{own}"
    if beside_paper(result):
        told += (
            f" {paper_people.NAME} report a power law with exponent about {paper_people.EXPONENT} "
            f"for {paper_people.PEOPLE} people."
        )
    return told


def _labels(result: xr.Dataset) -> str:
    n = int(result["n_rows"].sum())
    if not n:
        return f"No {_what(result)[0]} has a form: {why_none(result)}."
    if n == 1:
        sure = _sure(result)
        kept = f", a label that it keeps {percent(sure[0])} of the time when its losses are resampled"
        return f"The only {_what(result)[0]} with a label is {_only(result)}{kept if np.isfinite(sure[0]) else ''}."
    said = joined(
        f"{whole(one['n_rows'])} ({percent(one['share'], 1)}, 95 % interval "
        f"{percents(one['share_low'], one['share_high'], 1)}) {plural(int(one['n_rows']), 'is', 'are')} {LONG[form]}"
        for form, one in ((form, result.sel(form=form)) for form in FORMS)
    )
    text = f"Of {counted(n, *_what(result))} with a label, {said}."
    sure = _sure(result)
    if np.isfinite(sure).any():
        firm = int((sure > 0.95).sum())
        text += (
            f" Labels are uncertain: when the losses of a curve are resampled, it keeps its label {percent(sure.mean())} of "
            f"the time on average, and {whole(firm)} of {whole(n)} {plural(firm, 'keeps its own', 'keep theirs')} more than "
            "95 % of the time."
        )
    return text


def _only(result: xr.Dataset) -> str:
    """The label of the only row that has one."""
    label = result["label"].values
    return LONG[str(label[label != NONE][0])]


def _sure(result: xr.Dataset) -> np.ndarray:
    """The probability of each labelled row's own label."""
    label = result["label"].values
    has = label != NONE
    own = np.argmax(label[has][:, None] == np.asarray(FORMS), axis=1)
    return result["label_probability"].transpose("row", "form").values[has][np.arange(own.size), own]


def _other(result: xr.Dataset, other: xr.Dataset) -> str:
    n = int(result["n_rows"].sum())
    if not n:
        return ""
    if n == 1:
        return f"With the power law fitted as log R on log t instead of on the raw scale, it is {_only(other)}."
    same = (result["label"] == other["label"]).values[result["label"].values != NONE].mean()
    shares = joined(f"{percent(other['share'].sel(form=form), 1)} {LONG[form]}" for form in FORMS)
    told = (
        "Labels depend on how the power law is fitted. Above, it is fitted on the raw scale; fitted as log R on log t, the "
        f"shares become {shares}, and {percent(same)} of labels stay the same."
    )
    if beside_paper(result):
        theirs = joined(f"{percent(other['paper_share'].sel(form=form), 1)} {LONG[form]}" for form in FORMS)
        told += f" The paper, which does not say how it fitted the power law, has {theirs}."
    return told


def _short(result: xr.Dataset, other: xr.Dataset) -> str:
    mean, _, _, time = _final(result)
    beside = beside_paper(result)
    told = f"Mean observed regret {plain(mean)} after {counted(time, 'choice')}"
    if result["mean_label"].item() != NONE:
        theirs = f" ({paper_people.NAME}: about {paper_people.EXPONENT})" if beside else ""
        told += f", exponent of the mean curve {fixed(result['mean_b'].sel(form='power'))}{theirs}"
    if int(result["n_rows"].sum()) < 2:
        return f"{told}. {_labels(result)}"
    raw, log_log = (" / ".join(f"{100 * float(each['share'].sel(form=f)):.1f}" for f in FORMS) for each in (result, other))
    papers = " / ".join(f"{100 * share:.1f}" for share in paper_people.SHARES.values())
    theirs = f" (the paper: {papers}\u202f%)" if beside else ""
    return (
        f"{told}. Linear / power / logarithmic: {raw}\u202f% with the power law fitted on the raw "
        f"scale, {log_log}\u202f% with it fitted log-log{theirs}."
    )


def _caption(result: xr.Dataset) -> str:
    beside = f", next to those of {paper_people.NAME}" if beside_paper(result) else ""
    return (
        "(a) Observed regret of every block, coloured by phenotype, with the mean and its best fit; (b) mean curves by "
        f"phenotype with 95 % bands; (c) shares of phenotypes with 95 % intervals{beside}. "
        f"Power law fitted {CURVES[result.attrs['power']]}."
    )


def _alt(result: xr.Dataset) -> str:
    if not int(result["n_rows"].sum()):
        return f"Curves of observed regret with their mean. {_labels(result)}"
    shares = joined(f"{percent(result['share'].sel(form=form))} {LONG[form]}" for form in FORMS)
    return f"Curves of observed regret with their mean, means by phenotype, and shares of phenotypes: {shares}."


def _shares(result: xr.Dataset, other: xr.Dataset) -> Table:
    rows = []
    for each, how in ((result, "raw"), (other, "log-log")):
        for form in FORMS:
            one = each.sel(form=form)
            own = _sure(each)[each["label"].values[each["label"].values != NONE] == form]
            kept = percent(own.mean()) if own.size else "–"
            ends = percents(one["share_low"], one["share_high"], 1)
            rows.append([f"{how}: {LONG[form]}", whole(one["n_rows"]), percent(one["share"], 1), ends, kept])
    beside = beside_paper(result)
    for form in FORMS if beside else ():
        one = result.sel(form=form)
        ends = percents(one["paper_low"], one["paper_high"], 1)
        n = whole(float(one["paper_share"]) * paper_people.PEOPLE)
        rows.append([f"paper: {LONG[form]}", n, percent(one["paper_share"], 1), ends, ""])
    heads = ("power law fitted: form", _what(result)[1], "share", "95 % interval", "label kept")
    theirs = f", and those of {paper_people.NAME} ({paper_people.PEOPLE} people)" if beside else ""
    return Table(f"Phenotypes under both fits of the power law{theirs}", heads, rows)


def _mean_curve(result: xr.Dataset) -> Table:
    formula = {"linear": "a + b t", "power": "a tᵇ", "log": "a + b log t"}
    rows = [
        (f"{LONG[form]}, {formula[form]}", *(plain(result[f"mean_{name}"].sel(form=form), 4) for name in ("a", "b")),
         r2(result["mean_r2"].sel(form=form)))
        for form in FORMS
    ]  # fmt: skip
    return Table(
        f"The forms fitted to the mean curve of {counted(int(result['n_in_mean']), *_what(result))}",
        ("form", "a", "b", "R²"),
        rows,
    )


def _notes(result: xr.Dataset) -> list[str]:
    notes = [
        "Observed regret is m* t minus the rewards received up to t, where m* is the largest mean of the block; the "
        "label is the form with the least squared residuals. “Label kept”: how often curves of that label keep it when "
        "their losses are resampled in blocks.",
    ]
    if beside_paper(result):
        notes.append(
            "The paper does not print the values of its landscapes, so its shares are a yardstick, not a target for "
            "replication."
        )
    without = int((result["label"] == NONE).sum())
    if without:
        notes.append(f"{counted(without, *_what(result))} without a form: {why_none(result)}.")
    return notes
