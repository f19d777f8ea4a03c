"""Everyone in a file of choices, replayed trial by trial by a companion who meets them for the first time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from explorelab._support import checks
from explorelab._support.door import door
from explorelab._support.parallel import cores, in_order
from explorelab._support.progress import Progress
from explorelab._support.written_numbers import JsonObject, finite_or_none
from explorelab.agents import Agent
from explorelab.choices.table import NOWHERE, Choices
from explorelab.companions.assessment.one_person import Assessment, assessed
from explorelab.companions.assessment.rest_of_block import LABELS
from explorelab.companions.assessment.weaknesses import WEAKNESSES, Weakness
from explorelab.companions.live import Companion, begun, observed, started
from explorelab.companions.past import past_blocks
from explorelab.companions.posterior import Settings
from explorelab.companions.scene import scene_of
from explorelab.errors import InputError
from explorelab.fitting.fit_people import check_choices
from explorelab.fitting.likelihood import positions
from explorelab.fitting.search.batches import single_threaded_algebra
from explorelab.fitting.search.best import rows_of_each
from explorelab.regret.forms import FORMS, NONE
from explorelab.regret.forms_fast import best_forms
from explorelab.regret.observed import HOW_TO_TELL, noise_var_of, observed_regret
from explorelab.tasks import Task, gaussian_noise
from explorelab.tasks.graphs import Moves

BETWEEN = ("regret_to_come", "regret_if_advised")
"""Known on assessed trials only."""


class Replayed(NamedTuple):
    """One person's trials (own rows x trial) as the companion saw them."""

    rows: np.ndarray
    ends: np.ndarray
    """estimate, low and high (3) x row x trial x parameter, after each trial."""
    probability: np.ndarray
    """Of the choice made, before it."""
    forms: np.ndarray
    """row x trial x form."""
    regrets: np.ndarray
    """To come: as they go on, and advised (2) x row x trial."""
    weaknesses: dict[str, Weakness]


