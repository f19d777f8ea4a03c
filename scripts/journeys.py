"""Counts the files on three journeys through the package: all three, or the one named (simulate, fit or click).

Each journey is made with a small example in its own process, and notes every file of the package in which a function runs,
other than while modules are imported. docs/architecture.md lists the files to open, with both numbers; it is an error if
these are wrong, or if a file does not exist or, if it is Python, does not run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "explorelab"
PAGE = ROOT / "docs" / "architecture.md"

type Journey = Callable[[Path, set[str]], None]
"""A function that makes the journey in an empty folder and notes the files that run."""


def simulate(folder: Path, ran: set[str]) -> None:
    """From the command to the xarray Dataset."""
    with noting(ran):
        explorelab("simulate", "--means", "0,0.5,1", "-T", "100", "--replicates", "20", "--json")


def fit(folder: Path, ran: set[str]) -> None:
    """From a CSV to the DataTree."""
    # In its own process: what JAX has traced once would not run again here.
    people = f"import explorelab.recovery.demo_people as demo; demo.write_population({str(folder)!r}, n=3)"
    subprocess.run([sys.executable, "-c", people], check=True)
    with noting(ran):
        explorelab("fit", str(folder / "choices.csv"), "--starts", "2", "--out", str(folder / "fit.nc"), "--json")


def click(folder: Path, ran: set[str]) -> None:
    """From a click, as the page reports it, through server and database to the export and its check."""
    sys.path.insert(0, str(ROOT))
    from explorelab.study.config.study_folder import load_study
    from tests.support.study.lab import Lab, Tab
    from tests.support.study.server import write_study

    study, data = folder / "study", folder / "data"
    write_study(study, "sqlite:///study.db", n_trials=3)
    # People get a condition at random, but the journey must be the same every time.
    settings = (study / "study.toml").read_text(encoding="utf-8")
    one_dynamic = settings.replace('dynamics = ["standard", "neighbour", "travel"]', 'dynamics = ["standard"]')
    (study / "study.toml").write_text(one_dynamic, encoding="utf-8")
    lab = Lab(load_study(study), study)
    with lab.client:
        tab = Tab(lab)
        tab.consent()
        while tab.state["stage"] != "debriefing":
            tab.go("begin", block=tab.state["block"]["number"])
            for trial in range(tab.state["block"]["n_trials"]):
                with noting(ran):
                    answer = tab.choose(trial, square=tab.state["block"]["position"])
            tab.state = answer.json()["state"]
        tab.go("finish")
    with noting(ran):
        explorelab("study", "export", str(study), "--out", str(data), "--doubted", "with")
        explorelab("check", str(data / "choices.csv"))


JOURNEYS: dict[str, Journey] = {"simulate": simulate, "fit": fit, "click": click}


def explorelab(*words: str) -> None:
    """Run a command as the shell does, discarding its output."""
    from explorelab.cli.app import main

    with patch.object(sys, "argv", ["explorelab", *words]), redirect_stdout(StringIO()), suppress(SystemExit):
        main()


@contextmanager
def noting(ran: set[str]) -> Iterator[None]:
    """Note the files of the package in which a function runs until the block ends, in any thread."""
    watch, tool, inside = sys.monitoring, sys.monitoring.PROFILER_ID, str(PACKAGE)

    def started(code: CodeType, _: int) -> Any:
        if not code.co_filename.startswith(inside) or code.co_name == "<module>":
            return watch.DISABLE
        if _while_importing(inside):
            return None
        ran.add(str(Path(code.co_filename).relative_to(ROOT)))
        return watch.DISABLE

    watch.use_tool_id(tool, "journeys")
    watch.register_callback(tool, watch.events.PY_START, started)
    watch.set_events(tool, watch.events.PY_START)
    watch.restart_events()
    try:
        yield
    finally:
        watch.set_events(tool, watch.events.NO_EVENTS)
        watch.free_tool_id(tool)


def _while_importing(inside: str) -> bool:
    """Whether a module of the package is being imported: what its decorators and tables call is not part of a journey."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(inside):
            return True
        frame = frame.f_back
    return False


class Listed(NamedTuple):
    """What docs/architecture.md says about a journey."""

    files: list[str]
    n_listed: int
    n_run: int


def listed(name: str) -> Listed:
    """The files at the head of each item in the journey's list, and the numbers above it."""
    rest = PAGE.read_text(encoding="utf-8").partition(f"<!-- journey: {name} -->")[2]
    section = rest.partition("<!-- end -->")[0]
    files = re.findall(r"^\d+\. `([^`]+)`", section, re.MULTILINE)
    numbers = re.search(r"^(\d+) files listed.* functions run in (\d+)\.", section, re.MULTILINE)
    n_listed, n_run = map(int, numbers.groups()) if numbers else (0, 0)
    return Listed([file if file.startswith("page/") else f"src/explorelab/{file}" for file in files], n_listed, n_run)


def made(name: str) -> list[str]:
    """What docs/architecture.md gets wrong about a journey; prints its files, the listed ones with a star."""
    ran: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        JOURNEYS[name](Path(folder), ran)
    told = listed(name)
    print(f"{name}: {len(told.files)} files listed (*), functions run in {len(ran)} Python files")
    for file in [*(each for each in told.files if each.startswith("page/")), *sorted(ran)]:
        print(f"  {'*' if file in told.files else ' '} {file}")
    problems = [f"{file} does not exist" for file in told.files if not (ROOT / file).is_file()]
    problems += [f"{file} does not run" for file in told.files if file.endswith(".py") and file not in ran]
    if (told.n_listed, told.n_run) != (len(told.files), len(ran)):
        problems.append(f"expected {len(told.files)} files listed and functions in {len(ran)}, got {told[1:]}")
    return problems


def run_all() -> int:
    """Make every journey, each in its own process, so that none finds what another has compiled or cached."""
    return max(subprocess.run([sys.executable, __file__, name]).returncode for name in JOURNEYS)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(run_all())
    sys.exit("\n".join(f"docs/architecture.md, {sys.argv[1]}: {problem}." for problem in made(sys.argv[1])) or 0)
