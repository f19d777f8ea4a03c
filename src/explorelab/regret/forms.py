"""Phenotypes of performance: which of the paper's three forms a regret curve follows best (section V.B).

    linear  R(t) = a + b t        power  R(t) = a t^b        log  R(t) = a + b log t

Each is fitted to every curve by least squares, and the smallest sum of squared residuals gives the label. Labels depend on
how the power law is fitted: by least squares on the raw scale it can imitate the other two, and takes many curves from
them; as a straight line of log R on log t it fits the raw scale less well. Both are here, and a result says which it used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Floats, Variables
from explorelab._support.counted import each_of
from explorelab._support.door import door
from explorelab._support.rounding import flat as is_flat
from explorelab.errors import InputError

type Curves = npt.ArrayLike | xr.DataArray
type Times = npt.ArrayLike | None
type PowerFit = Literal["raw", "log-log"]

FORMS = ("linear", "power", "log")
NONE = "none"
"""The label of a curve without a form: it never rises or falls, or has so few points that every form fits."""
FEWEST_TIMES = 3
"""Two points are fitted exactly by every form."""

LARGEST_EXPONENT = 20.0
"""Exponents are searched between plus and minus this: a curve with all its regret at one end has no best exponent."""

_ROUNDING = 1e-12  # forms whose residuals differ by less than this share of the curve's own squares fit equally well


class _Fit(NamedTuple):
    """One form fitted to many curves."""

    a: Floats
    b: Floats
    fitted: Floats


@door
def fit_regret_curves(regret: Curves, times: Times = None, power: PowerFit = "raw") -> xr.Dataset:
    """Fit the three forms to every curve: `a`, `b` and `ssr` over `form`, and the `label` of the best form.

    `ssr` is the sum of squared residuals of the regret itself, however the power law is fitted. If forms fit equally well up
    to rounding, the first one wins: a straight line from 0 is linear, although t^1 fits it too. A curve that never changes
    (no regret at all, or all of it at once), or has fewer than 3 times, fits every form, and its label is "none".

    Parameters
    ----------
    regret
        One curve, an array with time as its last axis, or a DataArray with a dimension `time`, such as the `observed_regret`
        of a simulation.
    times
        Time of each value; by default 1, 2, ...
    power
        "raw" minimises `ssr` over a and b. "log-log" fits log R on log t over the times at which regret is positive
        (observed regret may be negative early on), but is scored at all times; with fewer than two such times, `a` and `b`
        are NaN and `ssr` is infinite.
    """
    fit_power = checks.one_of("fit of the power law", power, _POWER_FITS)
    curves, t, dims, coords = _curves(regret, times)
    flat = curves.reshape(-1, t.size)
    fits = (_straight_line(flat, t), fit_power(flat, t), _straight_line(flat, np.log(t)))
    ssr = np.stack([((flat - fit.fitted) ** 2).sum(1) for fit in fits], axis=1)
    ssr = np.where(np.isnan(ssr), np.inf, ssr)
    near = ssr <= ssr.min(1, keepdims=True) + _ROUNDING * (flat**2).sum(1, keepdims=True)
    shape = curves.shape[:-1]

    def over_forms(values: Floats) -> tuple[tuple[str, ...], Floats]:
        return (*dims, "form"), values.reshape(*shape, len(FORMS))

    variables = {
        "a": over_forms(np.stack([fit.a for fit in fits], axis=1)),
        "b": over_forms(np.stack([fit.b for fit in fits], axis=1)),
        "ssr": over_forms(ssr),
        "label": (dims, np.where(_formless(flat, t), NONE, np.asarray(FORMS)[near.argmax(1)]).reshape(shape)),
    }
    return xr.Dataset(variables, {**coords, "form": list(FORMS)}, {"power": power})


def _formless(curves: Floats, t: Floats) -> np.ndarray:
    return is_flat(curves) | (np.unique(t).size < FEWEST_TIMES)


def fitted_regret(fits: xr.Dataset, times: npt.ArrayLike) -> xr.DataArray:
    """The fitted curves R(t) of every form at these times."""
    t = xr.DataArray(_checked_times(times), dims="time", coords={"time": np.asarray(times)})
    a, b = fits["a"], fits["b"]
    curves = {"linear": a + b * t, "power": a * t**b, "log": a + b * np.log(t)}
    return xr.concat([curve.sel(form=form) for form, curve in curves.items()], dim="form")


def shares(fits: xr.Dataset) -> dict[str, float]:
    """The share of curves that each form fits best, among those that have one; NaN if none has."""
    n = int((fits["label"] != NONE).sum())
    return {form: float((fits["label"] == form).sum()) / n if n else float("nan") for form in FORMS}


def _curves(regret: Curves, times: Times) -> tuple[Floats, Floats, tuple[str, ...], Variables]:
    """The curves with time last, the times, and the names and coordinates of the other dimensions."""
    dims: tuple[str, ...] | None = None
    coords: Variables = {}
    if isinstance(regret, xr.DataArray):
        if "time" not in regret.dims:
            raise InputError(f"regret must have a dimension 'time', got the dimensions {regret.dims}.")
        regret = regret.transpose(..., "time")
        times = regret["time"].values if times is None and "time" in regret.coords else times
        dims = tuple(str(dim) for dim in regret.dims[:-1])
        coords = {dim: regret[dim] for dim in dims if dim in regret.coords}
    values = checks.numbers("regret", regret)
    if values.ndim == 0 or values.shape[-1] < 2:
        raise InputError(f"regret must be curves over at least 2 times, got an array of shape {values.shape}.")
    if dims is None:
        dims = ("curve",) if values.ndim == 2 else tuple(f"curve_{i}" for i in range(values.ndim - 1))
    t = _checked_times(np.arange(1, values.shape[-1] + 1) if times is None else times)
    if t.shape != values.shape[-1:]:
        raise InputError(
            f"times must have one value for {each_of(values.shape[-1], 'point')} of a curve, got shape {t.shape}."
        )
    if np.unique(t).size < 2:
        raise InputError("times must not all be the same.")
    return values, t, dims, coords


def _checked_times(times: npt.ArrayLike) -> Floats:
    t = checks.real("times", times, above=0)
    if t.ndim != 1:
        raise InputError(f"times must be a list of numbers, got shape {t.shape}.")
    return t


def _straight_line(curves: Floats, x: Floats, weight: Floats | None = None) -> _Fit:
    """The least-squares fit of a + b x, over the points with weight 1 (not 0)."""
    w = np.ones_like(curves) if weight is None else weight
    n = w.sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = x - ((w * x).sum(1) / n)[:, None]
        b = (w * centred * curves).sum(1) / (w * centred**2).sum(1)
        a = (w * curves).sum(1) / n - b * (w * x).sum(1) / n
    return _Fit(a, b, a[:, None] + b[:, None] * x)


def _power_log_log(curves: Floats, t: Floats) -> _Fit:
    """The least-squares fit of log R = log a + b log t over the times with positive regret."""
    positive = curves > 0
    line = _straight_line(np.log(np.where(positive, curves, 1.0)), np.log(t), positive.astype(np.float64))
    return _Fit(np.exp(line.a), line.b, np.exp(line.fitted))


def _power_raw(curves: Floats, t: Floats) -> _Fit:
    """The least-squares fit of a t^b: the best a for each b is known, so only b has to be searched for.

    With p = t^b the residuals are smallest at a = R.p / p.p, where p explains (R.p)^2 / p.p of the squares. The best b on a
    grid is refined by bisection on the sign of the slope, which finds b to 1e-12; comparing values would stop at 1e-8.
    """
    grid = np.linspace(-LARGEST_EXPONENT, LARGEST_EXPONENT, 401)
    shapes = _shape(grid, t)
    explained = (curves @ shapes.T) ** 2 / (shapes**2).sum(1)
    at = explained.argmax(1)
    low, high = grid[np.maximum(at - 1, 0)], grid[np.minimum(at + 1, grid.size - 1)]
    b = grid[at]
    for _ in range(48):
        rising = _slope(curves, t, b) > 0
        low, high = np.where(rising, b, low), np.where(rising, high, b)
        b = (low + high) / 2
    # If a curve is all zero, every power fits: take 0, not the last of the grid.
    b = np.where((curves == 0).all(1), 0.0, b)
    shape = _shape(b, t)
    height = (curves * shape).sum(1) / (shape**2).sum(1)
    # a belongs to t^b, the height to (t / reference)^b
    return _Fit(height * _reference(b, t) ** -b, b, height[:, None] * shape)


def _reference(b: Floats, t: Floats) -> Floats:
    """The time at which t^b is largest; t^b over its value there neither overflows nor vanishes everywhere."""
    return np.where(b > 0, t.max(), t.min())


def _shape(b: Floats, t: Floats) -> Floats:
    return np.exp(b[:, None] * np.log(t / _reference(b, t)[:, None]))


def _slope(curves: Floats, t: Floats, b: Floats) -> Floats:
    """The sign of d/db of (R.p)^2 / p.p, up to a positive factor."""
    p, log_t = _shape(b, t), np.log(t)
    along = (curves * p).sum(1)
    return along * ((curves * p * log_t).sum(1) * (p * p).sum(1) - along * (p * p * log_t).sum(1))


_POWER_FITS: dict[str, Callable[[Floats, Floats], _Fit]] = {"raw": _power_raw, "log-log": _power_log_log}