@door
def assess(
    choices: Choices,
    agent: str | Agent | None = None,
    group: xr.DataTree | None = None,
    *,
    every: int = 5,
    n_points: int = 256,
    n_futures: int = 128,
    seed: int = 0,
    progress: bool | None = None,
) -> xr.Dataset:
    """What a companion would have known of everyone, trial by trial.

    Over row (a block), trial and parameter: `estimate` with its 95 % interval `low` to `high`, after the trial. Over row and
    trial: `probability` of the choice made, predicted from the earlier ones (NaN where nothing was chosen freely), and
    `observed_regret`. On assessed trials, NaN between them: `form_probability` of each form of regret at the end of the
    block, `regret_to_come` if the person goes on as they do, and `regret_if_advised`. Over row: the `label` of the whole
    curve. Over participant: `nats` a choice, and over weakness `weakness_probability`, `weakness_cost` (expected regret that
    it costs in a block) and a sentence, `weakness`, after the last trial.

    Parameters
    ----------
    choices
        People's choices, with known mean rewards.
    agent
        Agent that models them, or its name; by default the group's, or "stochastic-ucl".
    group
        Fit of the agent to other people by "em", "bayes" or "nuts"; None for the weak prior of `fit`.
    every
        Assess every so many trials, and the last one of each block; parameters are estimated after every trial.
    n_points
        Number of points that carry each person's posterior.
    n_futures
        Number of simulated continuations per assessment.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    check_choices(choices)
    settings = Settings(
        "laplace", checks.whole("n_points", n_points, at_least=8, at_most=2**20), checks.whole("seed", seed, at_least=0)
    )
    every = checks.whole("every", every, at_least=1, at_most=checks.MANY)
    n_futures = checks.whole("n_futures", n_futures, at_least=2, at_most=2**20)
    tasks = tasks_of(choices)
    alone = begun(scene_of(choices, agent, group), settings, choices.n_trials, tasks[0])
    each = rows_of_each(choices)
    results = in_order(lambda own: _replayed(choices, alone, tasks, own, every, n_futures), each, cores(), first_alone=True)
    done = []
    with single_threaded_algebra(), Progress("assessing", len(each), progress) as bar:
        for result in results:
            done.append(result)
            bar.advance()
    attrs = {"agent": alone.scene.agent.name, "every": every, "n_points": n_points, "n_futures": n_futures, "seed": seed}
    return _result(choices, alone, done, attrs)


def tasks_of(choices: Choices) -> list[Task]:
    """The task of each row; rows of the same landscape share one."""
    if choices.means is None or np.isnan(choices.means).any():
        raise InputError(f"an assessment needs the true mean rewards, but not all are known: {HOW_TO_TELL}.")
    if choices.means_change:
        raise InputError("an assessment needs means that are fixed within a block, but these change from trial to trial.")
    noise, moves = gaussian_noise(noise_var_of(choices)), _moves_of(choices)
    known: dict[bytes, Task] = {}
    for means in choices.means:
        task = Task(means.astype(np.float64), noise, choices.layout.name, choices.layout.places, moves)
        known.setdefault(means.tobytes(), task)
    return [known[means.tobytes()] for means in choices.means]


def _moves_of(choices: Choices) -> Moves | None:
    """Which arms were ever on offer at each arm; None if all were. Where nobody stood, any may follow."""
    if choices.available is None:
        return None
    n_arms, at = choices.layout.n_arms, positions(choices)
    there = choices.present & (at != NOWHERE)
    allowed = np.zeros((n_arms, n_arms), bool)
    np.logical_or.at(allowed, at[there], choices.available[there])
    allowed[~allowed.any(1)] = True
    if allowed.all():
        return None
    # One step at a time: nobody walks to arms that are not on offer.
    return Moves(np.tile(np.arange(n_arms), (n_arms, 1)), np.where(allowed, 1.0, np.inf), weighted=False)


def _replayed(
    choices: Choices, mind: Companion, tasks: list[Task], rows: np.ndarray, every: int, n_futures: int
) -> Replayed:
    shape = len(rows), choices.n_trials
    ends = np.full((3, *shape, len(mind.scene.space)), np.nan)
    probability, regrets = np.full(shape, np.nan), np.full((2, *shape), np.nan)
    forms = np.full((*shape, len(LABELS)), np.nan)
    landscapes = tuple(dict.fromkeys(tasks))
    for b, (start, trials) in enumerate(past_blocks(choices, rows)):
        mind = replace(started(mind, b, start), task=tasks[rows[b]], horizon=max(len(trials), 1))
        for t, trial in enumerate(trials):
            if trial.scored:
                probability[b, t] = mind.predict(trial.available)[trial.arm]
            mind = observed(mind, trial)
            now = mind.estimates
            ends[:, b, t] = [now[name].values for name in ("estimate", "low", "high")]
            if (t + 1) % every == 0 or t + 1 == len(trials):
                found = assessed(mind, landscapes, n_futures, with_weaknesses=False)
                forms[b, t], regrets[:, b, t] = _numbers(found)
    last = assessed(mind, landscapes, 2).weaknesses
    return Replayed(rows, ends, probability, forms, regrets, last)


def _numbers(found: Assessment) -> tuple[list[float], list[float]]:
    return [found.phenotype[label] for label in LABELS], [found.regret_to_come, found.regret_if_advised]


def _result(choices: Choices, mind: Companion, done: Sequence[Replayed], attrs: dict[str, Any]) -> xr.Dataset:
    shape, names = choices.arm.shape, list(mind.scene.names)
    ends, forms = np.full((3, *shape, len(names)), np.nan), np.full((*shape, len(LABELS)), np.nan)
    probability, regrets = np.full(shape, np.nan), np.full((2, *shape), np.nan)
    for one in done:
        ends[:, one.rows], probability[one.rows] = one.ends, one.probability
        forms[one.rows], regrets[:, one.rows] = one.forms, one.regrets
    regret = observed_regret(choices).values
    over, kinds = ("row", "trial"), [name for name in WEAKNESSES if name in done[0].weaknesses]
    shown = [[one.weaknesses[kind] for kind in kinds] for one in done]
    nats = [-np.nanmean(np.log(one.probability)) if np.isfinite(one.probability).any() else np.nan for one in done]
    return xr.Dataset(
        {
            **{name: ((*over, "parameter"), ends[k]) for k, name in enumerate(("estimate", "low", "high"))},
            "probability": (over, probability),
            "observed_regret": (over, regret),
            "form_probability": ((*over, "form"), forms),
            **{name: (over, regrets[k]) for k, name in enumerate(BETWEEN)},
            "label": ("row", _labels(regret)),
            "nats": ("participant", np.array(nats)),
            "weakness_probability": (("participant", "weakness"), _table(shown, "probability", float)),
            "weakness_cost": (("participant", "weakness"), _table(shown, "cost", float)),
            "weakness_sentence": (("participant", "weakness"), _table(shown, "sentence", str)),
        },
        {
            "participant": list(choices.participants),
            "who": ("row", np.asarray(choices.participants)[choices.participant]),
            "block": ("row", choices.block),
            "trial": np.arange(1, choices.n_trials + 1),
            "parameter": names,
            "form": list(LABELS),
            "weakness": kinds,
        },
        attrs | {"source": choices.source, "note": choices.note, "n_people": choices.n_participants},
    )


def _table(shown: list[list[Weakness]], field: str, kind: type) -> np.ndarray:
    return np.array([[getattr(each, field) for each in row] for row in shown], kind).reshape(len(shown), -1)


def _labels(regret: np.ndarray) -> np.ndarray:
    """The form of each row's whole curve."""
    found = [int(best_forms(curve[None, np.isfinite(curve)], "raw")[0]) if np.isfinite(curve).any() else -1
             for curve in regret]  # fmt: skip
    return np.array([NONE if k < 0 else FORMS[k] for k in found])


