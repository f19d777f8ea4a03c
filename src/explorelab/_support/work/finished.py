"""A folder of finished units of work: each a file that is written whole, found again by what it is the result of.

A file begins with the SHA-256 of the rest. One that is damaged, or of other arguments or another version (its name is their
digest), is computed again; a folder of another run is refused, so that no run removes what another has finished.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

from explorelab._support.files import cannot_be_written, check_folder_of, write_bytes
from explorelab._support.work.payload import packed
from explorelab.errors import InputError

LABEL = "run.json"
"""The file that says what the others are parts of."""
ENDING = ".part"
CHECK_BYTES = 32
NOTHING = object()
"""What `get` answers for a unit that is not there; None may be a result."""


class Finished:
    """The finished units of one run."""

    def __init__(self, folder: Path, run: str) -> None:
        self.folder, self.run = folder, run
        _check(folder, run)

    def get(self, key: str) -> Any:
        """The result with this digest; `NOTHING` if there is none, or its file is damaged."""
        try:
            content = (self.folder / f"{key}{ENDING}").read_bytes()
        except OSError:
            return NOTHING
        check, rest = content[:CHECK_BYTES], content[CHECK_BYTES:]
        if hashlib.sha256(rest).digest() != check:
            return NOTHING
        return pickle.loads(rest)

    def put(self, key: str, result: object) -> None:
        """Keep a result."""
        content = packed(result)
        try:
            if not (self.folder / LABEL).is_file():
                self.folder.mkdir(exist_ok=True)
                write_bytes(self.folder / LABEL, json.dumps({"made_by": "explorelab", "run": self.run}).encode())
            write_bytes(self.folder / f"{key}{ENDING}", hashlib.sha256(content).digest() + content)
        except OSError as error:
            raise cannot_be_written(self.folder, error) from None


def _check(folder: Path, run: str) -> None:
    check_folder_of(folder)
    found = run_in(folder)
    if found is None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: expected a folder of finished parts of a run, got something else: name another folder.")
    if found is not None and found != run:
        raise InputError(
            f"{folder} holds parts of another run (other data, arguments or version): name another folder, or delete it."
        )


def run_in(folder: Path) -> str | None:
    """The digest of the run whose parts are in the folder; None if it is no such folder."""
    try:
        told = json.loads((folder / LABEL).read_bytes())
    except (OSError, ValueError):
        return None
    return str(told["run"]) if isinstance(told, dict) and told.get("made_by") == "explorelab" and "run" in told else None


def remove(folder: Path) -> None:
    """Remove the folder of a run, and nothing that is not one."""
    if run_in(folder) is not None and not os.path.islink(folder):
        shutil.rmtree(folder, ignore_errors=True)
