"""`effects`: what a fit says about effects of conditions, as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import jax
import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from explorelab._support.door import door
from explorelab.agents.scales import SCALES
from explorelab.choices.conditions import CONDITION, MOST_LEVELS, kind_of
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.effects.effect_design import INTERCEPT
from explorelab.fitting.effects.formulas import Formulas, columns_of, columns_with, parsed, variables_of
from explorelab.fitting.effects.freedom import Sensitivity, degrees_of_freedom
from explorelab.fitting.results import SAMPLED

type Contrasts = str | Sequence[str] | Mapping[str, Mapping[str, float]]

CHANGES = {"real": "difference", "log": "ratio", "logit": "odds ratio"}
"""What a difference on each scale is in natural units."""


class _Row(NamedTuple):
    """One line of the table: a sum of effects of one parameter."""

    parameter: str
    name: str
    level: str
    weights: np.ndarray
    is_value: bool
    """Whether it is a value of the parameter, not a difference between two."""
    term: str


@door
def effects(
    fit: xr.DataTree, contrasts: str | Sequence[str] | Mapping[str, Mapping[str, float]] | None = None
) -> pd.DataFrame:
    """Effects of conditions on parameters, with intervals and tests, on standard and natural scales.

    One row for each column of each formula, or for each contrast. `estimate`, `standard_error`, `low` and `high` (95 %) are
    in standard units (see `fit["space"]`); `size` is the estimate divided by the sd of people in the same conditions.
    `natural` with its interval is what `natural_is` says: a value of the parameter, or the difference, ratio or odds ratio
    that goes with the estimate. With method "em" there are `t`, `freedom`, `p`, and `p_term`, a joint test of all columns of
    a term; with "bayes" and "nuts", estimates are posterior means, intervals quantiles, and `above` is the probability that
    the effect is above 0.

    Parameters
    ----------
    fit
        Result of `fit` with `effects`.
    contrasts
        A condition, or several: the mean of each of its levels, and the difference of every two, averaged over the other
        conditions as they occur. Or weights of levels, as in {"group": {"b": 1, "a": -1}}.
    """
    if "effects" not in fit.children:
        raise InputError(
            "this fit has no effects: fit(..., method='em', effects='temperature ~ group') estimates them together with "
            "everyone's parameters."
        )
    table, formulas = fit["effects"].to_dataset(), _formulas(fit)
    rows = _columns(fit, table, formulas) if contrasts is None else _contrasts(fit, table, formulas, contrasts)
    weights = np.stack([row.weights for row in rows])
    frame = pd.DataFrame({
        "parameter": [row.parameter for row in rows],
        "effect": [row.name for row in rows],
        "level": [row.level for row in rows],
    })  # fmt: skip
    estimate = weights @ table["estimate"].values
    covariance = weights @ table["covariance"].values @ weights.T
    se = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    if fit.attrs["method"] in SAMPLED:
        draws = fit["posterior"].to_dataset()["effects"].values
        drawn = draws.reshape(-1, draws.shape[-1]) @ weights.T
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        tested = {"above": (drawn > 0).mean(0)}
    else:
        freedom = _freedom(table, weights)
        half = t_distribution.ppf(0.975, freedom) * se
        low, high, t = estimate - half, estimate + half, estimate / np.where(se > 0, se, np.nan)
        tested = {"t": t, "freedom": freedom, "p": 2 * t_distribution.sf(np.abs(t), freedom)}
        tested |= {"p_term": _of_terms(rows, estimate, covariance, freedom)} if contrasts is None else {}
    frame["estimate"], frame["standard_error"], frame["low"], frame["high"] = estimate, se, low, high
    for name, values in tested.items():
        frame[name] = values
    sd = _spreads(table)
    frame["size"] = [
        np.nan if row.is_value or sd[row.parameter] == 0 else each / sd[row.parameter]
        for row, each in zip(rows, estimate, strict=True)
    ]
    for name, values in (("natural", estimate), ("natural_low", low), ("natural_high", high)):
        frame[name] = [_natural(fit, row, float(value)) for row, value in zip(rows, values, strict=True)]
    frame["natural_is"] = ["value" if row.is_value else CHANGES[_scale(fit, row.parameter)] for row in rows]
    return frame


def _freedom(table: xr.Dataset, weights: np.ndarray) -> np.ndarray:
    """Degrees of freedom of sums of effects (row x effect): Satterthwaite's, at most people less columns."""
    people = np.array([table["freedom"].values[np.abs(row) > 1e-9].min(initial=np.inf) for row in weights])
    known = Sensitivity(table["covariance_slope"].values, table["entry_covariance"].values)
    return np.clip(degrees_of_freedom(weights, table["covariance"].values, known), 1.0, people)