def people_table(found: xr.Dataset) -> pd.DataFrame:
    """One row per person: parameters after the last trial, regret and its form in each block, and weaknesses."""
    rows = []
    for number, name in enumerate(found["participant"].values):
        own = found.isel(row=np.flatnonzero(found["who"].values == name))
        last = own.isel(row=-1)
        end = int(np.flatnonzero(np.isfinite(last["observed_regret"].values))[-1])
        regret = [curve[np.isfinite(curve)] for curve in own["observed_regret"].values]
        row: dict[str, Any] = {"participant": str(name), "n_blocks": own.sizes["row"]}
        row |= {"n_trials": sum(map(len, regret)), "nats": float(found["nats"][number])}
        row["regret_per_choice"] = sum(curve[-1] for curve in regret) / row["n_trials"]
        row |= {f"n_{form}": int((own["label"].values == form).sum()) for form in LABELS}
        for parameter in found["parameter"].values:
            at = last.isel(trial=end).sel(parameter=parameter)
            row |= {f"{parameter}{_suffix(part)}": float(at[part]) for part in ("estimate", "low", "high")}
        for kind in found["weakness"].values:
            one = found.isel(participant=number).sel(weakness=kind)
            row[str(kind).replace(" ", "_")] = float(one["weakness_probability"])
            row[f"cost_of_{str(kind).replace(' ', '_')}"] = float(one["weakness_cost"])
        rows.append(row)
    return pd.DataFrame(rows)


def _suffix(part: str) -> str:
    return "" if part == "estimate" else f"_{part}"


def trials_table(found: xr.Dataset) -> pd.DataFrame:
    """One row per trial: what was known after it."""
    parts = {"participant": found["who"], "block": found["block"]}
    n_rows, n_trials = found["probability"].shape
    table = {name: np.repeat(values.values, n_trials) for name, values in parts.items()}
    table["trial"] = np.tile(found["trial"].values, n_rows)
    for name in ("probability", "observed_regret", *BETWEEN):
        table[name] = found[name].values.ravel()
    table |= {f"probability_{form}": found["form_probability"].sel(form=form).values.ravel() for form in LABELS}
    for parameter in found["parameter"].values:
        for part in ("estimate", "low", "high"):
            table[f"{parameter}{_suffix(part)}"] = found[part].sel(parameter=parameter).values.ravel()
    return pd.DataFrame(table)[np.isfinite(found["observed_regret"].values.ravel())]


def assessment_summary(found: xr.Dataset) -> JsonObject:
    """The whole group, for programs: how regret ended, how well choices were predicted, and how common each weakness is."""
    labels, probability = found["label"].values, found["probability"].values
    weaknesses = {}
    for name in found["weakness"].values:
        one = found.sel(weakness=name)
        has = one["weakness_probability"].values > 0.5
        mean_cost = float(one["weakness_cost"].values[has].mean()) if has.any() else None
        share = float(one["weakness_probability"].mean())
        weaknesses[str(name)] = {"share": share, "n_probable": int(has.sum()), "mean_cost": mean_cost}
    return {
        "agent": found.attrs["agent"],
        "n_people": found.sizes["participant"],
        "n_blocks": found.sizes["row"],
        "nats_per_choice": finite_or_none(-np.log(probability[np.isfinite(probability)]).mean()),
        "forms": {form: int((labels == form).sum()) for form in LABELS},
        "weaknesses": weaknesses,
    }
