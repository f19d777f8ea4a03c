"""The best form of millions of curves: like `fit_regret_curves`, but only for the label.

Except for the exponent, each form spans a linear space, so its residuals are |R|^2 minus what its projection explains. For a
power law on the raw scale, the share that t^b explains is computed at 93 exponents, dense where t^b changes fast; the best
of them is refined to the top of the quartic through its neighbours. What it explains there is within about 1e-11 of the
curve's squares (1e-5 for one in a thousand walks without drift), and never more than a power law can. A power law of log R
on log t takes the same sums as `fit_regret_curves`, as matrix products.

All of 87 000 test curves got the same label as from `fit_regret_curves`, at up to a million curves of 90 choices a second.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from explorelab._support.checks import Floats, Ints
from explorelab._support.rounding import flat
from explorelab.regret.forms import FEWEST_TIMES, LARGEST_EXPONENT, PowerFit

_STEP = 0.08
_ROUNDING = 1e-12  # as in `fit_regret_curves`: forms that differ by less of the curve's squares fit equally well


class _Tables(NamedTuple):
    """Tables that depend only on the times."""

    log_t: Floats
    lines: Floats
    """Orthonormal columns: constant and t, constant and log t."""
    places: Floats
    """Places of the exponents: even steps of arcsinh(b + 1/2)."""
    shapes: Floats
    """Unit vectors along t^b, one column per exponent."""


def best_forms(curves: Floats, power: PowerFit) -> Ints:
    """The index in FORMS of each curve's best form, by least squares; curves are rows over the times 1, 2, ...

    -1 for curves without a form, as in `fit_regret_curves`.
    """
    if curves.shape[1] < FEWEST_TIMES:
        return np.full(len(curves), -1)
    tables = _tables(curves.shape[1])
    squares = np.einsum("ij,ij->i", curves, curves)
    onto = (curves @ tables.lines) ** 2
    by_power = _by_power(curves, tables) if power == "raw" else squares - _residuals_of_log_log(curves, tables)
    explained = np.stack([onto[:, 0] + onto[:, 1], by_power, onto[:, 2] + onto[:, 3]], axis=1)
    near = explained >= explained.max(1, keepdims=True) - _ROUNDING * squares[:, None]
    return np.where(flat(curves), -1, near.argmax(1))


@functools.lru_cache(maxsize=8)
def _tables(n_times: int) -> _Tables:
    t = np.arange(1.0, n_times + 1)
    log_t = np.log(t)
    lines = [np.linalg.qr(np.stack([np.ones(n_times), x], axis=1))[0] for x in (t, log_t)]
    low, high = np.arcsinh(0.5 - LARGEST_EXPONENT), np.arcsinh(0.5 + LARGEST_EXPONENT)
    places = np.linspace(low, high, round((high - low) / _STEP) + 1)
    shapes = _shapes(np.sinh(places) - 0.5, log_t)
    return _Tables(log_t, np.hstack(lines), places, (shapes / np.linalg.norm(shapes, axis=1, keepdims=True)).T)


def _shapes(exponents: Floats, log_t: Floats) -> Floats:
    """t^b over its largest value."""
    return np.exp(exponents[:, None] * log_t - np.maximum(exponents * log_t[-1], 0)[:, None])


def _by_power(curves: Floats, tables: _Tables) -> Floats:
    """The squares that the best a t^b explains."""
    along = curves @ tables.shapes
    along *= along
    rows = np.arange(len(curves))
    highest = along.max(1)
    middle = np.clip(along.argmax(1), 2, tables.places.size - 3)
    away = _top_of_quartic(*(along[rows, middle + j] for j in range(-2, 3)))
    b = np.sinh(tables.places[middle] + away * (tables.places[1] - tables.places[0])) - 0.5
    shapes = _shapes(b, tables.log_t)
    there = np.einsum("ij,ij->i", curves, shapes) ** 2 / np.einsum("ij,ij->i", shapes, shapes)
    return np.maximum(there, highest)


def _residuals_of_log_log(curves: Floats, tables: _Tables) -> Floats:
    """Squared residuals of a t^b, with log a and b by least squares over times with positive regret; infinite if too few."""
    positive = curves > 0
    x = tables.log_t
    weight = positive.astype(np.float64)
    log_r = np.log(np.where(positive, curves, 1.0))
    n, sx, sxx = (weight @ np.stack([np.ones_like(x), x, x * x], axis=1)).T
    sy, sxy = (log_r @ np.stack([np.ones_like(x), x], axis=1)).T
    few = positive.sum(1) < 2
    n, spread = np.where(few, 1.0, n), np.where(few, 1.0, n * sxx - sx * sx)
    b = (n * sxy - sx * sy) / spread
    with np.errstate(over="ignore"):  # a law through two early times may overflow: not a good fit
        fitted = np.exp(((sy - b * sx) / n)[:, None] + b[:, None] * x)
        fitted -= curves
        residuals = np.einsum("ij,ij->i", fitted, fitted)
    return np.where(few, np.inf, residuals)


def _top_of_quartic(a: Floats, b: Floats, c: Floats, d: Floats, e: Floats) -> Floats:
    """Where, between -1 and 1, the quartic through five values at -2 .. 2 is highest: Newton from the middle one."""
    slope = (a - 8 * b + 8 * d - e) / 12
    bend = (-a + 16 * b - 30 * c + 16 * d - e) / 12
    third = (-a + 2 * b - 2 * d + e) / 2
    fourth = a - 4 * b + 6 * c - 4 * d + e
    x = np.zeros_like(c)
    for _ in range(3):
        rise = slope + x * (bend + x * (third / 2 + x * fourth / 6))
        curvature = np.minimum(bend + x * (third + x * fourth / 2), -1e-300)
        x = np.clip(x - rise / curvature, -1, 1)
    return x
