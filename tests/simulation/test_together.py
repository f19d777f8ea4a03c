"""Several agents at once: each as if alone, and differences on the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest

import explorelab as xl
from explorelab.errors import InputError
from explorelab.plots.regret_figure import regret_figure
from explorelab.simulation.summary import summary, tidy

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.bandit([0.0, 0.5, 1.0], 1.0)
HOW = {"horizon": 20, "n_replicates": 50, "seed": 4}
AGENTS = [xl.agents.kalman_ucb(bonus=0.5), "delta-rule:learning_rate=0.5", "ucb1"]
LABELS = ["kalman-ucb", "delta-rule:learning_rate=0.5", "ucb1"]


@pytest.fixture(scope="module")
def runs():
    return xl.simulate(AGENTS, TASK, **HOW)


@pytest.mark.parametrize("place", range(len(AGENTS)), ids=LABELS)
def test_an_agent_of_a_list_has_the_same_bits_as_alone(place, runs):
    alone = xl.simulate(AGENTS[place], TASK, **HOW)
    assert list(runs["agent"].values) == LABELS
    here = runs.isel(agent=place)
    for name in alone.data_vars:
        np.testing.assert_array_equal(here[name], alone[name], err_msg=str(name))
        assert here[name].dims == alone[name].dims
        assert here[name].attrs == alone[name].attrs


def test_a_single_agent_or_name_has_no_dimension_of_agents():
    for agent in (AGENTS[0], "kalman-ucb:bonus=0.5"):
        alone = xl.simulate(agent, TASK, **HOW)
        assert set(alone.sizes) == {"time", "arm", "replicate"}
        assert "regret_difference_mean" not in alone
    assert dict(xl.simulate([AGENTS[0]], TASK, **HOW).sizes)["agent"] == 1


def test_differences_are_taken_replicate_by_replicate_from_the_first(runs):
    apart = (runs.regret - runs.regret.isel(agent=0)).values  # agent, replicate, time
    np.testing.assert_allclose(runs.regret_difference_mean, apart.mean(1))
    np.testing.assert_allclose(runs.regret_difference_se, apart.std(1, ddof=1) / np.sqrt(50))
    assert runs.attrs["first"] == "kalman-ucb"
    assert (runs.regret_difference_se.isel(agent=0) == 0).all()


def test_the_same_random_numbers_make_differences_of_like_agents_sharper():
    like = [xl.agents.kalman_ucb(temperature=0.3), xl.agents.kalman_ucb(temperature=0.33)]
    runs = xl.simulate(like, TASK, 100, 400, seed=1).isel(time=-1)
    assert list(runs["agent"].values) == ["kalman-ucb:temperature=0.3", "kalman-ucb:temperature=0.33"]
    separate = np.hypot(*runs.regret_se.values)
    assert float(runs.regret_difference_se[1]) < 0.8 * separate


def test_statistics_keep_differences_but_no_replicates():
    runs = xl.simulate(AGENTS, TASK, **HOW, keep="statistics")
    assert "replicate" not in runs.dims
    assert np.isfinite(runs.regret_difference_se).all()


def test_a_sweep_goes_over_all_of_them():
    runs = xl.simulate(["kalman-ucb", "delta-rule"], TASK, **HOW, sweep={"temperature": [0.5, 1.0]})
    assert runs.regret_mean.dims == ("agent", "temperature", "time")


def test_tables_and_the_figure_name_every_agent(runs):
    table = tidy(runs)
    assert list(dict.fromkeys(table["agent"])) == LABELS
    assert {"regret_difference_mean", "regret_difference_se"} <= set(table.columns)
    told = summary(runs)
    assert [setting["sweep"]["agent"] for setting in told["settings"]] == LABELS
    drawing = regret_figure(runs)
    assert [text.get_text() for text in drawing.figure.axes[0].get_legend().get_texts()] == LABELS


@pytest.mark.parametrize(
    ("agents", "told"),
    [
        ([], "an empty list"),
        (["kalman-ucb", "kalman-ucb"], "kalman-ucb is given 2 times"),
        (["kalman-ucb", "kalman"], "unknown agent 'kalman': did you mean 'kalman-ucb'"),
        ([3, "kalman-ucb"], "agent must be text or an agent"),
        (["situated-ucl", "kalman-ucb"], "needs arms with places"),
    ],
)
def test_what_cannot_be_simulated_together_is_told(agents, told):
    with pytest.raises(InputError, match=told):
        xl.simulate(agents, TASK, **HOW)
