"""Derivatives of the likelihood: for every agent, wherever its parameters lie, finite and what finite differences say."""

from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.factors import Ways
from explorelab.agents.parameters import searchable
from explorelab.fitting.likelihood import Block, log_likelihoods
from tests.support.beliefs import EVERY_AGENT, QUICKLY, learning_and_choosing, one_of_each

N_ARMS = 4
DISTANCES = np.abs(np.arange(float(N_ARMS))[:, None] - np.arange(N_ARMS))

HABITS = {"stickiness": 0.7, "travel_cost": 0.8, "novelty": -0.4, "lapse": 0.1}
PRIORS = {"independent": {"prior_mean": 1.0, "prior_var": 4.0},
          "correlated": {"prior_mean": 1.0, "prior_var": 4.0, "length_scale": 1.3}}  # fmt: skip

COMBINATIONS = {
    f"{cooling} cooling, {prior}, habits": partial(
        lambda cooling, prior: xl.agents.with_habits(xl.agents.stochastic_ucl(cooling=cooling, **PRIORS[prior]), **HABITS),
        cooling,
        prior,
    )
    for cooling, prior in product(("constant", "log", "feedback"), PRIORS)
}
EACH_ONCE = ("log cooling, correlated, habits", "feedback cooling, independent, habits")
"""Each cooling and each prior, as far as no registered agent has them with habits."""

REGISTRY = {
    # Without lapses most choices of a greedy agent are impossible, and there is nothing to differentiate.
    name: (
        lambda build=EVERY_AGENT[name]: xl.agents.with_habits(build(), "lapse") if "lapse" not in build().params else build()
    )
    for name in xl.agents.AGENTS
}
AGENTS = REGISTRY | COMBINATIONS


def block(arms, rewards, missed=(), forced=(), alone=()):
    """A block with trials that were missed, forced, or had one arm on offer."""
    n = len(arms)
    arm = np.where(np.isin(np.arange(n), missed), -1, arms)
    available = np.ones((n, N_ARMS), bool)
    for t in alone:
        available[t] = np.arange(N_ARMS) == arms[t]
    available[-1, (arms[-1] + 1) % N_ARMS] = False
    observed = arm >= 0
    scored = observed & ~np.isin(np.arange(n), forced)
    position = np.array([-1, *(arms[t] for t in range(n - 1))])
    return Block(
        arm.astype(np.int32), np.where(observed, rewards, 0.0), observed, scored, position.astype(np.int32), available
    )


BLOCKS = {
    "as usual": block([2, 0, 1, 3, 3, 2, 0], [1.5, -0.2, 0.3, 2.0, 2.4, 0.9, 1.1]),
    "missed, forced, alone": block([1, 1, 0, 3, 2, 2, 3], [1.5, -0.2, 0.3, 2.0, 2.4, 0.9, 1.1], [1], [0, 3], [2, 4]),
    "equal rewards": block([0, 1, 2, 3, 0, 1, 2], [1.0] * 7),
}

SETTINGS = [
    {},
    {"temperature": 0.0, "lapse": 0.0},
    {"prior_var": 0.0},
    {"prior_var": np.inf, "credibility_scale": 2.0},
    {"lapse": 1.0, "win_stay": 1.0, "lose_shift": 0.0, "learning_rate": 1.0, "epsilon": 1.0},
    {"lapse": 0.0, "win_stay": 0.0, "lose_shift": 1.0, "learning_rate": 0.0, "epsilon": 0.0, "drift_var": 0.0, "bonus": 0.0},
    {"temperature": 1e-6, "cooling_rate": 1e-6, "noise_var": 1e-6},
    {"temperature": 1e6, "cooling_rate": 1e6, "noise_var": 1e6},
    {"prior_var": 1e-6, "length_scale": 1e-3},
    {"prior_var": 1e6, "length_scale": 1e2},
    {"prior_mean": 1e6, "stickiness": -30.0, "novelty": 30.0, "travel_cost": 50.0},
]
ROUGH = range(6, len(SETTINGS))
EDGES = {"lapse": (0, 1), "win_stay": (0, 1), "lose_shift": (0, 1), "learning_rate": (0, 1), "epsilon": (0, 1),
         "temperature": (0,), "prior_var": (0, np.inf), "drift_var": (0,), "credibility_scale": (2.0,)}  # fmt: skip
