"""The Dockerfile without Docker: what it copies is there and sent, and its own commands make a server that answers."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from explorelab.study.config.start_study import init_study
from tests.support.study.postgres import free_port

ROOT = Path(__file__).parents[2]
OF_A_CONTAINER = ("apt-get", "useradd", "install -d")
"""How commands begin that change the whole system: Debian's packages, a user, and folders that belong to that user."""
ABSOLUTE = re.compile(r"(?<![\w.])/(?=(?:build|opt|study|backups|cache)\b)")


class Line(NamedTuple):
    """One instruction."""

    stage: str
    word: str
    rest: str


def dockerfile() -> list[Line]:
    """The instructions, with the stage that each is in."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines, stage = [], ""
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word and not word.startswith("#"):
            if word == "FROM":
                stage = rest.partition(" AS ")[2] or "last"
            lines.append(Line(stage, word, rest))
    return lines


def is_sent(name: str) -> bool:
    """Whether a file of the checkout is sent to Docker: the last rule that fits decides."""
    sent = True
    for rule in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if rule and not rule.startswith("#"):
            pattern = rule.removeprefix("!").replace("**/", "*")
            if fnmatch.fnmatch(name, pattern) or name.startswith(f"{pattern}/"):
                sent = rule.startswith("!")
    return sent


def copied(line: Line) -> tuple[str, list[str], str]:
    """From which stage something is copied (none: the checkout), what, and where."""
    words = line.rest.split()
    source = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else ""
    return source, words[:-1], words[-1]


@pytest.mark.quick
def test_what_is_copied_is_in_the_checkout_and_sent() -> None:
    names = [name for line in dockerfile() if line.word == "COPY" for name in copied(line)[1] if not copied(line)[0]]
    assert len(names) > 5
    assert [name for name in names if not (ROOT / name).exists() or not is_sent(name)] == []
    needed = ("src/explorelab/__init__.py", "src/explorelab/study/operation/templates/compose.yaml", "page/build.mjs")
    assert [name for name in needed if not is_sent(name)] == []


@pytest.mark.quick
@pytest.mark.parametrize(
    "name",
    ["my-study/study.db", "src/study.db", "src/study.db-wal", ".git/config", ".venv/bin/python", "page/node_modules/x"],
)
def test_nothing_that_lies_about_is_sent(name: str) -> None:
    assert not is_sent(name)


@pytest.mark.quick
def test_a_stage_copies_only_from_stages_before_it() -> None:
    known: list[str] = []
    for line in dockerfile():
        if line.word == "FROM":
            known.append(line.stage)
        elif line.word == "COPY" and (source := copied(line)[0]):
            assert source in known[:-1]


@pytest.mark.slow
def test_the_commands_make_a_server_that_answers(tmp_path: Path) -> None:
    """Each stage in a folder of its own, to which all absolute paths are moved; what only a container can do is left out."""
    where = {line.stage: tmp_path / line.stage for line in dockerfile()}
    here = dict(where)
    left_out = []
    for line in dockerfile():
        folder = here[line.stage]
        if line.word == "WORKDIR":
            here[line.stage] = moved(line.rest, where[line.stage])
            here[line.stage].mkdir(parents=True, exist_ok=True)
        elif line.word == "COPY":
            copy(line, where, folder)
        elif line.word == "RUN" and line.rest.startswith(OF_A_CONTAINER):
            left_out.append(line.rest.split()[0])
        elif line.word == "RUN":
            run(ABSOLUTE.sub(f"{where[line.stage]}/", line.rest), folder)
    assert left_out == ["apt-get", "useradd", "install"]
    init_study(where["last"] / "study")
    by = {line.word: line.rest for line in dockerfile() if line.stage == "last"}
    port = free_port()
    command = [*json.loads(by["ENTRYPOINT"]), *json.loads(by["CMD"]), f"--port={port}", "--allow-unfinished"]
    words = [str(moved(word, where["last"])) if word.startswith("/") else word for word in command]
    words[0] = str(where["last"] / "opt/explorelab/bin/explorelab")
    check = json.loads(by["HEALTHCHECK"].partition("CMD ")[2])
    check = [sys.executable, *(word.replace("8000", str(port)) for word in check[1:])]
    env = {**os.environ, "EXPLORELAB_ADMIN_PASSWORD": "a long password", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with subprocess.Popen(words, env=env) as server:
        answered = any(subprocess.run(check, check=False, capture_output=True).returncode == 0 for _ in range(60))
        server.terminate()
        assert server.wait(30) in (0, -15)
    assert answered


def moved(path: str, folder: Path) -> Path:
    """An absolute path, below a stage's own folder."""
    return folder / path.lstrip("/")


def copy(line: Line, where: dict[str, Path], folder: Path) -> None:
    """Do what COPY does."""
    source, names, target = copied(line)
    end = moved(target, where[line.stage]) if target.startswith("/") else folder / target
    for name in names:
        found = moved(name, where[source]) if source else ROOT / name
        if found.is_dir():
            ignored = shutil.ignore_patterns("node_modules", "static", "__pycache__", "dist") if not source else None
            shutil.copytree(found, end, dirs_exist_ok=True, symlinks=True, ignore=ignored)
        else:
            shutil.copy(found, end)


def run(command: str, folder: Path) -> None:
    """Do what RUN does."""
    for name in ("python ", "python3 "):
        if command.startswith(name):
            command = f"{shlex.quote(sys.executable)} {command[len(name) :]}"
    done = subprocess.run(["sh", "-e", "-c", command], cwd=folder, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
