"""`parameter`: what a fit must know about a parameter of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from keyword import iskeyword

import numpy as np

from explorelab._support import checks
from explorelab._support.door import door
from explorelab.agents.parameters import PARAMETERS, UNIT, Parameter, Sought, Units, declare
from explorelab.agents.scales import SCALES
from explorelab.errors import InputError

type Amount = float | Callable[[Units], float]

GIVEN = ("noise_var", "horizon", "n_arms", "walks")
"""What every agent is told about its task, so that nobody declares it."""
ALLOWED: dict[str, checks.Bounds] = {"real": {}, "log": {"above": 0}, "logit": {"above": 0, "below": 1}}
USUAL_SPREAD = {"log": 1.5, "logit": 1.5}
"""Standard deviation of a weak prior, on the scale; on the scale of the number itself none is usual."""
FAR = {"real": 6.0, "log": 9.0}
"""Bounds where none are given: this many spreads, or natural-log units, from the typical value."""
ELSEWHERE = Units(3.0, 2.0, 1.5, 4.0)
"""Other units, to see whether two ranges that depend on them are the same."""


@dataclass(frozen=True)
class Range:
    """The search range of a user's parameter; amounts may depend on the units of the data."""

    name: str
    scale: str
    typical: Amount
    spread: Amount | None
    low: Amount | None
    high: Amount | None

    def __call__(self, units: Units) -> Sought:
        """The range in these units."""
        typical = self._amount("typical", self.typical, units)
        spread = self._amount("spread", USUAL_SPREAD.get(self.scale) if self.spread is None else self.spread, units)
        least, most = _far(self.scale, typical, spread)
        low = least if self.low is None else self._amount("low", self.low, units)
        high = most if self.high is None else self._amount("high", self.high, units)
        return _checked(self.name, Sought(self.scale, typical, spread, low, high))

    def _amount(self, what: str, amount: Amount | None, units: Units) -> float:
        return float(checks.scalar(f"{what} of {self.name}", amount(units) if callable(amount) else amount))


def _far(scale: str, typical: float, spread: float) -> tuple[float, float]:
    if scale == "logit":
        return 1e-4, 1 - 1e-4
    if scale == "log":
        return typical * np.exp(-FAR[scale]), typical * np.exp(FAR[scale])
    return typical - FAR[scale] * spread, typical + FAR[scale] * spread


def _checked(name: str, sought: Sought) -> Sought:
    for what, value in (("typical", sought.centre), ("low", sought.low), ("high", sought.high)):
        edge = what != "typical" and sought.scale == "logit" and value in (0, 1)
        if not edge:
            checks.scalar(f"{what} of {name} on the scale {sought.scale!r}", value, **ALLOWED[sought.scale])
    if not sought.low < sought.high or not sought.low <= sought.centre <= sought.high:
        raise InputError(
            f"{name} must have low below high and its typical value between them, got {sought.low:g} to {sought.high:g} "
            f"and {sought.centre:g}."
        )
    if sought.spread <= 0:
        raise InputError(f"spread of {name} must be above 0, got {sought.spread:g}.")
    return sought


@door
def parameter(
    name: str,
    *,
    typical: Amount,
    scale: str = "real",
    spread: Amount | None = None,
    low: Amount | None = None,
    high: Amount | None = None,
    words: str = "",
    symbol: str = "",
    meaning: str = "",
    variance: bool = False,
) -> Parameter:
    """Declare a parameter of your own, so that agents that have it can be simulated and fitted.

    Amounts may be functions of the data's units instead of numbers, as in `typical=lambda units: 0.2 * units.reward_sd`.
    Declared again, it replaces the earlier one in agents made from then on.

    Parameters
    ----------
    name
        Name of the parameter: how your functions read it, as in `params["rate_up"]`.
    typical
        Typical value in natural units: the centre of its normal prior, and its value where none is given.
    scale
        Scale of the prior: "real", "log" for numbers above 0, or "logit" for numbers between 0 and 1.
    spread
        Standard deviation of its prior, on the scale; by default 1.5 on "log" and "logit". On "real" it must be given.
    low, high
        Bounds of the search, in natural units; by default wide ones.
    words
        Its name in reports; by default the name with spaces.
    symbol
        Its symbol in reports.
    meaning
        What it means, in a sentence.
    variance
        Whether it has the unit of squared rewards.
    """
    check_identifier("name", name, "curiosity")
    if name in GIVEN:
        raise InputError(f"every agent is told {name} about its task: read params[{name!r}] without declaring it.")
    if name in PARAMETERS:
        raise InputError(
            f"explorelab already has a parameter {name}, which means the same in every agent: choose another name, or list "
            f"{name!r} itself among an agent's parameters."
        )
    checks.one_of("scale", scale, SCALES)
    if spread is None and scale not in USUAL_SPREAD:
        raise InputError(f"{name} needs a spread, the standard deviation of plausible values, on the scale {scale!r}.")
    sought = Range(name, scale, typical, spread, low, high)
    if not any(map(callable, (typical, spread, low, high))):
        sought(UNIT)
    row = Parameter(name, symbol, words, ALLOWED[scale], sought, variance=variance, meaning=meaning)
    declare(row)
    return row


def check_identifier(what: str, name: str, example: str) -> None:
    """Raise unless functions can be given an argument of this name."""
    if not name.isidentifier() or iskeyword(name):
        raise InputError(f"{what} must be a valid Python name, such as {example}, got {checks.shown(name)}.")


def same(one: Parameter, other: Parameter) -> bool:
    """Whether two parameters of one name are the same, wherever they were declared."""
    if (one.symbol, one.words, one.variance) != (other.symbol, other.words, other.variance):
        return False
    if one.seek is None or other.seek is None:
        return one.seek is other.seek
    return all(one.seek(units) == other.seek(units) for units in (UNIT, ELSEWHERE))


def check_same(where: str, rows: Iterable[Parameter]) -> None:
    """Raise if two of the parameters have the same name and different facts."""
    seen: dict[str, Parameter] = {}
    for row in rows:
        if not same(seen.setdefault(row.name, row), row):
            raise InputError(
                f"{row.name} is declared twice in {where}, with different facts: give one of them another name."
            )
