"""How good a prior is for a given task, and how it affects the bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from explorelab._support.checks import Floats, numbers
from explorelab._support.counted import each_of
from explorelab._support.door import door
from explorelab.errors import InputError
from explorelab.theory._checks import checked_means, checked_noise_var


@door
def prior_quality(means: npt.ArrayLike, prior_mean: npt.ArrayLike, prior_var: npt.ArrayLike) -> float:
    """How many prior standard deviations the worst-judged arm lies from its prior mean; small is good.

    zeta = max_i |m_i - mu_i^0| / sigma_0 (remark "Informative priors"). It is 0 for an uninformative prior (infinite
    variance) and infinite for a prior that is certain (variance 0) and wrong; where a certain prior is right, it counts as
    0.

    Parameters
    ----------
    means
        True mean reward of each arm.
    prior_mean, prior_var
        Mean and variance of the prior: one number for all arms, or one per arm.
    """
    truth, mean, var = _checked(means, prior_mean, prior_var)
    error, sd = np.abs(truth - mean), np.sqrt(var)
    return float(_in_units_of(error, sd).max())


class PriorError(NamedTuple):
    """How far a prior violates the bounds' assumption of an uninformative one, for which both numbers are 0."""

    doubt: float
    """How many prior standard deviations the prior places a best arm below its true mean."""
    pull: float
    """How far the prior pulls the mean of a single reward to the wrong side, in standard deviations of the reward noise."""


@door
def prior_error(means: npt.ArrayLike, prior_mean: npt.ArrayLike, prior_var: npt.ArrayLike, noise_var: float) -> PriorError:
    """How a prior enters the proof that limits rarely err: by placing best arms too low and others too high.

    With delta^2 = sigma_s^2/sigma_0^2 and n rewards of an arm, its limit errs (events 15 and 16 of appendix G) only if
    their mean is off by z_t sqrt(1 + delta^2/n) - delta^2 e/(sigma_s sqrt(n)) standard errors, where z_t is the quantile of
    the schedule and e is how far the prior mean is off in the wrong direction. That is at least z_t - pull, with
    pull = delta^2 e/sigma_s. The limit of a best arm not yet seen (n = 0) errs only if e/sigma_0 >= z_t.

    Parameters
    ----------
    means
        True mean reward of each arm.
    prior_mean, prior_var
        Mean and variance of the prior: one number for all arms, or one per arm.
    noise_var
        Variance of the reward noise.
    """
    truth, mean, var = _checked(means, prior_mean, prior_var)
    error = np.where(truth == truth.max(), truth - mean, mean - truth)
    wrong = np.maximum(error, 0.0)
    in_prior_sds = _in_units_of(wrong, np.sqrt(var))
    with np.errstate(invalid="ignore", divide="ignore"):
        pull = np.where(wrong > 0, in_prior_sds * np.sqrt(checked_noise_var(noise_var) / var), 0.0)
    return PriorError(float(in_prior_sds[truth == truth.max()].max()), float(pull.max()))


def _in_units_of(error: Floats, sd: Floats) -> Floats:
    distance = np.where(error == 0, 0.0, np.inf)
    np.divide(error, sd, out=distance, where=sd > 0)
    return distance


def _checked(means: npt.ArrayLike, prior_mean: npt.ArrayLike, prior_var: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    """The true means, with a prior mean and variance for each."""
    truth = checked_means(means)
    mean, var = numbers("prior_mean", prior_mean), numbers("prior_var", prior_var, infinite=True)
    if (var < 0).any():
        raise InputError(f"prior_var must not be negative (inf is allowed), got {var.min():g}.")
    for name, values in (("prior_mean", mean), ("prior_var", var)):
        if values.shape not in ((), truth.shape):
            raise InputError(f"{name} must be one number or one for {each_of(truth.size, 'arm')}, got shape {values.shape}.")
    return truth, np.broadcast_to(mean, truth.shape), np.broadcast_to(var, truth.shape)
