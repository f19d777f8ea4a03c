"""Progress on a terminal: bars for long work, and lines for the steps of longer work."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PATIENCE_S = 2.0
"""Shorter work shows no progress."""


class Progress:
    """A progress bar on standard error that appears once the work has lasted two seconds."""

    _task: TaskID  # from the moment that there is a bar

    def __init__(self, label: str, total: int, shown: bool | None = None) -> None:
        self._label, self._total, self.done = label, total, 0
        self._shown = _is_shown(shown)
        self._bar: RichProgress | None = None
        self._began = time.monotonic()
        self._lock, self._is_over = threading.RLock(), False
        self._timer = threading.Timer(PATIENCE_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        # The first piece of work may take long, when programs are compiled for it: the bar does not wait for its end.
        if self._shown:
            self._timer.start()
        return self

    def advance(self, by: int = 1) -> None:
        """Count this much of the work as done."""
        self.done += by
        self._show()

    def name(self, label: str) -> None:
        """Show what is being done now."""
        self._label = label
        self._show()

    def _show(self) -> None:
        with self._lock:
            if self._is_over or not self._shown:
                return
            if self._bar is None and time.monotonic() - self._began >= PATIENCE_S:
                self._bar = self._start()
            if self._bar is not None:
                self._bar.update(self._task, completed=self.done, description=self._label)

    def _start(self) -> RichProgress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        bar.start()
        self._task = bar.add_task(self._label, total=self._total)
        return bar

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()


def steps(total: int, shown: bool | None = None) -> Callable[[str], None]:
    """A function that announces each of `total` steps on a line of standard error."""
    if not _is_shown(shown):
        return lambda name: None
    begun = 0

    def step(name: str) -> None:
        nonlocal begun
        begun += 1
        print(f"[{begun}/{total}] {name}", file=sys.stderr, flush=True)

    return step


def _is_shown(shown: bool | None) -> bool:
    """Whether to show progress: as requested, or by default only on a terminal."""
    return sys.stderr.isatty() if shown is None else shown
