"""Environments for the libraries that explorelab is measured against: `.venv-bench-<name>/`, made once and kept.

A library that cannot be installed here does not fail the benchmark: the reason is shown in its place.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALL_LIMIT_S = 600


@dataclass(frozen=True)
class Environment:
    """What to install, and for which Python."""

    name: str
    requirements: tuple[str, ...]
    python: str = "3.12"

    @property
    def folder(self) -> Path:
        return ROOT / f".venv-bench-{self.name}"

    @property
    def interpreter(self) -> Path:
        return self.folder / "bin" / "python"


ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment("pymab", ("pymab==2.0.1",)),
        Environment("river", ("river==0.26.*", "gymnasium")),
        # Imports scipy functions that scipy 1.12 removed; the last scipy that has them does not support Python 3.12.
        Environment("smpybandits", ("SMPyBandits==0.9.7", "scipy<1.12", "numpy<2"), python="3.11"),
        Environment("mabby", ("mabby==0.1.2",)),
        Environment("mabwiser", ("mabwiser==2.7.4",)),
        Environment("bayesianbandits", ("bayesianbandits==1.5.0",)),
        Environment("sklearn", ("scikit-learn",)),
        # A CPU-only build of torch; others bring several GB of CUDA with them.
        Environment("botorch", ("torch==2.13.0", "botorch"), python="3.11"),
        Environment("jax-lowest", ("jax==0.11.2",)),
        # Known to deadlock: shows that the check can fail.
        Environment("jax-older", ("jax==0.10.2",), python="3.11"),
    )
}


def make(environment: Environment) -> str:
    """Make the environment; returns why that failed, or an empty text."""
    mark = environment.folder / "complete"
    wanted = hashlib.sha256(repr(environment).encode()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        return ""
    python = find_python(environment.python)
    if python is None:
        return f"needs Python {environment.python}, which is not installed here"
    shutil.rmtree(environment.folder, ignore_errors=True)
    install = [str(environment.interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([python, "-m", "venv", str(environment.folder)], [*install, *environment.requirements]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return f"was not installed within {INSTALL_LIMIT_S} s"
        if done.returncode:
            return _reason(done.stderr)
    mark.write_text(wanted)
    return ""


def find_python(version: str) -> str | None:
    """An interpreter of this version: the one running, one on the path, or one of pyenv's."""
    if sys.version.startswith(f"{version}."):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [str(p) for p in sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))]
    on_path = shutil.which(f"python{version}")
    for candidate in [*candidates, *([on_path] if on_path else [])]:
        said = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
        if said.returncode == 0 and f" {version}." in said.stdout:
            return candidate
    return None


def _reason(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")] or lines or ["no reason given"]
    return errors[0].removeprefix("ERROR: ")[:200]


if __name__ == "__main__":
    for each in ENVIRONMENTS.values():
        print(each.name, make(each) or "ready", flush=True)
