"""The single thread that writes to SQLite. Waiting requests share a transaction and its commit, but never a long one.

People who are answered together ask together the next time, so unbounded groups would draw everyone into one group in which
all wait for all. A bound breaks such a crowd up again.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError

from explorelab.study.database.vitals import Vitals
from explorelab.study.database.waiting import Load
from explorelab.study.database.watch import FileWatch

GROUP_S, GROUP_MOST_S, COMMITS = 0.020, 0.100, 3.0
"""The most work in one transaction: more on a disk with slow commits, so that they stay a small part of the whole."""

type Work[T] = Callable[[Connection], T]
type Item = tuple[Work[Any], Future[Any]]
type Outcome = tuple[Any, BaseException | None]
"""What a work gave, which may be anything, or why it failed."""


class GroupWriter:
    """The thread, and what waits for it."""

    def __init__(self, engine: Engine, watch: FileWatch, vitals: Vitals) -> None:
        self._engine, self._watch, self._vitals = engine, watch, vitals
        self.load = Load(vitals, together_s=GROUP_S)
        self._closed, self._checkpoint = False, False
        self._waiting: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit[T](self, work: Work[T]) -> Future[T]:
        """Queue the work; returns a future for its result."""
        if self._closed:
            raise RuntimeError("the database has been closed")
        self.load.enter()
        future: Future[T] = Future()
        self._waiting.put((work, future))
        return future

    def checkpoint_soon(self) -> None:
        """Between two groups, move the rest of the log into the file, so that the log can start afresh."""
        self._checkpoint = True

    def close(self) -> None:
        """Write whatever is waiting, then stop."""
        self._closed = True
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            if not self._write(first):
                return
            if self._checkpoint:
                self._checkpoint = False
                self._watch.checkpoint()

    def _write(self, first: Item) -> bool:
        """Write a group; returns whether others may follow."""
        group: list[Future[Any]] = []
        outcomes: list[Outcome] = []
        taken, following, started = 1, True, False
        limit_s = min(max(GROUP_S, COMMITS * self.load.commit_s), GROUP_MOST_S)
        self.load.begins()
        began = worked = time.perf_counter()
        try:
            self._watch.check()
            with self._engine.connect().execution_options(immediate=True) as connection, connection.begin():
                self._watch.check_inside(connection)
                item: Item | None = first
                started = True
                while item is not None:
                    work, future = item
                    # Cancelled requests are skipped, and the others can no longer be cancelled.
                    if future.set_running_or_notify_cancel():
                        group.append(future)
                        outcomes.append(self._one(connection, work))
                    worked = time.perf_counter()
                    if worked - began >= limit_s or self._waiting.empty():
                        break
                    item = self._waiting.get()
                    taken, following = taken + (item is not None), item is not None
                self._watch.mark(connection)
            self._watch.committed()
            self._tell(outcomes)
        except Exception as error:  # the commit failed, or went to a file that is gone: nobody's work is on disk
            self._vitals.failed(error)
            if not started and first[1].set_running_or_notify_cancel():
                group.append(first[1])
            outcomes = [(None, error)] * len(group)
        self.load.served(taken, worked - began, time.perf_counter() - worked)
        for future, (result, failure) in zip(group, outcomes, strict=True):
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)
        return following

    def _tell(self, outcomes: list[Outcome]) -> None:
        """Note whether the database works; a refusal is not a failure of the database."""
        faults = [
            failure for _, failure in outcomes if isinstance(failure, DBAPIError) and not isinstance(failure, DataError)
        ]
        if faults:
            self._vitals.failed(faults[-1])
        else:
            self._vitals.stored()

    def _one(self, connection: Connection, work: Work[Any]) -> Outcome:
        try:
            with connection.begin_nested():
                return work(connection), None
        except Exception as error:
            if not connection.connection.dbapi_connection.in_transaction:  # type: ignore[union-attr]
                # SQLite has rolled everything back (the disk is full, say): all earlier work of this group is gone too.
                raise
            return None, error
