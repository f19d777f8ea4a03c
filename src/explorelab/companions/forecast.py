"""Forecasts of unseen people, one choice ahead.

People are divided into folds; the group is learned on the others, and each choice is predicted from the group and from what
the person did before. Beside the companion stand two that know less: the group alone, which never learns about the person,
and a table of how far others moved, without persons or beliefs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr
from scipy.special import logsumexp

from explorelab._support import checks
from explorelab._support.counted import counted
from explorelab._support.door import door
from explorelab._support.parallel import cores, in_order
from explorelab._support.progress import Progress
from explorelab.agents import Agent
from explorelab.choices.table import NOWHERE, Choices
from explorelab.companions import points as compiled
from explorelab.companions.live import Companion, begun
from explorelab.companions.past import Trial, past_blocks
from explorelab.companions.posterior import Settings
from explorelab.companions.scene import Scene, scene_of
from explorelab.errors import InputError
from explorelab.fitting.criteria import chance_nll, informative, share_foreseen
from explorelab.fitting.fit_people import check_choices, fit
from explorelab.fitting.likelihood import blocks_of, positions
from explorelab.fitting.search.batches import single_threaded_algebra
from explorelab.fitting.search.best import rows_of_each

EDGES = np.concatenate([[0.0], np.geomspace(0.001, 1.0, 16)])
"""Bins of predicted probabilities, for calibration."""


class Foreseen(NamedTuple):
    """What was predicted of one person; rows of the choices x trial."""

    rows: np.ndarray
    personal: np.ndarray
    """Log-probability of each choice, from the person's own earlier ones."""
    group: np.ndarray
    """The same from the group alone."""
    counts: np.ndarray
    """Calibration: for each bin, the number of predictions, their sum, and how many came true."""
    n_effective: np.ndarray
    """Effective number of points after each trial."""


@door
def forecast(
    choices: Choices,
    agent: str | Agent = "roving-ucl",
    *,
    n_folds: int = 10,
    free: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    space: Mapping[str, Mapping[str, Any]] | None = None,
    n_points: int = 256,
    n_starts: int = 2,
    seed: int = 0,
    progress: bool | None = None,
) -> xr.Dataset:
    """How well each choice of people never seen before is predicted, one step ahead.

    Over row and trial: `log_prob`, from the group and the person's own earlier choices; `log_prob_group`, from the group
    alone; `log_prob_table`, from how far others moved. NaN where nothing was chosen freely. Over participant and over trial:
    the means in nats a choice (`nats`, `nats_group`, `nats_table`) and `r2` = 1 - nats / chance. Over bin: `predicted` and
    `observed` frequencies, for calibration. Attributes hold the totals.

    Parameters
    ----------
    choices
        People's choices.
    agent
        Agent or its name.
    n_folds
        Number of folds; the group of a fold is learned by "em" from everyone outside it.
    free, fixed, space
        Which parameters to estimate, which values to fix, and where to search, as in `fit`.
    n_points
        Number of points that carry each person's posterior.
    n_starts
        Number of starting points per person in the group's fit.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    check_choices(choices)
    choices = informative(choices)
    n_people = choices.n_participants
    n_folds = checks.whole("n_folds", n_folds, at_least=2, at_most=checks.MANY)
    if n_people - -(-n_people // min(n_folds, n_people)) < 2:
        there = counted(n_people, "person", "people")
        raise InputError(f"a forecast learns the group from at least 2 others, but there are only {there}.")
    settings = Settings(
        "laplace", checks.whole("n_points", n_points, at_least=8, at_most=2**20), checks.whole("seed", seed, at_least=0)
    )
    fold = folds_of_people(n_people, min(n_folds, n_people), seed)
    told: list[Foreseen] = []
    table = np.full(choices.arm.shape, np.nan)
    for number in range(fold.max() + 1):
        others = choices.rows(fold[choices.participant] != number)
        group = fit(
            others, agent, "em", free=free, fixed=fixed, space=space, n_starts=n_starts, seed=seed, progress=progress
        )
        own = np.flatnonzero(fold[choices.participant] == number)
        table[own] = moves_table(others, choices)[own]
        told += foreseen(
            choices, scene_of(choices, agent if isinstance(agent, Agent) else None, group), own, settings, progress
        )
    return _result(
        choices, told, table, fold, {"agent": str(group.attrs["agent"]), "n_folds": int(fold.max() + 1), "seed": seed}
    )


def folds_of_people(n_people: int, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each person: folds are as large as each other to within one."""
    order = np.random.default_rng(np.random.SeedSequence([seed, 3])).permutation(n_people)
    fold = np.empty(n_people, int)
    fold[order] = np.arange(n_people) % n_folds
    return fold


def foreseen(
    choices: Choices, scene: Scene, rows: np.ndarray, settings: Settings, progress: bool | None = None
) -> list[Foreseen]:
    """Predictions of everyone who played these rows."""
    each = [own for own in (np.intersect1d(of_one, rows) for of_one in rows_of_each(choices)) if own.size]
    alone = begun(scene, settings, choices.n_trials)
    results = in_order(lambda own: _of_one(choices, alone, own), each, cores(), first_alone=True)
    done = []
    with single_threaded_algebra(), Progress("forecasting", len(each), progress) as bar:
        for result in results:
            done.append(result)
            bar.advance()
    return done


