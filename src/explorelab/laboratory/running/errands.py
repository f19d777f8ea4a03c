"""Errands: commands run for a study in processes of their own, whose state and words are files that all processes read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from explorelab.errors import InputError
from explorelab.study.database.refusals import Refused

type Kind = Literal["pilot", "report", "backup"]
type Commands = Sequence[Sequence[str]]

KEPT = 12
"""Errands of a study that are remembered."""
LESS = 10
"""How much their priority is lowered."""
REPORT = "report.html"
STATE, WORDS, DATA = "state.json", "words.txt", "data"


class Errand(NamedTuple):
    """A run of commands, under way or over."""

    number: int
    kind: str
    by: str
    at: float
    state: Literal["running", "done", "failed"]
    words: str
    """The last lines that it printed."""
    has_report: bool


def start(folder: Path, kind: Kind, by: str, commands: Commands, now: float) -> int:
    """Begin an errand in this folder of a study's errands, and return at once; its number."""
    if any(each.state == "running" and each.kind == kind for each in errands(folder)):
        raise _busy(kind)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    number = max(_numbers(folder), default=0) + 1
    place = folder / str(number)
    try:
        place.mkdir(mode=0o700)
    except FileExistsError:  # another process was asked at the same moment
        raise _busy(kind) from None
    pid = os.getpid()
    about: dict[str, str | float] = {
        "kind": kind, "by": by, "at": now, "pid": pid, "since": _since(pid), "state": "running",
    }  # fmt: skip
    _tell(place, about)
    threading.Thread(target=_run, args=(place, about, commands), name=f"errand-{kind}", daemon=True).start()
    for old in errands(folder)[KEPT:]:
        shutil.rmtree(folder / str(old.number), ignore_errors=True)
    return number


def errands(folder: Path) -> list[Errand]:
    """All errands that are remembered, the latest first."""
    return [found for number in sorted(_numbers(folder), reverse=True) if (found := _read(folder / str(number))) is not None]


def report_of(folder: Path, number: int) -> Path:
    """The report that an errand wrote."""
    file = folder / str(number) / REPORT
    if not file.is_file():
        raise Refused(404, "unknown", "There is no such report.")
    return file


def commands_for(kind: Kind, study: Path, place: str, url: str, people: int) -> Commands:
    """What the command line would do; `{place}` is the errand's own folder."""
    if kind == "pilot":
        return [["study", "pilot", str(study), "--url", url, "--people", str(people), "--seed", str(int(time.time()))]]
    if kind == "backup":
        return [["study", "backup", str(study)]]
    return [
        ["study", "export", str(study), "--out", f"{place}/{DATA}"],
        ["report", f"{place}/{DATA}/choices.csv", "--out", f"{place}/{REPORT}"],
    ]


def _run(place: Path, about: dict[str, str | float], commands: Commands) -> None:
    """Run the commands one after the other, as long as each succeeds."""
    state = "done"
    try:
        with (place / WORDS).open("ab") as words:
            for command in commands:
                filled = [part.replace("{place}", str(place)) for part in command]
                whole = [sys.executable, "-m", "explorelab", *filled]
                quiet = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
                process = subprocess.Popen(
                    whole, stdout=words, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=quiet
                )
                if hasattr(os, "setpriority"):
                    os.setpriority(os.PRIO_PROCESS, process.pid, LESS)
                if process.wait():
                    state = "failed"
                    break
    except (OSError, InputError) as error:
        state = "failed"
        (place / WORDS).write_text(f"{error}\n", encoding="utf-8")
    shutil.rmtree(place / DATA, ignore_errors=True)
    _tell(place, {**about, "state": state})


def _tell(place: Path, about: dict[str, str | float]) -> None:
    fresh = place / f"{STATE}.new"
    fresh.write_text(json.dumps(about), encoding="utf-8")
    fresh.replace(place / STATE)


def _read(place: Path) -> Errand | None:
    try:
        about = json.loads((place / STATE).read_text(encoding="utf-8"))
        words = (place / WORDS).read_bytes()[-4000:].decode("utf-8", "replace") if (place / WORDS).exists() else ""
    except (OSError, ValueError):
        return None
    state = about["state"]
    if state == "running" and not _is_alive(int(about["pid"]), about.get("since", "")):
        shutil.rmtree(place / DATA, ignore_errors=True)  # people's data, which nobody else would take away
        state, words = "failed", f"{words}\nThe server was stopped meanwhile."
    # A progress bar writes over its own line: only its last state is told.
    lines = [line.rsplit("\r", 1)[-1].strip() for line in words.replace("\r\n", "\n").splitlines()]
    told = "\n".join([line for line in lines if line][-12:])
    return Errand(int(place.name), about["kind"], about["by"], about["at"], state, told, (place / REPORT).is_file())


def _numbers(folder: Path) -> list[int]:
    """The numbers that are taken."""
    return [int(each.name) for each in folder.glob("*") if each.name.isdecimal()]


def _busy(kind: Kind) -> Refused:
    return Refused(409, "busy", f"A {kind} is running already: wait until it is done.")


def _is_alive(pid: int, since: str) -> bool:
    """Whether this process is there: another one with its number, as containers give it again, is not the same."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return since in ("", _since(pid))


def _since(pid: int) -> str:
    """When a process began, in the system's own words; empty where it does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
