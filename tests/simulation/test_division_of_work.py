"""The same results, to the last bit, however the work is divided: by memory, by cores, by replicates and by steps."""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from tests.support.siblings import slow

FIVE = xl.tasks.bandit([0.1, 0.3, 0.5, 0.7, 0.9], 0.2)
GRAPH = xl.tasks.on_graph(
    xl.tasks.line([1.0, 3, 2, 5], 2.0), [(0, 1, 2.0), (1, 2, 1.0), (2, 3, 0.5), (3, 0, 4.0)], directed=True
)


@pytest.mark.parametrize(
    ("agent", "task", "horizon", "replicates"),
    [
        (xl.agents.stochastic_ucl(temperature=0.3), FIVE, 200, 5000),
        pytest.param(
            xl.agents.block_ucl(prior_mean=3.0, prior_var=9.0, length_scale=2.0), GRAPH, 80, 3000, marks=pytest.mark.slow
        ),
        (
            xl.agents.deterministic_ucl(prior_mean=30.0, prior_var=100.0, length_scale=4.0),
            xl.tasks.landscape("B", 10.0),
            30,
            600,
        ),
    ],
    ids=["stochastic", "correlated block on a graph", "correlated on 100 arms"],
)
def test_the_memory_allowed_changes_not_one_bit(agent, task, horizon, replicates):
    ask = {"horizon": horizon, "n_replicates": replicates, "seed": 3, "keep": "statistics"}
    plenty, little = xl.simulate(agent, task, **ask), xl.simulate(agent, task, **ask, memory=2 << 20)
    xr.testing.assert_identical(plenty, little)


PLAYED = """
import explorelab as xl
agent = xl.agents.stochastic_ucl(prior_mean=3.0, prior_var=4.0, length_scale=1.5)
result = xl.simulate(agent, xl.tasks.profile("B", 9.0), 25, 700, 4, keep="trajectories")
"""
ON_ONE_CORE = f"""
import os, sys
from tests.support.siblings import slow
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
{PLAYED}
result.to_netcdf(sys.argv[1], engine="scipy")
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be taken away here")
def test_the_number_of_cores_changes_not_one_bit(tmp_path):
    """One core against all that this process has."""
    command = [sys.executable, "-c", ON_ONE_CORE, str(tmp_path / "one")]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    exec(PLAYED, here := {})
    here["result"].to_netcdf(tmp_path / "all", engine="scipy")
    with xr.open_dataset(tmp_path / "one", engine="scipy") as one, xr.open_dataset(tmp_path / "all", engine="scipy") as all_:
        xr.testing.assert_identical(one, all_)


@cache
def trajectories(agent, horizon, replicates):
    return xl.simulate(agent, FIVE, horizon, replicates, 2, keep="trajectories")


STOCHASTIC, THOMPSON = xl.agents.stochastic_ucl(), xl.agents.thompson(prior_var=1.0)


@pytest.mark.parametrize("agent", [THOMPSON, *slow(STOCHASTIC)], ids=lambda agent: agent.name)
def test_a_replicate_is_the_same_however_many_others_there_are(agent):
    few, many = (trajectories(agent, 30, n) for n in (300, 1000))
    np.testing.assert_array_equal(few.choice, many.choice[:300])
    np.testing.assert_array_equal(few.reward, many.reward[:300])


def test_a_step_is_the_same_however_many_follow():
    short, long = (trajectories(STOCHASTIC, horizon, 300) for horizon in (20, 30))
    np.testing.assert_array_equal(short.choice, long.choice[:, :20])