def _of_one(choices: Choices, mind: Companion, rows: np.ndarray) -> Foreseen:
    """Predictions of one person's choices, by a companion who meets them for the first time."""
    shape = len(rows), choices.n_trials
    personal, effective, counts = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros((3, len(EDGES) - 1))
    group = _by_group(choices, mind, rows)
    for b, (start, trials) in enumerate(past_blocks(choices, rows)):
        mind = started(mind, b, start)
        for t, trial in enumerate(trials):
            if trial.scored:
                p = mind.predict(trial.available)
                personal[b, t] = np.log(p[trial.arm])
                counts += _calibration(p, trial)
            mind = observed(mind, trial)
            effective[b, t] = mind.posterior.n_effective
    return Foreseen(rows, personal, group, counts, effective)


def started(mind: Companion, number: int, start: int) -> Companion:
    """The companion before a block: a companion's first block is already begun."""
    at = None if start == NOWHERE else start
    if number:
        return mind.next_block(at)
    return mind if at is None else replace(mind, past=mind.past._replace(starts=(at,)))


def observed(mind: Companion, trial: Trial) -> Companion:
    """The companion after a trial that was read from a file."""
    advised = None if trial.advised == NOWHERE else trial.advised
    if trial.arm == NOWHERE:
        return mind.observe(missed=True, available=trial.available, advised=advised)
    reward = trial.reward if trial.observed else None
    return mind.observe(
        trial.arm, reward, available=trial.available, forced=not trial.scored, advised=advised, unseen=not trial.observed
    )


def _calibration(p: np.ndarray, trial: Trial) -> np.ndarray:
    offered = np.ones(len(p), bool) if trial.available is None else np.array(trial.available)
    at = np.clip(np.searchsorted(EDGES, p, side="right") - 1, 0, len(EDGES) - 2)[offered]
    hit = (np.arange(len(p)) == trial.arm)[offered]
    return np.stack([np.bincount(at, w, len(EDGES) - 1) for w in (np.ones(offered.sum()), p[offered], hit.astype(float))])


def _by_group(choices: Choices, mind: Companion, rows: np.ndarray) -> np.ndarray:
    """Log-probability of each choice, averaged over the group."""
    blocks = jax.tree.map(lambda x: x[rows], blocks_of(choices))
    with jax.enable_x64(True):
        each = np.asarray(compiled.log_likelihoods_at(mind.scene.model, mind.scene.numbers, blocks, mind.posterior.points.z))
    averaged = logsumexp(each, axis=0) - np.log(len(each))
    return np.where(choices.scored[rows], averaged, np.nan)


def moves_table(others: Choices, choices: Choices) -> np.ndarray:
    """Log-probability of each choice from how often other people moved so far: no beliefs, no rewards, no persons.

    Distances are walks between arms, or where arms lie nowhere, staying and leaving; from nowhere, all arms are alike.
    """
    n_arms = choices.layout.n_arms
    walks = choices.layout.walks if choices.layout.walks is not None else 1.0 - np.eye(n_arms)
    kinds, kind = np.unique(np.round(walks, 6), return_inverse=True)
    kind = kind.reshape(walks.shape)

    def moved(of: Choices) -> tuple[np.ndarray, np.ndarray]:
        at = positions(of)
        return at, of.scored & (at != NOWHERE)

    at, counted = moved(others)
    made = np.bincount(kind[at[counted], others.arm[counted]], minlength=len(kinds)) + 1.0
    # How many arms lie so far away depends on where one stands: of each distance, the share of those there are.
    at, there = moved(choices)
    weight = made[kind[np.maximum(at, 0)]] / _n_at_distance(kind, len(kinds))[np.maximum(at, 0)]
    weight = np.where(there[..., None], weight, 1.0)
    if choices.available is not None:
        weight = np.where(choices.available, weight, 0.0)
    chosen = np.take_along_axis(weight, np.maximum(choices.arm, 0)[..., None], axis=2)[..., 0]
    return np.where(choices.scored, np.log(chosen / weight.sum(2)), np.nan)


def _n_at_distance(kind: np.ndarray, n_kinds: int) -> np.ndarray:
    """arm x arm: how many arms lie as far from the one as the other does."""
    counts = np.stack([np.bincount(row, minlength=n_kinds) for row in kind])
    return np.take_along_axis(counts, kind, axis=1)


def _result(
    choices: Choices, told: list[Foreseen], table: np.ndarray, fold: np.ndarray, attrs: dict[str, Any]
) -> xr.Dataset:
    log_prob, group = np.full(choices.arm.shape, np.nan), np.full(choices.arm.shape, np.nan)
    for one in told:
        log_prob[one.rows], group[one.rows] = one.personal, one.group
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
    effective = np.concatenate([one.n_effective.ravel() for one in told])
    attrs |= {
        "n_people": choices.n_participants,
        "n_choices": int(choices.scored.sum()),
        "source": choices.source,
        "n_effective_5_percent": float(np.nanquantile(effective, 0.05)),
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