"""Where a parameter has no neighbours on one side, so that no central difference can be taken there."""


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _score_and_slopes(rule, free, fixed, told):
    """The likelihood, its slopes (backward), and the slope along all parameters together (forward), weighted 1, 2, 3, ..."""
    ways = Ways(jnp.asarray(DISTANCES), jnp.asarray(DISTANCES))

    def score(free):
        return log_likelihoods(rule, {**fixed, **free}, ways, N_ARMS, told).sum()

    together = {name: jnp.asarray(1.0 + i) for i, name in enumerate(sorted(free))}
    return *jax.value_and_grad(score)(free), jax.jvp(score, (free,), (together,))[1]


def cases(agent):
    """Parameters that a fit could estimate, and all others, in every setting that says something of this agent."""
    known = {"noise_var": 1.5, "horizon": 9.0, "n_arms": float(N_ARMS), **agent.params}
    names = [name for name in known if name in searchable() and np.ndim(known[name]) == 0]
    for i, setting in enumerate(SETTINGS):
        changes = {name: value for name, value in setting.items() if name in names}
        infinite = np.isinf(changes.get("prior_var", 0.0)) and agent.rule.learner.name != "independent"
        if (changes or not setting) and not infinite:
            now = {name: jnp.asarray(value, jnp.float64) for name, value in {**known, **changes}.items()}
            for which in list(BLOCKS) if not setting else [list(BLOCKS)[i % 3]]:
                # Ties make a kink in the smallest gap; numbers of a million, or a millionth, are too rough to difference.
                smooth = i not in ROUGH and not ("feedback" in agent.rule.choice.name and which == "equal rewards")
                yield which, {k: now[k] for k in names}, {k: v for k, v in now.items() if k not in names}, smooth


def difference(score, free, key, step):
    """The central difference along a parameter; NaN where it has no neighbours on one side, or they are impossible."""
    at = float(free[key])
    if at in EDGES.get(key, ()):
        return np.nan
    # Of a dtype, as all the others are: a number without one would be compiled for anew.
    up, down = (float(score({**free, key: jnp.asarray(at + sign * step, jnp.float64)})[0]) for sign in (1, -1))
    return (up - down) / (2 * step) if np.isfinite([up, down]).all() else np.nan


def kind(agent):
    """What learns, what chooses, and along which parameters there are slopes."""
    return *learning_and_choosing(agent), tuple(name for name in agent.params if name in searchable())


OTHERS = [name for name in COMBINATIONS if name not in EACH_ONCE]


@pytest.mark.parametrize(
    "name",
    [*one_of_each(kind, REGISTRY), *EACH_ONCE, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)],
)
def test_slopes_are_finite_and_those_of_finite_differences(name):
    agent = AGENTS[name]()
    with jax.enable_x64(True):
        for which, free, fixed, smooth in cases(agent):
            score = partial(_score_and_slopes, agent.rule, fixed=fixed, told=BLOCKS[which])
            value, slopes, together = score(free)
            where = (which, {key: float(value) for key, value in free.items()})
            sought = [key for key in free if key != "prior_var" or float(free[key]) not in EDGES[key]]
            assert np.isfinite([slopes[key] for key in sought]).all(), (slopes, where)
            if len(sought) == len(free):
                summed = sum((1.0 + i) * float(slopes[key]) for i, key in enumerate(sorted(free)))
                np.testing.assert_allclose(float(together), summed, rtol=1e-5, atol=1e-5, err_msg=str(where))
            for key in sought if smooth and np.isfinite(value) else ():
                unit = abs(float(free[key])) or 1.0
                numerical = difference(score, free, key, 1e-5 * unit)
                if np.isfinite(numerical):
                    np.testing.assert_allclose(
                        unit * float(slopes[key]), unit * numerical, rtol=3e-4, atol=2e-5, err_msg=f"{key} {where}"
                    )
