"""`--help` of every command shows what was written, and nothing that was not."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import explorelab
from explorelab.cli.app import app

pytestmark = pytest.mark.quick


def commands(command: Any, *words: str) -> Iterator[tuple[str, Any]]:
    """The command and all below it, by what is typed."""
    yield " ".join(words), command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *words, name)


EVERY = dict(commands(get_command(app)))


def help_of(typed: str, columns: int = 80) -> str:
    done = CliRunner(env={"COLUMNS": str(columns), "TERMINAL_WIDTH": str(columns)}).invoke(app, [*typed.split(), "--help"])
    assert done.exit_code == 0, done.output
    return done.output


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("typed", EVERY)
def test_every_word_of_a_help_text_is_shown(typed: str, columns: int) -> None:
    shown = in_one_line(help_of(typed, columns))
    # A word that is longer than what is left of a line may be broken at a hyphen.
    joined = shown.replace("- ", "-")
    texts = [EVERY[typed].help, *(each.help for each in EVERY[typed].params if not getattr(each, "hidden", False))]
    assert [text for text in texts if in_one_line(text).replace("- ", "-") not in joined] == []


LISTS = [typed for typed, command in EVERY.items() if hasattr(command, "commands")]


def listed(typed: str) -> dict[str, str]:
    """What a list of commands says of each."""
    said: dict[str, list[str]] = {}
    name = ""
    for line in help_of(typed).partition("Commands:\n")[2].splitlines():
        words = line.split()
        if words and line.startswith("  ") and line[2] != " ":
            name, *words = words
        said.setdefault(name, []).extend(words)
    return {name: " ".join(words) for name, words in said.items()}


@pytest.mark.parametrize("typed", LISTS)
def test_a_list_of_commands_says_what_each_does_in_one_whole_sentence(typed: str) -> None:
    said = listed(typed)
    assert list(said) == list(EVERY[typed].commands)
    for name, command in EVERY[typed].commands.items():
        assert in_one_line(command.help).startswith(said[name])
        assert re.findall(r"[.?!](?: |$)", said[name]) == ["."], name
        assert said[name].endswith(".")


def test_all_lists_of_commands_are_looked_at() -> None:
    assert LISTS == ["", "study", "study token"]


@pytest.mark.parametrize("typed", EVERY)
def test_a_flag_takes_no_value_and_nothing_was_swallowed(typed: str) -> None:
    shown = in_one_line(help_of(typed))
    assert re.findall(r"<bool>|\[\]|, ,|,,|\( *\)|`` |\[/", shown) == []


@pytest.mark.parametrize("typed", EVERY)
def test_everything_that_can_be_given_is_explained(typed: str) -> None:
    assert EVERY[typed].help
    assert [each.name for each in EVERY[typed].params if not each.help] == []


@pytest.mark.parametrize("typed", EVERY)
def test_arguments_are_written_in_capitals_as_the_help_texts_write_them(typed: str) -> None:
    usage = help_of(typed).partition("\n\n")[0]
    for argument in (each for each in EVERY[typed].params if each.param_type_name == "argument"):
        assert argument.name.upper() in usage


def test_the_version_is_told() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.output) == (0, f"explorelab {explorelab.__version__}\n")


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "explorelab", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: python -m explorelab ")


def test_there_is_one_version() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_what_is_told_at_once_loads_nothing_slow(flag: str) -> None:
    script = (
        f"import sys; sys.argv = ['explorelab', {flag!r}]\n"
        "from explorelab.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: print({'jax', 'pandas', 'xarray', 'matplotlib', 'fastapi'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
