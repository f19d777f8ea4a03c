"""A file that describes a run: a mistake in any of its tables is one sentence with its line; flags win over the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from explorelab.cli.app import app
from explorelab.cli.run_flags import AgentFlags, RunFlags, TaskFlags, settings_from
from explorelab.errors import InputError
from explorelab.simulation import run_file

pytestmark = pytest.mark.quick

FINE = {
    "agent": 'name = "stochastic-ucl"',
    "task": "means = [0, 1]",
    "run": "horizon = 3\nreplicates = 2",
    "sweep": "",
}


def written(folder: Path, **tables: str) -> Path:
    """A file that describes a run, with these tables instead of the usual ones."""
    file = folder / "run.toml"
    file.write_text("".join(f"[{name}]\n{text}\n" for name, text in (FINE | tables).items()), encoding="utf-8")
    return file


def said(file: Path, *words: str, command: str = "simulate") -> str:
    done = CliRunner().invoke(app, [command, "--config", str(file), *words])
    assert isinstance(done.exception, InputError), done.output
    return str(done.exception)


WRONG: dict[str, tuple[str, str, str]] = {
    "unknown agent": ("agent", 'name = "stochastic-ulc" # here', "did you mean 'stochastic-ucl'?"),
    "agent that is a number": ("agent", "name = 3 # here", "unknown agent '3'"),
    "unknown parameter": ("agent", 'name = "ucb1"\nprior_men = 3 # here', "'prior_men'"),
    "parameter out of range": ("agent", "credibility_scale = 1.5 # here", "at least 2, got 1.5;"),
    "unknown tie rule": ("agent", 'credibility_power = 1\nties = "randon" # here', "unknown tie rule 'randon'"),
    "no file of a covariance": ("agent", 'ties = "random"\nprior_cov = "nowhere.csv" # here', "nowhere.csv: cannot read"),
    "covariance of another size": ("agent", "prior_var = 1\nprior_mean = [0, 1, 2] # here", "prior_mean"),
    "unknown setting of the run": ("run", "horizon = 3\nreplicate = 2 # here", "did you mean 'replicates'?"),
    "no horizon": ("run", "replicates = 2", "a run needs a horizon"),
    "horizon of zero": ("run", "replicates = 2\nhorizon = 0 # here", "horizon must be at least 1, got 0."),
    "no replicates": ("run", "horizon = 3\nreplicates = 0 # here", "replicates must be at least 1, got 0."),
    "times beyond the horizon": ("run", "horizon = 3\ntimes = [5] # here", "times"),
    "strange memory": ("run", 'horizon = 3\nmemory = "lots" # here', "memory must be a size"),
    "unknown device": ("run", 'horizon = 3\ndevice = "abacus" # here', "'abacus'"),
    "unknown precision": ("run", 'horizon = 3\nprecision = "doubel" # here', "'double'"),
    "sweep of an unknown parameter": ("sweep", "temprature = [1, 2] # here", "'temperature'"),
    "sweep of a bad value": ("sweep", "temperature = [1, -1] # here", "temperature must be at least 0, got -1."),
    "sweep of a value twice": ("sweep", "temperature = [1, 1] # here", "once, got [1, 1]."),
    "wrong task": ("task", "means = [0, 1]\nnoise_var = -1 # here", "noise_var must be at least 0, got -1."),
}
"""Table, settings (the mistake marked, or else at the table itself), words."""


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_in_any_table_is_one_sentence_with_its_line(case: str, tmp_path: Path) -> None:
    table, settings, words = WRONG[case]
    file = written(tmp_path, **{table: settings})
    lines = file.read_text().splitlines()
    line = next((n for n, text in enumerate(lines, 1) if text.endswith("# here")), lines.index(f"[{table}]") + 1)
    message = said(file)
    assert message.startswith(f"{file}, line {line}: [{table}] ")
    assert words in message
    assert "\n" not in message
    assert message.count(str(file)) == 1


def test_bounds_tell_the_line_as_well(tmp_path: Path) -> None:
    file = written(tmp_path, run="times = [5]\nhorizon = 3")
    assert said(file, command="bounds").startswith(f"{file}, line 6: [run] times")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[agent]\nname = \n", 2, "expected TOML, got something else: invalid value"),
        ("[agent]\n\n[tsk]\n", 3, "unknown table 'tsk': did you mean 'task'?"),
        ("\nrun = 5\n", 2, "run must be a table, [run], got 5."),
    ],
)
def test_a_file_that_is_no_run_names_its_line(text: str, line: int, words: str, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(text)
    assert said(file).startswith(f"{file}, line {line}: {words}")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_text(file.read_text(), encoding="utf-8-sig")
    assert run_file.build_task(run_file.read_spec(file).task).means.tolist() == [0, 1]


def test_a_wrong_flag_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, task="means = [0, 1]\nnoise_var = 1")
    assert said(file, "--noise-var", "-1") == "noise_var must be at least 0, got -1.0."
    assert said(file, "--set", "temperature=-1") == "temperature must be at least 0, got -1."
    assert said(file, "--horizon", "0") == "horizon must be at least 1, got 0."


@pytest.mark.parametrize(
    ("of_the_file", "flag", "wanted"),
    [
        ("integer_noise = 5", {"noise_var": 4.0}, ("gaussian", 2.0)),
        ("noise_var = 4", {"integer_noise": 5}, ("integer-uniform", 5)),
    ],
)
def test_a_flag_for_one_kind_of_noise_wins_over_the_other_in_the_file(
    of_the_file: str, flag: dict[str, float], wanted: tuple[str, float], tmp_path: Path
) -> None:
    file = written(tmp_path, task=f"means = [0, 1]\n{of_the_file}")
    noise = run_file.build_task(settings_from(AgentFlags(file), TaskFlags(**flag), RunFlags()).task).noise
    assert (noise.kind, noise.scale) == wanted


def test_a_flag_for_means_wins_over_places_in_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, task="means = [0, 1]\ngrid = [2, 1]\nnoise_var = 4")
    task = run_file.build_task(settings_from(AgentFlags(file), TaskFlags(means="1,2,3"), RunFlags()).task)
    assert (task.n_arms, task.places, task.noise.var) == (3, None, 4)


def test_a_layout_as_a_flag_keeps_the_means_of_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, task="means = [0, 1]")
    task = run_file.build_task(settings_from(AgentFlags(file), TaskFlags(layout="line"), RunFlags()).task)
    assert task.places is not None
    assert task.means.tolist() == [0, 1]
