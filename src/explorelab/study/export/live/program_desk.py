"""Where requests of programs come in: who they are, by their token, and how often they may ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from explorelab.study.database.refusals import Refused
from explorelab.study.export.live.access_tokens import START, Use, name_of
from explorelab.study.export.live.request_counts import RequestCounts
from explorelab.study.server.context import Context
from explorelab.study.server.limits.rate_limits import InProcess, Limit

PER_SECOND = 5.0
"""Requests of one program, with a short burst."""
WRONG, WRONG_S = 30, 60.0
"""Wrong tokens from one address."""
AT_ONCE = 4
"""Answers under way in this process: programs must not take the connections that people need."""
_FORM = re.compile(rf"{START}[A-Za-z0-9_-]{{43}}", re.ASCII)


class ProgramDesk:
    """Lets programs with a token read."""

    def __init__(self, context: Context, counts: RequestCounts) -> None:
        self.context, self.counts = context, counts
        self._pace = InProcess(Limit.pace("programs", PER_SECOND))
        self._wrong = InProcess(Limit("wrong-tokens", WRONG, WRONG_S))
        self._n_reading = 0

    async def admit(self, authorization: str, address: str, use: Use) -> None:
        """Refuse whoever has no token for this use, in the same words whether it is unknown, revoked or for another."""
        store, now = self.context.store, self.context.now()
        kind, _, token = authorization.partition(" ")
        token, name = token.strip(), None
        if kind.lower() == "bearer" and _FORM.fullmatch(token):
            # Found by a keyed hash, so how long that takes says nothing about the tokens there are.
            name = await store.read(lambda connection: name_of(connection, store.secret, token, use))
        if name is None:
            self._wrong.count(address, now)
            raise Refused(
                401, "no-token",
                f"This needs a token in the header Authorization: Bearer {START}...; "
                f"make one with: explorelab study token add FOLDER NAME --use {use}",
            )  # fmt: skip
        self._pace.count(name, now)

    @contextmanager
    def seat(self) -> Iterator[None]:
        """A place among those whose answers are under way."""
        if self._n_reading >= AT_ONCE:
            raise Refused(503, "busy", "Too many programs are reading results: try again in 5 s.", 5)
        self._n_reading += 1
        try:
            yield
        finally:
            self._n_reading -= 1
