"""Everything in a report that is compared between conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from explorelab._support.checks import Floats
from explorelab.agents import Agent
from explorelab.choices.conditions import BETWEEN, Sorted, apart, sorted_columns
from explorelab.choices.table import Choices
from explorelab.comparison.by_group import Frequencies, frequencies_by_group
from explorelab.fitting.criteria import chance_nll, informative
from explorelab.recovery.behaviour import of_each
from explorelab.regret.by_condition import Compared, by_cell, compared
from explorelab.regret.clusters import Band, band_of_known
from explorelab.regret.forms import FORMS, NONE

REGRET, REWARD, REPEAT, NEW = "final regret", "mean reward", "mean repeat", "share of new arms"
"""Outcomes as `of_each` names them; regret only where it is known, of blocks of the most common length."""


@dataclass(frozen=True, eq=False)
class ConditionResults:
    """What was found at the levels of conditions; people are the units of every interval."""

    columns: Sorted
    outcomes: dict[str, Compared]
    """Final regret, mean reward, repeats and new arms."""
    phenotypes: dict[str, dict[str, Compared]]
    """Whether a block has each form, for both fits of the power law; empty where forms say nothing."""
    length: int
    """Choices after which regret is compared; 0 if it is unknown."""
    bands: dict[str, dict[str, Band]]
    """Mean curves by condition and level: of regret or, if it is unknown, of reward."""
    cells: pd.DataFrame
    """The main outcome in every combination of levels; empty with fewer than two conditions."""
    parameters: dict[str, Compared]
    """Estimates in standard units; empty if there are no conditions."""
    space: xr.Dataset
    """The scales of the parameters."""
    frequencies: Frequencies
    refitted: bool = False
    """Whether everybody was fitted in each combination of levels separately."""

    @property
    def main(self) -> str:
        """The outcome in the foreground."""
        return REGRET if self.length else REWARD


type Fit = Callable[[Choices], xr.DataTree]
"""How the reported agent is fitted to choices, by MAP."""


def condition_results(
    choices: Choices,
    columns: Sorted,
    phenotypes: tuple[xr.Dataset, xr.Dataset] | None,
    comparison: xr.DataTree,
    main_fit: xr.DataTree,
    fit: Fit,
) -> ConditionResults:
    """All outcomes by condition. `fit` is used where everybody must be fitted at each level separately."""
    who, each = choices.participant, of_each(choices, best_mean=0.0 if choices.means is None else None)
    values = {name: each.numbers[name] for name in (REWARD, REPEAT, NEW)}
    length, curves, whole = 0, each.curves["reward"], np.ones(choices.n_rows, bool)
    if phenotypes is not None:
        length = int(np.isfinite(phenotypes[0]["mean_regret"].values).sum())
        curves = phenotypes[0]["regret"].values
        whole = phenotypes[0]["n_trials"].values >= length
        final = np.where(whole, curves[:, length - 1], np.nan)
        values = {REGRET: final, **values}
    outcomes = {name: compared(one, who, columns) for name, one in values.items()}
    table = main_fit["estimates"].to_dataset()
    parameters, refitted = {}, not _at_hand(columns, main_fit)
    if columns.conditions and table.sizes["parameter"]:
        z, rows = _everyone(choices, columns, main_fit, fit)
        parameters = _parameters(choices, columns, [str(name) for name in table["parameter"].values], z, rows)
    return ConditionResults(
        columns,
        outcomes,
        {} if phenotypes is None or choices.means_change else _phenotypes(choices, columns, phenotypes),
        length,
        _bands(curves[:, :length] if length else curves, who, columns, whole),
        by_cell(values[REGRET if length else REWARD], who, columns) if len(columns.conditions) > 1 else pd.DataFrame(),
        parameters,
        main_fit["space"].to_dataset(),
        _frequencies(choices, columns, comparison),
        refitted,
    )


def _phenotypes(
    choices: Choices, columns: Sorted, phenotypes: tuple[xr.Dataset, xr.Dataset]
) -> dict[str, dict[str, Compared]]:
    found: dict[str, dict[str, Compared]] = {}
    for result in phenotypes:
        label = result["label"].values
        is_form = {form: np.where(label == NONE, np.nan, label == form) for form in FORMS}
        found[result.attrs["power"]] = {
            form: compared(values, choices.participant, columns, share=True) for form, values in is_form.items()
        }
    return found


def _bands(curves: Floats, who: np.ndarray, columns: Sorted, whole: np.ndarray) -> dict[str, dict[str, Band]]:
    """Mean curves over the blocks that last to the end."""
    return {
        each.name: {
            level: band_of_known(curves[whole & each.rows(k)], who[whole & each.rows(k)])
            for k, level in enumerate(each.levels)
        }
        for each in columns.conditions
    }


def _everyone(choices: Choices, columns: Sorted, main_fit: xr.DataTree, fit: Fit) -> tuple[Floats, np.ndarray]:
    """Everybody's estimates in every cell, in standard units, NaN where choices say nothing; and a row of each.

    MAP estimates are drawn towards the middle of a weak prior that is the same for everyone. Those of empirical Bayes are
    drawn towards the group, so that differences between conditions would come out too small: they are not used.
    """
    if _at_hand(columns, main_fit):
        rows, units, tree = np.unique(choices.participant, return_index=True)[1], choices, main_fit
    else:
        units, rows = apart(choices, columns.cells())
        tree = fit(units)
    z = tree["estimates"].to_dataset()["z"].transpose("participant", "parameter").values
    return np.where(chance_nll(units)[:, None] > 0, z, np.nan), rows


def _at_hand(columns: Sorted, main_fit: xr.DataTree) -> bool:
    """Whether the estimates of the report are those of everybody in their cell."""
    return all(each.design == BETWEEN for each in columns.conditions) and main_fit.attrs["method"] == "map"


def _parameters(choices: Choices, columns: Sorted, names: list[str], z: Floats, rows: np.ndarray) -> dict[str, Compared]:
    """Each parameter by condition: the estimate of every unit, in the place of one of its rows."""
    found = {}
    for k, name in enumerate(names):
        values = np.full(choices.n_rows, np.nan)
        values[rows] = z[:, k]
        found[name] = compared(values, choices.participant, columns)
    return found


def _frequencies(choices: Choices, columns: Sorted, comparison: xr.DataTree) -> Frequencies:
    judged = informative(choices)
    if judged.n_rows == choices.n_rows:
        return frequencies_by_group(comparison, choices, columns.conditions)
    return frequencies_by_group(comparison, judged, sorted_columns(judged).conditions)


def map_fit(agent: Agent, n_starts: int, seed: int, progress: bool | None) -> Fit:
    """A MAP fit of this agent."""

    def fitted(choices: Choices) -> xr.DataTree:
        from explorelab.fitting.fit_people import fit

        return fit(choices, agent, "map", n_starts=n_starts, seed=seed, progress=progress)

    return fitted
