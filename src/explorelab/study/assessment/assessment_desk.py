"""Where assessments are asked for: computed beside the server while a researcher looks, and kept in the database.

Nobody waits for one, and of all processes of the server only the one that holds the lease has them computed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from explorelab.study.assessment import lease
from explorelab.study.assessment.asked import Asked, maker_of, model_of, recipe_of, why_not_assessed
from explorelab.study.assessment.assessment_answer import Assessments
from explorelab.study.assessment.players import Player, asked_of, assessed_people, keep_found, next_due
from explorelab.study.computing.acquaintance import Acquaintance
from explorelab.study.computing.process_link import BehindError, ProcessLink, program_of
from explorelab.study.server.context import Context

PROGRAM = program_of("explorelab.study.assessment.assessor_process")
RENEW_S = 5.0
"""How often the lease is renewed."""
NOBODY_S = 1.0
"""How long to wait where nobody has gone on since they were assessed."""
LEAST_PAUSE_S = 0.2
"""After an assessment there is a pause as long as it took, and at least this."""

log = logging.getLogger("explorelab.study")


class AssessmentDesk:
    """Has people assessed and tells what was found; does nothing before it is opened, or if the study says so."""

    def __init__(self, context: Context, program: Sequence[str] = PROGRAM) -> None:
        self._context, self._program = context, program
        self._maker, self._agent = maker_of(context.study), model_of(context.study)
        self._why_not = why_not_assessed(context.study)
        self._name = secrets.token_hex(8)
        self._is_open = False
        self._note: asyncio.Task[None] | None = None
        self._run: asyncio.Task[None] | None = None
        self.link: ProcessLink | None = None
        """To the process that assesses; None while there is none."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """People can be assessed for the duration of the block."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False
            tasks = [task for task in (self._note, self._run) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def look(self, pilots: bool) -> Assessments:
        """The last assessments of everyone who is playing; somebody looks, so there will be newer ones."""
        study, store, now = self._context
        if not study.assessment:
            return Assessments(enabled=False, now=now(), agent=self._agent, people=[], why_not="")
        if self._why_not:
            return Assessments(enabled=True, now=now(), agent=self._agent, people=[], why_not=self._why_not)
        if self._is_open and (self._note is None or self._note.done()):
            self._note = asyncio.create_task(self._looked(pilots))
        found = await store.read(lambda connection: assessed_people(connection, study, self._maker, pilots, now()))
        return Assessments(enabled=True, now=now(), agent=self._agent, people=found, why_not="")

    async def _looked(self, pilots: bool) -> None:
        """Remember that somebody looks, and begin if no other process does it."""
        _, store, now = self._context
        try:
            mine = await store.write(lambda connection: lease.looked(connection, self._name, pilots, now()))
        except Exception as error:  # the page shows what is there
            log.debug("nobody can be assessed: %s", type(error).__name__)
            return
        if mine and (self._run is None or self._run.done()):
            self._run = asyncio.create_task(self._held())

    async def _held(self) -> None:
        """Assess as long as the lease is held."""
        _, store, now = self._context
        work: asyncio.Task[None] | None = None
        try:
            while held := await store.write(lambda connection: lease.renewed(connection, self._name, now())):
                self._kinds = held.kinds(now())
                work = work or asyncio.create_task(self._assess())
                await asyncio.sleep(RENEW_S)
        except Exception as error:  # nothing can be stored: the next who looks begins again
            log.debug("assessing stopped: %s", type(error).__name__)
        finally:
            if work is not None:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
            with suppress(Exception):
                await store.write(lambda connection: lease.given_back(connection, self._name))

    async def _assess(self) -> None:
        """One person after another, at a gentle pace, in a process that is started for the first."""
        study, store, now = self._context
        acquaintances: dict[int, Acquaintance] = {}
        tried: dict[int, float] = {}
        link = self.link = ProcessLink(recipe_of(study), self._program, "assessments")
        try:
            while True:
                began, player = time.monotonic(), None
                with suppress(Exception):
                    player = await store.read(
                        lambda connection: next_due(connection, study, self._maker, self._kinds, tried, now())
                    )
                if player is None:
                    await asyncio.sleep(NOBODY_S)
                    continue
                if not link.is_started:
                    link.start()
                await self._assess_one(link, acquaintances.setdefault(player.id, Acquaintance()), player, tried)
                await asyncio.sleep(max(LEAST_PAUSE_S, time.monotonic() - began))
        finally:
            self.link = None
            await link.stop()

    async def _assess_one(
        self, link: ProcessLink, known: Acquaintance, player: Player, tried: dict[int, float]
    ) -> None:  # fmt: skip
        study, store, now = self._context

        async def read(n: int) -> Asked | None:
            return await store.read(lambda connection: asked_of(connection, study, player, n))

        try:
            told = await known.ask(link, read)
            if told is None:
                tried[player.id] = now()
                return
            asked, reply = told
            found = {"trouble": reply.trouble} if reply.trouble else reply.answer
            await store.write(lambda connection: keep_found(connection, self._maker, asked, found, now()))
        except BehindError:
            # The process is about to start, or has died, perhaps of this person.
            if link.is_ready or link.life > 1:
                tried[player.id] = now()
            await asyncio.sleep(NOBODY_S)
        except Exception as error:  # no choice depends on it
            tried[player.id] = now()
            log.debug("somebody could not be assessed: %s", type(error).__name__)
