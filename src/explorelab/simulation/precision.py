"""Whether a precision can represent the numbers of a simulation, and the origin of rewards that makes this easiest.

Agents do not care where rewards have their zero: with the same number added to every mean and to the prior mean, they choose
the same. So rewards are measured from the prior mean (without one, from the best arm if all means are far from zero), and
single precision need only represent differences. If it cannot do that either, `why_not` gives the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from explorelab.agents.factors import Agent, Params
from explorelab.agents.parameters import about
from explorelab.tasks import Task
from explorelab.tasks.noise import noise_kind

FAR = 16
"""Means this many times as large as their differences and the noise are measured from the best of them."""


@dataclass(frozen=True)
class Limits:
    """The limits of a precision."""

    size: float
    """The largest number whose square may appear; its inverse is the smallest."""
    steps: int
    """The most steps over which counts and averages stay accurate."""
    detail: float
    """The largest ratio of the values to the difference that must be resolved, times the number of steps."""
    tight: float
    """The largest noise variance over prior variance: the prior's weight in rewards, beside which one more must count."""
    wide: float
    """The largest prior variance over noise variance for correlated priors, which subtract one from the other."""
    alike: float
    """How far below 1 the correlation of two arms must be."""
    faint: float
    """How large the squared correlation of two arms must be for one to affect the other's variance."""
    drift: float
    """The largest prior variance over the variance that drift adds at each step."""
    levels: float
    """Half the number of integer rewards that can be drawn."""
    near_ties: bool
    """Whether nearly tied correlated arms can be told apart, in agreement with the likelihood of the choices."""


SAME, NOTHING = 1e-13, 2.0**-40
"""Two arms with a correlation this close to 1 are the same arm; with a squared correlation this small they are unrelated."""

LIMITS = {
    "float32": Limits(1e15, 2**20, 2.0**22, 1e4, 1e3, 1e-3, 2.0**-16, 2.0**17, 2.0**20, False),
    "float64": Limits(1e140, 2**31, 2.0**50, 1e10, 1e12, 1e-9, NOTHING, 2.0**45, 2.0**30, True),
}
"""Found by trial: within these limits, both precisions give the same results to a small fraction of the standard error."""


class Numbers(NamedTuple):
    """What the rules look at: a task and an agent's parameters, measured from `origin`."""

    task: Task
    params: Params
    horizon: int
    origin: float
    prior_cov: np.ndarray | None
    """The prior covariance, for correlated priors only."""
    seeks_best: bool
    """Whether the smallest difference between arms decides a choice."""


def origin_of(agent: Agent, task: Task) -> float:
    """The point from which this agent's rewards are measured; 0 for agents of a user's own, for which zero may matter."""
    if agent.own or agent.build is None:
        return 0.0
    params = agent.params
    if "prior_mean" in params and np.all(np.isfinite(params.get("prior_var", 0.0))):
        prior = np.asarray(params["prior_mean"], float)
        return float(prior if prior.ndim == 0 else prior[np.argmin(np.abs(prior - np.median(prior)))])
    means = task.means
    if task.change is not None:
        # The middle of where the means may be serves as well as their best.
        reach = task.change.reach(task.n_trials or 1)
        scale = max(task.noise.var**0.5, float(np.ptp(reach)))
        return float(np.median(means)) if np.abs(reach).max() > FAR * scale else 0.0
    scale = max(task.noise.var**0.5, float(np.ptp(means)))
    return task.best if np.abs(means).max() > FAR * scale else 0.0


def means_of(task: Task, horizon: int) -> np.ndarray:
    """The means of every arm or, where they change, about the smallest and largest of them."""
    return task.means if task.change is None else task.change.reach(horizon)


def counted_from(origin: float, params: Params) -> Params:
    """The parameters with levels of reward measured from `origin`; a prior mean is 0 where it is uninformative."""
    levels = {name: np.asarray(value, float) - origin for name, value in params.items() if about(name).level}
    params = {**params, **levels}
    if "prior_mean" not in params:
        return params
    unknown = np.isinf(np.asarray(params.get("prior_var", 0.0), float))
    return {**params, "prior_mean": np.where(unknown, 0.0, levels["prior_mean"])}


def why_not(dtype: str, agent: Agent, task: Task, horizon: int) -> str | None:
    """A clause saying why this precision cannot be trusted with these numbers; None if it can."""
    if agent.own and dtype == "float32":
        return "agents of your own are tried out in double precision only"
    origin = origin_of(agent, task)
    given = {"noise_var": task.noise.var, **agent.params}
    numbers = Numbers(
        task, counted_from(origin, given), horizon, origin, _prior_cov(agent, given, task), agent.rule.choice.seeks_best
    )
    limits = LIMITS[dtype]
    return next((reason for rule in RULES if (reason := rule(numbers, limits)) is not None), None)


def _prior_cov(agent: Agent, given: Params, task: Task) -> np.ndarray | None:
    if "prior_cov" not in given and "length_scale" not in given:
        return None
    with jax.enable_x64(True):
        params = {name: jnp.asarray(value, jnp.float64) for name, value in given.items()}
        distances = None if task.distances is None else jnp.asarray(task.distances, jnp.float64)
        return np.asarray(agent.rule.learner.prepare(params, distances)["prior_cov"])


def _too_long(n: Numbers, limits: Limits) -> str | None:
    return None if n.horizon <= limits.steps else f"averages over {n.horizon} steps need more digits"


def _values(n: Numbers) -> Iterator[tuple[str, npt.ArrayLike, float]]:
    """Every quantity that agents compute with: its name, its values, and its power of the rewards' unit."""
    yield "the means", means_of(n.task, n.horizon) - n.origin, 1
    yield "the noise", n.task.noise.scale, 1
    if n.task.costs is not None:
        yield "the transition costs", n.task.costs.mean, 1
    for name, value in n.params.items():
        parameter = about(name)
        if not parameter.made:
            yield name, value, 2 if parameter.variance else 1


