"""Two agents in a user's file do everywhere what the package's agents do: in Python, in files, and in every command."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import explorelab as xl
from explorelab.agents.agent_names import agent_of
from explorelab.cli.app import app
from explorelab.errors import InputError
from explorelab.fitting.results import SAMPLED
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import engine_for, remembered
from explorelab.study.robots.pilot import run_pilot
from explorelab.study.server.serve import serving
from tests.support import command_line
from tests.support.study.server import write_study

pytestmark = pytest.mark.quick_programs

FILE = Path(__file__).parents[1] / "support" / "my_models.py"
NAMES = ("two_rates", "loyal")
TASK = xl.tasks.bandit([0.0, 0.5, 1.0, 1.5], 1.0)
TRUTH = {
    "two_rates": {"rate_up": (0.05, 0.9), "rate_down": (0.05, 0.9), "temperature": (0.15, 0.6)},
    "loyal": {"loyalty": (0.05, 0.9), "learning_rate": (0.1, 0.9), "temperature": (0.15, 0.6)},
}
every_one = pytest.mark.parametrize("name", NAMES)


def own(name: str) -> xl.Agent:
    return agent_of(f"{FILE}:{name}")


@pytest.fixture(scope="module")
def people() -> dict[str, xl.Choices]:
    """Twelve people of each kind who differ."""
    rng = np.random.default_rng(5)
    made = {}
    for name in NAMES:
        params = {key: rng.uniform(*ends, 12) for key, ends in TRUTH[name].items()}
        made[name] = xl.simulate_choices(xl.blank_choices(TASK, 12, 1, 120), own(name), params, seed=3, progress=False)
    return made


# What is found -------------------------------------------------------------------------------------------------------


@every_one
def test_its_parameters_are_recovered(name):
    """Rank correlations of truth and estimate; with 40 people their standard error is 0.16 (1 - rho^2) at most."""
    design = xl.blank_choices(TASK, 1, 1, 240)
    found = xl.recover_parameters(design, own(name), n_people=40, within=TRUTH[name], n_starts=2, seed=1, progress=False)
    rank = {key: float(found["rank_correlation"].sel(parameter=key)) for key in TRUTH[name]}
    low = {key: float(found["rank_low"].sel(parameter=key)) for key in TRUTH[name]}
    assert min(rank.values()) > 0.5, rank
    assert min(low.values()) > 0.2, low


@pytest.mark.slow  # of the model that docs/own-models.md builds: tests/packaging/test_own_models_page.py
@every_one
def test_it_wins_on_its_own_data_against_the_packages_agents(name, people):
    agents = [f"{FILE}:two_rates", f"{FILE}:loyal", "delta-rule", "kalman-ucb"]
    found = xl.compare(people[name], agents, criterion="bic", n_starts=1, progress=False)["models"].to_dataset()
    assert found["frequency"].idxmax().item() == own(name).name
    assert found["lost_evidence"].idxmax().item() == own(name).name


@every_one
@pytest.mark.parametrize("method", ["ml", "map", "em"])
def test_every_method_fits_it(name, method, people):
    fit = xl.fit(people[name], own(name), method, n_starts=1, progress=False)
    assert list(fit["estimates"]["parameter"].values) == list(own(name).free)
    assert np.isfinite(fit["estimates"]["log_likelihood"]).all()
    assert fit.attrs["agent"] == own(name).name
    assert fit.attrs["agent_file"] == f"{FILE}:{name}"


@pytest.mark.slow
@every_one
@pytest.mark.parametrize("method", SAMPLED)
def test_chains_sample_it(name, method, people):
    few = people[name].rows(people[name].participant < 2)
    how: dict[str, Any] = {"chains": 2, "draws": 20, "warmup": 30, "seed": 1}
    with pytest.raises(xl.ConvergenceError) as caught:  # so few draws are not enough, but there they are
        xl.fit(few, own(name), method, **how, progress=False)
    assert set(caught.value.fit["estimates"]["parameter"].values) == set(own(name).free)


# Files of results -----------------------------------------------------------------------------------------------------


def in_a_new_process(code: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


AGAIN = """
import explorelab as xl
choices, fit = xl.read_choices("choices.csv"), xl.load_fit("fit.nc")
try:
    print("latent", float(xl.latent_variables(choices, {agent}, fit, progress=False)["probability"].sum()))
    mind = xl.load_companion("mind.nc"{also})
    print("mind", mind.scene.agent.name)
