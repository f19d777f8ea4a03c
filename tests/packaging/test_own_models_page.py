"""The tutorial on own models does what it says: its Python runs, in order, and so do its commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import command_line

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python([^\n]*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^explorelab .*", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page was followed."""
    path = tmp_path_factory.mktemp("reader")
    for about, code in BLOCKS:
        file = path / (about.partition("file=")[2].strip() or "script.py")
        file.write_text(code, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-W", "error", file.name], cwd=path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        (path / f"{file.stem}.txt").write_text(done.stdout)
        if "two_rates" in code and file.name == "script.py":
            (path / "first.txt").write_text(done.stdout)
    return path


def test_the_model_is_twenty_lines_at_most() -> None:
    lines = [line for line in BLOCKS[0][1].splitlines() if line.strip()]
    assert len(lines) <= 20


@pytest.mark.slow  # tests/contract/test_own_agents.py tries own agents everywhere
def test_the_python_of_the_page_runs_and_the_model_wins_on_its_own_data(folder: Path) -> None:
    said = (folder / "first.txt").read_text()
    frequency = dict(
        re.findall(r"^(two-rates|delta-rule|kalman-ucb) +([\d.]+)$", said.partition("model\n")[2], re.MULTILINE)
    )
    # More than all others together; 13/15 is the most that 12 people allow. The page says how often it has.
    assert float(frequency["two-rates"]) > 0.5


@pytest.mark.slow  # tests/contract/test_own_agents.py tries every command
@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_run(command: str, folder: Path) -> None:
    words = shlex.split(command)[1:]
    quick = {"fit": ["--starts", "1"], "compare": ["--starts", "1"], "recover": ["--n", "8", "--starts", "1"]}
    done = command_line.explorelab(*words, *quick.get(words[0], []), cwd=folder)
    assert done.returncode == 0, done.stderr
