"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from tests.support.command_line import explorelab, interrupted

SMALL = ["--means", "0,0.5,1", "-T", "20", "-n", "8"]


def test_agents_lists_every_agent_with_parameters_and_defaults() -> None:
    from explorelab.agents import AGENTS

    listed = json.loads(explorelab("agents", "--json").stdout)
    assert [agent["name"] for agent in listed] == list(AGENTS)
    stochastic = next(agent for agent in listed if agent["name"] == "stochastic-ucl")
    assert stochastic["parameters"]["prior_var"] == "inf"
    assert all(agent["about"] for agent in listed)


@pytest.mark.quick
def test_agents_prints_for_people() -> None:
    done = explorelab("agents", "block-ucl")
    assert done.returncode == 0
    assert "credibility_power=1" in done.stdout.replace("\n", "")


@pytest.mark.quick
def test_json_has_mean_and_error_of_every_quantity_at_the_chosen_times() -> None:
    done = explorelab("simulate", *SMALL, "--times", "5,20", "--json")
    summary = json.loads(done.stdout)
    times = summary["settings"][0]["times"]
    assert [row["time"] for row in times] == [5, 20]
    for row in times:
        for quantity in ("regret", "transitions", "cost"):
            assert row[quantity]["mean"] >= 0
            assert row[quantity]["se"] >= 0
        assert sum(row["visits"]["mean"]) == pytest.approx(row["time"])


def test_json_says_the_same_as_the_library() -> None:
    import explorelab as xl

    summary = json.loads(
        explorelab("simulate", *SMALL, "--agent", "thompson", "--seed", "3", "--times", "20", "--json").stdout
    )
    runs = xl.simulate(xl.agents.thompson(), xl.tasks.bandit([0, 0.5, 1]), 20, 8, seed=3, times=[20])
    assert summary["settings"][0]["times"][0]["regret"]["mean"] == runs.regret_mean.item()


def test_files_hold_the_results(tmp_path: Path) -> None:
    csv, figure, saved = tmp_path / "r.csv", tmp_path / "r.svg", tmp_path / "r.nc"
    done = explorelab("simulate", *SMALL, "--csv", str(csv), "--figure", str(figure), "--save", str(saved))
    assert done.returncode == 0, done.stderr
    table, runs = pd.read_csv(csv), xr.load_dataset(saved)
    np.testing.assert_allclose(table.regret_mean, runs.regret_mean)
    assert runs.regret.dims == ("replicate", "time")
    assert figure.read_text().lstrip().startswith("<?xml")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.csv", "r.nc", "r.svg"]


def test_sweep_has_a_row_for_every_setting(tmp_path: Path) -> None:
    csv = tmp_path / "r.csv"
    explorelab("simulate", *SMALL, "--agent", "stochastic-ucl", "--sweep", "temperature=0.5,2", "--csv", str(csv))
    table = pd.read_csv(csv)
    assert sorted(table.temperature.unique()) == [0.5, 2.0]
    assert len(table) == 2 * 20


