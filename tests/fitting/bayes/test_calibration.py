"""Simulation-based calibration of the hierarchical sampler (Talts et al. 2018, arXiv:1804.06788).

Parameters drawn from the prior, choices simulated from them, the posterior sampled: the rank of the true value among the
draws must be uniform, for the population's mean and spread, for someone's parameters, and for the log-likelihood of
everyone's choices, which sees mistakes that no single parameter shows (Modrák et al. 2023).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare, kstest

import explorelab as xl
from explorelab.choices.table import Choices
from explorelab.fitting.bayes import beginning, nuts
from explorelab.fitting.bayes.emulated_chains import EmulatedChains
from explorelab.fitting.bayes.population import CONCENTRATION
from explorelab.fitting.effects.attach import with_effects
from explorelab.fitting.likelihood import blocks_of
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.results import SAMPLED, on_natural_scale
from explorelab.fitting.search.solve import limits, predicted
from explorelab.fitting.spaces import bounded
from tests.support.simulated import people as simulated_people

REPLICATIONS, PEOPLE, BLOCKS, TRIALS, MEANS, NOISE_VAR = 120, 4, 2, 15, [0.0, 1.0, 2.0], 1.0
CHAINS, WARMUP, DRAWS, THIN = 2, 300, 500, 10
N_RANKS = CHAINS * DRAWS // THIN + 1
N_BINS = 10
# The prior must not depend on the data: centres and bounds are given. The lower one is near enough to matter.
SPACE = {
    "learning_rate": {"centre": 0.4, "spread": 1.0, "low": 0.05, "high": 0.95},
    "temperature": {"centre": 0.5, "spread": 1.0, "low": 0.02, "high": 100.0},
}


def played(z: np.ndarray, fitted: Fitted, seed: int) -> Choices:
    natural = on_natural_scale(fitted.space, z)
    params = {dimension.name: natural[:, i] for i, dimension in enumerate(fitted.space)}
    return simulated_people(fitted.model.rule, {"prior_mean": 0.0, **params}, BLOCKS, TRIALS, MEANS, NOISE_VAR, seed)


def begun() -> Fitted:
    rule = xl.agents.delta_rule().rule
    params = {"prior_mean": 0.0, "learning_rate": np.full(PEOPLE, 0.4), "temperature": 0.5}
    choices = simulated_people(rule, params, BLOCKS, TRIALS, MEANS, NOISE_VAR, 0)
    return prepare(choices, "delta-rule", list(SPACE), {"prior_mean": 0.0}, SPACE)


def sampled(choices: Choices, fitted: Fitted, settings: nuts.Settings, seed: int, method: str) -> nuts.Draw:
    """Draws of every chain by one of the methods."""
    first = beginning.begin(choices, fitted, 2, seed, False)
    points = beginning.starting(first, settings, CHAINS, seed)
    if method == "nuts":
        return nuts.run_chains(fitted, first.known, points, settings, DRAWS, seed, False)
    return EmulatedChains(fitted, first, points, settings, seed, False).draw(DRAWS)


def ranks(fitted: Fitted, seed: int, correlated: bool, method: str) -> dict[str, int]:
    """The rank of every true value among its draws."""
    rng = np.random.default_rng(1000 + seed)
    mean, sd = rng.standard_normal(2), np.abs(rng.standard_normal(2))
    # Of two parameters, LKJ(c) is a beta distribution of the correlation, stretched to -1 and 1.
    correlation = 2 * rng.beta(CONCENTRATION, CONCENTRATION) - 1 if correlated else 0.0
    root = sd[:, None] * np.array([[1.0, 0.0], [correlation, np.sqrt(1 - correlation**2)]])
    with jax.enable_x64(True):
        latent = mean + rng.standard_normal((PEOPLE, 2)) @ root.T
        z = np.asarray(bounded(jnp.asarray(latent), *limits(fitted.space)))
        choices = played(z, fitted, seed)
        now = fitted._replace(data=fitted.data._replace(blocks=blocks_of(choices)))
    drawn = sampled(choices, now, nuts.Settings(WARMUP, 0.9, 10, correlated), seed, method)
    truth = predicted(now, np.arange(choices.n_rows), z[choices.participant][:, None], False).sum()
    told: dict[str, tuple[Any, Any]] = {"log_likelihood": (drawn.log_likelihood.sum(-1), truth)}
    for i, dimension in enumerate(fitted.space):
        told[f"mean of {dimension.name}"] = drawn.mean[..., i], mean[i]
        told[f"sd of {dimension.name}"] = drawn.sd[..., i], sd[i]
        told[f"{dimension.name} of one"] = drawn.z[..., 0, i], z[0, i]
    if correlated:
        told["correlation"] = drawn.correlation[..., 0, 1], correlation
    return ranked(told)


def ranked(told: dict[str, tuple[Any, Any]]) -> dict[str, int]:
    """The rank of each true value among thinned draws of it."""
    return {name: int((draws[:, THIN - 1 :: THIN] < value).sum()) for name, (draws, value) in told.items()}


def ranks_of_effects(choices: Choices, fitted: Fitted, seed: int) -> dict[str, int]:
    """The same where people of two groups differ in one of their parameters."""
    design = fitted.design
    assert design is not None
    rng = np.random.default_rng(5000 + seed)
    effects, sd = rng.standard_normal(design.n_effects), np.abs(rng.standard_normal(2))
    with jax.enable_x64(True):
        latent = design.of_person @ effects + sd * rng.standard_normal((PEOPLE, 2))
        z = np.asarray(bounded(jnp.asarray(latent), design.low, design.high))
        new = replace(played(z, fitted, seed), conditions=choices.conditions)
        now = fitted._replace(data=fitted.data._replace(blocks=blocks_of(new)))
    drawn = sampled(new, now, nuts.Settings(WARMUP, 0.9, 10, False), seed, "bayes")
    told: dict[str, tuple[Any, Any]] = {f"effect {i}": (drawn.mean[..., i], effects[i]) for i in range(design.n_effects)}
    told |= {f"sd {i}": (drawn.sd[..., i], sd[i]) for i in range(2)}
    told |= {f"latent {i} of one": (drawn.z[..., 0, i], z[0, i]) for i in range(2)}
    return ranked(told)


@pytest.mark.slow
def test_ranks_of_effects_are_uniform() -> None:
    rule = xl.agents.delta_rule().rule
    params = {"prior_mean": 0.0, "learning_rate": np.full(PEOPLE, 0.4), "temperature": 0.5}
    choices = simulated_people(rule, params, BLOCKS, TRIALS, MEANS, NOISE_VAR, 0)
    groups = np.array(["a", "b"], object)[choices.participant % 2]
    choices = replace(choices, conditions={"group": groups})
    plain = prepare(choices, "delta-rule", list(SPACE), {"prior_mean": 0.0}, SPACE)
    fitted = with_effects(choices, plain, "temperature ~ group", None)
    check_uniform([ranks_of_effects(choices, fitted, seed) for seed in range(REPLICATIONS)])


@pytest.mark.slow
@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("method", SAMPLED)
def test_ranks_of_the_truth_are_uniform(correlated: bool, method: str) -> None:
    fitted = begun()
    check_uniform([ranks(fitted, seed, correlated, method) for seed in range(REPLICATIONS)])


def check_uniform(every: list[dict[str, int]]) -> None:
    """Neither a histogram of the ranks nor their largest distance from uniform is surprising."""
    for name in every[0]:
        found = np.array([each[name] for each in every])
        counts = np.bincount(found * N_BINS // N_RANKS, minlength=N_BINS)
        shares = np.diff(np.ceil(np.arange(N_BINS + 1) * N_RANKS / N_BINS)) / N_RANKS
        # Two looks at each quantity: one in a hundred of all such tests fails by chance.
        binned = chisquare(counts, len(every) * shares).pvalue
        spread = kstest((found + 0.5) / N_RANKS, "uniform").pvalue
        assert min(binned, spread) > 0.01 / (2 * len(every[0])), f"{name}: {counts.tolist()}, p = {binned:.2g}, {spread:.2g}"
