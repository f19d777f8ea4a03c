"""The README's quickstart runs as it is written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def code_blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def test_the_quickstart_runs_as_written(tmp_path: Path) -> None:
    (quickstart,) = code_blocks(ROOT / "README.md")
    assert len(quickstart.strip().splitlines()) <= 12
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:explorelab", "-c", quickstart],
        capture_output=True,
        text=True,
        env={"MPLBACKEND": "Agg", "PATH": "", "HOME": str(tmp_path)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    simulated, promised = map(float, done.stdout.split())
    assert 0 < simulated < promised


@pytest.mark.slow
def test_the_companion_page_runs_as_written(tmp_path: Path) -> None:
    (code,) = code_blocks(ROOT / "docs" / "companion.md")
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:explorelab", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "temperature" in done.stdout
    assert (tmp_path / "mind.nc").is_file()


@pytest.mark.slow
def test_the_page_on_tasks_that_change_runs_as_written(tmp_path: Path) -> None:
    code = "\n".join(code_blocks(ROOT / "docs" / "changing-tasks.md"))
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:explorelab", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    regret, hindsight, informative = map(float, done.stdout.split())
    assert hindsight < regret
    assert 0 <= informative <= 1


@pytest.mark.slow
def test_the_effects_page_runs_as_written(tmp_path: Path) -> None:
    from explorelab.choices.writing import write_choices
    from tests.support.conditions import in_conditions

    write_choices(in_conditions(12, sessions=2, horizon=20), tmp_path / "choices.csv")
    (code,) = code_blocks(ROOT / "docs" / "effects.md")
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:explorelab", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "group: b against a" in done.stdout


@pytest.mark.quick
def test_the_guides_toml_describes_a_run(tmp_path: Path) -> None:
    from explorelab.simulation import run_file

    (toml,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "guide.md").read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "run.toml"
    file.write_text(toml, encoding="utf-8")
    settings = run_file.read_spec(file)
    assert run_file.build_agent(settings.agent).name == "block-ucl"
    assert run_file.build_task(settings.task).costs is not None
    assert run_file.check_run(settings.run)["times"] == [127, 1023, 16383]
