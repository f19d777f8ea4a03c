"""The table of parameters, read by everything that builds, simulates, fits or reports on an agent.

The same name means the same thing in every agent. A row gives a parameter's allowed values, its search range in a fit, and
its names in the paper and for readers. Which parameters beliefs depend on is not listed here: it is read off the learner
itself (`fitting.objective.parameters_of_beliefs`). Names such as `kernel`, `ties` or `cooling` choose a part of an agent and
are not parameters.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from explorelab._support import checks
from explorelab.agents.factors import Argument
from explorelab.errors import InputError


class Units(NamedTuple):
    """The units of a data set, from which search ranges are computed."""

    reward_centre: float
    reward_sd: float
    spacing: float
    """The smallest distance between two arms."""
    extent: float
    """The largest distance between two arms."""


UNIT = Units(0.0, 1.0, 1.0, 1.0)
"""Rewards of mean 0 and standard deviation 1, arms one step apart: for values before there are data."""


class Sought(NamedTuple):
    """The search range of a parameter in a fit: a normal prior on its scale, and bounds."""

    scale: str
    centre: float
    """The typical value, in natural units."""
    spread: float
    """Standard deviation of plausible values, on the scale."""
    low: float
    high: float
    """Bounds in natural units."""


type Seek = Callable[[Units], Sought]
type Shape = Literal["one number", "one for each arm", "matrix"]


@dataclass(frozen=True)
class Parameter:
    """One parameter, the same in every agent that has it."""

    name: str
    symbol: str = ""
    """The paper's symbol, if it has one."""
    words: str = ""
    """Its name in a sentence; by default the name with spaces."""
    allowed: checks.Bounds = field(default_factory=checks.Bounds)
    """Allowed values, as arguments of `checks.real`."""
    seek: Seek | None = None
    """Its search range in a fit; None if it cannot be free."""
    shape: Shape = "one number"
    """The largest shape that it may have."""
    variance: bool = False
    """Whether its unit is squared rewards, so that it may be as large or as small as their squares."""
    level: bool = False
    """Whether it is a level of reward, which has the same zero as rewards."""
    divides: bool = False
    """Whether agents divide by it: it may be 0 where that is allowed, but not so small that it underflows to 0."""
    optional: bool = False
    """Whether None leaves it out."""
    made: bool = False
    """Whether a builder computes it from other parameters; users never give it."""
    meaning: str = ""
    """What it means, in a sentence, for the docstrings of agents."""

    @property
    def in_words(self) -> str:
        """Its name in a sentence."""
        return self.words or self.name.replace("_", " ")

    @property
    def label(self) -> str:
        """Its name in an error message, with the symbol if it is ASCII."""
        return f"{self.name} ({self.symbol})" if self.symbol and self.symbol.isascii() else self.name


# Where parameters are sought ------------------------------------------------------------------------------------------


def _within(low: float, high: float, centre: float, spread: float, scale: str = "real") -> Seek:
    """A search range that does not depend on the units of the data."""
    return lambda units: Sought(scale, centre, spread, low, high)


def _share(centre: float, spread: float) -> Seek:
    return _within(1e-4, 1 - 1e-4, centre, spread, "logit")


def _about(typical: Callable[[Units], float]) -> Seek:
    """The search range of a positive number on a log scale: up to 9 natural-log units from its typical value."""

    def seek(units: Units) -> Sought:
        centre = typical(units)
        return Sought("log", centre, 1.5, centre * np.exp(-9.0), centre * np.exp(9.0))

    return seek


def _seek_prior_mean(units: Units) -> Sought:
    centre, sd = units.reward_centre, units.reward_sd
    return Sought("real", centre, 2 * sd, centre - 12 * sd, centre + 12 * sd)


def _seek_length_scale(units: Units) -> Sought:
    return Sought("log", 2 * units.spacing, 1.0, 0.1 * units.spacing, 10 * units.extent)


# The table ------------------------------------------------------------------------------------------------------------

