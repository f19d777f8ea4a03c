"""The paper's four algorithms, as points of learner x limit x choice x commitment."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from explorelab._support import checks
from explorelab.agents.factors import ChoiceRule, Commitment, Learner, Rule
from explorelab.agents.learners import correlated, independent, kernels
from explorelab.agents.parameters import value, values
from explorelab.agents.registry import Design, named_agent
from explorelab.agents.rules import choice, commitment, limits
from explorelab.errors import InputError

__all__ = [
    "block_ucl",
    "deterministic_ucl",
    "stochastic_ucl",
]

CREDIBILITY_SCALE = math.sqrt(2 * math.pi * math.e)
"""K of the paper's theorems, sqrt(2 pi e)."""

PRIOR = ("prior_mean", "prior_var", "length_scale")
"""The parameters of a prior that are single numbers; a correlated prior has all of them."""


def gaussian_prior(
    prior_mean: npt.ArrayLike,
    prior_var: npt.ArrayLike,
    length_scale: float,
    kernel: str,
    prior_cov: npt.ArrayLike | None,
    noise_var: float | None,
) -> tuple[Learner, dict[str, checks.Floats]]:
    """The learner for a prior, and its parameters: independent unless a covariance or length scale is given."""
    params = values(prior_mean=prior_mean, noise_var=noise_var)
    if prior_cov is not None:
        params |= values(prior_cov=prior_cov)
        if not np.isinf(value("prior_var", prior_var)).all():
            raise InputError("give either prior_cov or prior_var, not both: the matrix holds the variances.")
        if np.any(np.asarray(length_scale) != 0):
            raise InputError("give either prior_cov or length_scale, not both: each says how arms are correlated.")
        return correlated.correlated(None), params
    params |= values(prior_var=prior_var)
    scale = value("length_scale", length_scale)
    checks.one_of("kernel", kernel, kernels.KERNELS)
    if scale == 0:
        return independent.independent, params
    if np.isinf(params["prior_var"]).any() or params["prior_var"].ndim:
        raise InputError(
            "a correlated prior (length_scale above 0) needs one finite prior_var; "
            f"got {checks.shown(prior_var)}. An uninformative prior cannot be correlated."
        )
    params["length_scale"] = scale
    return correlated.correlated(kernel), params


def kernel_prior(
    prior_mean: npt.ArrayLike,
    prior_var: npt.ArrayLike,
    length_scale: float,
    kernel: str,
    prior_cov: npt.ArrayLike | None,
    noise_var: float | None,
) -> tuple[Learner, dict[str, checks.Floats]]:
    """As `gaussian_prior`, for agents that have a kernel by default: given a matrix, these defaults are ignored."""
    if prior_cov is not None:
        prior_var, length_scale = math.inf, 0.0
    return gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)


def greedy(ties: str) -> ChoiceRule:
    """The rule that takes the best arm and breaks ties in this way."""
    return checks.one_of("tie rule", ties, choice.GREEDY)


def softmax(
    cooling: str, temperature: float | None, cooling_rate: float | None
) -> tuple[ChoiceRule, dict[str, checks.Floats]]:
    """The softmax rule with this cooling schedule, and its parameter; a parameter of another schedule is an error."""
    rule = checks.one_of("cooling schedule", cooling, choice.SOFTMAX)
    for name, given, belongs in (("temperature", temperature, "constant"), ("cooling_rate", cooling_rate, "log")):
        if given is not None and cooling != belongs:
            raise InputError(f"{name} needs cooling={belongs!r}, got cooling={cooling!r}.")
    if cooling == "constant":
        return rule, values(temperature=1.0 if temperature is None else temperature)
    if cooling == "log":
        return rule, values(cooling_rate=1.0 if cooling_rate is None else cooling_rate)
    return rule, {}


def free_prior(params: dict[str, checks.Floats]) -> tuple[str, ...]:
    """The parameters of a prior in which people differ; those given per arm or as a matrix are not estimated."""
    return tuple(name for name in PRIOR if name in params and np.ndim(params[name]) == 0)


def _ucl(
    prior: tuple[Learner, dict[str, checks.Floats]], more: dict[str, checks.Floats], rule: ChoiceRule, when: Commitment
) -> Design:
    learner, params = prior
    return Design(Rule(learner, limits.upper_credible_limit, rule, when), {**params, **more})


@named_agent
def deterministic_ucl(
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    length_scale: float = 0.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
    credibility_scale: float = CREDIBILITY_SCALE,
    credibility_power: float = 1.0,
    ties: str = "lowest",
) -> Design:
    """Chooses the arm with the highest upper credible limit at every step (algorithm 1)."""
    prior = gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    quantile = values(credibility_scale=credibility_scale, credibility_power=credibility_power)
    return _ucl(prior, quantile, greedy(ties), commitment.every_step)


@named_agent
def stochastic_ucl(
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    length_scale: float = 0.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
    credibility_scale: float = CREDIBILITY_SCALE,
    credibility_power: float = 1.0,
    temperature: float | None = None,
    cooling: str = "constant",
    cooling_rate: float | None = None,
    commitment: str = "every-step",
) -> Design:
    """Softmax over upper credible limits (algorithm 2): temperature constant, nu / log t ("log"), or "feedback".

    A constant temperature (default 1) is the paper's model of people; feedback cooling is the one with a regret bound.
    """
    prior = gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    rule, schedule = softmax(cooling, temperature, cooling_rate)
    when = checks.one_of("commitment", commitment, COMMITMENTS)
    quantile = values(credibility_scale=credibility_scale, credibility_power=credibility_power)
    design = _ucl(prior, quantile | schedule, rule, when)
    return design._replace(free=(*free_prior(prior[1]), *schedule))


COMMITMENTS = commitment.COMMITMENTS
"""Named here because the builder above has a parameter with the module's name."""


@named_agent
def block_ucl(
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    length_scale: float = 0.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
    credibility_scale: float = CREDIBILITY_SCALE,
    credibility_power: float = 1.0,
    ties: str = "lowest",
) -> Design:
    """Chooses the arm with the highest upper credible limit for each of the paper's growing blocks (algorithm 3).

    On a task with a graph of moves, this agent is the graphical block UCL algorithm (algorithm 4).
    """
    prior = gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    quantile = values(credibility_scale=credibility_scale, credibility_power=credibility_power)
    return _ucl(prior, quantile, greedy(ties), commitment.frames)
