"""The page on planning does what it says: its Python runs, and so do its commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import command_line

PAGE = (Path(__file__).parents[2] / "docs" / "planning.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^    (explorelab .*)", PAGE, re.MULTILINE)
pytestmark = pytest.mark.quick_programs


def test_its_python_runs(tmp_path: Path) -> None:
    for code in BLOCKS:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "rank_correlation" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_run(command: str, tmp_path: Path) -> None:
    """With fewer simulations and shorter blocks."""
    quick = ["--n", "8", "--starts", "1", "-T", "12", "--people", "8", "--no-false-alarms", "--most", "40"]
    done = command_line.explorelab(*shlex.split(command)[1:], *quick, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