POSITIVE: checks.Bounds = {"above": 0}
NOT_NEGATIVE: checks.Bounds = {"at_least": 0}
PROBABILITY: checks.Bounds = {"at_least": 0, "at_most": 1}
BETWEEN_0_AND_1: checks.Bounds = {"above": 0, "below": 1}
SCALE_OF_LIMIT: checks.Bounds = {"at_least": 2, "why": "a smaller one puts the upper limit below the mean at t = 1"}
# The table of epochs has about 20 / alpha entries.
GROWTH: checks.Bounds = {"at_least": 1e-5, "below": 1, "why": "with less, an arm's first 100 000 epochs are one play each"}

_ROWS = (
    # Beliefs before anything is seen, and how rewards change them.
    Parameter(
        "prior_mean", "μ₀", seek=_seek_prior_mean, shape="one for each arm", level=True,
        meaning="Expected reward before anything is seen: one number, or one per arm.",
    ),
    Parameter(
        "prior_var", "σ₀²", "prior variance", {"at_least": 0, "infinite": True}, _about(lambda u: u.reward_sd**2),
        shape="one for each arm", variance=True, divides=True,
        meaning="Variance of the prior: one number, or one per arm; infinite for an uninformative prior.",
    ),
    Parameter(
        "length_scale", "λ", allowed=NOT_NEGATIVE, seek=_seek_length_scale,
        meaning="Distance over which arms are believed to be alike; 0 for independent arms.",
    ),
    Parameter(
        "prior_cov", "Σ₀", "prior covariance", shape="matrix", variance=True,
        meaning="Covariance matrix of the prior, instead of prior_var, length_scale and kernel.",
    ),
    Parameter(
        "noise_var", "σₛ²", "noise variance", POSITIVE, _about(lambda u: 0.1 * u.reward_sd**2),
        variance=True, divides=True, optional=True,
        meaning="Variance of the reward noise that the agent assumes; by default the task's.",
    ),
    Parameter(
        "drift_var", "", "drift variance", NOT_NEGATIVE, _about(lambda u: 0.05 * u.reward_sd**2), variance=True,
        meaning="Variance by which each arm is believed to drift from trial to trial.",
    ),
    Parameter(
        "decay", "λ", allowed=PROBABILITY, seek=_share(0.95, 1.5),
        meaning="Share of its distance from the centre that each arm is believed to keep from trial to trial.",
    ),
    Parameter(
        "decay_centre", "θ", "centre of decay", seek=_seek_prior_mean, optional=True, level=True,
        meaning="Reward that arms are believed to tend to as they decay; by default the prior mean.",
    ),
    Parameter(
        "learning_rate", allowed=PROBABILITY, seek=_share(0.4, 1.5),
        meaning="Share of the way that an expected reward moves towards each reward.",
    ),
    # What arms are worth.
    Parameter(
        "credibility_scale", "K", allowed=SCALE_OF_LIMIT, seek=_within(2.0, 1e4, 4.1327, 0.7, "log"),
        meaning="K of the credible limit's quantile, 1 - 1/(K t^a).",
    ),
    Parameter(
        "credibility_power", "a", allowed=POSITIVE, seek=_within(0.01, 20.0, 1.0, 0.7, "log"),
        meaning="a of the credible limit's quantile, 1 - 1/(K t^a).",
    ),
    Parameter(
        "bonus", seek=_within(-10.0, 10.0, 0.5, 1.0),
        meaning="Number of standard deviations added to the expected reward.",
    ),
    Parameter("reward_range", allowed=POSITIVE, meaning="The range b of rewards, which are assumed to lie in [0, b]."),
    Parameter(
        "alpha", allowed=GROWTH,
        meaning="Growth of the epochs: each is longer than the last by a factor of 1 + alpha.",
    ),
    Parameter("exploration_rate", allowed=POSITIVE, meaning="zeta of the exploration function zeta log t."),
    Parameter(
        "range_weight", allowed=NOT_NEGATIVE,
        meaning="The weight c of the term that depends on the range of rewards.",
    ),
    Parameter("log_power", allowed=NOT_NEGATIVE, meaning="The power c of the logarithmic term."),
    Parameter(
        "failure_probability", allowed=BETWEEN_0_AND_1, divides=True,
        meaning="Probability delta with which the confidence bounds may fail.",
    ),
    Parameter("beta_scale", allowed=POSITIVE, meaning="Factor by which to multiply beta."),
    Parameter("discount", allowed=BETWEEN_0_AND_1, meaning="Discount factor per trial, between 0 and 1."),
    Parameter(
        "leader_share", allowed=BETWEEN_0_AND_1, optional=True,
        meaning="delta, the share of plays that an arm needs to lead: 0 < delta < 1/N^2, by default 1/(2 N^2).",
    ),
    # How an arm is chosen.
    Parameter(
        "temperature", "υ", allowed=NOT_NEGATIVE, seek=_about(lambda u: 0.2 * u.reward_sd), divides=True,
        meaning="Temperature of the softmax, in units of reward.",
    ),
    Parameter(
        "cooling_rate", "ν", allowed=POSITIVE, seek=_about(lambda u: 0.6 * u.reward_sd), divides=True,
        meaning='nu of the temperature nu / log t, for cooling="log".',
    ),
    Parameter("epsilon", allowed=PROBABILITY, seek=_share(0.1, 1.5), meaning="Probability of choosing at random."),
    Parameter("epsilon_rate", allowed=POSITIVE, meaning="c of epsilon_t = min(1, c N / (d^2 t))."),
    Parameter(
        "epsilon_gap", allowed=POSITIVE, divides=True,
        meaning="d of epsilon_t = min(1, c N / (d^2 t)), at most the smallest gap.",
    ),
    Parameter(
        "win_stay", allowed=PROBABILITY, seek=_share(0.5, 1.5),
        meaning="Probability of choosing the same arm again after a win.",
    ),
    Parameter(
        "lose_shift", allowed=PROBABILITY, seek=_share(0.5, 1.5),
        meaning="Probability of choosing another arm after a loss.",
    ),
    # Habits.
    Parameter("stickiness", seek=_within(-10.0, 10.0, 0.0, 2.0), meaning="Pull of the last arm, in log-odds."),
    Parameter(
        "travel_cost", seek=_within(-10.0, 15.0, 1.0, 1.5),
        meaning="How strongly distance from the last arm deters: log-odds per unit of log(1 + distance).",
    ),
    Parameter("novelty", seek=_within(-15.0, 15.0, 0.0, 3.0), meaning="Pull of arms never sampled, in log-odds."),
    Parameter(
        "lapse", allowed=PROBABILITY, seek=_share(0.05, 1.2),
        meaning="Probability of choosing at random, whatever the rule.",
    ),
    # Pulls on someone who remembers the way.
    Parameter(
        "warming", seek=_within(-3.0, 3.0, 0.1, 0.25),
        meaning="Power of time by which the temperature grows: temperature x (t / 10)^warming.",
    ),
    Parameter(
        "inference", seek=_within(-3.0, 3.0, 0.3, 0.6),
        meaning="Extra weight of what is inferred about arms never sampled, as a share of its weight.",
    ),
    Parameter(
        "persistence", seek=_within(-10.0, 10.0, 1.0, 1.5),
        meaning="Further pull of the last arm if it was itself a repetition, in log-odds.",
    ),
    Parameter(
        "gap_filling", seek=_within(-10.0, 10.0, 1.0, 2.0),
        meaning="Pull of a new arm all of whose neighbours were sampled, in log-odds; of others in proportion.",
    ),
    Parameter(
        "restlessness", seek=_within(-10.0, 15.0, 0.5, 1.5),
        meaning="How much less distance deters after long walks: travel_cost falls by this times the pace.",
    ),
    Parameter(
        "adjacency", seek=_within(-10.0, 10.0, 0.3, 0.6),
        meaning="Pull of the last arm and those next to it, diagonals included, in log-odds.",
    ),
    Parameter("momentum", seek=_within(-10.0, 10.0, 0.5, 0.6), meaning="Pull of making the last step again, in log-odds."),
    Parameter(
        "elbow_room", seek=_within(-10.0, 10.0, 0.0, 1.5),
        meaning="Pull of arms far from all sampled ones: log-odds per unit of log(1 + distance).",
    ),
    Parameter(
        "roaming", seek=_within(-15.0, 15.0, 1.0, 2.0),
        meaning="How much that pull grows after long walks: by this times the pace.",
    ),
    Parameter(
        "homing", seek=_within(-10.0, 10.0, 0.8, 0.8),
        meaning="Pull of the arm of the highest reward: log-odds per unit of log(1 + distance) from it.",
    ),
    Parameter(
        "giving_up", seek=_within(-5.0, 5.0, 0.1, 0.4),
        meaning="How much homing falls per unit of log(1 + number of rewards since the highest).",
    ),
    Parameter(
        "symmetry", seek=_within(-10.0, 10.0, 0.2, 0.4),
        meaning="Pull of arms as far from the centre as the last one, such as its mirror images, in log-odds.",
    ),
    Parameter(
        "corners", seek=_within(-10.0, 10.0, 0.0, 1.0),
        meaning="Pull of corners, or of the ends of a line, in log-odds.",
    ),
    Parameter(
        "first_step", seek=_within(-10.0, 15.0, 1.0, 1.5),
        meaning="How much less distance deters the first step of a block: log-odds per unit of log(1 + distance).",
    ),
    Parameter("borders", seek=_within(-10.0, 10.0, -0.3, 0.5), meaning="Pull of arms at the border, in log-odds."),
    # Computed from others.
    Parameter("ucb2_alpha", made=True),
    Parameter("ucb2_epochs", made=True),
    Parameter("gittins_log_weight", made=True),
    Parameter("gittins_log_bonus", made=True),
)  # fmt: skip

