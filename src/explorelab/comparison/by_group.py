"""How frequent each agent is at every level of a condition, and whether groups share the same frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit
from scipy.stats import beta

from explorelab._support.checks import Floats
from explorelab.choices.conditions import BETWEEN, Condition
from explorelab.choices.table import Choices
from explorelab.comparison.compare import evidence
from explorelab.comparison.group import group_selection

COLUMNS = ["condition", "level", "n_people", "model", "frequency", "low", "high", "n_best", "protected_exceedance"]
NUMBERS = dict.fromkeys(["n_people", "frequency", "low", "high", "n_best", "protected_exceedance"], float)
FEWEST = 2
"""People whom a level must have for frequencies."""


@dataclass(frozen=True)
class Frequencies:
    """Frequencies of agents by condition."""

    table: pd.DataFrame
    """A row for each condition, level and agent."""
    same: dict[str, float] = field(default_factory=dict)
    """For each condition between people, the probability that its levels share the same frequencies."""
    without: tuple[str, ...] = ()
    """Conditions that change within people whose blocks were not judged one by one."""


def same_frequencies(log_evidence: Floats, group: np.ndarray) -> float:
    """The probability that groups of people share the same frequencies of models, both being equally likely beforehand.

    One distribution of frequencies for all, against one for each group: 1 / (1 + exp(sum of F_g - F)), where F is the free
    energy of random-effects selection (Rigoux et al. 2014, between-group comparison). `log_evidence` is participant x model,
    `group` has a label for each participant.
    """
    together = float(group_selection(log_evidence)["free_energy"])
    apart = sum(float(group_selection(log_evidence[group == each])["free_energy"]) for each in np.unique(group))
    return float(expit(together - apart))


def frequencies_by_group(comparison: xr.DataTree, choices: Choices, conditions: Sequence[Condition]) -> Frequencies:
    """Random-effects selection at every level of each condition, by the evidence of the comparison.

    Where left-out blocks give the evidence, a person counts at a level with the blocks played there; otherwise the evidence
    is of whole people, and only conditions between people can be told apart. `choices` are those that were compared.
    """
    people, criterion = comparison["people"].to_dataset(), str(comparison.attrs["criterion"])
    whole = evidence(people, criterion).transpose("participant", "model").values
    index = {str(name): k for k, name in enumerate(people["participant"].values)}
    # People without any informative choice are not compared.
    who = np.array([index.get(name, -1) for name in choices.participants])[choices.participant]
    by_row = _of_rows(comparison, choices) if criterion == "cv" else None
    names, tables, same, without = [str(name) for name in people["model"].values], [], {}, []
    for condition in conditions:
        if condition.design != BETWEEN and by_row is None:
            without.append(condition.name)
            continue
        groups = []
        for k, level in enumerate(condition.levels):
            at = condition.rows(k) & (who >= 0)
            there = np.unique(who[at])
            found = whole[there]
            if condition.design != BETWEEN and by_row is not None:
                totals = np.zeros_like(whole)
                np.add.at(totals, who[at], by_row[at])
                found = totals[there]
            groups.append(found)
            tables += _rows(condition.name, level, found, names)
        full = [found for found in groups if len(found) >= FEWEST]
        if condition.design == BETWEEN and len(full) > 1:
            labels = np.repeat(np.arange(len(full)), [len(found) for found in full])
            same[condition.name] = same_frequencies(np.concatenate(full), labels)
    return Frequencies(pd.DataFrame(tables, columns=COLUMNS).astype(NUMBERS), same, tuple(without))


def _of_rows(comparison: xr.DataTree, choices: Choices) -> Floats:
    """The log-likelihood of every row when it was left out (row x model); 0 for rows that were not judged."""
    models = comparison["people"].to_dataset()["model"].values
    names = np.array(choices.participants)[choices.participant].tolist()
    place = {key: k for k, key in enumerate(zip(names, choices.block.astype(str).tolist(), strict=True))}
    found = np.zeros((choices.n_rows, len(models)))
    for k, model in enumerate(models.tolist()):
        folds = comparison[f"folds/{model}"].to_dataset()
        keys = zip(folds["participant"].values.tolist(), folds["block"].values.astype(str).tolist(), strict=True)
        found[[place[key] for key in keys], k] = -folds["nll"].values
    return found


def _rows(condition: str, level: str, found: Floats, names: Sequence[str]) -> list[tuple[object, ...]]:
    """A row for each agent at one level."""
    if len(found) < FEWEST:
        return [(condition, level, len(found), name, np.nan, np.nan, np.nan, 0, np.nan) for name in names]
    group = group_selection(found)
    alpha = group["alpha"].values
    low, high = beta.ppf([[0.025], [0.975]], alpha, alpha.sum() - alpha)
    best = np.bincount(found.argmax(1), minlength=len(names))
    pxp = group["protected_exceedance"].values
    rows = zip(names, alpha / alpha.sum(), low, high, best.tolist(), pxp, strict=True)
    return [(condition, level, len(found), *row) for row in rows]
