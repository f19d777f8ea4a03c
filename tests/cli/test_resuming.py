"""Commands that take long: killed midway, they go on with --resume to the same bytes; on Ctrl-C everybody stops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import explorelab as xl
from explorelab.cli.app import app
from tests.support.command_line import explorelab, in_turn, killed
from tests.support.people import population

AGENT = "win-stay-lose-shift"
STARTS = ("--starts", 2)
COMMANDS: dict[str, tuple[object, ...]] = {
    "fit": ("fit", "people.csv", "--agent", AGENT, "--method", "em", *STARTS, "--out", "fit.nc", "--csv", "fit.csv"),
    "compare": ("compare", "people.csv", "--agents", f"random-choice,{AGENT}", *STARTS, "--out", "compared.nc"),
    "recover": ("recover", "--data", "people.csv", "--agent", AGENT, "--n", 5, *STARTS, "--out", "recovered.nc"),
    "plan": (
        "plan", "--means", "0,1", "-T", 8, "--agent", AGENT, "--effect", "win_stay", "--people", "6,8", "--n", 8,
        "--no-false-alarms", "--starts", 2, "--out", "plan.nc", "--figure", "plan.svg",
    ),
    "forecast": (
        "forecast", "people.csv", "--agent", AGENT, "--folds", 2, "--points", 8, "--csv", "nats.csv", "--figure", "nats.svg",
    ),
    "report": ("report", "people.csv", "--agents", f"random-choice,{AGENT}", "--quick", *STARTS, "--out", "report.html"),
}  # fmt: skip
"""Examples of every command with --resume, by its name."""
pytestmark = pytest.mark.quick_programs


def folder_with_people(folder: Path) -> Path:
    people = population(xl.agents.win_stay_lose_shift(), n=5, horizon=8, blocks=2, task=xl.tasks.bandit([0.0, 1.0]))
    folder.mkdir(exist_ok=True)
    xl.write_choices(people, folder / "people.csv")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """The files of every command that was never stopped."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    for name in COMMANDS:
        folder_with_people(folder / name)
    done = {name: explorelab(*COMMANDS[name], cwd=folder / name) for name in COMMANDS}
    assert [each.stderr for each in done.values() if each.returncode] == []
    return {name: files(folder / name) for name in COMMANDS}


def test_every_command_that_goes_on_has_an_example() -> None:
    from typer.main import get_command

    commands = get_command(app).commands.items()  # type: ignore[attr-defined]
    assert {name for name, each in commands if any("--resume" in option.opts for option in each.params)} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_and_gone_on_with_it_leaves_the_same_bytes(name: str, uninterrupted: object, tmp_path: Path) -> None:
    folder = folder_with_people(tmp_path / name)
    killed(4, *COMMANDS[name], cwd=folder)
    [parts] = folder.glob("*.parts")
    assert len(list(parts.glob("*.part"))) == 4
    done = explorelab(*COMMANDS[name], "--resume", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert files(folder) == uninterrupted[name]  # type: ignore[index]
    assert not parts.exists()


def test_without_resume_it_begins_anew_and_another_run_is_refused(tmp_path: Path) -> None:
    folder = folder_with_people(tmp_path)
    killed(2, *COMMANDS["fit"], cwd=folder)
    other = explorelab(*COMMANDS["fit"], "--seed", 1, "--resume", cwd=folder)
    assert other.returncode == 2
    assert "fit.nc.parts holds parts of another run" in other.stderr
    assert (folder / "fit.nc.parts").is_dir()
    anew = explorelab(*COMMANDS["fit"], "--seed", 1, cwd=folder)
    assert anew.returncode == 0
    assert not (folder / "fit.nc.parts").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--workers", -1), "--workers must be 0 or more, got -1."),
        (("--workers", 2, "--dask", "tcp://x:1"), "give only one of them"),
        (("--dask", "nowhere"), "--dask: no scheduler answers at nowhere"),
        (("--resume", "--parts", "missing/parts"), "there is no folder missing"),
    ],
)
def test_bad_options_are_said_in_a_sentence(options: tuple[object, ...], said: str, tmp_path: Path) -> None:
    done = explorelab(*COMMANDS["fit"], *options, cwd=folder_with_people(tmp_path))
    assert done.returncode == 2
    assert said in done.stderr.replace("\n", " ")
    assert done.stderr.count("\n") <= 2


HEARD = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from explorelab.cli.app import main; main()"
)


def test_ctrl_c_stops_the_processes_too_and_says_how_to_go_on(uninterrupted: object, tmp_path: Path) -> None:
    folder = folder_with_people(tmp_path)
    command = [*map(str, COMMANDS["fit"]), "--workers", "2"]
    # A group of its own, which Ctrl-C at a terminal reaches as a whole.
    process = subprocess.Popen(
        [sys.executable, "-c", HEARD, *command], cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        while not list(folder.glob("fit.nc.parts/*.part")) and process.poll() is None:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 130
    assert said == (
        "explorelab: interrupted; finished parts are in fit.nc.parts: the same command with --resume continues from there.\n"
    )
    # The workers end by themselves, a moment later where the cores are busy.
    deadline = time.monotonic() + 30
    while left := [each for each in Path("/proc").glob("[0-9]*") if _session(each) == process.pid]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    assert explorelab(*command, "--resume", cwd=folder).returncode == 0
    assert np.array_equal(files(folder)["fit.csv"], uninterrupted["fit"]["fit.csv"])  # type: ignore[index]


def _session(process: Path) -> int | None:
    try:
        state, _, _, session, *_ = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state == "Z" else int(session)


def test_a_simulation_is_the_same_on_two_processes(tmp_path: Path) -> None:
    run = ("simulate", "--means", "0,1", "-T", 20, "-n", 400, "--csv")
    done = in_turn([(*run, "here.csv"), (*run, "there.csv", "--workers", 2)], cwd=tmp_path)
    assert [each.returncode for each in done] == [0, 0]
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()
