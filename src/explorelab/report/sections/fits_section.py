"""Everyone's parameters under the reported agent, their uncertainty, and where not to trust them."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab._support.counted import plural
from explorelab.choices.conditions import beside_people
from explorelab.fitting.fit_summary import estimates_table, parameter_summary
from explorelab.fitting.search.identified import MOST_LEFT
from explorelab.plots.people_figures import draw_diagnostics, draw_estimates, mean_trade_off
from explorelab.plots.words import (
    counted,
    fixed,
    interval,
    joined,
    name_of,
    named,
    percent,
    plain,
    share,
    whole,
)
from explorelab.report.analysis import Analysis, most_evidence
from explorelab.report.section import Picture, Section, Table

SHRUNKEN = (
    "These estimates are drawn towards the group: tests that compare them between conditions are wrong. --effects, as in "
    '--effects "temperature ~ group", estimates such differences together with everyone\'s parameters.'
)
"""What to know before comparing estimates by empirical Bayes."""
METHODS = {
    "map": "maximum a posteriori under weak priors",
    "em": "empirical Bayes, the prior learned from the group by expectation-maximisation",
}
FAST = 0.5
"""Average correlation of two estimates beyond which their trade-off is mentioned."""


def fits_section(found: Analysis) -> Section:
    """Estimates with intervals, the group, what is not identified and why, trade-offs, and agreement of starts."""
    table = found.estimates
    return Section(
        "fits",
        f"Fits of {found.main}",
        [_lead(found), _identified(table), _trade_offs(table), _starts(table), *_before_comparing(table)],
        _short(found, table),
        _pictures(found, table),
        [_parameters(table), *_group(found)],
        _notes(found),
        {"table_estimates": beside_people(estimates_table(found.fit), found.choices)},
    )


def _lead(found: Analysis) -> str:
    table = found.estimates
    n, made = table.sizes["participant"], int(table["n_choices"].sum())
    r2 = table["pseudo_r2"].values
    r2 = r2[np.isfinite(r2)]  # without those who made no choice
    medians = joined(
        f"{name_of(str(name))} {plain(parameter_summary(table, str(name))['median'])}" for name in table["parameter"].values
    )
    spread = f" (quartiles {fixed(np.quantile(r2, 0.25))} to {fixed(np.quantile(r2, 0.75))})" if n > 3 else ""
    best = "the agent with the most evidence over all choices"
    if found.main != most_evidence(found.compared):
        best += " among those with parameters"
    why = "as requested" if found.settings.agent else best
    return (
        f"{found.main}, {why}, was fitted to {counted(n, 'person', 'people')} ({counted(made, 'choice')}) by "
        f"{METHODS[found.settings.method]}. It explains choices with a mean McFadden R² of {fixed(r2.mean())}{spread}; 0 "
        f"means choosing at random. {'Medians over people' if n > 1 else 'Estimates'}: {medians}."
    )


def _before_comparing(table: xr.Dataset) -> list[str]:
    """What to know before estimates are compared, if they are drawn towards the group."""
    return [str(table.attrs["note"])] if table.attrs.get("note") else []


def _counts(table: xr.Dataset) -> dict[str, int]:
    """The number of people for whom each parameter is identified."""
    return {str(name): int(table["identified"].sel(parameter=name).sum()) for name in table["parameter"].values}


def _identified(table: xr.Dataset) -> str:
    n, counts = table.sizes["participant"], _counts(table)
    if min(counts.values()) == n:
        return "Every parameter is identified for everyone: none is at a bound, mostly prior, or trading off with another."
    if n == 1:
        parts = {"identified": [name_of(name) for name, k in counts.items() if k]}
        parts["not identified, and not to be interpreted"] = [name_of(name) for name, k in counts.items() if not k]
        return f"{'; '.join(f'{what}: {joined(names)}' for what, names in parts.items() if names)}.".capitalize()
    said = joined(f"{name_of(name)} {share(k, n)}" for name, k in counts.items())
    weak = [name_of(name) for name, k in counts.items() if k < n / 2]
    text = f"People for whom each parameter is identified, out of {whole(n)}: {said}."
    if weak:
        text += (
            f" For most people {joined(weak)} {plural(len(weak), 'is', 'are')} not: single estimates should not be "
            "interpreted, and differences between people only as far as recovery (below) supports them."
        )
    return text


def _trade_offs(table: xr.Dataset) -> str:
    names = [str(name) for name in table["parameter"].values]
    if len(names) < 2:
        return "There is only one free parameter, so there are no trade-offs."
    values = mean_trade_off(table)
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    strong = sorted((pair for pair in pairs if abs(values[pair]) > FAST), key=lambda pair: -abs(values[pair]))
    if not strong:
        i, j = max(pairs, key=lambda pair: abs(values[pair]))
        return (
            f"No two estimates of a person trade off strongly on average; the largest correlation is that of "
            f"{name_of(names[i])} with {name_of(names[j])}, {fixed(values[i, j])}."
        )
    said = joined(f"{name_of(names[j])} with {name_of(names[i])} ({fixed(values[i, j])})" for i, j in strong)
    return f"By the curvature of the likelihood, estimates of one person trade off on average: {said}."


def _starts(table: xr.Dataset) -> str:
    starts, n = table.sizes["start"], table.sizes["participant"]
    reached = np.rint(table["starts_at_best"].values * starts)
    failed = int((~table["converged"].values.astype(bool)).sum())
    said = "All fits converged." if not failed else f"{counted(failed, 'fit')} of {whole(n)} did not converge."
    if starts == 1:
        return f"Each fit had only one start, so a better point cannot be ruled out. {said}"
    alone = int((reached <= 1).sum())
    doubt = f"for {share(alone, n)} only one did, so a better point cannot be ruled out"
    return (
        f"Of {counted(starts, 'start')} per person, {percent(reached.mean() / starts)} ended within 0.1 units of log "
        f"posterior of the best point; {doubt if alone else 'for everyone at least two did'}. {said}"
    )


def _short(found: Analysis, table: xr.Dataset) -> str:
    n = table.sizes["participant"]
    r2 = fixed(table["pseudo_r2"].mean())
    if n == 1:
        return f"{found.main} explains choices with an R² of {r2}. {_identified(table)}"
    said = joined(f"{name_of(name)} {percent(k / n)}" for name, k in _counts(table).items())
    return f"{found.main} explains choices with a mean R² of {r2}; people for whom each parameter is identified: {said}."


def _pictures(found: Analysis, table: xr.Dataset) -> list[Picture]:
    space = found.fit["space"].to_dataset()
    group = found.fit["group"].to_dataset() if "group" in found.fit.children else None
    caption = (
        f"Estimates of {found.main}. Above, the distribution over people; below, everyone's estimate with its 95 % "
        "interval, sorted, cut off at the edge of the panel. Orange: not identified, because the estimate is at a "
        "bound, is mostly prior, or trades off with another parameter."
    )
    diagnostics = (
        "(a) Correlation between the errors of one person's estimates, averaged over people: far from 0, the choices "
        "determine a combination of two parameters better than each of them. (b) Number of starts of the minimisation "
        "that ended at the best point found."
    )
    return [
        Picture("estimates", draw_estimates(table, space, group), caption, _short(found, table)),
        Picture("diagnostics", draw_diagnostics(table), diagnostics, f"{_trade_offs(table)} {_starts(table)}"),
    ]


def _parameters(table: xr.Dataset) -> Table:
    counts, rows = _counts(table), []
    for name in map(str, table["parameter"].values):
        one = parameter_summary(table, name)
        width, (low, high) = table.sel(parameter=name), one["quartiles"]
        why = "; ".join(f"{reason}: {n}" for reason, n in one["reasons"].items()).replace("_", " ")
        rows.append([
            named(name), plain(one["median"]), interval(low, high),
            interval(np.median(width["low"]), np.median(width["high"])), whole(counts[name]),
            percent(table["variance_left"].sel(parameter=name).median()), why or "–",
        ])  # fmt: skip
    heads = (
        "parameter",
        "median",
        "quartiles",
        "median ends of 95 % intervals",
        "identified",
        "variance left",
        "why not identified",
    )
    return Table("Estimates over people, in natural units", heads, rows, (0, 6))


def _group(found: Analysis) -> list[Table]:
    if "group" not in found.fit.children:
        return []
    group = found.fit["group"].to_dataset()
    rows = [
        (named(str(name)), plain(group["mean"].sel(parameter=name)),
         interval(group["low"].sel(parameter=name), group["high"].sel(parameter=name)))
        for name in group["parameter"].values
    ]  # fmt: skip
    return [Table("The group's distribution, learned from everyone", ("parameter", "centre", "95 % of people"), rows)]


def _notes(found: Analysis) -> list[str]:
    shrunken = found.settings.method == "em" and found.columns.conditions
    return [
        *([SHRUNKEN] if shrunken else []),
        "Intervals are normal on each parameter's own scale (logarithms for positive parameters, log-odds for "
        "shares), from the curvature at the estimate. Identified: number of people; variance left: the median share of "
        "the prior's variance that remains after seeing the choices. An estimate that keeps more than "
        f"{percent(MOST_LEFT)} is hardly informed by the choices. "
        "Recovery (below) measures how well the intervals cover the truth.",
    ]
