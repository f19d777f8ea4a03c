"""Information criteria, which weigh how well a model explains choices against its number of parameters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from explorelab._support import checks
from explorelab._support.checks import Floats
from explorelab.choices.table import Choices
from explorelab.errors import InputError

OF_LIKELIHOOD = ("bic", "aic")
"""Criteria that need the maximum of the likelihood: they are undefined for estimates under a prior."""


def method_for(criterion: str, method: str) -> str:
    """The fitting method for a criterion: maximum likelihood for AIC and BIC, otherwise as requested."""
    return "ml" if criterion in OF_LIKELIHOOD else method


def aic(log_lik: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """Akaike's criterion, 2 k - 2 log L, for a log-likelihood at its maximum over k parameters; smaller is better."""
    return 2 * _count("k", k, 0) - 2 * checks.numbers("log_lik", log_lik)


def bic(log_lik: npt.ArrayLike, k: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Schwarz's criterion, k log n - 2 log L, for n choices; minus half of it approximates the log evidence."""
    return _count("k", k, 0) * np.log(_count("n", n, 1)) - 2 * checks.numbers("log_lik", log_lik)


def share_foreseen(nll: Floats, chance: Floats) -> Floats:
    """1 - nll / chance; NaN where chance is 0 or the nll is unknown."""
    costs = chance > 0
    return np.where(costs, 1 - nll / np.where(costs, chance, 1.0), np.nan)


def chance_nll(choices: Choices, by_row: bool = False) -> Floats:
    """Each participant's negative log-likelihood under random choice: the sum of log(arms on offer) over scored trials.

    `by_row` gives it for every block instead.
    """
    if choices.available is None:
        per_row = choices.scored.sum(1) * np.log(choices.layout.n_arms)
    else:
        per_row = np.log(np.maximum(choices.available.sum(2), 1)).sum(1, where=choices.scored)
    return per_row if by_row else np.bincount(choices.participant, per_row, choices.n_participants)


def without_information(choices: Choices) -> tuple[str, ...]:
    """Participants without any informative choice: all trials missed or forced, or with only one arm on offer."""
    return tuple(who for who, cost in zip(choices.participants, chance_nll(choices), strict=True) if not cost > 0)


def informative(choices: Choices) -> Choices:
    """The choices of everyone with at least one informative choice."""
    silent = without_information(choices)
    return choices.rows(~np.isin(choices.participants, silent)[choices.participant]) if silent else choices


def _count(name: str, value: npt.ArrayLike, at_least: int) -> Floats:
    count = checks.numbers(name, value)
    if (count < at_least).any():
        raise InputError(f"{name} must be at least {at_least}, got {count[count < at_least].flat[0]:g}.")
    return count
