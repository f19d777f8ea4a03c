"""Models of people, each a composition of the same parts as the algorithms."""

from __future__ import annotations

import numpy.typing as npt

from explorelab._support import checks
from explorelab.agents.factors import Rule
from explorelab.agents.learners import trackers
from explorelab.agents.learners.remembering import remembering
from explorelab.agents.named.ucl import CREDIBILITY_SCALE, free_prior, kernel_prior
from explorelab.agents.parameters import value, values
from explorelab.agents.registry import Design, named_agent
from explorelab.agents.rules import choice, commitment, limits
from explorelab.agents.rules.habits import habitual
from explorelab.agents.rules.pulls import PULLS, pulled

__all__ = [
    "delta_rule",
    "gp_ucb_constant",
    "kalman_thompson",
    "kalman_ucb",
    "kalman_value",
    "local_search",
    "random_choice",
    "restless_kalman",
    "roving_ucl",
    "situated_ucl",
    "variance_greedy",
    "win_stay_lose_shift",
]

SITUATED = ("stay", "travel", "novelty", "lapse")


@named_agent
def situated_ucl(
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = 1.0,
    length_scale: float = 1.0,
    kernel: str = "matern32",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
    credibility_scale: float = CREDIBILITY_SCALE,
    credibility_power: float = 1.0,
    temperature: float = 1.0,
    stickiness: float = 1.0,
    travel_cost: float = 3.0,
    novelty: float = 1.0,
    lapse: float = 0.02,
) -> Design:
    """Stochastic UCL in space: distance deters, the last arm and new arms attract, and choices lapse.

    The paper's model of people with a correlated prior and the four habits `stay`, `travel`, `novelty` and `lapse`.
    """
    learner, params = kernel_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    params |= values(credibility_scale=credibility_scale, credibility_power=credibility_power, temperature=temperature)
    habits = values(stickiness=stickiness, travel_cost=travel_cost, novelty=novelty, lapse=lapse)
    rule = habitual(choice.softmax_constant, SITUATED)
    free = (*free_prior(params), "temperature", *habits)
    return Design(Rule(learner, limits.upper_credible_limit, rule, commitment.every_step), params | habits, free=free)


@named_agent
def roving_ucl(
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = 1.0,
    length_scale: float = 1.0,
    kernel: str = "matern32",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
    credibility_scale: float = CREDIBILITY_SCALE,
    credibility_power: float = 1.0,
    temperature: float = 1.0,
    warming: float = 0.2,
    inference: float = 0.5,
    stickiness: float = 0.0,
    travel_cost: float = 2.5,
    novelty: float = 3.0,
    persistence: float = 1.0,
    gap_filling: float = 2.0,
    restlessness: float = 0.7,
    adjacency: float = 0.4,
    momentum: float = 0.6,
    elbow_room: float = 0.0,
    roaming: float = 2.0,
    homing: float = 1.2,
    giving_up: float = 0.2,
    symmetry: float = 0.3,
    corners: float = 0.2,
    first_step: float = 2.0,
    borders: float = -0.6,
    lapse: float = 0.01,
) -> Design:
    """Situated UCL that remembers its way: after long walks it walks far again, otherwise it searches where it is.

    To the stochastic UCL with a correlated prior come pulls towards arms (`agents.rules.pulls`): the last one and its
    neighbours, new ones, those far from all sampled ones, the best one so far, the same step again, openings in corners.
    """
    learner, params = kernel_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    params |= values(credibility_scale=credibility_scale, credibility_power=credibility_power)
    own = values(
        temperature=temperature, warming=warming, inference=inference, stickiness=stickiness, travel_cost=travel_cost,
        novelty=novelty, persistence=persistence, gap_filling=gap_filling, restlessness=restlessness, adjacency=adjacency,
        momentum=momentum, elbow_room=elbow_room, roaming=roaming, homing=homing, giving_up=giving_up,
        symmetry=symmetry, corners=corners, first_step=first_step, borders=borders,
        lapse=lapse,
    )  # fmt: skip
    rule = habitual(pulled(tuple(PULLS)), ("lapse",))
    whole = Rule(remembering(learner), limits.upper_credible_limit, rule, commitment.every_step)
    return Design(whole, params | own, free=(*free_prior(params), *own))


@named_agent
def gp_ucb_constant(
    bonus: float = 0.5,
    temperature: float = 1.0,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = 1.0,
    length_scale: float = 1.0,
    kernel: str = "squared-exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
) -> Design:
    """Softmax over mean + bonus x sd of a Gaussian process, with a constant bonus (people: Wu et al. 2018)."""
    learner, params = kernel_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    params |= values(bonus=bonus, temperature=temperature)
    rule = Rule(learner, limits.constant_bonus, choice.softmax_constant, commitment.every_step)
    return Design(rule, params, free=(*free_prior(params), "bonus", "temperature"))


@named_agent
def variance_greedy(
    temperature: float = 1.0,
    prior_var: npt.ArrayLike = 1.0,
    length_scale: float = 1.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
) -> Design:
    """Softmax over the sd of the belief: pure exploration, whatever the rewards."""
    learner, params = kernel_prior(0.0, prior_var, length_scale, kernel, prior_cov, noise_var)
    params |= values(temperature=temperature)
    rule = Rule(learner, limits.uncertainty, choice.softmax_constant, commitment.every_step)
    # Rewards do not matter, so neither does the prior mean; only the ratio of sd to temperature matters.
    free = tuple(name for name in ("length_scale", "temperature") if name in params)
    return Design(rule, params, free=free)