def _formulas(fit: xr.DataTree) -> Formulas:
    text = str(fit.attrs["effects"])
    return parsed(text) if text else Formulas({}, ())


def _conditions(fit: xr.DataTree) -> pd.DataFrame:
    """The conditions of every block; the index says who played it."""
    table = fit["conditions"].to_dataset()
    return pd.DataFrame(
        {str(name): values.values for name, values in table.data_vars.items()}, table["row_participant"].values
    )


def _spreads(table: xr.Dataset) -> dict[str, float]:
    return dict(zip(table["of"].values.tolist(), table["sd"].values.tolist(), strict=True))


def _columns(fit: xr.DataTree, table: xr.Dataset, formulas: Formulas) -> list[_Row]:
    """A row for each column of each formula."""
    conditions, rows = _conditions(fit), []
    names, columns, terms = (table[name].values for name in ("of", "column", "term"))
    for k in range(table.sizes["effect"]):
        parameter, column = str(names[k]), str(columns[k])
        own = columns[names == parameter]
        is_value = column == INTERCEPT
        if not is_value and INTERCEPT not in own:
            made = columns_of(parameter, formulas.of[parameter], conditions)
            # A level of a term whose columns say of every block which one it is; other columns of 0 and 1 are differences.
            of_term = made.values[:, [i for i, term in enumerate(made.terms) if term == str(terms[k])]]
            is_value = bool(np.isin(of_term, (0, 1)).all() and (of_term.sum(1) == 1).all())
        level = "within people" if table["within"].values[k] else "between people"
        rows.append(_Row(parameter, column, level, np.eye(table.sizes["effect"])[k], is_value, str(terms[k])))
    return rows


def _contrasts(fit: xr.DataTree, table: xr.Dataset, formulas: Formulas, contrasts: Contrasts) -> list[_Row]:
    """Rows for the levels of conditions and their differences, or for weights of them."""
    conditions, rows = _conditions(fit), []
    wanted: dict[str, Mapping[str, float] | None]
    if isinstance(contrasts, Mapping):
        wanted = dict(contrasts)
    else:
        wanted = dict.fromkeys([contrasts] if isinstance(contrasts, str) else contrasts)
    for condition, chosen in wanted.items():
        if condition not in conditions:
            raise unknown_name("condition of the effects", condition, conditions.columns)
        levels = {str(value): value for value in sorted(conditions[condition].unique())}
        if chosen is None and not _has_levels(condition, conditions, formulas):
            raise InputError(f"{condition} has {len(levels)} values, too many to compare: it is a covariate.")
        for label in chosen or {}:
            if label not in levels:
                raise unknown_name(f"level of {condition}", label, levels)
        for parameter, right in formulas.of.items():
            if condition in variables_of(parameter, right):
                means = _means(table, conditions, condition, parameter, right, levels)
                varies = conditions[condition].groupby(level=0).nunique().max() > 1
                level = "within people" if varies else "between people"
                rows += _combined(table, parameter, condition, level, means, chosen)
    if not rows:
        raise InputError("contrasts must name a condition, got none.")
    return rows


