"""Builds the pages of the study server into the package, unless they are already built from the current sources.

Used by `make page` and by the build of a wheel or a source distribution (hatch_build.py), so it needs only Python.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "page"
STATIC = ROOT / "src" / "explorelab" / "study" / "static"
SOURCES = (
    "plugin", "participant", "researcher", "laboratory", "paths.ts", "openapi.json", "build.mjs", "licences.mjs",
    "tsconfig.json", "package.json", "package-lock.json",
)  # fmt: skip
"""What the built pages depend on, in page/."""
PAGES = (
    "index.html", "study.js", "study.css", "admin.html", "admin.js", "admin.css", "login.html", "laboratory.html",
    "laboratory.js", "laboratory.css", "enter.html", "licences.txt",
)  # fmt: skip


class PageError(Exception):
    """The pages cannot be built; the message says why in one sentence."""


def digest() -> str:
    """A hash of the current sources."""
    files = [each for name in SOURCES for each in (PAGE / name, *(PAGE / name).rglob("*")) if each.is_file()]
    found = hashlib.sha256()
    for file in sorted(files):
        # Git may write line endings as the system does.
        content = file.read_bytes().replace(b"\r\n", b"\n")
        found.update(f"{file.relative_to(PAGE).as_posix()} {hashlib.sha256(content).hexdigest()}\n".encode())
    return found.hexdigest()[:16]


def is_built() -> bool:
    """Whether the pages exist and were built from the current sources."""
    return (STATIC / f".built-{digest()}").is_file() and all((STATIC / name).is_file() for name in PAGES)


def build() -> None:
    """Build the pages; if that is impossible, the error says what is missing."""
    npm = shutil.which("npm")
    if npm is None:
        raise PageError("the study's pages have to be built, and npm was not found: install Node 20 or newer")
    for command in (["ci", "--silent", "--no-audit", "--no-fund"], ["run", "--silent", "build"]):
        # npm's output goes to standard error, because build tools read standard output.
        done = subprocess.run([npm, *command], cwd=PAGE, stdout=sys.stderr, check=False)
        if done.returncode:
            raise PageError(f"the study's pages could not be built: `npm {command[0]}` failed with status {done.returncode}")
    missing = [name for name in PAGES if not (STATIC / name).is_file()]
    if missing:
        raise PageError(f"the study's pages were built without {', '.join(missing)}: is the Node found 20 or newer?")
    for stamp in STATIC.glob(".built-*"):
        stamp.unlink()
    (STATIC / f".built-{digest()}").touch()


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(not is_built())
    try:
        build()
    except PageError as error:
        sys.exit(f"explorelab: {error}.")
