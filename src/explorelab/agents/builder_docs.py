"""Docstrings of the named agents: each builder's own text, followed by what its arguments mean.

The same name means the same in every agent, so each argument is explained once, here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

MEANINGS: Mapping[str, str] = {
    # The prior, and how rewards change it.
    "prior_mean": "Expected reward before anything is seen: one number, or one per arm.",
    "prior_var": "Variance of the prior: one number, or one per arm; infinite for an uninformative prior.",
    "length_scale": "Distance over which arms are believed to be alike; 0 for independent arms.",
    "kernel": 'How correlation falls with distance: "exponential", "matern32", "matern52" or "squared-exponential".',
    "prior_cov": "Covariance matrix of the prior, instead of prior_var, length_scale and kernel.",
    "noise_var": "Variance of the reward noise that the agent assumes; by default the task's.",
    "drift_var": "Variance by which each arm is believed to drift from trial to trial.",
    "learning_rate": "Share of the way that an expected reward moves towards each reward.",
    # What an arm is worth.
    "credibility_scale": "K of the credible limit's quantile, 1 - 1/(K t^a).",
    "credibility_power": "a of the credible limit's quantile, 1 - 1/(K t^a).",
    "bonus": "Number of standard deviations added to the expected reward.",
    "reward_range": "The range b of rewards, which are assumed to lie in [0, b].",
    "alpha": "Growth of the epochs: each is longer than the last by a factor of 1 + alpha.",
    "exploration_rate": "zeta of the exploration function zeta log t.",
    "range_weight": "The weight c of the term that depends on the range of rewards.",
    "log_power": "The power c of the logarithmic term.",
    "failure_probability": "Probability delta with which the confidence bounds may fail.",
    "beta_scale": "Factor by which to multiply beta.",
    "discount": "Discount factor per trial, between 0 and 1.",
    "leader_share": "delta, the share of plays that an arm needs to lead: 0 < delta < 1/N^2, by default 1/(2 N^2).",
    # How an arm is chosen.
    "temperature": "Temperature of the softmax, in units of reward.",
    "cooling": 'How the temperature changes: "constant", "log" (cooling_rate / log t) or "feedback".',
    "cooling_rate": 'nu of the temperature nu / log t, for cooling="log".',
    "commitment": 'How long a choice lasts: "every-step", or "frames" for the growing blocks of block UCL.',
    "ties": 'Which of several best arms to choose: the "lowest"-numbered, or one at "random".',
    "epsilon": "Probability of choosing at random.",
    "epsilon_rate": "c of epsilon_t = min(1, c N / (d^2 t)).",
    "epsilon_gap": "d of epsilon_t = min(1, c N / (d^2 t)), at most the smallest gap.",
    "win_stay": "Probability of choosing the same arm again after a win.",
    "lose_shift": "Probability of choosing another arm after a loss.",
    # Habits.
    "stickiness": "Pull of the last arm, in log-odds.",
    "travel_cost": "How strongly distance from the last arm deters: log-odds per unit of log(1 + distance).",
    "novelty": "Pull of arms never sampled, in log-odds.",
    "lapse": "Probability of choosing at random, whatever the rule.",
}
"""The meaning of each argument of a builder, in a sentence."""


def with_parameters(doc: str | None, arguments: Mapping[str, Any]) -> str:
    """The docstring with a `Parameters` section; unknown arguments, of a user's own agent, are left out."""
    known = [f"{name}\n    {MEANINGS[name]}" for name in arguments if name in MEANINGS]
    own = inspect.cleandoc(doc or "")
    return "\n".join([own, "", "Parameters", "----------", *known]) if known else own


def summary_of(builder: Callable[..., Any]) -> str:
    """What a builder's agent does, in its own words and one line, without the `Parameters` section."""
    return " ".join((inspect.unwrap(builder).__doc__ or "").split())
