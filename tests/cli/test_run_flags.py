"""The flags of a run: the same settings as in a TOML file, and written over them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from explorelab.cli.run_flags import AgentFlags, Keep, RunFlags, TaskFlags, settings_from
from explorelab.simulation.run_file import RUN_KEYS, RunSettings
from explorelab.tasks.task_table import task_keys

FILE = """
[agent]
name = "stochastic-ucl"
prior_mean = 200

[task]
landscape = "B"
costs = "distance"

[run]
horizon = 90
seed = 4

[sweep]
temperature = [1, 2, 4]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text(FILE)
    return path


def test_every_flag_is_a_setting_of_the_file_and_every_setting_of_a_run_has_one() -> None:
    assert {field.name for field in fields(TaskFlags)} <= set(task_keys())
    # How visits are kept follows from what is asked for.
    assert {field.name for field in fields(RunFlags)} == set(RUN_KEYS) - {"visits"}


def test_flags_alone_fill_the_settings() -> None:
    agent = AgentFlags(agent="ucb1", parameter=["noise_var=2"])
    task = TaskFlags(means="0,0.5,1", noise_var=1.0)
    run = RunFlags(horizon=10, times="1,10", keep=Keep.STATISTICS)
    assert settings_from(agent, task, run, ["noise_var=1,2", "prior-mean=3"]) == RunSettings(
        agent={"name": "ucb1", "noise_var": 2},
        task={"means": [0.0, 0.5, 1.0], "noise_var": 1.0},
        run={"horizon": 10, "times": [1, 10], "keep": "statistics"},
        sweep={"noise_var": [1, 2], "prior_mean": [3]},
    )


def test_without_flags_the_file_stands(file: Path) -> None:
    assert settings_from(AgentFlags(config=file), TaskFlags(), RunFlags()) == RunSettings(
        agent={"name": "stochastic-ucl", "prior_mean": 200},
        task={"landscape": "B", "costs": "distance"},
        run={"horizon": 90, "seed": 4},
        sweep={"temperature": [1, 2, 4]},
    )


def test_flags_win_over_the_file(file: Path) -> None:
    agent = AgentFlags(config=file, agent="stochastic-ucl", parameter=["prior_var=5"])
    settings = settings_from(agent, TaskFlags(cost_scale=2.0), RunFlags(seed=0), ["temperature=3"])
    assert settings.agent == {"name": "stochastic-ucl", "prior_mean": 200, "prior_var": 5}
    assert settings.task == {"landscape": "B", "costs": "distance", "cost_scale": 2.0}
    assert settings.run == {"horizon": 90, "seed": 0}
    assert settings.sweep == {"temperature": [3]}


def test_another_agent_or_other_rewards_leave_nothing_of_those_in_the_file(file: Path) -> None:
    settings = settings_from(AgentFlags(config=file, agent="ucb1"), TaskFlags(profile="A"), RunFlags())
    assert settings.agent == {"name": "ucb1"}
    assert settings.task == {"costs": "distance", "profile": "A"}
