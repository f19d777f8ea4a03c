"""The two methods that sample the hierarchical posterior agree within Monte Carlo error, on three kinds of data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from arviz_stats.base import array_stats

import explorelab as xl
from explorelab.choices.table import Choices
from tests.support.conditions import AGENT, SPACE, in_conditions
from tests.support.hierarchies import delta_people

pytestmark = [pytest.mark.slow, pytest.mark.quick_programs]


def correlated() -> tuple[Choices, str, dict[str, Any]]:
    """People in whom two parameters may go together."""
    fixed = {"prior_mean": 0.0}
    return (
        delta_people(8, 2, seed=1)[0],
        "delta-rule",
        {"free": ["learning_rate", "temperature"], "fixed": fixed, "correlated": True},
    )


def within_and_between() -> tuple[Choices, str, dict[str, Any]]:
    """Effects of a group, of age, and of sessions with slopes of everyone's own; one parameter is shared."""
    effects = "temperature ~ group * C(session)"
    return (
        in_conditions(12, sessions=3, horizon=20),
        AGENT,
        {"effects": effects, "shared": ["learning_rate"], "space": SPACE},
    )


def on_a_grid() -> tuple[Choices, str, dict[str, Any]]:
    """The paper's model on a few of its squares, whose rewards are correlated."""
    task = xl.tasks.landscape("B")
    rng = np.random.default_rng(0)
    params = {"temperature": np.exp(rng.normal(0.7, 0.4, 5)), "length_scale": np.exp(rng.normal(1.0, 0.4, 5))}
    agent = xl.agents.stochastic_ucl(prior_mean=60, prior_var=100, length_scale=3, temperature=2)
    choices = xl.simulate_choices(xl.blank_choices(task, 5, 1, 40), agent, params, seed=0, progress=False)
    return choices, "stochastic-ucl", {}


@pytest.mark.parametrize("data", [correlated, within_and_between, on_a_grid])
def test_the_same_posterior(data: Any) -> None:
    choices, agent, how = data()
    both = [xl.fit(choices, agent, method, n_starts=2, progress=False, **how) for method in ("bayes", "nuts")]
    ours, theirs = (tree["posterior"].to_dataset() for tree in both)
    assert set(ours) == set(theirs)
    found = {name: distances(ours[name], theirs[name]) for name in ours.data_vars}
    every = np.concatenate(list(found.values()))
    # Of a few hundred distances in standard errors, which depend on each other, none is beyond 4.5.
    assert np.abs(every).max() < 4.5, {name: np.abs(each).max(initial=0.0) for name, each in found.items()}
    assert np.sqrt(np.mean(every**2)) < 1.5


def distances(ours: xr.DataArray, theirs: xr.DataArray) -> np.ndarray:
    """How far means and standard deviations are apart, in standard errors."""
    a, b = (np.asarray(x.transpose("chain", "draw", ...)).reshape(*x.values.shape[:2], -1) for x in (ours, theirs))
    found = []
    for i in range(a.shape[-1]):
        if np.ptp(a[..., i]) < 1e-12:
            continue
        for measure, method in ((np.mean, "mean"), (np.std, "sd")):
            errors = (array_stats.mcse(x[..., i], chain_axis=0, draw_axis=1, method=method) for x in (a, b))
            found.append((measure(a[..., i]) - measure(b[..., i])) / np.hypot(*errors))
    return np.array(found)
