"""One study of the laboratory in this process: its application, which may be replaced, on its open database."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from explorelab.study.admin.entry.entrance import Entrance
from explorelab.study.config.design import Study
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import Store
from explorelab.study.server.application import create_app
from explorelab.study.server.serve import keep_word, opened
from explorelab.study.server.steady_clock import told_clock

PATIENCE_S = 10.0
"""How long requests to the application before may take to end."""
log = logging.getLogger("explorelab.laboratory")


class Running:
    """An application, from its start to its end."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self._under_way = 0
        self._ready, self._over = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def started(self) -> None:
        """Wait until it can answer; raises if it cannot start."""
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.is_set():
            ready.cancel()
            await self._task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        self._under_way += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._under_way -= 1

    async def stop(self) -> None:
        """End it, once it has answered what it was asked."""
        until = asyncio.get_running_loop().time() + PATIENCE_S
        while self._under_way and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.02)
        self._over.set()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        # What is entered in a task must be left in the same.
        async with self.app.router.lifespan_context(self.app):
            self._ready.set()
            await self._over.wait()


class HostedStudy:
    """A study that is served: what it is, its database, and the application that answers."""

    def __init__(self, folder: Path, entrance: Entrance, own: str) -> None:
        self._folder, self._entrance, self._own = folder, entrance, own
        self.study: Study | None = None
        self.store: Store | None = None
        self.running: Running | None = None
        self.generation = 0
        self.problem = ""
        """Why it cannot be served, or not as its files now are."""

    async def follow(self, generation: int) -> None:
        """Serve the files as they are now. If that cannot be, whatever was served before goes on."""
        self.generation = generation
        try:
            study = await asyncio.to_thread(self._read)
        except Exception as error:
            self.problem = str(error)
            log.error("The study in %s cannot be served: %s", self._folder, error)
            return
        assert self.store is not None
        app = create_app(study, self.store, entrance=self._entrance, public_origin=self._own, closes_store=False)
        fresh, before = Running(app), self.running
        await fresh.started()
        self.study, self.running, self.problem = study, fresh, ""
        if before is not None:
            await before.stop()

    def _read(self) -> Study:
        """The study, whose database is open and keeps the word that was given to people in it."""
        study = load_study(self._folder)
        if self.store is not None:
            keep_word(self.store, study, _now)
            return study
        store = opened(study, self._folder)
        try:
            store.claim()
        except BaseException:
            store.close()
            raise
        self.store = store
        return study

    async def close(self) -> None:
        """Stop serving it, and let go of its database."""
        running, store = self.running, self.store
        self.running = self.store = self.study = None
        if running is not None:
            await running.stop()
        if store is not None:
            await asyncio.to_thread(store.close)


def _now(_: object) -> float:
    return told_clock()()


type EntranceOf = Callable[[int], Entrance]
"""The entrance of the study with this number."""