except xl.InputError as error:
    print("InputError", error)
"""


def test_a_saved_fit_and_companion_find_their_agent_in_a_new_process_or_say_which_file_to_pass(
    people, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(FILE, tmp_path / "my_models.py")
    few = people["two_rates"].rows(people["two_rates"].participant < 2)
    xl.write_choices(few, "choices.csv")
    fit = xl.fit(few, "my_models.py:two_rates", "map", n_starts=1, progress=False)
    assert fit.attrs["agent_file"] == "my_models.py:two_rates"
    xl.save_fit(fit, "fit.nc")
    mind = xl.companion("my_models.py:two_rates", None, TASK, n_points=8, horizon=10).observe(1, 0.5)
    xl.save_companion(mind, "mind.nc")
    found = in_a_new_process(AGAIN.format(agent=None, also=""), tmp_path)
    assert "InputError" not in found
    assert "mind two-rates" in found
    (tmp_path / "my_models.py").rename(tmp_path / "moved.py")
    lost = in_a_new_process(AGAIN.format(agent=None, also=""), tmp_path)
    assert "the fit is of two-rates, which is in my_models.py:two_rates, and there is no such file: pass --agent" in lost
    moved = in_a_new_process(AGAIN.format(agent="'moved.py:two_rates'", also=", 'moved.py:two_rates'"), tmp_path)
    assert moved == found
    shutil.copy(tmp_path / "moved.py", tmp_path / "my_models.py")
    (tmp_path / "my_models.py").write_text((tmp_path / "moved.py").read_text() + "\n# changed\n")
    assert "my_models.py has changed since: pass --agent" in in_a_new_process(AGAIN.format(agent=None, also=""), tmp_path)
    wrong = in_a_new_process(AGAIN.format(agent="'moved.py:loyal'", also=""), tmp_path)
    assert "the fit is of two-rates, not of loyal" in wrong


# Every command --------------------------------------------------------------------------------------------------------

RUN = ["--means", "0,1,2", "-T", "5", "-n", "4"]
FIT = ["choices.csv", "--fit", "fit.nc"]
ARGUMENTS: dict[str, list[str]] = {
    "assess": ["choices.csv", "--points", "8", "--futures", "2", "--every", "40", "--out", "minds"],
    "bounds": ["--means", "0,1,2", "-T", "5"],
    "compare": ["choices.csv", "--starts", "1", "--criterion", "bic"],
    "fit": ["choices.csv", "--starts", "1", "--out", "again.nc"],
    "forecast": ["choices.csv", "--folds", "2", "--points", "8", "--starts", "1"],
    "latent": [*FIT, "--out", "latent.csv"],
    "plan": ["--means", "0,1,2", "-T", "8", "--n", "8"],
    "predict": [*FIT, "--copies", "2"],
    "recover": ["--data", "choices.csv", "--n", "4", "--starts", "1"],
    "report": ["choices.csv", "--quick", "--out", "report.html"],
    "simulate": RUN,
    "study pilot": ["study", "--people", "2"],
    "team": ["--task", "task.toml", "--people", "em.nc", "--n", "2", "--horizon", "3", "--policies", "impersonal"],
}
"""Arguments with which each command does little; a new command that takes an agent must be added."""
BESIDE = {"report": ["--agents", "my_models.py:two_rates,my_models.py:loyal"], "plan": ["--recover", "rate_up"]}
"""Where one agent must be among several, or something is asked of it."""


def with_agents() -> Iterator[tuple[str, str]]:
    """Every command with an option for agents, and the option."""

    def below(command: Any, *words: str) -> Iterator[tuple[str, str]]:
        for each in getattr(command, "params", ()):
            for option in {"--agent", "--agents"} & set(each.opts):
                yield " ".join(words), option
        for name, each in getattr(command, "commands", {}).items():
            yield from below(each, *words, name)

    yield from sorted(below(typer.main.get_command(app)))


@pytest.fixture(scope="module")
def folder(people, tmp_path_factory) -> Path:
    """A user's folder: choices, a model, a task, fits and a study."""
    path = tmp_path_factory.mktemp("user")
    few = people["two_rates"].rows(people["two_rates"].participant < 4)
    xl.write_choices(few, path / "choices.csv")
    shutil.copy(FILE, path / "my_models.py")
    (path / "task.toml").write_text("[task]\nmeans = [0, 0.5, 1, 1.5]\nnoise_var = 1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        for method, out in {"map": "fit.nc", "em": "em.nc"}.items():
            xl.save_fit(xl.fit(few, "my_models.py:two_rates", method, n_starts=1, progress=False), out)
    write_study(path / "study", "sqlite:///study.db", fast_ms=20, slow_ms=40, n_trials=3, n_training=3)
    return path


def test_every_command_that_takes_an_agent_is_tried():
    assert {command for command, _ in with_agents()} <= set(ARGUMENTS), "say in ARGUMENTS how to try it"


AT_ONCE = ("simulate", "fit", "compare")
"""Commands that `make test` tries; the others, which find agents the same way, `make test-slow` tries too."""


@pytest.mark.parametrize(
    ("command", "option"),
    [pytest.param(*each, marks=() if each[0] in AT_ONCE else pytest.mark.slow) for each in with_agents()],
)
def test_every_command_that_takes_an_agent_takes_ones_own(command, option, folder):
    mine = "my_models.py:two_rates" if option == "--agent" else "my_models.py:two_rates,my_models.py:loyal:temperature=0.5"
    more = BESIDE.get(command, []) if option == "--agent" else []
    done = command_line.explorelab(*command.split(), *ARGUMENTS[command], *more, option, mine, cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    lost = command_line.explorelab(
        *command.split(), *ARGUMENTS[command], *more, option, mine.replace("my_models", "m"), cwd=folder
    )
    assert lost.returncode == 2, lost.stdout
    told = " ".join(re.sub(r"[│╭╮╰╯─]", " ", lost.stderr).split())
    assert "m.py: there is no such file" in told or command == "report", told


def test_a_report_names_the_file_of_its_models_and_the_command_that_repeats_it(folder):
    if not (folder / "report.html").is_file():
        command_line.explorelab("report", *ARGUMENTS["report"], *BESIDE["report"], cwd=folder)
    page = (folder / "report.html").read_text()
    assert "my_models.py:two_rates" in page
    assert "Learns from good and from bad surprises at different rates." in page
    assert page.count("my_models.py") >= 2


def test_a_catalogue_describes_it(folder):
    done = command_line.explorelab("agents", "my_models.py:two_rates", "--json", cwd=folder)
    (told,) = json.loads(done.stdout)
    assert told["about"].startswith("Learns from good and from bad surprises")
    assert list(told["parameters"]) == ["rate_up", "rate_down", "temperature"]


# A study --------------------------------------------------------------------------------------------------------------


def test_robots_play_it_over_the_real_interface(tmp_path):
    write_study(tmp_path / "study", "sqlite:///study.db", fast_ms=60, slow_ms=120, n_trials=12)
    study = load_study(tmp_path / "study")
    with serving(tmp_path / "study") as address:
        engine = engine_for("sqlite:///study.db", tmp_path / "study")
        with engine.begin() as connection:
            key = remembered(connection, "pilot_key")
        engine.dispose()
        agents = [f"{FILE}:two_rates", own("loyal")]
        told = run_pilot(address, study, people=4, seed=1, pilot_key=key, agents=agents, progress=False)
    assert told.failures == ()
    assert told.finished == 4
    assert [each.split("(")[0] for each in told.agents] == ["two-rates", "loyal"] * 2


def test_a_study_may_advise_by_it(tmp_path):
    advice = 'arms = ["personal"]\nagent = "my_models.py:two_rates"\n'
    write_study(tmp_path / "study", "sqlite:///study.db", n_trials=12, advice=advice)
    shutil.copy(FILE, tmp_path / "study" / "my_models.py")
    study = load_study(tmp_path / "study")
    assert study.advice is not None
    assert agent_of(study.advice.agent or "").name == "two-rates"
    assert Path(str(study.advice.agent).partition(".py:")[0] + ".py").is_absolute()
    assert "my_models.py" in study.files
    (tmp_path / "study" / "my_models.py").unlink()
    with pytest.raises(InputError, match=r"my_models\.py: there is no such file"):
        load_study(tmp_path / "study")