@named_agent
def kalman_ucb(
    bonus: float = 0.5,
    temperature: float = 1.0,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = 1.0,
    drift_var: float = 0.0,
    noise_var: float | None = None,
) -> Design:
    """Mean tracker: softmax over mean + bonus x sd of independent arms, which may drift (people: Daw et al. 2006)."""
    params = _kalman(prior_mean, prior_var, drift_var, noise_var)
    params |= values(bonus=bonus, temperature=temperature)
    rule = Rule(trackers.kalman, limits.constant_bonus, choice.softmax_constant, commitment.every_step)
    return Design(rule, params, free=("prior_mean", "prior_var", "bonus", "temperature"))


@named_agent
def kalman_value(
    temperature: float = 1.0,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = 1.0,
    drift_var: float = 0.0,
    noise_var: float | None = None,
) -> Design:
    """Mean tracker: softmax over the expected reward of independent arms, which may drift."""
    params = _kalman(prior_mean, prior_var, drift_var, noise_var) | values(temperature=temperature)
    rule = Rule(trackers.kalman, limits.believed_mean, choice.softmax_constant, commitment.every_step)
    return Design(rule, params, free=("prior_mean", "prior_var", "temperature"))


@named_agent
def kalman_thompson(
    prior_mean: npt.ArrayLike = 0.0, prior_var: npt.ArrayLike = 1.0, drift_var: float = 0.0, noise_var: float | None = None
) -> Design:
    """Mean tracker: chooses each arm with the probability that it is the best; arms are independent and may drift."""
    params = _kalman(prior_mean, prior_var, drift_var, noise_var)
    rule = Rule(trackers.kalman, limits.believed_mean, choice.probability_matching, commitment.every_step)
    return Design(rule, params, free=("prior_mean", "prior_var"))


@named_agent
def restless_kalman(
    bonus: float = 0.0,
    temperature: float = 1.0,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = 1.0,
    drift_var: float = 0.1,
    decay: float = 0.98,
    decay_centre: float | None = None,
    noise_var: float | None = None,
) -> Design:
    """Softmax over mean + bonus x sd of arms that drift and decay towards a centre, as in a restless bandit (people: Daw
    et al. 2006).
    """
    params = _kalman(prior_mean, prior_var, drift_var, noise_var) | values(decay=decay)
    prior = params["prior_mean"]
    centre = decay_centre if decay_centre is not None else float(prior.mean()) if prior.size else 0.0
    params |= values(decay_centre=centre, bonus=bonus, temperature=temperature)
    rule = Rule(trackers.decaying_kalman, limits.constant_bonus, choice.softmax_constant, commitment.every_step)
    return Design(rule, params, free=("drift_var", "decay", "decay_centre", "bonus", "temperature"))


@named_agent
def delta_rule(learning_rate: float = 0.3, temperature: float = 1.0, prior_mean: npt.ArrayLike = 0.0) -> Design:
    """Softmax over expected rewards that move a share of the way to each reward (Rescorla & Wagner 1972)."""
    params = values(learning_rate=learning_rate, temperature=temperature, prior_mean=prior_mean)
    rule = Rule(trackers.delta_rule, limits.believed_mean, choice.softmax_constant, commitment.every_step)
    return Design(rule, params, free=("prior_mean", "learning_rate", "temperature"))


@named_agent
def win_stay_lose_shift(win_stay: float = 0.8, lose_shift: float = 0.8) -> Design:
    """After a reward no worse than the block's average so far, repeats the arm with probability win_stay; otherwise leaves
    it with probability lose_shift for any other arm, all equally likely (Robbins 1952).
    """
    rule = Rule(trackers.last_outcome, limits.believed_mean, choice.win_stay_lose_shift, commitment.every_step)
    return Design(rule, values(win_stay=win_stay, lose_shift=lose_shift), free=("win_stay", "lose_shift"))


@named_agent
def local_search(travel_cost: float = 2.0) -> Design:
    """Stays near the last arm, whatever the rewards: P(i) ~ (1 + walk)^-travel_cost."""
    rule = Rule(_unmoved, limits.nothing, habitual(choice.uniform, ("travel",)), commitment.every_step)
    return Design(rule, values(travel_cost=travel_cost), free=("travel_cost",))


@named_agent
def random_choice() -> Design:
    """Chooses every available arm with equal probability: the baseline that any model of people must beat."""
    return Design(Rule(_unmoved, limits.nothing, choice.uniform, commitment.every_step), {})


_unmoved = trackers.counting
"""The learner for rules that learn nothing."""


def _kalman(
    prior_mean: npt.ArrayLike, prior_var: npt.ArrayLike, drift_var: float, noise_var: float | None
) -> dict[str, checks.Floats]:
    # A gain of infinity over infinity is undefined: the filter needs a finite prior.
    prior = {**values(prior_mean=prior_mean), "prior_var": value("prior_var", prior_var, infinite=False)}
    return prior | values(drift_var=drift_var, noise_var=noise_var)
