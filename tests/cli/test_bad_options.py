"""Every option of every command, and every setting of a TOML file, answers nonsense in a sentence and status 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click.testing
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from explorelab.agents import AGENTS
from explorelab.cli.app import app
from explorelab.errors import ExplorelabError
from explorelab.simulation import run_file
from explorelab.tasks.task_table import task_keys
from tests.support.choice_files import tidy, written

WORDS = ("x", "-1", "nan", "[[0,1],[2]]")
RUN = ["--means", "0,1", "-T", "3", "-n", "2"]
PEOPLE = ["choices.csv", "--seed", "0"]
WHO = "win-stay-lose-shift"
WORK: dict[str, list[str]] = {
    "agents": [],
    "assess": [*PEOPLE, "--agent", "nobody", "--out", "minds"],
    "bounds": ["--means", "0,1", "-T", "3"],
    "check": ["choices.csv"],
    "compare": [*PEOPLE, "--agents", "random-choice,nobody"],
    "fit": [*PEOPLE, "--method", "ml", "--agent", "nobody"],
    "forecast": [*PEOPLE, "--agent", "nobody"],
    "latent": ["choices.csv", "--fit", "nowhere.nc", "--out", "latent.csv"],
    "loo": ["choices.csv", "--fit", "nowhere.nc"],
    "phenotypes": [*PEOPLE, "--bootstrap", "0"],
    "plan": ["--means", "0,1", "-T", "3", "--agent", "nobody", "--recover", "win_stay"],
    "population": ["--out", "nowhere/at/all", "--people", "3"],
    "predict": ["choices.csv", "--fit", "nowhere.nc"],
    "recover": ["--data", "choices.csv", "--agent", "nobody"],
    "report": ["nowhere.csv", "--quick"],
    "reproduce": ["--out", "nowhere/at/all", "--quick"],
    "simulate": RUN,
    "team": ["--task", "landscape:B", "--policies", "nobody"],
}
"""Words with which each command has little to do, so that all options can be tried."""


LONG = {("reproduce", "out"), ("population", "out")}
"""Where the place of the output alone keeps a command from long work."""


def commands(command: Any, *words: str) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(words), command
    for name, each in (below or {}).items():
        yield from commands(each, *words, name)


COMMAND = get_command(app)
"""Built once: to build it takes longer than to refuse an option."""
EVERY = dict(commands(COMMAND))


def said_otherwise(words: list[str]) -> str:
    """Nothing if a command works or is refused in a sentence; otherwise what came."""
    done = click.testing.CliRunner().invoke(COMMAND, words)
    error = done.exception
    if error is None or (isinstance(error, SystemExit) and error.code in (0, 2)):
        return ""
    if isinstance(error, ExplorelabError) and str(error)[-1:] in (".", "?"):
        return ""
    if isinstance(error, Warning) and type(error).__module__.startswith("explorelab"):
        return ""
    return f"{' '.join(words)}: {type(error).__name__}: {error}"


@pytest.mark.parametrize("typed", EVERY)
def test_nonsense_for_an_option_is_refused_in_a_sentence(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, tidy(), "[task]\narms = 4\n")
    monkeypatch.chdir(tmp_path)
    if typed not in WORK:
        # The others work on a study; in a folder that is not there they have nothing to do.
        needed = [each for each in EVERY[typed].params if each.param_type_name == "argument" and each.required]
        assert typed.startswith("study "), "a new command needs an example here"
        usual = ["nowhere/at/all"] * len(needed)
    else:
        usual = WORK[typed]
    found = []
    for each in EVERY[typed].params:
        if each.param_type_name != "option" or getattr(each, "is_flag", False) or (typed, each.name) in LONG:
            continue
        for word in WORDS:
            found.append(said_otherwise([*typed.split(), *usual, f"{each.opts[0]}={word}"]))
    assert [line for line in found if line] == []


REQUIRED = {"study token add": ["--use", "results"], "study deploy": ["--domain", "study.example.org"]}
"""Options without which a command does not look at its folder."""

MAKERS = ("study init", "study lab")
"""Commands that make the folder if there is none."""
STUDY = [typed for typed in EVERY if typed.startswith("study ") and typed not in MAKERS]


@pytest.mark.parametrize("typed", STUDY)
def test_a_folder_that_is_no_study_is_told_in_one_sentence(typed: str, tmp_path: Path) -> None:
    needed = [each for each in EVERY[typed].params if each.param_type_name == "argument" and each.required]
    others = ["x"] * (len(needed) - 1) + REQUIRED.get(typed, [])
    for folder, lacks in ((tmp_path, "this folder has no study.toml"), (tmp_path / "none", "there is no such folder")):
        done = CliRunner().invoke(app, [*typed.split(), str(folder), *others])
        assert str(done.exception) == f"{folder}: {lacks}; create a study with `explorelab study init FOLDER`."
    assert list(tmp_path.iterdir()) == []


NAMED = {
    "a ragged table of means": "means = [[0, 1], [2]]",
    "means of text": 'means = ["a", "b"]',
    "one mean": "means = 3",
    "a table for means": "means = {a = 1}",
    "means that are true": "means = [true, false]",
    "a date for a mean": "means = [2020-01-01]",
}


@pytest.mark.parametrize("case", NAMED)
def test_nonsense_for_means_in_a_file_is_refused_in_a_sentence(case: str, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(f"[task]\n{NAMED[case]}\n[run]\nhorizon = 3\nreplicates = 2\n")
    assert said_otherwise(["simulate", "--config", str(tmp_path / "run.toml")]) == ""


VALUES: list[Any] = [[[0, 1], [2]], "x", "", -1, 1.5, float("nan"), float("inf"), True, {"a": 1}, [], [{}], 2**70, ["a"]]


def tried(work: Any) -> str:
    try:
        work()
    except ExplorelabError as error:
        return "" if "\n" not in str(error) else str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("key", task_keys())
def test_nonsense_for_a_setting_of_the_task_is_refused_in_a_sentence(key: str) -> None:
    usual: dict[str, Any] = {"means": [0.0, 1.0], "layout": "line", "graph": "neighbours", "costs": "distance"}
    if key in ("landscape", "profile"):
        usual = {}
    said = {repr(value): tried(lambda value=value: run_file.build_task({**usual, key: value})) for value in VALUES}
    assert {value: text for value, text in said.items() if text} == {}


@pytest.mark.parametrize("key", run_file.RUN_KEYS)
def test_nonsense_for_a_setting_of_the_run_is_refused_in_a_sentence(key: str) -> None:
    from explorelab.simulation.simulate import simulate

    usual = {"horizon": 3, "replicates": 2}
    task, agent = run_file.build_task({"means": [0.0, 1.0]}), run_file.build_agent({"name": "ucb1"})
    values = [value for value in VALUES if not (key == "replicates" and value == 2**70)]
    said = {
        repr(value): tried(lambda value=value: simulate(agent, task, **run_file.check_run({**usual, key: value})))
        for value in values
    }
    assert {value: text for value, text in said.items() if text} == {}


@pytest.mark.parametrize("name", AGENTS)
def test_nonsense_for_a_parameter_in_a_file_is_refused_in_a_sentence(name: str) -> None:
    from explorelab.agents.registry import parameters_of

    said = {
        f"{key} = {value!r}": tried(lambda key=key, value=value: run_file.build_agent({"name": name, key: value}))
        for key in parameters_of(name)
        for value in VALUES
    }
    assert {value: text for value, text in said.items() if text} == {}


@pytest.mark.parametrize("output", [[], ["--csv", "runs.csv"], ["--json"], ["--save", "runs.nc"]])
def test_a_value_swept_twice_is_refused(output: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["simulate", *RUN, "--sweep", "credibility_power=1,1", *output])
    assert "sweep must have each value of credibility_power once, got [1, 1]." in str(done.exception)
