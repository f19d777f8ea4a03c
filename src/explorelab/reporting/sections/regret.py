"""Regret, its phenotypes and the paper's."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab.forms import FORMS
from explorelab.people.phenotype_figure import draw_phenotypes
from explorelab.people.phenotype_summary import labels_table
from explorelab.people.phenotypes import PAPER_EXPONENT, PAPER_PEOPLE
from explorelab.reporting.analysis import Analysis
from explorelab.reporting.section import Picture, Section, Table, left_out
from explorelab.reporting.words import counted, fixed, is_r2, joined, percent, percents, plain, r2, whole

KEY, TITLE = "regret", "Regret and phenotypes"
LONG = {"linear": "linear", "power": "power", "log": "logarithmic"}
MOST_KINDS = 6
"""Conditions with more values than this are not laid out."""
CURVES = {"raw": "on the raw scale", "log-log": "as log R on log t"}


def regret_section(found: Analysis) -> Section:
    """How regret grew, which form each curve has, how sure that is, and what the paper found."""
    result, other = found.phenotypes, found.other_phenotypes
    if result is None or other is None:
        return left_out(KEY, TITLE, found.missing["phenotypes"])
    return Section(
        KEY,
        TITLE,
        [_grown(result), _labels(result), _other(result, other)],
        _short(result, other),
        [Picture("phenotypes", draw_phenotypes(result), _caption(result), _alt(result))],
        [_shares(result, other), _mean_curve(result), *_by_condition(found, (result, other))],
        _notes(result),
        {"table_phenotypes": labels_table(result), "table_phenotypes_log_log": labels_table(other)},
    )


def _what(result: xr.Dataset) -> tuple[str, str]:
    """What has a curve, one of them and many."""
    return ("block", "blocks") if result.attrs["by"] == "block" else ("person", "people")


def _final(result: xr.Dataset) -> tuple[float, float, float, int]:
    """The mean regret at the end with its interval, and when that is."""
    known = np.flatnonzero(np.isfinite(result["mean_regret"].values))
    at = int(known[-1])
    low, high = (float(result[f"mean_{end}"][at]) for end in ("low", "high"))
    return float(result["mean_regret"][at]), low, high, int(result["time"][at])


def _grown(result: xr.Dataset) -> str:
    mean, low, high, time = _final(result)
    best = result["mean_label"].item()
    one = result.sel(form=best)
    b = float(one["mean_b"])
    exponent = float(result["mean_b"].sel(form="power"))
    band = f" (95 % interval {plain(low)} to {plain(high)})" if np.isfinite(low) else ""
    form = f"a power law with exponent {fixed(b)}" if best == "power" else f"a {LONG[best]} curve"
    own = "" if best == "power" else f" The exponent of the best power law is {fixed(exponent)}."
    return (
        f"After {whole(time)} choices the mean observed regret was {plain(mean)}{band}. Of the three forms, {form} fits the "
        f"mean curve best (R² {is_r2(one['mean_r2'])}); the paper reports a power law with exponent about {PAPER_EXPONENT} "
        f"for its {PAPER_PEOPLE} people.{own}"
    )


def _labels(result: xr.Dataset) -> str:
    n = int(result["n_rows"].sum())
    said = joined(
        f"{whole(one['n_rows'])} ({percent(one['share'], 1)}, 95 % interval "
        f"{percents(one['share_low'], one['share_high'], 1)}) are {LONG[form]}"
        for form, one in ((form, result.sel(form=form)) for form in FORMS)
    )
    text = f"Of {counted(n, *_what(result))} with a label, {said}."
    sure = _sure(result)
    if np.isfinite(sure).any():
        firm = int((sure > 0.95).sum())
        text += (
            f" Labels are uncertain: when the losses of a curve are resampled, it keeps its label {percent(sure.mean())} of "
            f"the time on average, and {whole(firm)} of {whole(n)} keep theirs more than 95 % of the time."
        )
    return text


def _sure(result: xr.Dataset) -> np.ndarray:
    """For each labelled row the probability of its own label."""
    label = result["label"].values
    has = label != ""
    own = np.argmax(label[has][:, None] == np.asarray(FORMS), axis=1)
    return result["label_probability"].transpose("row", "form").values[has][np.arange(own.size), own]


def _other(result: xr.Dataset, other: xr.Dataset) -> str:
    same = (result["label"] == other["label"]).values[result["label"].values != ""].mean()
    shares = joined(f"{percent(other['share'].sel(form=form), 1)} {LONG[form]}" for form in FORMS)
    paper = joined(f"{percent(other['paper_share'].sel(form=form), 1)} {LONG[form]}" for form in FORMS)
    return (
        "The paper does not say how it fitted the power law, and labels hang on it. Above it is fitted on the raw scale; "
        f"fitted as log R on log t, the shares become {shares}, and {percent(same)} of labels stay the same. The paper has "
        f"{paper}."
    )


def _short(result: xr.Dataset, other: xr.Dataset) -> str:
    mean, _, _, time = _final(result)
    shares = [" / ".join(f"{100 * float(each['share'].sel(form=form)):.1f}" for form in FORMS) for each in (result, other)]
    paper = " / ".join(f"{100 * float(result['paper_share'].sel(form=form)):.1f}" for form in FORMS)
    exponent = fixed(result["mean_b"].sel(form="power"))
    return (
        f"Mean observed regret {plain(mean)} after {whole(time)} choices, exponent of the mean curve {exponent} (paper: "
        f"about {PAPER_EXPONENT}). Linear / power / logarithmic: {shares[0]}\u202f% with the power law fitted on the raw "
        f"scale, {shares[1]}\u202f% with it fitted log-log (paper: {paper}\u202f%)."
    )


def _caption(result: xr.Dataset) -> str:
    return (
        "(a) Observed regret of every block, coloured by phenotype, with the mean and its best fit; (b) mean curves by "
        "phenotype with 95 % bands; (c) shares of phenotypes with 95 % intervals, beside those of the paper. "
        f"Power law fitted {CURVES[result.attrs['power']]}."
    )


def _alt(result: xr.Dataset) -> str:
    shares = joined(f"{percent(result['share'].sel(form=form))} {LONG[form]}" for form in FORMS)
    return f"Curves of observed regret with their mean, means by phenotype, and shares of phenotypes: {shares}."


def _shares(result: xr.Dataset, other: xr.Dataset) -> Table:
    rows = []
    for each, how in ((result, "raw"), (other, "log-log")):
        for form in FORMS:
            one = each.sel(form=form)
            own = _sure(each)[each["label"].values[each["label"].values != ""] == form]
            kept = percent(own.mean()) if own.size else "–"
            ends = percents(one["share_low"], one["share_high"], 1)
            rows.append([f"{how}: {LONG[form]}", whole(one["n_rows"]), percent(one["share"], 1), ends, kept])
    for form in FORMS:
        one = result.sel(form=form)
        ends = percents(one["paper_low"], one["paper_high"], 1)
        rows.append([f"paper: {LONG[form]}", whole(float(one["paper_share"]) * PAPER_PEOPLE), percent(one["paper_share"], 1),
                     ends, ""])  # fmt: skip
    heads = ("power law fitted: form", _what(result)[1], "share", "95 % interval", "label kept")
    return Table(f"Phenotypes under both fits of the power law, and those of the paper ({PAPER_PEOPLE} people)", heads, rows)


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


def _by_condition(found: Analysis, results: tuple[xr.Dataset, xr.Dataset]) -> list[Table]:
    """Labels by the values of each condition that has a few."""
    tables = []
    for name, values in found.choices.conditions.items():
        kinds = np.unique(np.asarray(values).astype(str))
        if not 2 <= len(kinds) <= MOST_KINDS:
            continue
        rows = []
        for kind in kinds:
            at = np.asarray(values).astype(str) == kind
            counts = [int((result["label"].values[at] == form).sum()) for result in results for form in FORMS]
            rows.append((kind, *map(whole, counts), whole(at.sum())))
        heads = (name, *(f"{how}: {LONG[form]}" for how in ("raw", "log-log") for form in FORMS), "blocks")
        tables.append(Table(f"Phenotypes by {name}, under both fits of the power law", heads, rows))
    return tables


def _notes(result: xr.Dataset) -> list[str]:
    notes = [
        "Observed regret is m* t minus the rewards received up to t, m* the largest mean of the block; the label is the "
        "form with the least squared residuals. “Label kept”: how often curves of that label keep it when their losses are "
        "resampled in blocks. The paper's task has landscapes whose values are not printed, so that its shares are a "
        "yardstick and not a replication.",
    ]
    short = int((result["label"] == "").sum())
    if short:
        notes.append(f"{counted(short, *_what(result))} {'is' if short == 1 else 'are'} too short for a label.")
    return notes
