"""The design of effects: what is estimated for a person, and how conditions move it.

Person i has u_i ~ N(W_i b, S): for each parameter a level, and for a condition that changes within people a slope of their
own (a random slope). Block r of person i is played at z = A_r u_i. Columns that are constant within everyone enter W_i, and
so do those that are a multiple of a slope's column within everyone, as an interaction of group and session is.

Inside, columns are centred and scaled to a standard deviation of one, where the formula has an intercept to take up the
difference; `back` leads from their effects to those of the columns as written.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab._support.counted import counted
from explorelab.errors import InputError
from explorelab.fitting.effects.formulas import Columns

SLOPE_LIMIT = 8.0
"""The largest slope, in standard units for each standard deviation of its column."""
INTERCEPT = "Intercept"
LEAST_CHANGE = 1e-9
"""Changes of a column that are smaller than this share of its largest value are taken for rounding."""


class Design(NamedTuple):
    """Effects of conditions on what is estimated for each person."""

    text: str
    """The formulas."""
    parameter: np.ndarray
    """The index of the parameter of each effect."""
    names: tuple[str, ...]
    """The column of each effect."""
    terms: tuple[str, ...]
    within: np.ndarray
    """Whether the column of each effect changes within people."""
    freedom: np.ndarray
    """Degrees of freedom of each effect: people in whom it can be seen, less the effects on the same level or slope."""
    of_person: np.ndarray
    """W: person x latent x effect, for columns as they are inside."""
    back: np.ndarray
    """effect x effect: effects of the columns as written, from those inside."""
    slope: np.ndarray
    """A: row x parameter x latent."""
    held: np.ndarray
    """row x parameter: values in standard units, NaN where a parameter is not held."""
    moving: bool
    """Whether parameters change between the blocks of a person."""
    low: np.ndarray
    high: np.ndarray
    """Bounds of every latent, in standard units."""
    random: np.ndarray
    """Whether people differ in each latent, given their conditions."""
    latents: tuple[str, ...]
    """A name for each latent: its parameter, and the column of a slope."""

    @property
    def n_effects(self) -> int:
        """Number of effects, intercepts included."""
        return len(self.names)


class _Latent(NamedTuple):
    """A level or a slope of one parameter."""

    pattern: np.ndarray
    """What it is multiplied by in each row: ones for a level."""
    columns: list[int]
    weights: list[np.ndarray]
    """What each column is for every person, as a multiple of the pattern."""
    level: bool


class _Part(NamedTuple):
    """The design of one parameter."""

    latents: list[_Latent]
    back: np.ndarray


def _within_people(values: np.ndarray, person: np.ndarray) -> np.ndarray:
    """For every column, which people it changes in (person x column)."""
    n = int(person.max()) + 1
    most, least = np.full((n, values.shape[1]), -np.inf), np.full((n, values.shape[1]), np.inf)
    np.maximum.at(most, person, values)
    np.minimum.at(least, person, values)
    return most - least > LEAST_CHANGE * np.abs(values).max(0, initial=0.0)


def _multiples(column: np.ndarray, pattern: np.ndarray, person: np.ndarray) -> np.ndarray | None:
    """For every person the number c with column = c pattern, or None if some person has none."""
    n = int(person.max()) + 1
    squares = np.bincount(person, pattern**2, n)
    multiple = np.bincount(person, column * pattern, n) / np.where(squares > 0, squares, 1.0)
    return multiple if np.allclose(column, multiple[person] * pattern, atol=1e-9 * np.abs(column).max()) else None


def _latents_of(columns: Columns, person: np.ndarray) -> list[_Latent]:
    """The level and the slopes of one parameter, with the columns that move each."""
    values, n = columns.values, int(person.max()) + 1
    first = np.unique(person, return_index=True)[1]
    varies = _within_people(values, person).any(0)
    between = [k for k in range(values.shape[1]) if not varies[k]]
    found = [_Latent(np.ones(len(person)), between, [values[first, k] for k in between], True)] if between else []
    for k in np.flatnonzero(varies):
        column = values[:, k]
        for i, latent in enumerate(found):
            if latent.level:
                continue
            multiple = _multiples(column, latent.pattern, person)
            if multiple is not None:
                latent.columns.append(int(k))
                latent.weights.append(multiple)
                break
            # In other people: the same slope, as cells of group and session are.
            there, other = (np.bincount(person, np.abs(x), n) > 0 for x in (latent.pattern, column))
            if not (there & other).any():
                apart = [np.where(there, weight, 0.0) for weight in latent.weights]
                found[i] = _Latent(latent.pattern + column, [*latent.columns, int(k)], [*apart, other.astype(float)], False)
                break
        else:
            found.append(_Latent(column.copy(), [int(k)], [np.ones(n)], False))
    return found


def _scaled(latent: _Latent, centred: bool) -> _Latent:
    """The same latent, with columns as they are inside."""

    def inside(x: np.ndarray) -> np.ndarray:
        most = np.abs(x).max(initial=0.0)
        if most == 0 or np.ptp(x / most) < LEAST_CHANGE:
            return x
        x = x / most
        return (x - x.mean()) / x.std() if centred else x

    pattern = latent.pattern if latent.level else inside(latent.pattern)
    return latent._replace(pattern=pattern, weights=[inside(weight) for weight in latent.weights])


def _inside(latents: list[_Latent], person: np.ndarray, n_columns: int) -> np.ndarray:
    """row x column: the columns as they are inside."""
    values = np.zeros((len(person), n_columns))
    for latent in latents:
        for k, weight in zip(latent.columns, latent.weights, strict=True):
            values[:, k] = latent.pattern * weight[person]
    return values


def _part(columns: Columns, person: np.ndarray) -> _Part:
    """The design of one parameter: centred columns if these span the same effects, otherwise as written."""
    latents = _latents_of(columns, person)
    size = np.maximum(np.abs(columns.values).max(0), 1e-300)
    scaled = columns.values / size
    for centred in (True, False):
        tried = [_scaled(latent, centred) for latent in latents]
        inside = _inside(tried, person, len(columns.names))
        back = np.linalg.lstsq(scaled, inside, rcond=None)[0]
        if np.allclose(scaled @ back, inside, atol=1e-8) and np.linalg.cond(back) < 1e10:
            break
    return _Part(tried, back / size[:, None])


def _on_one_scale(values: np.ndarray) -> np.ndarray:
    """Columns of similar size that span the same effects: centred if there is an intercept, so that years differ."""
    scaled = values / np.maximum(np.abs(values).max(0), 1e-300)
    varies = np.ptp(scaled, axis=0) > LEAST_CHANGE
    if varies.all():
        return scaled
    middle = np.where(varies, scaled.mean(0), 0.0)
    return (scaled - middle) / np.where(varies, np.ptp(scaled, axis=0), 1.0)


def _check_columns(formula: str, columns: Columns, person: np.ndarray, usable: np.ndarray) -> None:
    """Raise unless the columns can be told apart and there are people enough."""
    values = columns.values[usable]
    if not values.shape[1]:
        raise InputError(f"{formula}: the formula has no columns, not even an intercept.")
    n = len(np.unique(person[usable]))
    if values.shape[1] >= len(values):
        raise InputError(
            f"{formula}: {counted(values.shape[1], 'column')} are too many for {counted(len(values), 'block')}."
        )
    scaled = _on_one_scale(values)
    if np.linalg.matrix_rank(scaled, tol=1e-8 * len(scaled)) < values.shape[1]:
        ranks = [np.linalg.matrix_rank(scaled[:, : k + 1], tol=1e-8 * len(scaled)) for k in range(values.shape[1])]
        at = next(k for k, rank in enumerate(ranks) if rank <= k)
        raise InputError(
            f"{formula}: column {columns.names[at]} is a combination of the others, so that their effects cannot be told "
            "apart: leave one of them out."
        )
    varies = _within_people(columns.values, person)[np.unique(person[usable])]
    between = int((~varies.any(0)).sum())
    if between >= n:
        told = f"{counted(between, 'column')} between people are too many for {counted(n, 'person', 'people')}"
        raise InputError(f"{formula}: {told}: there must be more people than columns.")
    for name, count in zip(columns.names, varies.sum(0), strict=True):
        if count == 1:
            raise InputError(f"{formula}: {name} changes within one person only; it must within several, or within none.")


def design_of(
    text: str,
    names: list[str],
    columns: list[Columns],
    person: np.ndarray,
    held: np.ndarray | None,
    limits: tuple[np.ndarray, np.ndarray],
    shared: set[str],
) -> Design:
    """The design of these columns, one set for each parameter."""
    free = np.ones((len(person), len(names)), bool) if held is None else np.isnan(held)
    parts = []
    for p, (name, each) in enumerate(zip(names, columns, strict=True)):
        _check_columns(f"{name} ~ {' + '.join(dict.fromkeys(each.terms))}", each, person, free[:, p])
        parts.append(_part(each, person))
    n, n_effects = int(person.max()) + 1, sum(len(each.names) for each in columns)
    n_latents = sum(len(part.latents) for part in parts)
    weights, back = np.zeros((n, n_latents, n_effects)), np.zeros((n_effects, n_effects))
    slope, within, freedom = np.zeros((len(person), len(names), n_latents)), np.zeros(n_effects, bool), np.zeros(n_effects)
    low: list[float] = []
    high: list[float] = []
    latents: list[str] = []
    start = 0
    for p, (part, each) in enumerate(zip(parts, columns, strict=True)):
        end = start + len(each.names)
        back[start:end, start:end] = part.back
        seen = np.unique(person[free[:, p]])
        has_level = any(latent.level for latent in part.latents)
        for latent in part.latents:
            at = len(latents)
            slope[:, p, at] = latent.pattern
            for k, weight in zip(latent.columns, latent.weights, strict=True):
                weights[:, at, start + k] = weight
                within[start + k] = not latent.level
            moved = seen if latent.level else seen[_within_people(latent.pattern[:, None], person)[seen, 0]]
            freedom[[start + k for k in latent.columns]] = max(len(moved) - len(latent.columns), 1)
            bounds = (limits[0][p], limits[1][p]) if latent.level or not has_level else (-SLOPE_LIMIT, SLOPE_LIMIT)
            low.append(bounds[0])
            high.append(bounds[1])
            latents.append(names[p] if latent.level else f"{names[p]}: {each.names[latent.columns[0]]}")
        start = end
    parameter = np.repeat(np.arange(len(names)), [len(each.names) for each in columns])
    of_latent = [p for p, part in enumerate(parts) for _ in part.latents]
    return Design(
        text=text,
        parameter=parameter,
        names=tuple(name for each in columns for name in each.names),
        terms=tuple(term for each in columns for term in each.terms),
        within=within,
        freedom=freedom,
        of_person=weights,
        back=back,
        slope=slope,
        held=np.full(free.shape, np.nan) if held is None else held,
        moving=bool(within.any()) or held is not None,
        low=np.array(low),
        high=np.array(high),
        random=np.array([names[p] not in shared for p in of_latent]),
        latents=tuple(latents),
    )
