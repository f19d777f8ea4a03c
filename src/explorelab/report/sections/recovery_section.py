"""Recovery: whether the design can tell parameters and agents apart, from simulated people with known parameters."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab.plots.recovery_figures import draw_models, draw_recovery
from explorelab.plots.words import counted, fixed, joined, name_of, named, percent, percents, share
from explorelab.report.analysis import Analysis
from explorelab.report.section import Picture, Section, Table, left_out

KEY, TITLE = "recovery", "Recovery of parameters and agents"
WELL, POORLY = 0.8, 0.5
"""Rank correlations from which a parameter is recovered well, and below which it is recovered poorly."""
ALIKE = 0.3
"""Rank correlation of two true parameters beyond which it is mentioned."""


def recovery_section(found: Analysis) -> Section:
    """True and estimated parameters, and which agent is mistaken for which."""
    if found.recovery is None and found.models is None:
        return left_out(KEY, TITLE, found.missing["recovery"])
    lead, short, pictures, tables, files = [], [], [], [], {}
    if found.recovery is not None:
        lead += [_parameters(found, found.recovery)]
        short.append(_short_parameters(found.recovery))
        pictures.append(_recovery_picture(found, found.recovery))
        tables.append(_recovery_table(found.recovery))
        files["table_recovery"] = found.recovery[["true", "estimate", "low", "high", "covered"]].to_dataframe().reset_index()
    else:
        lead.append(f"Recovery of parameters is left out: {found.missing['recovery']}")
    if found.models is not None:
        lead.append(_models(found.models))
        short.append(_short_models(found.models))
        pictures.append(_models_picture(found.models))
        files["table_model_recovery"] = found.models[["count", "confusion", "inversion"]].to_dataframe().reset_index()
    else:
        lead.append(f"Recovery of agents is left out: {found.missing['models']}")
    return Section(KEY, TITLE, lead, " ".join(short), pictures, tables, _notes(found), files)


def _grades(result: xr.Dataset) -> dict[str, list[str]]:
    grades: dict[str, list[str]] = {"well": [], "fairly": [], "poorly": []}
    for name in map(str, result["parameter"].values):
        rank = float(result["rank_correlation"].sel(parameter=name))
        grades["well" if rank >= WELL else "fairly" if rank >= POORLY else "poorly"].append(
            f"{name_of(name)} (ρ = {fixed(rank)})"
        )
    return grades


def _parameters(found: Analysis, result: xr.Dataset) -> str:
    grades = _grades(result)
    truth = (
        "with parameters drawn from the prior, since so few people would hardly differ"
        if found.few
        else "with the estimates of the people above as their true parameters"
    )
    said = joined(f"{joined(names)} {grade}" for grade, names in grades.items() if names)
    covered = {name_of(str(name)): percent(result["coverage"].sel(parameter=name)) for name in result["parameter"].values}
    (first, most), *others = covered.items()
    coverage = joined([f"{most} of cases for {first}", *(f"{value} for {name}" for name, value in others)])
    text = (
        f"{counted(int(result.attrs['n']), 'person', 'people')} were simulated on the same blocks {truth}, and fitted in "
        f"the same way. Rank correlations of true and estimated values show how well each is recovered: {said}. The "
        f"95 % intervals contain the truth in {coverage}."
    )
    if grades["poorly"]:
        weak = joined(name.split(" (")[0] for name in grades["poorly"])
        text += f" Differences between people in {weak} should not be interpreted from fits like these."
    return text


def _short_parameters(result: xr.Dataset) -> str:
    said = joined(
        f"{name_of(str(name))} {fixed(result['rank_correlation'].sel(parameter=name))}"
        for name in result["parameter"].values
    )
    return f"Simulated people's parameters are recovered with rank correlations of {said}."


def _diagonal(result: xr.Dataset) -> np.ndarray:
    return np.diagonal(result["confusion"].transpose("generated", "fitted").values)


def _models(result: xr.Dataset) -> str:
    names = [str(name) for name in result["generated"].values]
    confusion = result["confusion"].transpose("generated", "fitted").values
    n = int(result.attrs["n"])
    right = int(np.rint(np.diagonal(confusion) * n).sum())
    said = joined(f"{name} {percent(value)}" for name, value in zip(names, np.diagonal(confusion), strict=True))
    off = confusion - np.diag(np.diagonal(confusion))
    i, j = np.unravel_index(off.argmax(), off.shape)
    text = (
        f"Each agent also simulated {counted(n, 'person', 'people')} at parameters fitted here, and all "
        "agents were fitted to each of them. The agent that made the choices came out best in "
        f"{share(right, n * len(names))} of {counted(n * len(names), 'case')}: {said}."
    )
    if off.max() > 0:
        text += f" The most frequent mistake is {names[j]} for {names[i]}, in {percent(off.max())} of its people."
    own = np.diagonal(result["inversion"].transpose("generated", "fitted").values)
    if np.isfinite(own).any():
        trust = joined(f"{name} {percent(value)}" for name, value in zip(names, own, strict=True) if np.isfinite(value))
        text += (
            " Conversely, if an agent comes out best for a person, the probability that it is the true one (all being "
            f"equally likely beforehand) is: {trust}."
        )
    return text


def _short_models(result: xr.Dataset) -> str:
    return f"The right agent is found for {percent(_diagonal(result).mean())} of simulated people."


def _recovery_picture(found: Analysis, result: xr.Dataset) -> Picture:
    caption = (
        "True and estimated parameters of simulated people, with 95 % intervals (orange where they miss the truth) and rank "
        "correlation ρ; rank correlations of each true parameter with each estimate; rank correlations and coverage with "
        "their 95 % intervals (dotted: 95 %)."
    )
    return Picture("recovery", draw_recovery(result), caption, _short_parameters(result))


def _models_picture(result: xr.Dataset) -> Picture:
    caption = (
        "Model recovery, in per cent: (a) how often each agent (column) is best for people simulated by each agent (row); "
        "(b) how likely each agent (row) is the true one, given the best agent (column)."
    )
    return Picture("model_recovery", draw_models(result), caption, _short_models(result))


def _recovery_table(result: xr.Dataset) -> Table:
    rows = []
    for name in map(str, result["parameter"].values):
        one = result.sel(parameter=name)
        scale = "" if one["scale"].item() == "real" else f" ({one['scale'].item()})"
        rows.append([
            f"{named(name)}{scale}",
            f"{fixed(one['rank_correlation'])} ({fixed(one['rank_low'])} to {fixed(one['rank_high'])})",
            fixed(one["bias"]), fixed(one["rmse"]),
            f"{percent(one['coverage'])} ({percents(one['coverage_low'], one['coverage_high'])})",
            percent(one["share_at_bound"]),
        ])  # fmt: skip
    heads = (
        "parameter (scale)",
        "rank correlation (95 %)",
        "bias",
        "r.m.s. error",
        "coverage (95 %)",
        "at a bound",
    )
    return Table("Recovery of parameters; bias and error on the parameter's own scale", heads, rows)


def _notes(found: Analysis) -> list[str]:
    at = "at plausible parameters" if found.few else "at people's estimated parameters"
    notes = [
        f"A rank correlation of {WELL:g} or more counts as well, {POORLY:g} to {WELL:g} as fairly, less as poorly. It "
        "may rest on kinds of people who are far apart: the scatter plot shows whether people of one kind can be told "
        f"apart too. Recovery is measured {at}."
    ]
    if found.recovery is not None:
        notes += _between(found.recovery)
    if found.models is not None and found.settings.within:
        notes.append(
            "Left-out blocks of simulated people are predicted from all their other blocks, not only from those of one "
            f"{found.settings.within}."
        )
    return notes


def _between(result: xr.Dataset) -> list[str]:
    """How to read correlations between different parameters."""
    true = result["true_correlation"].transpose("parameter", "parameter_2").values
    names = [name_of(str(name)) for name in result["parameter"].values]
    pairs = [(i, j) for i in range(len(names)) for j in range(i) if np.isfinite(true[i, j])]
    if not pairs:
        return []
    text = "Off the diagonal, a correlation of a true parameter with the estimate of another means that one is mistaken "
    text += "for the other"
    i, j = max(pairs, key=lambda pair: abs(true[pair]))
    if abs(true[i, j]) < ALIKE:
        return [f"{text}."]
    return [
        f"{text}, unless the true values are themselves correlated, as here: most of all {names[j]} and {names[i]}, with "
        f"ρ = {fixed(true[i, j])} among true values."
    ]