def _too_large_or_small(n: Numbers, limits: Limits) -> str | None:
    for name, value, power in _values(n):
        sizes = np.abs(np.asarray(value, float))
        sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
        if sizes.size and sizes.max() > limits.size**power:
            return f"{name} of {sizes.max():g} and what follows from it are too large"
        # The smallest mean may be as small as it likes: the largest one sets the scale.
        smallest = sizes.max() if name == "the means" and sizes.size else sizes.min(initial=math.inf)
        if smallest < limits.size**-power:
            return f"{name} of {smallest:g} and what follows from it are too small"
    return None


def _too_fine(n: Numbers, limits: Limits) -> str | None:
    # Where means change, no gap is the smallest one: the noise alone says what can be told apart.
    gaps = n.task.gaps[n.task.gaps > 0] if n.task.change is None else np.zeros(0)
    apart = max(n.task.noise.var**0.5, float(gaps.min()) if gaps.size else 0.0)
    if apart == 0:
        return None
    size = max(
        float(np.abs(means_of(n.task, n.horizon) - n.origin).max()), float(np.max(np.abs(n.params.get("prior_mean", 0.0))))
    )
    size = max(size, _bonus(n))
    if size / apart * n.horizon <= limits.detail:
        return None
    return f"values as large as {size:g} must be told apart to a small part of {apart:g} over {n.horizon} steps"


def _bonus(n: Numbers) -> float:
    """Roughly the largest bonus of an arm that has been seen once."""
    p, log_t = {k: float(np.max(v)) for k, v in n.params.items() if np.ndim(v) == 0}, math.log(n.horizon + 1)
    log_tail = log_t * p.get("credibility_power", 1.0) + math.log(max(p.get("credibility_scale", 1.0), 1.0))
    log_tail += p.get("log_power", 0.0) * math.log(max(log_t, math.e)) - math.log(p.get("failure_probability", 1.0))
    gaussian = math.sqrt(2 * p["noise_var"] * log_tail * max(p.get("beta_scale", 1.0), 1.0))
    spread = math.sqrt(p["noise_var"]) * abs(p.get("bonus", 0.0))
    ranged = p.get("reward_range", 0.0) * math.sqrt(2 * log_t)
    return max(gaussian, spread, ranged, ranged * p.get("range_weight", 0.0) * p.get("exploration_rate", 0.0))


def _prior_vars(n: Numbers) -> np.ndarray:
    given = np.diag(n.prior_cov) if n.prior_cov is not None else np.asarray(n.params.get("prior_var", math.inf))
    return given[np.isfinite(given) & (given > 0)]


def _too_tight(n: Numbers, limits: Limits) -> str | None:
    weight = float(n.params["noise_var"]) / _prior_vars(n).min(initial=math.inf)
    return None if weight <= limits.tight else f"a prior worth {weight:g} rewards hardly moves with one more"


def _too_wide(n: Numbers, limits: Limits) -> str | None:
    ratio = _prior_vars(n).max(initial=0.0) / max(float(n.params["noise_var"]), 1e-300)
    if n.prior_cov is None or ratio <= limits.wide:
        return None
    return f"a correlated prior {ratio:g} times as wide as the noise leaves too few digits for what is learned"


def _too_close(n: Numbers, limits: Limits) -> str | None:
    if n.prior_cov is None or not n.seeks_best or limits.near_ties:
        return None
    return "the best of correlated arms is often best by little"


def _correlations(n: Numbers) -> np.ndarray:
    """Prior correlations, in absolute value, of all pairs of uncertain arms; empty for independent arms."""
    if n.prior_cov is None:
        return np.zeros(0)
    sd = np.sqrt(np.diag(n.prior_cov))
    both = np.outer(sd, sd)
    return np.abs(n.prior_cov[both > 0] / both[both > 0])


def _too_alike(n: Numbers, limits: Limits) -> str | None:
    apart = 1 - _correlations(n)
    least = apart.min(initial=1.0, where=apart > SAME)
    return None if least >= limits.alike else f"arms with a prior correlation of 1 - {least:.1g} can hardly be told apart"


def _too_faint(n: Numbers, limits: Limits) -> str | None:
    squared = _correlations(n) ** 2
    least = squared.min(initial=1.0, where=squared > NOTHING)
    return None if least >= limits.faint else f"a prior correlation of {least**0.5:.1g} hardly shows in a variance"


def _too_slow(n: Numbers, limits: Limits) -> str | None:
    drift = float(n.params.get("drift_var", 0.0))
    ratio = _prior_vars(n).max(initial=0.0) / drift if drift > 0 else 0.0
    if ratio <= limits.drift:
        return None
    return f"a drift variance of {drift:g} is lost beside a prior variance {ratio:g} times as large"


def _too_many_levels(n: Numbers, limits: Limits) -> str | None:
    if not noise_kind(n.task.noise.kind).whole or n.task.noise.scale <= limits.levels:
        return None
    return f"whole rewards from -{n.task.noise.scale:g} to {n.task.noise.scale:g} cannot all be drawn"


type PrecisionRule = Callable[[Numbers, Limits], str | None]

RULES: tuple[PrecisionRule, ...] = (
    _too_long,
    _too_large_or_small,
    _too_fine,
    _too_tight,
    _too_wide,
    _too_close,
    _too_alike,
    _too_faint,
    _too_slow,
    _too_many_levels,
)
"""The rules: each takes the numbers and the limits, and returns a reason against the precision, or None."""
