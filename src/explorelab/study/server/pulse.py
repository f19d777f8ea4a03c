"""Monitors a running server: its database, its clock and how far it lags; and records a sign of life."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from sqlalchemy import Connection, select

from explorelab.study.database.refusals import Refused
from explorelab.study.database.sqlite_file import short_of_disk
from explorelab.study.database.store import Store, keep
from explorelab.study.database.tables import settings
from explorelab.study.database.vitals import Told, notices
from explorelab.study.export.live.request_counts import RequestCounts
from explorelab.study.server.steady_clock import ALIVE, SteadyClock

LOOK_S = 1.0
SIGN_S = 10.0
LAG_S = 0.05
VITALS = "vitals:"


class Pulse:
    """The monitor of one server process."""

    def __init__(self, store: Store, now: Callable[[], float], counts: RequestCounts) -> None:
        self._store, self._now, self._counts = store, now, counts
        self._name, self._stop = VITALS + secrets.token_hex(4), threading.Event()

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Monitor the server for the duration of the block."""
        looking = threading.Thread(target=self._look, name="pulse", daemon=True)
        looking.start()
        tasks = [asyncio.create_task(self._sign()), asyncio.create_task(self._measure())]
        try:
            yield
        finally:
            self._stop.set()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(looking.join)

    def _look(self) -> None:
        while not self._stop.wait(LOOK_S):
            with suppress(Exception):  # reported where it happened; monitoring must go on
                self._store.look()
            if isinstance(self._now, SteadyClock):
                self._store.vitals.clock(time.time() - self._now())

    async def _sign(self) -> None:
        """Record now and then that a server is running, and how it is."""
        while True:
            await asyncio.sleep(SIGN_S)
            with suppress(Exception):
                await self._store.write(self._signed)

    def _signed(self, connection: Connection) -> None:
        now = self._now()
        keep(connection, ALIVE, repr(now))
        self._counts.tell(connection, now)
        told = self._store.vitals.told(now)
        if told["n_put_off"] or told["longest_wait_s"]:
            keep(connection, self._name, json.dumps(told))

    async def _measure(self) -> None:
        """How far the event loop lags: requests waiting there are visible nowhere else."""
        while True:
            began = time.perf_counter()
            await asyncio.sleep(LAG_S)
            late_s = time.perf_counter() - began - LAG_S
            load = self._store.load
            load.lag_s += 0.3 * (late_s - load.lag_s)

    async def notices(self) -> list[str]:
        """What the researcher should know, from all processes of the server."""
        now = self._now()
        try:
            others = await self._store.read(lambda connection: self._others(connection, now))
        except Exception as error:  # then this process has enough to tell
            if not isinstance(error, Refused):
                self._store.vitals.refused(error)
            others = []
        file = self._store.file
        short = await asyncio.to_thread(short_of_disk, file) if file is not None else None
        return [
            *([f"The server is running out of space: {short}."] if short else []),
            *notices(self._store.vitals, others, now),
        ]

    def _others(self, connection: Connection, now: float) -> list[Told]:
        rows = connection.execute(select(settings).where(settings.c.name.startswith(VITALS)))
        return [json.loads(row.value) for row in rows if row.name != self._name]
