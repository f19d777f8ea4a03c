"""All studies that this process serves: opened, read again and closed as the laboratory's list says."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import Receive, Scope, Send

from explorelab.laboratory.database.lab_database import LabDatabase
from explorelab.laboratory.hosting.hosted_study import EntranceOf, HostedStudy
from explorelab.laboratory.hosting.laboratory_folder import LaboratoryFolder
from explorelab.laboratory.hosting.out_of_reach import out_of_reach
from explorelab.laboratory.hosting.study_list import all_registered
from explorelab.study.server.public_address import to_folder

LOOK_S = 1.0
"""How often a process looks whether another has changed the list."""
AGAIN_S = 30.0
"""When to try again with a study that could not be opened."""
STUDY = "/s/"
"""Where the addresses of studies begin."""
log = logging.getLogger("explorelab.laboratory")


class HostedStudies:
    """The studies, by name."""

    def __init__(self, folder: LaboratoryFolder, database: LabDatabase, entrance_of: EntranceOf, own: str) -> None:
        self._folder, self._database, self._entrance_of, self._own = folder, database, entrance_of, own
        self._hosted: dict[str, HostedStudy] = {}
        self._lock = asyncio.Lock()
        self._tried_at = 0.0

    def get(self, name: str) -> HostedStudy | None:
        """The study of this name, if it is served here."""
        return self._hosted.get(name)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Serve them, and follow the list, for the duration of the block."""
        await self.refresh()
        following = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            await asyncio.gather(*(each.close() for each in self._hosted.values()), return_exceptions=True)
            self._hosted.clear()

    async def refresh(self) -> None:
        """Serve exactly the studies of the list that are not archived, as their files now are."""
        async with self._lock:
            wanted = {each.name: each for each in await self._database.read(all_registered) if each.archived_at is None}
            for name in [name for name in self._hosted if name not in wanted]:
                await self._hosted.pop(name).close()
            again = time.monotonic() > self._tried_at + AGAIN_S
            self._tried_at = time.monotonic() if again else self._tried_at
            for name, listed in wanted.items():
                hosted = self._hosted.get(name)
                if hosted is None:
                    hosted = HostedStudy(self._folder.of(name), self._entrance_of(listed.id), self._own)
                    self._hosted[name] = hosted
                if hosted.generation != listed.generation or (again and hosted.running is None):
                    await hosted.follow(listed.generation)

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await self.refresh()
            except Exception as error:  # the studies that are open must go on
                log.error("The list of studies cannot be read: %s", type(error).__name__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a study: what follows its name is the address that the study itself knows."""
        name, slash, rest = scope["path"][len(STUDY) :].partition("/")
        hosted = self._hosted.get(name)
        if hosted is None or hosted.running is None:
            status = (404, "unknown") if hosted is None else (503, "stopped")
            await out_of_reach(scope, send, *status)
        elif not slash:
            await to_folder(name, scope, send)  # relative, so that it is right behind every proxy
        else:
            raw = (scope.get("raw_path") or b"")[len(f"{STUDY}{name}") :]
            await hosted.running({**scope, "path": f"/{rest}", "raw_path": raw}, receive, send)
