"""The five models of Wu et al. (2018) as they were fitted, quirks and all, put together from the library's parts.

Wu, Schulz, Speekenbrink, Nelson & Meder (2018), Nature Human Behaviour 2, 915-924. Rewards are rescaled to (z - 50)/100.
What differs from the library's own agents is written here and nowhere else:

- the noise variance also sits in the prior variance of the square that is predicted (1.0001);
- with exactly one reward seen, it also sits in that square's covariance with itself, so that the square looks certain;
- limits below 0 count as 1e-4, limits above 100 as 100, and both before a division by the distance to the last square;
- probabilities are kept between 1e-5 and 0.99999, and then add up to more or less than 1.

Each quirk can be left out, which is how the tests show that all of them matter.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd

from explorelab.agents.factors import Agent, ChoiceRule, Learner, Limit, Rule
from explorelab.agents.learners import trackers
from explorelab.agents.learners.correlated import ReplayedBelief, correlated
from explorelab.agents.rules import choice, commitment, limits
from explorelab.choices.table import Choices
from explorelab.choices.wu2018 import load_wu2018
from explorelab.comparison.left_out_blocks import folds_of

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "wu2018"
MODELS = ("RBFUCB", "BMTUCB", "LRBFUCB", "LBMTUCB", "LocalSearch")
NOISE_VAR = 1e-4
QUIRKS = frozenset({"noise in prediction", "sure of the first square", "limits kept positive", "probabilities kept inside"})


@cache
def human_choices() -> Choices:
    """What the 80 people chose, in points."""
    return load_wu2018(FOLDER)


@cache
def rescaled_choices() -> Choices:
    """The same with rewards as the authors' models saw them."""
    choices = human_choices()
    return replace(choices, reward=np.where(choices.observed, (choices.reward - 50) / 100, 0.0))


# Parts ----------------------------------------------------------------------------------------------------------------


@cache
def gaussian_process(quirks: frozenset[str] = QUIRKS) -> Learner:
    """The library's correlated learner, and what the authors' regression made of its beliefs."""
    library = correlated("squared-exponential")

    def replay(params: Any, n_arms: int, told: Any) -> ReplayedBelief:
        belief = library.replay(params, n_arms, told)
        var = belief.sd**2
        if "noise in prediction" in quirks:
            var = var + params["noise_var"]
        mean = belief.mean
        if "sure of the first square" in quirks:
            # (k + s) / (k + s) = 1: the mean is the reward itself, and nothing is left of the variance.
            first = (belief.plays.sum(1, keepdims=True) == 1) & (belief.plays == 1)
            mean = jnp.where(first, mean * (params["prior_var"] + params["noise_var"]) / params["prior_var"], mean)
            var = jnp.where(first, 0.0, var)
        known = var > 0
        return ReplayedBelief(mean, jnp.where(known, jnp.sqrt(jnp.where(known, var, 1.0)), 0.0), belief.plays)

    return replace(library, replay=replay)


@cache
def limit_of(localised: bool, quirks: frozenset[str] = QUIRKS) -> Limit:
    """UCB = mu + beta sd, kept between 1e-4 and 100, and divided by the distance to the last square if localised."""

    def limit(params: Any, belief: Any, moment: Any) -> Any:
        value = limits.constant_bonus(params, belief, moment)
        if "limits kept positive" in quirks:
            value = jnp.where(value < 0, 1e-4, jnp.where(value > 100, 100.0, value))
        return value * nearness(params, belief, moment) if localised else value

    return limit


def nearness(params: Any, belief: Any, moment: Any) -> Any:
    """1 / (squares passed from the last square), 1 for that square itself."""
    return 1 / jnp.maximum(params["walks"][jnp.maximum(moment.position, 0)], 1)


@cache
def softmax(quirks: frozenset[str] = QUIRKS) -> ChoiceRule:
    """The library's softmax with probabilities kept between 1e-5 and 0.99999."""

    def log_probs(*args: Any) -> Any:
        result = choice.softmax_constant.log_probs(*args)
        return jnp.clip(result, np.log(1e-5), np.log(0.99999)) if "probabilities kept inside" in quirks else result

    def draw(*args: Any) -> Any:
        return choice.draw_from(log_probs(*args[:-1]), args[-1].uniform)

    return ChoiceRule("softmax-kept-inside", log_probs, draw, walks=True)


@cache
def model(name: str, quirks: frozenset[str] = QUIRKS) -> Agent:
    """One of the five models."""
    decided = {"bonus": np.float64(0.5), "temperature": np.float64(0.1)}
    if name == "LocalSearch":
        rule = Rule(trackers.counting, nearness, softmax(quirks), commitment.every_step)
        return Agent(name, rule, {"temperature": np.float64(0.1)}, free=("temperature",))
    limit = limit_of(name.startswith("L"), quirks)
    if "BMT" in name:
        known = {"prior_mean": 0.0, "prior_var": 5.0, "noise_var": 1.0, "drift_var": 0.0}
        rule = Rule(trackers.kalman, limit, softmax(quirks), commitment.every_step)
        return Agent(name, rule, {**known, **decided}, free=("noise_var", "bonus", "temperature"))
    known = {"prior_mean": 0.0, "prior_var": 1.0, "noise_var": NOISE_VAR, "length_scale": 1.0}
    rule = Rule(gaussian_process(quirks), limit, softmax(quirks), commitment.every_step)
    return Agent(name, rule, {**known, **decided}, free=("length_scale", "bonus", "temperature"))


def space(name: str) -> dict[str, dict[str, Any]]:
    """Where the authors sought: logarithms between -5 and 5; kError squared is the noise variance."""
    return {
        parameter: {
            "scale": "log",
            "centre": 1.0 if parameter != "temperature" else 0.1,
            "spread": 4.0 if parameter == "noise_var" else 2.0,
            "low": np.exp(-10.0 if parameter == "noise_var" else -5.0),
            "high": np.exp(10.0 if parameter == "noise_var" else 5.0),
        }
        for parameter in model(name).free
    }


# What was published ---------------------------------------------------------------------------------------------------


class Published(NamedTuple):
    """The authors' own folds of one model, in the order of `folds_of`."""

    nll: np.ndarray
    params: dict[str, np.ndarray]
    """A value for each fold, in natural units."""


def published(name: str, choices: Choices) -> Published:
    """The folds of one model for these choices; `leaveoutindex` counts a person's rounds of that horizon from 1."""
    table = pd.read_csv(FOLDER / "published_folds.csv")
    table = table[table.model == name].set_index(["participant", "horizon", "leaveoutindex"])
    rows = folds_of(choices, "horizon").left_out
    left_out = pd.DataFrame(
        {
            "participant": np.array(choices.participants).astype(int)[choices.participant[rows]],
            "horizon": choices.conditions["horizon"][rows],
        }
    )
    left_out["leaveoutindex"] = left_out.groupby(["participant", "horizon"]).cumcount() + 1
    found = table.loc[pd.MultiIndex.from_frame(left_out)]
    learned = np.exp(found.log_lambda_or_kError.to_numpy())
    every = {
        "length_scale": learned,
        "noise_var": learned**2,
        "bonus": np.exp(found.log_beta.to_numpy()),
        "temperature": np.exp(found.log_tau.to_numpy()),
    }
    return Published(found.test_nLL.to_numpy(), {parameter: every[parameter] for parameter in model(name).free})
