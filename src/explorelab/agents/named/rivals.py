"""The rules that the paper's algorithms are compared with, each as stated in its own source."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from explorelab.agents.factors import Rule
from explorelab.agents.learners import correlated, independent
from explorelab.agents.named.ucl import free_prior, gaussian_prior, greedy, kernel_prior, softmax
from explorelab.agents.parameters import value, values
from explorelab.agents.registry import Design, named_agent
from explorelab.agents.rules import choice, commitment, limits
from explorelab.agents.rules.gittins_index import gittins_table

__all__ = [
    "agrawal_hedge_teneketzis",
    "bayes_ucb",
    "boltzmann",
    "epsilon_greedy",
    "epsilon_n_greedy",
    "gittins",
    "gp_ucb",
    "kl_ucb",
    "knowledge_gradient",
    "mean_greedy",
    "thompson",
    "ucb1",
    "ucb1_normal",
    "ucb2",
    "ucb_v",
]


@named_agent
def ucb1(reward_range: float = 1.0, ties: str = "lowest") -> Design:
    """UCB1 (Auer, Cesa-Bianchi & Fischer 2002): mean + b sqrt(2 ln n / n_i), proved for rewards in [0, b]."""
    rule = Rule(independent.sample_statistics, limits.ucb1, greedy(ties), commitment.every_step)
    return Design(rule, values(reward_range=reward_range))


@named_agent
def ucb2(alpha: float = 0.01, reward_range: float = 1.0, ties: str = "lowest") -> Design:
    """UCB2 (Auer, Cesa-Bianchi & Fischer 2002): plays an arm for a whole epoch; epochs grow by a factor of 1 + alpha."""
    rate = value("alpha", alpha)
    growth = np.arange(math.ceil(math.log(2**31) / math.log1p(float(rate))) + 2)
    epochs = np.unique(np.ceil(np.minimum((1 + float(rate)) ** growth, 2.0**31)))
    rule = Rule(independent.sample_statistics, limits.ucb2, greedy(ties), commitment.ucb2_epochs)
    return Design(rule, values(reward_range=reward_range) | {"ucb2_alpha": rate, "ucb2_epochs": epochs})


@named_agent
def ucb1_normal(ties: str = "lowest") -> Design:
    """UCB1-Normal (Auer, Cesa-Bianchi & Fischer 2002): Gaussian rewards of unknown mean and variance."""
    return Design(Rule(independent.sample_statistics, limits.ucb1_normal, greedy(ties), commitment.every_step), {})


@named_agent
def ucb_v(
    exploration_rate: float = 1.2, range_weight: float = 1.0, reward_range: float = 1.0, ties: str = "lowest"
) -> Design:
    """UCB-V (Audibert, Munos & Szepesvari 2009): the bonus uses each arm's sample variance; zeta = 1.2, c = 1."""
    params = values(exploration_rate=exploration_rate, range_weight=range_weight, reward_range=reward_range)
    rule = Rule(independent.sample_statistics, limits.ucb_v, greedy(ties), commitment.every_step)
    return Design(rule, params)


@named_agent
def kl_ucb(log_power: float = 0.0, noise_var: float | None = None, ties: str = "lowest") -> Design:
    """KL-UCB for Gaussian arms (Garivier & Cappe 2011): c = 3 in their proof, c = 0 in their experiments."""
    params = values(log_power=log_power, noise_var=noise_var)
    return Design(Rule(independent.sample_statistics, limits.kl_ucb, greedy(ties), commitment.every_step), params)


@named_agent
def bayes_ucb(
    log_power: float = 5.0,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    length_scale: float = 0.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
    ties: str = "lowest",
) -> Design:
    """Bayes-UCB (Kaufmann, Cappe & Garivier 2012): quantile 1 - 1/(t (log T)^c); c = 5 in their proof, 0 in experiments."""
    learner, params = gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    params |= values(log_power=log_power)
    rule = Rule(learner, limits.bayes_ucb, greedy(ties), commitment.every_step)
    # Below T = 3, log T is under 1 and the quantile leaves (0, 1).
    return Design(rule, params, least_horizon=3)


@named_agent
def gp_ucb(
    failure_probability: float = 0.1,
    beta_scale: float = 1.0,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = 1.0,
    length_scale: float = 1.0,
    kernel: str = "squared-exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
    ties: str = "lowest",
) -> Design:
    """GP-UCB (Srinivas, Krause, Kakade & Seeger 2012) for finitely many arms; they scale beta by 0.2 in experiments."""
    learner, params = kernel_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    params |= values(failure_probability=failure_probability, beta_scale=beta_scale)
    return Design(Rule(learner, limits.gp_ucb, greedy(ties), commitment.every_step), params)