def _has_levels(name: str, conditions: pd.DataFrame, formulas: Formulas) -> bool:
    """Whether a column is a condition, by itself or because a formula says so."""
    said = any(re.search(rf"\bC\(\s*{re.escape(name)}\s*[,)]", right) for right in formulas.of.values())
    if said and conditions[name].nunique() <= MOST_LEVELS:
        return True
    return kind_of(name, conditions[name].to_numpy(), conditions.index.to_numpy()) == CONDITION


def _means(
    table: xr.Dataset, conditions: pd.DataFrame, condition: str, parameter: str, right: str, levels: Mapping[str, object]
) -> dict[str, np.ndarray]:
    """For each level of a condition, the weights of effects in the parameter's mean there."""
    own, means = table["of"].values == parameter, {}
    for label, value in levels.items():
        there = conditions.assign(
            **{condition: np.full(len(conditions), value, dtype=conditions[condition].to_numpy().dtype)}
        )
        weights = np.zeros(len(own))
        weights[own] = columns_with(parameter, right, conditions, there).mean(0)
        means[label] = weights
    return means


def _combined(
    table: xr.Dataset,
    parameter: str,
    condition: str,
    level: str,
    means: Mapping[str, np.ndarray],
    chosen: Mapping[str, float] | None,
) -> list[_Row]:
    def row(name: str, weights: np.ndarray, is_value: bool) -> _Row:
        return _Row(parameter, name, level, weights, is_value, condition)

    if chosen is not None:
        total = float(sum(chosen.values()))
        if not chosen or not min(abs(total), abs(total - 1)) <= 1e-9:
            raise InputError(
                f"the weights of levels of {condition} must add up to 0 (a difference) or 1 (a mean), got {total:g}."
            )
        name = " ".join(f"{'+' if weight > 0 else '-'} {abs(weight):g} {label}" for label, weight in chosen.items())
        weights = sum((weight * means[label] for label, weight in chosen.items()), np.zeros(table.sizes["effect"]))
        return [row(f"{condition}: {name.removeprefix('+ ')}", weights, abs(total - 1) <= 1e-9)]
    alone = [row(f"{condition}: {label}", weights, True) for label, weights in means.items()]
    pairs = [row(f"{condition}: {b} against {a}", means[b] - means[a], False) for a, b in combinations(means, 2)]
    return alone + pairs


def _of_terms(rows: Sequence[_Row], estimate: np.ndarray, covariance: np.ndarray, freedom: np.ndarray) -> list[float]:
    """For each row, the p-value of a joint test (Wald's F) of all columns of its term."""
    found = []
    for row in rows:
        same = [i for i, other in enumerate(rows) if (other.parameter, other.term) == (row.parameter, row.term)]
        square = estimate[same] @ np.linalg.pinv(covariance[np.ix_(same, same)]) @ estimate[same]
        found.append(float(f_distribution.sf(square / len(same), len(same), freedom[same].min())))
    return found


def _scale(fit: xr.DataTree, parameter: str) -> str:
    return str(fit["space"].to_dataset()["scale"].sel(parameter=parameter).item())


def _natural(fit: xr.DataTree, row: _Row, value: float) -> float:
    return in_natural_units(fit["space"].to_dataset(), row.parameter, value, row.is_value)


def in_natural_units(space: xr.Dataset, parameter: str, value: float, is_value: bool) -> float:
    """A value in natural units, or the change in natural units that goes with a difference in standard units."""
    one = space.sel(parameter=parameter)
    scale, on_line = SCALES[one["scale"].item()], value * float(one["spread"])
    with jax.enable_x64(True), np.errstate(over="ignore"):
        if is_value:
            return float(scale.from_line(float(scale.to_line(float(one["centre"]))) + on_line))
        return on_line if one["scale"].item() == "real" else float(np.exp(on_line))
