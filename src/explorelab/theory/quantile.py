"""The normal quantile that sets the credible limit, and the paper's bounds on it.

Everything is computed from log alpha, because 2 pi alpha^2 underflows in float64 long before alpha does.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from explorelab._support.checks import Floats, numbers
from explorelab._support.door import door
from explorelab.errors import InputError
from explorelab.theory._checks import checked_beta, checked_times

CREDIBILITY_SCALE = math.sqrt(2 * math.pi * math.e)
"""K of the schedule alpha_t = 1/(K t^a), for which the paper proves its bounds."""

BETA = 1.02
"""The factor of the quantile's upper bound that the paper uses."""

SMALLEST_BETA = 1.00353344137
"""The smallest factor for which the quantile's upper bound is true, found numerically (worst at alpha = 0.006797)."""

NU = 1.5
"""The nu that appendix G's proofs use in its lower bound."""

LARGEST_NU = 1.59
"""The largest nu for which appendix G proves its lower bound."""


@door
def upper_quantile(alpha: npt.ArrayLike) -> Floats:
    """The value that a standard normal variable exceeds with probability alpha.

    Phi^-1(1 - alpha), computed as -ndtri(alpha) because 1 - alpha loses the digits of a small alpha.
    Valid for 0 < alpha < 1.

    Parameters
    ----------
    alpha
        Tail probability, or an array of them.
    """
    return np.asarray(-ndtri(_probability(alpha, 1.0, "1")))


@door
def quantile_upper_bound(alpha: npt.ArrayLike, beta: float = BETA) -> Floats:
    """An upper bound on the upper quantile of alpha.

    beta sqrt(-log(-x log x)) with x = 2 pi alpha^2: the theorem "Bounds on the inverse Gaussian cdf".
    Valid for 0 < alpha < 1/sqrt(2 pi) (the "alpha in (0, 1)" of appendix A is a slip: x must be below 1).
    The paper's proof needs beta >= 1.01923 and states 1.02; numerically any beta >= 1.003533... is enough.

    Parameters
    ----------
    alpha
        Tail probability, or an array of them.
    beta
        The theorem's factor.
    """
    beta = checked_beta(beta, SMALLEST_BETA)
    log_x = _log_x(alpha)
    return np.asarray(beta * np.sqrt(-(log_x + np.log(-log_x))))


@door
def quantile_lower_bound(alpha: npt.ArrayLike) -> Floats:
    """A lower bound on the upper quantile of alpha.

    sqrt(-log(x (1 - log x))) with x = 2 pi alpha^2: the theorem "Bounds on the inverse Gaussian cdf".
    Valid for 0 < alpha < 1/sqrt(2 pi); checked on a grid down to alpha = 1e-300.

    Parameters
    ----------
    alpha
        Tail probability, or an array of them.
    """
    log_x = _log_x(alpha)
    return np.asarray(np.sqrt(-(log_x + np.log1p(-log_x))))


@door
def schedule_quantile_lower_bound(times: npt.ArrayLike, power: float, nu: float = NU) -> Floats:
    """A lower bound on Phi^-1(1 - 1/(K t^a)) for each time t.

    sqrt(nu a log t), the first inequality of appendix G's proposition. Its proof writes log t where log t^a is meant;
    with u = t^a in place of t it is right as it stands, g(u) = 1 - log 2 + (2 - nu) log u - log(1 + log u) included
    (there log(1 + log(e u^2)) = log(2 + 2 log u) has been split into log 2 + log(1 + log u)). As only u >= 1 enters,
    the bound holds for every a > 0, not only for a > 1.
    Valid for t >= 1, a > 0, 0 < nu <= 1.59; numerically it holds up to nu = 1.6917 (worst at t^a = 11.4).

    Parameters
    ----------
    times
        One time or an array of them.
    power
        The power a.
    nu
        The proposition's factor.
    """
    if not 0 < nu <= LARGEST_NU:
        raise InputError(f"nu must be above 0 and at most {LARGEST_NU}, got {nu}.")
    return np.asarray(np.sqrt(nu * _log_power(times, power)))


@door
def schedule_quantile_upper_bound(times: npt.ArrayLike, power: float) -> Floats:
    """An upper bound on Phi^-1(1 - 1/(K t^a)) for each time t.

    sqrt(2 a log t + log(2 pi e)), the second inequality of appendix G's proposition: P(z > x) <= exp(-x^2/2) at
    alpha = 1/(K t^a). Valid for t >= 1 and a > 0; the squares differ by 2.35 or more, so it is never tight.

    Parameters
    ----------
    times
        One time or an array of them.
    power
        The power a.
    """
    return np.asarray(np.sqrt(2 * _log_power(times, power) + math.log(2 * math.pi * math.e)))


def _log_power(times: npt.ArrayLike, power: float) -> Floats:
    if not (math.isfinite(power) and power > 0):
        raise InputError(f"power must be a positive number, got {power}.")
    return np.asarray(power * np.log(checked_times(times)))


def _log_x(alpha: npt.ArrayLike) -> Floats:
    largest = 1 / math.sqrt(2 * math.pi)
    log_x = math.log(2 * math.pi) + 2 * np.log(_probability(alpha, largest, "1/sqrt(2 pi)"))
    # the float just under 1/sqrt(2 pi) can round to x = 1, where the upper bound is infinite
    return np.asarray(np.minimum(log_x, -np.finfo(np.float64).tiny))


def _probability(alpha: npt.ArrayLike, largest: float, shown: str) -> Floats:
    values = numbers("alpha", alpha)
    bad = ~((values > 0) & (values < largest))
    if bad.any():
        raise InputError(f"alpha must lie strictly between 0 and {shown}, got {values[bad].flat[0]}.")
    return values
