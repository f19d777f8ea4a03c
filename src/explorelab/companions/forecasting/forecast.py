"""Forecasts of unseen people, one choice ahead.

People are divided into folds; the group is learned on the others, and each choice is predicted from the group and from what
the person did before. Beside the companion stand two that know less: the group alone, which never learns about the person,
and a table of how far others moved, without persons or beliefs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.counted import counted
from explorelab._support.door import door
from explorelab._support.work import units
from explorelab._support.work.units import long_work
from explorelab.agents import Agent
from explorelab.choices.table import Choices
from explorelab.companions.forecasting.by_points import foreseen_by_points
from explorelab.companions.forecasting.folds import cut_out, folds_of_people, request_for, scenes_of_folds
from explorelab.companions.forecasting.foreseen import Foreseen
from explorelab.companions.forecasting.moves_table import moves_table
from explorelab.companions.posterior import Settings
from explorelab.companions.scene import Scene
from explorelab.errors import InputError
from explorelab.fitting.criteria import chance_nll, informative, share_foreseen
from explorelab.fitting.fit_people import check_choices
from explorelab.fitting.likelihood import blocks_of
from explorelab.fitting.search.batches import single_threaded_algebra
from explorelab.fitting.search.best import rows_of_each

IN_SPACE, WITHOUT_PLACES = "roving-ucl", "restless-kalman+stay+lapse"
"""Agents of forecasts if none is named. The second holds for means that stay and for means that change."""


@door
@long_work
def forecast(
    choices: Choices,
    agent: str | Agent | None = None,
    *,
    n_folds: int = 10,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    space: Mapping[str, Mapping[str, Any]] | None = None,
    n_points: int = 256,
    n_starts: int = 2,
    seed: int = 0,
    progress: bool | None = None,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """How well each choice of people never seen before is predicted, one step ahead.

    Over row and trial: `log_prob`, from the group and the person's own earlier choices; `log_prob_group`, from the group
    alone; `log_prob_table`, from how far others moved. NaN where nothing was chosen freely. Over participant and over trial:
    the means in nats a choice (`nats`, `nats_group`, `nats_table`) and `r2` = 1 - nats / chance. Over bin: `predicted` and
    `observed` frequencies, for calibration. Attributes hold the totals.

    Each person's posterior before every choice is carried by points that are drawn once: from the group, and around the most
    probable parameters after growing numbers of their choices. The points only say where to look; they are weighed by the
    group and the earlier choices alone, so that the forecasts are exact up to their Monte Carlo error. `n_effective`, over
    row and trial, is the effective number of points after each trial. Wherever it is below a tenth of `n_points`, more are
    drawn; if that does not help, a live companion follows the person instead (attribute `n_replayed`: for how many).

    Parameters
    ----------
    choices
        People's choices.
    agent
        Agent or its name; by default "roving-ucl" or, where arms have no places, "restless-kalman+stay+lapse".
    n_folds
        Number of folds; the group of a fold is learned by empirical Bayes from everyone outside it.
    free, fixed, space
        Which parameters to estimate, which values to fix, and where to search, as in `fit`.
    n_points
        Number of points from the group, and from around each of several posteriors of a person.
    n_starts
        Number of starting points per person, for the minimum at which they enter the groups' fits.
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
    check_choices(choices)
    choices = informative(choices)
    agent = usual_agent(choices) if agent is None else agent
    n_people = choices.n_participants
    n_folds = checks.whole("n_folds", n_folds, at_least=2, at_most=checks.MANY)
    if n_people - -(-n_people // min(n_folds, n_people)) < 2:
        there = counted(n_people, "person", "people")
        raise InputError(f"a forecast learns the group from at least 2 others, but there are only {there}.")
    settings = Settings(
        "laplace", checks.whole("n_points", n_points, at_least=8, at_most=2**20), checks.whole("seed", seed, at_least=0)
    )
    fold = folds_of_people(n_people, min(n_folds, n_people), seed)
    n_starts = checks.whole("n_starts", n_starts, at_least=1, at_most=checks.MANY)
    request = request_for(choices, agent, free, fixed, space, n_starts, seed)
    scenes, settled = scenes_of_folds(request, fold, progress)
    told = _told(choices, scenes, fold, settings, progress)
    table = np.full(choices.arm.shape, np.nan)
    for number in range(fold.max() + 1):
        own = fold[choices.participant] == number
        table[own] = moves_table(choices.rows(~own), choices)[own]
    attrs = {
        "agent": scenes[0].agent.name,
        "n_parameters": len(scenes[0].space),
        "n_folds": len(scenes),
        "seed": seed,
        "converged": int(settled),
    }
    return _result(choices, told, table, fold, attrs)


def usual_agent(choices: Choices) -> str:
    """The agent that foretells people's choices best, as far as is known, of those that can play where they did."""
    return IN_SPACE if choices.layout.places is not None else WITHOUT_PLACES


def _told(
    choices: Choices, scenes: list[Scene], fold: np.ndarray, settings: Settings, progress: bool | None
) -> list[Foreseen]:
    """Predictions of everyone, by what is expected of the people in their fold."""
    each = rows_of_each(choices)
    most = max(len(rows) for rows in each)
    people = [(cut_out(choices, rows), scenes[fold[who]], most, settings) for who, rows in enumerate(each)]
    with single_threaded_algebra():
        told = list(units.results(_one_told, people, "forecasting", progress, first_alone=True))
    return [one._replace(rows=rows) for one, rows in zip(told, each, strict=True)]


def _one_told(choices: Choices, scene: Scene, most: int, settings: Settings) -> Foreseen:
    """Predictions of the one person there is."""
    return foreseen_by_points(choices, blocks_of(choices), scene, np.arange(choices.n_rows), most, settings)


def _result(
    choices: Choices, told: list[Foreseen], table: np.ndarray, fold: np.ndarray, attrs: dict[str, Any]
) -> xr.Dataset:
    log_prob, group, effective = (np.full(choices.arm.shape, np.nan) for _ in range(3))
    for one in told:
        log_prob[one.rows], group[one.rows], effective[one.rows] = one.personal, one.group, one.n_effective
    n, predicted, came_true = np.sum([one.counts for one in told], axis=0)
    chance = chance_nll(choices)
    each = {"": log_prob, "_group": group, "_table": table}
    variables: dict[str, Any] = {}
    for ending, values in each.items():
        variables[f"log_prob{ending}"] = (("row", "trial"), values)
        lost = -np.nansum(values, axis=1)
        of_person = np.bincount(choices.participant, lost, choices.n_participants)
        variables[f"nats{ending}"] = ("participant", of_person / choices.n_scored)
        variables[f"r2{ending}"] = ("participant", share_foreseen(of_person, chance))
        variables[f"nats_by_trial{ending}"] = ("trial", _mean_by_trial(values))
        attrs |= _totals(of_person, choices.n_scored, chance, ending)
    with np.errstate(invalid="ignore"):
        variables |= {"predicted": ("bin", predicted / n), "observed": ("bin", came_true / n), "n_predictions": ("bin", n)}
    variables["n_effective"] = (("row", "trial"), effective)
    attrs |= {
        "n_people": choices.n_participants,
        "n_choices": int(choices.scored.sum()),
        "source": choices.source,
        "n_effective_5_percent": float(np.nanquantile(effective, 0.05)),
        "n_effective_least": float(np.nanmin(effective)),
        "n_replayed": sum(one.replayed for one in told),
    }
    coords = {
        "participant": list(choices.participants),
        "fold": ("participant", fold),
        "who": ("row", np.asarray(choices.participants)[choices.participant]),
        "block": ("row", choices.block),
        "trial": np.arange(1, choices.n_trials + 1),
    }
    return xr.Dataset(variables, coords, attrs)


def _mean_by_trial(log_prob: np.ndarray) -> np.ndarray:
    n = np.isfinite(log_prob).sum(0)
    return np.where(n > 0, -np.nansum(log_prob, axis=0) / np.maximum(n, 1), np.nan)


def _totals(lost: np.ndarray, n: np.ndarray, chance: np.ndarray, ending: str) -> dict[str, float]:
    """Nats a choice over all choices, its standard error over people, and R2 as the mean over people."""
    nats = lost.sum() / n.sum()
    error = np.sqrt((((lost - nats * n) ** 2).sum()) / max(len(n) - 1, 1) * len(n)) / n.sum()
    return {
        f"nats_per_choice{ending}": float(nats),
        f"nats_standard_error{ending}": float(error),
        f"r2{ending}": float(np.nanmean(share_foreseen(lost, chance))),
    }
