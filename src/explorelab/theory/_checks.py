"""Checks of the arguments of the theory's public functions."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from explorelab._support.checks import Floats, Ints, numbers, scalar
from explorelab._support.counted import counted
from explorelab.errors import InputError

type Times = Ints

LARGEST_TIME = 2**53  # beyond this float64 cannot tell T from T + 1


def checked_means(means: npt.ArrayLike) -> Floats:
    """The mean rewards as a vector, one finite number per arm."""
    vector = numbers("means", means)
    if vector.ndim != 1 or vector.size == 0:
        raise InputError(f"means must be a vector with one number for each arm, got shape {vector.shape}.")
    with np.errstate(over="ignore"):
        if np.isinf(np.ptp(vector)):
            raise InputError(
                f"means must differ by less than {np.finfo(float).max:.1e}, got {vector.min():g} to {vector.max():g}."
            )
    return vector


def checked_noise_var(noise_var: float) -> float:
    """The variance of the reward noise, positive and finite (without noise there is nothing to bound)."""
    return float(scalar("noise_var", noise_var, above=0))


def checked_times(times: npt.ArrayLike, least: int = 1, why: str = "") -> Times:
    """The horizons as whole numbers that are at least `least`."""
    values = numbers("times", times)
    good = (values == np.floor(values)) & (values >= least) & (values <= LARGEST_TIME)
    if values.size == 0 or not good.all():
        came = values[~good].flat[0] if values.size else "none"
        raise InputError(f"times must be whole numbers, {least} or more{why}, got {came}.")
    return values.astype(np.int64)


def checked_beta(beta: float, smallest: float) -> float:
    """The factor of the quantile's upper bound, which must be large enough for that bound to be true."""
    if not (math.isfinite(beta) and beta >= smallest):
        raise InputError(
            f"beta must be at least {smallest:.6f}, got {beta}; below that the bound on the quantile is false. "
            "The paper uses 1.02."
        )
    return float(beta)


def checked_costs(costs: npt.ArrayLike, n_arms: int) -> Floats:
    """The mean transition costs, `costs[j, i]` for a move from arm j to arm i."""
    matrix = numbers("costs", costs)
    if matrix.shape != (n_arms, n_arms):
        raise InputError(
            f"costs must be a matrix of {n_arms} by {n_arms}, from arm (row) to arm (column), got shape {matrix.shape}."
        )
    if (matrix < 0).any():
        raise InputError(f"costs must not be negative, got {matrix.min():g}.")
    if np.diag(matrix).any():
        raise InputError(f"costs must be 0 for staying at an arm, got {np.diag(matrix).max()} on the diagonal.")
    return matrix


def checked_n_between(n_between: int | None, n_arms: int) -> int:
    """The most arms strictly between two arms on a shortest path; N - 2, the worst graph, when not given."""
    worst = max(0, n_arms - 2)
    if n_between is None:
        return worst
    if n_between not in range(worst + 1):
        raise InputError(f"n_between must be a whole number, 0 to {worst} for {counted(n_arms, 'arm')}, got {n_between!r}.")
    return int(n_between)
