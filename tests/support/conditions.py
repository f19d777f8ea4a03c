"""Simulated people in groups and sessions, for tests of effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import explorelab as xl
from explorelab.choices.table import Choices

MEANS = [0.0, 0.6, 1.2]
NOISE_VAR = 1.0
AGENT = "delta-rule:prior_mean=0"
SPACE = {
    "learning_rate": {"centre": 0.3, "spread": 1.0, "low": 1e-5, "high": 1 - 1e-5},
    "temperature": {"centre": 0.35, "spread": 1.0, "low": 1e-4, "high": 1e4},
}
"""Standard units that do not depend on the data, and bounds too far away to matter."""


def in_conditions(n: int = 16, sessions: int = 1, horizon: int = 40, seed: int = 0, effect: float = 0.8) -> Choices:
    """People of a delta rule in groups `a` and `b`, whose log temperatures differ by `effect`, with ages and sessions."""
    rng = np.random.default_rng(seed)
    second = np.arange(n) >= n // 2
    rate = 1 / (1 + np.exp(-(np.log(0.3 / 0.7) + 0.6 * rng.standard_normal(n))))
    temperature = np.exp(np.log(0.35) + 0.4 * rng.standard_normal(n) + effect * second)
    blank = xl.blank_choices(xl.tasks.bandit(MEANS, noise_var=NOISE_VAR), n, sessions, horizon)
    params = {"learning_rate": rate, "temperature": temperature}
    choices = xl.simulate_choices(blank, AGENT, params, seed=seed, progress=False)
    who = choices.participant
    return replace(
        choices,
        conditions={
            "group": np.where(second, "b", "a").astype(object)[who],
            "age": (20 + rng.permutation(n)).astype(float)[who],
            "session": choices.block.astype(int),
            "mood": rng.normal(size=len(who)).round(2),
            "site": np.full(len(who), "here", object),
        },
    )
