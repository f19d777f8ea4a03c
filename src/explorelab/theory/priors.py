"""How good a prior is for a given task."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from explorelab.checks import numbers
from explorelab.errors import InputError
from explorelab.theory._checks import checked_means


def prior_quality(means: npt.ArrayLike, prior_mean: npt.ArrayLike, prior_var: npt.ArrayLike) -> float:
    """How many prior standard deviations the worst-judged arm lies from its prior mean; small is good.

    zeta = max_i |m_i - mu_i^0| / sigma_0 (remark "Informative priors"). `prior_mean` and `prior_var` are one number
    for all arms or one for each. 0 for an uninformative prior (infinite variance); infinite for a prior
    that is certain (variance 0) and wrong; a certain prior that is right at an arm counts 0 there.
    """
    truth = checked_means(means)
    mean, var = numbers("prior_mean", prior_mean), numbers("prior_var", prior_var, infinite=True)
    if (var < 0).any():
        raise InputError(f"prior_var must not be negative (inf is allowed), got {var.min():g}.")
    for name, values in (("prior_mean", mean), ("prior_var", var)):
        if values.shape not in ((), truth.shape):
            raise InputError(f"{name} must be one number or one for each of {truth.size} arms, got shape {values.shape}.")
    error, sd = np.broadcast_arrays(np.abs(truth - mean), np.sqrt(var))
    distance = np.where(error == 0, 0.0, np.inf)
    np.divide(error, sd, out=distance, where=sd > 0)
    return float(distance.max())
