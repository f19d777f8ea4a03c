"""Compare agents for each person and for the group."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Variables
from explorelab._support.door import door
from explorelab._support.work.units import long_work
from explorelab._support.written_numbers import Json
from explorelab.agents import Agent
from explorelab.agents.agent_names import check_together, labelled
from explorelab.agents.factors import Argument
from explorelab.choices.table import Choices
from explorelab.comparison.group import group_selection
from explorelab.comparison.left_out_blocks import check_within, cross_validate
from explorelab.errors import InputError
from explorelab.fitting.criteria import chance_nll, informative, method_for, without_information
from explorelab.fitting.fit_people import check_choices, fit
from explorelab.fitting.fit_summary import silent_people

CRITERIA = ("cv", "bic", "aic")
"""The criteria: prediction of left-out blocks, or an information criterion."""


@door
@long_work
def compare(
    choices: Choices,
    agents: Sequence[str | Agent] | Mapping[str, str | Agent],
    *,
    criterion: str | None = None,
    method: str = "map",
    within: str | None = None,
    fixed: Mapping[str, Mapping[str, Argument]] | None = None,
    n_starts: int = 10,
    seed: int = 0,
    progress: bool | None = None,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> xr.DataTree:
    """Fit several agents to the same people and find which describes each of them best.

    `people` has, over participant and model: log_likelihood, aic, bic and, where people have at least two blocks, nll and r2
    of left-out blocks; `best` is each person's best model. `models` has totals, and random-effects selection on the
    criterion: frequency, exceedance and protected exceedance probability. AIC and BIC come from maximum-likelihood fits.
    People without any choice among several arms are left out; the attribute `without_information` names them.

    Parameters
    ----------
    choices
        People's choices.
    agents
        Agents, or their names, which may fix parameters ("stochastic-ucl:length_scale=0"); a mapping gives them labels.
    criterion
        "cv" (left-out blocks), "bic" or "aic"; by default "cv" where possible, otherwise "bic".
    method
        Fitting method for predicting left-out blocks: "ml", "map" or "em".
    within
        Name of a condition: predict each left-out block only from blocks of the same condition.
    fixed
        Values of parameters that are not estimated, by agent.
    n_starts
        Number of starting points per person.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    executor
        Where the work is done: any object with the interface of `concurrent.futures`, such as `xl.workers(4)` or a Dask
        client's `get_executor()`; by default here. The result does not depend on it.
    resume
        Folder for what is finished, from which a run that was stopped goes on; by default nothing is kept.
    """
    named = _named(agents)
    check_choices(choices)
    silent = without_information(choices)
    # The others would count for the agent with the fewest parameters, although their choices say nothing.
    choices = informative(choices)
    can = bool((np.bincount(choices.participant, minlength=choices.n_participants) > 1).all())
    criterion = criterion if criterion is not None else "cv" if can else "bic"
    checks.one_of("criterion", criterion, dict.fromkeys(CRITERIA, 0))
    check_within(choices, within)
    if within is not None and not can:
        raise InputError("within is for predicting left-out blocks, which needs several blocks from everyone: leave it out.")
    if criterion == "cv" and not can:
        raise InputError("left-out blocks cannot be predicted for people with only one block: use criterion 'bic' or 'aic'.")
    fits, folds = {}, {}
    for name, agent in named.items():
        settings: dict[str, Any] = {
            "fixed": (fixed or {}).get(name),
            "n_starts": n_starts,
            "seed": seed,
            "progress": progress,
        }
        fits[name] = fit(choices, agent, method_for("bic", method), **settings)  # type: ignore[arg-type]
        if can:
            folds[name] = cross_validate(choices, agent, method, within=within, **settings)
    people = _people(choices, fits, folds)
    people["best"] = best_model(people, criterion)
    tree = {"people": people, "models": _models(people, criterion)}
    attrs: Variables = {"without_information": json.dumps(silent)}
    attrs |= {"criterion": criterion, "method": method, "starts": n_starts, "seed": seed, "within": within or ""}
    root = xr.Dataset(attrs={**attrs, "source": choices.source, "versions": next(iter(fits.values())).attrs["versions"]})
    nested = {
        f"/fits/{name}/{group}": node.to_dataset() for name, one in fits.items() for group, node in one.children.items()
    }
    nested |= {f"/folds/{name}": one["folds"].to_dataset() for name, one in folds.items()}
    return xr.DataTree.from_dict({"/": root, **{f"/{name}": group for name, group in tree.items()}, **nested})


def _named(agents: Sequence[str | Agent] | Mapping[str, str | Agent]) -> dict[str, str | Agent]:
    named = labelled(agents)
    if len(named) < 2:
        raise InputError(f"a comparison needs at least 2 different agents, got {', '.join(named) or 'none'}.")
    check_together(named.values())
    return named


def _people(choices: Choices, fits: Mapping[str, xr.DataTree], folds: Mapping[str, xr.DataTree]) -> xr.Dataset:
    estimates = {name: tree["estimates"].to_dataset() for name, tree in fits.items()}

    def stacked(values: list[np.ndarray]) -> tuple[tuple[str, str], np.ndarray]:
        return ("participant", "model"), np.stack(values, axis=1)

    variables: Variables = {
        name: stacked([e[name].values for e in estimates.values()]) for name in ("log_likelihood", "aic", "bic")
    }
    variables["n_parameters"] = ("model", [e.sizes["parameter"] for e in estimates.values()])
    variables["n_choices"] = ("participant", choices.n_scored)
    variables["chance_nll"] = ("participant", chance_nll(choices))
    for name in ("nll", "nll_averaged", "r2", "r2_averaged") if folds else ():
        by_name = [f["people"].to_dataset()[name].sel(participant=list(choices.participants)).values for f in folds.values()]
        variables[name] = stacked(by_name)
    return xr.Dataset(variables, {"participant": list(choices.participants), "model": list(fits)})


def evidence(people: xr.Dataset, criterion: str) -> xr.DataArray:
    """Log evidence of every model for every person: minus half of AIC or BIC, or the log-likelihood of left-out blocks."""
    return -people["nll"] if criterion == "cv" else -people[criterion] / 2


def best_model(people: xr.Dataset, criterion: str) -> xr.DataArray:
    """The model with the most evidence for each person; if tied, the one with fewer parameters."""
    order = np.argsort(people["n_parameters"].values, kind="stable")
    ordered = evidence(people, criterion).isel(model=order)
    return ordered["model"][ordered.argmax("model")].drop_vars("model")


def _models(people: xr.Dataset, criterion: str) -> xr.Dataset:
    log_evidence = evidence(people, criterion)
    group = group_selection(log_evidence)
    result = group[["frequency", "alpha", "exceedance", "protected_exceedance", "omnibus_risk"]]
    result = result.assign({f"total_{name}": people[name].sum("participant") for name in ("log_likelihood", "aic", "bic")})
    if "nll" in people:
        result = result.assign(
            total_nll=people["nll"].sum("participant"),
            mean_r2=people["r2"].mean("participant"),
            mean_r2_averaged=people["r2_averaged"].mean("participant"),
        )
    result["n_best"] = ("model", [int((people["best"] == name).sum()) for name in people["model"].values])
    result["n_parameters"] = people["n_parameters"]
    difference = log_evidence - log_evidence.max("model")
    result["lost_evidence"] = difference.sum("participant")
    return result


def comparison_summary(tree: xr.DataTree) -> dict[str, Json]:
    """A comparison as one JSON object."""
    models = tree["models"].to_dataset()
    return {
        "criterion": tree.attrs["criterion"],
        "without_information": silent_people(tree),
        "omnibus_risk": float(models["omnibus_risk"]),
        "models": {
            str(name): {
                str(key): value.item() for key, value in models.sel(model=name).data_vars.items() if key != "omnibus_risk"
            }
            for name in models["model"].values
        },
        "best": dict(
            zip(
                map(str, tree["people"].to_dataset()["participant"].values.tolist()),
                map(str, tree["people"].to_dataset()["best"].values.tolist()),
                strict=True,
            )
        ),
    }