PARAMETERS: Mapping[str, Parameter] = {row.name: row for row in _ROWS}
"""Every parameter of the package's agents, by name."""

_ADDED: dict[str, Parameter] = {}
"""Those that users have added."""

_KNOWN = ChainMap(_ADDED, dict(PARAMETERS))


def about(name: str) -> Parameter:
    """The parameter's row; a bare one for an unknown name, such as a parameter of an agent composed by hand."""
    return _KNOWN.get(name) or Parameter(name)


def searchable(own: Iterable[Parameter] = ()) -> dict[str, Seek]:
    """The search range of every parameter that can be free; an agent's `own` parameters go before others of their name."""
    rows = {**_KNOWN, **{row.name: row for row in own}}
    return {name: row.seek for name, row in rows.items() if row.seek is not None}


def declare(row: Parameter) -> None:
    """Add a user's parameter to the table, in place of an earlier one of theirs with the same name."""
    _ADDED[row.name] = row


def value(name: str, given: Argument, **tighter: Unpack[checks.Bounds]) -> checks.Floats:
    """The checked value of a parameter, optionally within tighter bounds."""
    row = about(name)
    if row.shape == "matrix":
        return checks.covariance(name, given)
    check = checks.real if row.shape == "one for each arm" else checks.scalar
    bounds: checks.Bounds = {**row.allowed, **tighter}
    return check(row.label, given, **bounds)