def test_a_toml_file_reaches_every_option_and_flags_win_over_it(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("0,1,1.5\n1,2,1\n2,0,2\n")
    (tmp_path / "cov.csv").write_text("1,0.5,0\n0.5,1,0.5\n0,0.5,1\n")
    (tmp_path / "run.toml").write_text(
        """
[agent]
name = "block-ucl"
prior_cov = "cov.csv"
credibility_power = 1.5
ties = "random"

[task]
means = [0, 0.5, 1]
noise_var = 2
graph = "edges.csv"
directed = true
start = 1
costs = "edges"
cost_kind = "exponential"

[run]
horizon = 30
replicates = 5
times = [10, 30]
precision = "double"
"""
    )
    done = explorelab("simulate", "--config", str(tmp_path / "run.toml"), "-n", "7", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["replicates"] == 7
    assert summary["precision"] == "float64"
    assert "graph of moves, exponential transition costs" in summary["task"]
    assert summary["settings"][0]["times"][-1]["cost"]["mean"] > 0


def test_bounds_say_where_they_do_not_apply() -> None:
    done = explorelab("bounds", "--landscape", "B", "--agent", "stochastic-ucl", "-T", "90", "--json")
    bounds = json.loads(done.stdout)
    assert "constant temperature" in bounds["does_not_apply"]
    assert bounds["bounds"]["published_regret"]["values"][-1] is None
    assert bounds["bounds"]["lai_robbins_regret"]["values"][-1] > 0


BAD = {
    "K too small": (["simulate", *SMALL, "-s", "credibility_scale=1.5"], "at least 2, got 1.5"),
    "negative variance": (["simulate", *SMALL, "-s", "prior_var=-1"], "prior_var must be at least 0, got -1"),
    "NaN in the means": (["simulate", "--means", "0,nan", "-T", "5"], "NaN"),
    "horizon 0": (["simulate", "--means", "0,1", "-T", "0"], "horizon must be at least 1, got 0"),
    "no horizon": (["simulate", "--means", "0,1"], "needs a horizon"),
    "no task": (["simulate", "-T", "5"], "needs landscape, profile, means, path, restless"),
    "unknown agent": (["simulate", *SMALL, "--agent", "stochastic-ulc"], "did you mean 'stochastic-ucl'"),
    "unknown parameter": (["simulate", *SMALL, "-s", "prior_men=3"], "did you mean 'prior_mean'"),
    "unknown landscape": (["simulate", "--landscape", "b", "-T", "5"], "unknown landscape 'b'"),
    "not NAME=VALUE": (["simulate", *SMALL, "-s", "prior_mean"], "NAME=VALUE"),
    "no such config": (["simulate", "--config", "nowhere.toml"], "nowhere.toml: cannot read the file"),
    "no such means": (["simulate", "--means", "nowhere.csv", "-T", "5"], "nowhere.csv"),
    "no such folder": (["simulate", *SMALL, "--csv", "nowhere/r.csv"], "there is no folder nowhere"),
    "a folder as file": (["simulate", *SMALL, "--csv", "."], "this is a folder"),
    "no such figure": (["simulate", *SMALL, "--figure", "r.bmp"], "must end in .png"),
    "no such device": (["simulate", *SMALL, "--device", "abacus"], "got 'abacus'"),
    "strange memory": (["simulate", *SMALL, "--memory", "lots"], "got 'lots'"),
    "strange times": (["simulate", *SMALL, "--times", "5,99"], "from 1 to the horizon, 20"),
    "cost without place": (["simulate", *SMALL, "--costs", "distance"], "needs arms with places"),
    "graph without place": (["simulate", *SMALL, "--graph", "neighbours"], "needs arms with places"),
}


@pytest.mark.parametrize(("arguments", "expected"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_and_status_2(arguments: list[str], expected: str, tmp_path: Path) -> None:
    done = explorelab(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


FILES = {
    "not symmetric": ("1,0.5\n0.2,1\n", "must be symmetric, got 0.5 at [0, 1]"),
    "not semidefinite": ("1,2\n2,1\n", "positive semidefinite, got an eigenvalue of -1"),
    "ragged": ("1,2\n2\n", "row 2: expected 2 numbers, got 1"),
    "words": ("a,b\nc,d\n", "expected a table of numbers"),
    "empty": ("", "empty file"),
}


@pytest.mark.parametrize(("content", "expected"), FILES.values(), ids=FILES)
def test_bad_matrix_files_are_one_sentence_and_status_2(content: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "cov.csv").write_text(content)
    done = explorelab("simulate", "--means", "0,1", "-T", "5", "-s", "prior_cov=cov.csv", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
    assert expected in done.stderr


def test_unreachable_arms_are_named(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("0,1\n2,3\n")
    done = explorelab("simulate", "--means", "0,1,2,3", "-T", "5", "--graph", "edges.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "no path from 0 to 2" in done.stderr


@pytest.mark.quick
def test_broken_toml_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("[agent]\nname = \n")
    done = explorelab("simulate", "--config", "run.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "line 2" in done.stderr


def test_an_output_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    # Root may write anywhere but where the kernel itself forbids it.
    target = tmp_path / "r.csv" if os.geteuid() else Path("/proc/r.csv")
    done = explorelab("simulate", *SMALL, "--csv", str(target))
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_interrupt_is_heard_and_leaves_nothing(tmp_path: Path) -> None:
    done = interrupted("simulate", "--means", "0,1", "-T", "200", "-n", "5000000", "--csv", "r.csv", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr.strip() == "explorelab: interrupted; nothing was written."
    assert list(tmp_path.iterdir()) == []
