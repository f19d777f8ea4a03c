"""Backups at regular times, of which only the newest are kept."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

from explorelab._support.counted import counted
from explorelab.errors import InputError

HOUR_S = 3600.0
AGAIN_S = 300.0
"""After a backup that failed, the next try."""
LEFT_OVER_S = 24 * HOUR_S
"""After so long, an unfinished file belongs to no backup that is still being written."""


def written_by_us(folder: Path, name: str) -> list[Path]:
    """The backups of the study of this name in a folder, the oldest first: other files are never touched."""
    ours = re.compile(rf"{re.escape(name)}-\d{{8}}-\d{{6}}\.(db|dump)")
    return sorted((file for file in folder.iterdir() if ours.fullmatch(file.name)), key=lambda file: file.stem)


def keep_newest(newest: Path, name: str, keep: int) -> int:
    """Delete all but so many backups, never the one just written whatever the clock says; returns how many."""
    others = [file for file in written_by_us(newest.parent, name) if file != newest]
    old = others[: max(0, len(others) - (keep - 1))]
    for file in old:
        file.unlink()
    return len(old)


def clear_unfinished(folder: Path, name: str) -> None:
    """Delete what backups left behind that were killed in the middle."""
    for file in folder.glob(f".{name}-*"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > LEFT_OVER_S:
                file.unlink()


def back_up_every(
    folder: Path, hours: float, say: Callable[[str], object], out: Path | None = None, keep: int | None = None
) -> None:
    """Back up now and then every so many hours, until the process is told to end; what fails is said and tried again."""
    from explorelab.study.operation.backup import backup

    if out is not None and not out.is_dir():
        raise InputError(f"{out}: --every needs a folder for its files, and there is no such folder.")
    # In a container this is the first process, which a signal without a handler does not end.
    signal.signal(signal.SIGTERM, _end)
    wait_s = HOUR_S * hours
    while True:
        began = time.monotonic()
        try:
            say(backup(folder, out, keep))
            pause_s = wait_s
        except InputError as error:
            pause_s = min(AGAIN_S, wait_s)
            say(f"No backup was written: {error} Trying again in {_in_words(pause_s)}.")
        sys.stdout.flush()
        time.sleep(max(0.0, began + pause_s - time.monotonic()))


def _end(_: int, __: FrameType | None) -> None:
    raise SystemExit(0)


def _in_words(seconds: float) -> str:
    return counted(round(seconds / 60), "minute") if seconds >= 90 else counted(round(seconds), "second")