def values(**given: Argument) -> dict[str, checks.Floats]:
    """The checked values of some parameters; None leaves an optional one out."""
    return {name: value(name, one) for name, one in given.items() if not (one is None and about(name).optional)}


MOST = {"float32": 1e15, "float64": 1e140}
"""The largest size of a number, such that its square is still well within range; for a variance, the square of this.

Agents square differences between rewards and divide by variances; beyond these sizes the results are infinite or 0, the
limits of arms are inf - inf, and no arm is the best.
"""


def check_range(named: Mapping[str, npt.ArrayLike], dtype: str) -> None:
    """Raise if one of these numbers is too large or too small to compute with; infinite values are allowed."""
    for name, value in named.items():
        parameter = about(name)
        most = MOST[dtype] ** (2 if parameter.variance else 1)
        size = np.abs(np.asarray(value, float))
        large = np.isfinite(size) & (size > most)
        small = (size > 0) & (size < 1 / most) & parameter.divides
        if (large | small).any():
            wanted = f"at most {most:g} in size" if large.any() else f"0, or at least {1 / most:g}"
            raise InputError(f"{name} must be {wanted}{_advice(dtype)}, got {float(size[large | small].flat[0]):g}.")


def _advice(dtype: str) -> str:
    return " in single precision (double takes more)" if dtype == "float32" else ""
