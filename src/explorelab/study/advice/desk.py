"""Where advice is asked for: it is prepared as soon as a choice is acknowledged, and handed out if it is ready in time.

Nothing here is on the path of a choice. What advisers are told is read from the database, so whichever process of the server
was asked before, and whether it has been restarted since, makes no difference to the advice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from zlib import crc32

from explorelab.choices.advice_given import FAILED, LATE, NONE, NOT_ASKED
from explorelab.study.advice.messages import Moment
from explorelab.study.advice.seal import check_seal, seal_of
from explorelab.study.advice.told import moment_of
from explorelab.study.computing.acquaintance import Acquaintance
from explorelab.study.computing.pipe import Reply
from explorelab.study.computing.process_link import BehindError, ProcessLink, program_of
from explorelab.study.server.context import Context
from explorelab.study.session.screens import Advised

PROGRAM = program_of("explorelab.study.advice.adviser_process")
MOST_PEOPLE = 4000
"""People remembered here, with a few numbers each."""

log = logging.getLogger("explorelab.study")


class Said(NamedTuple):
    """The advice for one choice."""

    block: int
    trial: int
    arm: int | None
    reason: str


class _Known:
    """What is known of one person."""

    def __init__(self) -> None:
        self.adviser = Acquaintance()
        self.has_failed = False
        """Whether no advice can be computed for this person."""
        self.said: Said | None = None
        self.task: asyncio.Task[None] | None = None


class AdviceDesk:
    """Prepares and hands out advice; in a study without, it does nothing."""

    def __init__(self, context: Context, program: Sequence[str] = PROGRAM) -> None:
        self._context = context
        self._advice = context.study.advice
        self._program = program
        self._links: list[ProcessLink] = []
        self._people: OrderedDict[str, _Known] = OrderedDict()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Advice can be had for the duration of the block."""
        if self._advice is not None and any(arm != NONE for arm in self._advice.arms):
            from explorelab.study.advice.recipe import recipe_of

            recipe = recipe_of(self._context.study)
            self._links = [ProcessLink(recipe, self._program, "advice") for _ in range(self._advice.processes)]
            for link in self._links:
                link.start()
        try:
            yield
        finally:
            links, self._links = self._links, []
            tasks = [known.task for known in self._people.values() if known.task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, *(link.stop() for link in links), return_exceptions=True)

    @property
    def is_ready(self) -> bool:
        """Whether there is nothing left to compile."""
        return all(link.is_ready for link in self._links)

    def check(self, code: str, report: Any) -> None:
        """Refuse a report of advice that was never given."""
        check_seal(self._context.store.secret, code, report)

    def prepare(self, code: str) -> None:
        """Begin to compute the advice for this person's next choice; nobody waits for it."""
        if self._links and not self._known(code).has_failed:
            self._begun(self._known(code), code)

    async def ask(self, code: str, block: int, trial: int) -> Advised:
        """The advice for a choice if it is ready in time; otherwise why there is none."""
        advice = self._advice
        if advice is None:
            return self._sealed(code, Said(block, trial, None, NONE))
        if trial + 1 < advice.from_choice:
            return self._sealed(code, Said(block, trial, None, NOT_ASKED))
        until = time.monotonic() + advice.within_ms / 1000
        known = self._known(code)
        while self._links and not known.has_failed:
            said = known.said
            if said is not None and (said.block, said.trial) == (block, trial):
                return self._sealed(code, said)
            if said is not None and (said.block, said.trial) > (block, trial):
                break
            task = self._begun(known, code)
            left_s = until - time.monotonic()
            if left_s <= 0 or not (await asyncio.wait({task}, timeout=left_s))[0]:
                break
            if known.said is said:
                break  # it failed, or the person is elsewhere; asking again would give the same
        return self._sealed(code, Said(block, trial, None, FAILED if known.has_failed else LATE))

    def _sealed(self, code: str, said: Said) -> Advised:
        seal = seal_of(self._context.store.secret, code, *said)
        return Advised(arm=said.arm, reason=said.reason, seal=seal)

    def _known(self, code: str) -> _Known:
        known = self._people.get(code)
        if known is None:
            known = self._people[code] = _Known()
            while len(self._people) > MOST_PEOPLE:
                self._people.popitem(last=False)
        self._people.move_to_end(code)
        return known

    def _begun(self, known: _Known, code: str) -> asyncio.Task[None]:
        if known.task is None or known.task.done():
            known.task = asyncio.create_task(self._computed(known, code))
        return known.task

    async def _computed(self, known: _Known, code: str) -> None:
        link = self._links[crc32(code.encode()) % len(self._links)]
        try:
            found = await known.adviser.ask(link, lambda n: self._moment(code, n))
            if found is not None:
                self._keep(known, *found)
        except BehindError:
            return
        except Exception as error:  # no choice depends on it
            log.debug("advice could not be asked for: %s", type(error).__name__)

    async def _moment(self, code: str, n: int) -> Moment | None:
        """What the adviser is asked; None where nobody is advised."""
        study, store, _ = self._context
        moment = await store.read(lambda connection: moment_of(connection, study, code, n))
        return None if moment is None or moment.policy == NONE else moment

    def _keep(self, known: _Known, moment: Moment, reply: Reply) -> None:
        known.has_failed = bool(reply.trouble)
        arm, reason = (None, FAILED) if reply.trouble else reply.answer
        known.said = Said(moment.block, moment.trial, arm, reason)
