"""The comparison of agents: which describes each person best."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab._support.counted import plural
from explorelab.choices.conditions import beside_people
from explorelab.comparison.compare import evidence
from explorelab.plots.comparison_figure import STRONG, draw_comparison, frequency_interval
from explorelab.plots.words import (
    counted,
    fixed,
    is_probability,
    joined,
    percent,
    percents,
    plain,
    probability,
    share,
    whole,
)
from explorelab.report.analysis import Analysis, lead_of_best, most_evidence
from explorelab.report.report_agents import described
from explorelab.report.section import Picture, Section, Table

CRITERION = {"bic": "BIC", "cv": "left-out blocks"}
CLEAR = 0.95


def comparison_section(found: Analysis) -> Section:
    """Evidence, best agents, frequencies and exceedance probabilities."""
    files = {"table_comparison": beside_people(found.people.to_dataframe().reset_index(), found.choices)}
    return Section(
        "comparison",
        "Comparison of agents",
        [each for each in (_how(found), _who(found), _group(found)) if each],
        _short(found),
        [_picture(found)],
        [_totals(found), _models(found)],
        _notes(found),
        files,
    )


def most_frequent(found: Analysis) -> str:
    """The agent with the largest estimated frequency."""
    models = found.compared
    return str(models["model"].values[int(models["frequency"].values.argmax())])


def _log_evidence(found: Analysis) -> xr.DataArray:
    return evidence(found.people, found.settings.criterion)


def _how(found: Analysis) -> str:
    names = joined(found.settings.models)
    if found.settings.criterion == "bic":
        how = (
            "each fitted by maximum likelihood and judged by BIC (−BIC/2 stands in for the log evidence), because "
            "not everyone has several blocks, of which one could be left out"
        )
    else:
        within = f" of the same {found.settings.within}" if found.settings.within else ""
        how = f"each judged by how well it predicts every block from the same person's other blocks{within}"
    return f"{counted(len(found.settings.models), 'agent')} were compared, {how}: {names}."


def _who(found: Analysis) -> str:
    people, models = found.people, found.compared
    n = people.sizes["participant"]
    order = np.argsort(-models["n_best"].values, kind="stable")
    best = {str(models["model"].values[k]): int(models["n_best"].values[k]) for k in order if models["n_best"].values[k]}
    lead = lead_of_best(people, found.settings.criterion)
    if n == 1:
        return (
            f"The only participant is best described by {next(iter(best))}, {plain(lead[0])} units of log evidence ahead of "
            "the next agent; one person says nothing about a group."
        )
    (first, k), *others = best.items()
    said = joined(
        [
            f"{share(k, n)} {plural(k, 'is', 'are')} best described by {first}",
            *(f"{share(m, n)} by {name}" for name, m in others),
        ]
    )
    clear = int((lead > STRONG).sum())
    rest = "; for the others the choices hardly decide" if clear < n else ""
    return (
        f"Of {whole(n)} people, {said}. For {share(clear, n)} the best agent is clearly ahead of the second (by more than "
        f"{STRONG:g} units of log evidence, 20 to 1){rest}."
    )


def _group(found: Analysis) -> str:
    models = found.compared
    if found.people.sizes["participant"] == 1:
        return ""
    risk = float(models["omnibus_risk"])
    name = most_frequent(found)
    low, high = (ends[list(models["model"].values).index(name)] for ends in frequency_interval(models))
    one = models.sel(model=name)
    pxp = float(one["protected_exceedance"])
    told = (
        f"The estimated frequency of {name} among people like these is {percent(one['frequency'])} (95 % "
        f"{percents(low, high)}), its protected exceedance probability {probability(pxp)}"
    )
    if pxp > CLEAR:
        told += ", so it is the most frequent"
    else:
        told += ": no agent is clearly the most frequent"
    told += f" (probability that all frequencies are equal {is_probability(risk).removeprefix('= ')})."
    top = str(models["model"].values[int(models["n_best"].values.argmax())])
    if top != name:
        told += (
            f" It is best for fewer people than {top}, but by more: frequencies weight people by how much their choices say."
        )
    total = most_evidence(found.compared)
    if total != name:
        told += f" All choices together are best described by {total}: it loses less where it is not the best."
    if found.main != total:
        told += f" The parameters reported are those of {found.main}" + (
            ", as requested." if found.settings.agent else f", since {total} has none to report."
        )
    return told


def _short(found: Analysis) -> str:
    models = found.compared
    name, total = most_frequent(found), most_evidence(found.compared)
    if found.people.sizes["participant"] == 1:
        return _who(found)
    one = models.sel(model=name)
    pxp = float(one["protected_exceedance"])
    low, high = (ends[list(models["model"].values).index(name)] for ends in frequency_interval(models))
    it = "it" if name == total else name
    sure = (
        f"{it} is the most frequent among people"
        if pxp > CLEAR
        else f"no agent is clearly the most frequent, although {it} may be"
    )
    return (
        f"By {CRITERION[found.settings.criterion]}, {total} best describes all choices together among "
        f"{counted(len(found.settings.models), 'agent')}; {sure} (estimated frequency {percent(one['frequency'])}, 95 % "
        f"{percents(low, high)}; protected exceedance probability {probability(pxp)})."
    )


def _picture(found: Analysis) -> Picture:
    reference = most_evidence(found.compared)
    caption = (
        f"(a) Log evidence of each agent relative to {reference}, one point per person, sorted: left of the line "
        f"{reference} describes that person better; within the grey band (20 to 1) the difference is small. The axis is "
        "linear up "
        f"to {STRONG:g} and logarithmic beyond. (b) Estimated frequency of each agent with its 95 % interval, and its "
        "protected exceedance probability (pxp)."
    )
    drawing = draw_comparison(_log_evidence(found), found.compared, reference)
    return Picture("comparison", drawing, caption, _who(found))


def _totals(found: Analysis) -> Table:
    models, people = found.compared, found.people
    left_out = "total_nll" in models
    rows = []
    for name in models["model"].values[np.argsort(-models["lost_evidence"].values, kind="stable")].tolist():
        one = models.sel(model=name)
        r2 = 1 + people["log_likelihood"].sel(model=name) / people["chance_nll"]
        cells = [
            name,
            whole(one["n_parameters"]),
            share(int(one["n_best"]), people.sizes["participant"]),
            percent(one["frequency"]),
            probability(one["protected_exceedance"]),
            plain(float(one["lost_evidence"] - models["lost_evidence"].max()), 4),
            whole(one["total_bic"]),
            fixed(r2.mean(), 3),
        ]
        rows.append([*cells, fixed(one["mean_r2"], 3)] if left_out else cells)
    heads = ["agent", "parameters", "best for", "frequency", "pxp", "log evidence", "total BIC", "mean R², fitted"]
    return Table("Agents, in order of evidence", [*heads, "mean R², left out"] if left_out else heads, rows)


def _models(found: Analysis) -> Table:
    from explorelab.plots.words import named
    from explorelab.report.report_agents import free_of

    rows = [
        (
            name,
            described(found.settings.asked[name]),
            ", ".join(named(each) for each in free_of(found.choices, agent)) or "none",
        )
        for name, agent in found.settings.models.items()
    ]
    return Table("What the agents do", ("agent", "what it does", "free parameters"), rows, (0, 1, 2))


def _notes(found: Analysis) -> list[str]:
    notes = [
        "Log evidence: the sum over people, relative to the best agent. Frequency: the estimated share of people whom the "
        "agent describes best, when people may use different agents. pxp: probability of being the most frequent agent, "
        "protected against the possibility that all are equally frequent. R² is McFadden's: 0 means choosing at random.",
    ]
    if found.settings.criterion == "bic":
        notes.append(
            "BIC is a rough approximation with few choices or parameters at their bounds; model recovery below shows how "
            "often it finds the right agent here."
        )
    return notes