@named_agent
def thompson(
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    length_scale: float = 0.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
) -> Design:
    """Thompson sampling (1933): chooses each arm with the probability that it is the best, jointly for correlated arms."""
    learner, params = gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    if learner is independent.independent:
        rule = Rule(learner, limits.believed_mean, choice.probability_matching, commitment.every_step)
        return Design(rule, params, free=free_prior(params))
    joint = correlated.square_root(None if prior_cov is not None else kernel)
    return Design(Rule(joint, limits.believed_mean, choice.probability_matching_joint, commitment.every_step), params)


@named_agent
def mean_greedy(
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    length_scale: float = 0.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
    ties: str = "lowest",
) -> Design:
    """Chooses the highest expected reward, with no bonus for uncertainty: pure exploitation."""
    learner, params = gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    return Design(Rule(learner, limits.mean_only, greedy(ties), commitment.every_step), params)


@named_agent
def boltzmann(
    temperature: float | None = None,
    cooling: str = "constant",
    cooling_rate: float | None = None,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    length_scale: float = 0.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
) -> Design:
    """Softmax over expected rewards, constant or cooling temperature (Cesa-Bianchi & Fischer 1998; Sutton & Barto 1998)."""
    learner, params = gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    rule, schedule = softmax(cooling, temperature, cooling_rate)
    free = (*free_prior(params), *schedule)
    return Design(Rule(learner, limits.mean_only, rule, commitment.every_step), params | schedule, free=free)


@named_agent
def epsilon_greedy(
    epsilon: float = 0.1,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    length_scale: float = 0.0,
    kernel: str = "exponential",
    prior_cov: npt.ArrayLike | None = None,
    noise_var: float | None = None,
) -> Design:
    """Chooses the best expected reward or, with probability epsilon, any arm at random (Sutton & Barto 1998)."""
    learner, params = gaussian_prior(prior_mean, prior_var, length_scale, kernel, prior_cov, noise_var)
    params |= values(epsilon=epsilon)
    rule = Rule(learner, limits.mean_only, choice.epsilon_constant, commitment.every_step)
    return Design(rule, params, free=("epsilon",))


@named_agent
def epsilon_n_greedy(epsilon_rate: float = 5.0, epsilon_gap: float = 0.1) -> Design:
    """Epsilon_n-greedy (Auer, Cesa-Bianchi & Fischer 2002): epsilon_t = min(1, c N / (d^2 t)), 0 < d <= smallest gap."""
    rule = Rule(independent.sample_statistics, limits.sample_mean, choice.epsilon_decaying, commitment.every_step)
    return Design(rule, values(epsilon_rate=epsilon_rate, epsilon_gap=epsilon_gap))


@named_agent
def knowledge_gradient(
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    noise_var: float | None = None,
    ties: str = "lowest",
) -> Design:
    """Online knowledge gradient (Ryzhov, Powell & Frazier 2012) for independent Gaussian beliefs."""
    learner, params = gaussian_prior(prior_mean, prior_var, 0.0, "exponential", None, noise_var)
    return Design(Rule(learner, limits.knowledge_gradient, greedy(ties), commitment.every_step), params)


@named_agent
def gittins(
    discount: float = 0.99,
    prior_mean: npt.ArrayLike = 0.0,
    prior_var: npt.ArrayLike = math.inf,
    noise_var: float | None = None,
    ties: str = "lowest",
) -> Design:
    """The Gittins index policy (1979): optimal for discounted reward over an infinite horizon with independent arms."""
    learner, params = gaussian_prior(prior_mean, prior_var, 0.0, "exponential", None, noise_var)
    table = gittins_table(float(value("discount", discount)))
    params |= {"gittins_log_weight": table.log_weight, "gittins_log_bonus": table.log_bonus}
    return Design(Rule(learner, limits.gittins, greedy(ties), commitment.every_step), params)


@named_agent
def agrawal_hedge_teneketzis(
    leader_share: float | None = None, noise_var: float | None = None, ties: str = "lowest"
) -> Design:
    """Block allocation of Agrawal, Hedge & Teneketzis (1988) for switching costs, with Lai & Robbins' Gaussian bounds.

    An arm needs a share of plays of at least delta, `leader_share`, to lead.
    """
    rule = Rule(independent.sample_statistics, limits.aht, greedy(ties), commitment.aht_frames)
    return Design(rule, values(noise_var=noise_var, leader_share=leader_share))
