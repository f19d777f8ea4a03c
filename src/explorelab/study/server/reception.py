"""Receives participants' requests: identifies them, limits their rate, and runs each in a transaction."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import Connection

from explorelab.study.advice.desk import AdviceDesk
from explorelab.study.config.design import Study
from explorelab.study.config.languages import language_for
from explorelab.study.database.refusals import Refused, no_token
from explorelab.study.database.store import remembered
from explorelab.study.server.context import Context
from explorelab.study.server.limits.newcomers import check_open
from explorelab.study.server.limits.rate_limits import InDatabase, InProcess, Limit
from explorelab.study.server.limits.request_limits import network_of
from explorelab.study.session import transactions
from explorelab.study.session.identity import code_of, is_preview, keyed, token_for, wants_to_simulate, who
from explorelab.study.session.questions import Arriving
from explorelab.study.session.screens import Arrived, bare_state
from explorelab.study.session.stages import Stage
from explorelab.study.session.transactions import Clock

TOO_MANY_NEW = ("Too many people have joined from your network in the last hour: wait {wait}.", "too-many")

type Work[Asked, T] = Callable[[Connection, Study, str, Asked, Clock], T]


class Caller(NamedTuple):
    """Someone with a valid token."""

    context: Context
    code: str
    desk: AdviceDesk

    async def write[Asked, T](self, work: Work[Asked, T], asked: Asked) -> T:
        """The result of the request, once it is on disk."""
        study, store, now = self.context
        return await store.write(lambda connection: work(connection, study, self.code, asked, now))

    async def read[Asked, T](self, work: Work[Asked, T], asked: Asked) -> T:
        """The result of a request that changes nothing."""
        study, store, now = self.context
        return await store.read(lambda connection: work(connection, study, self.code, asked, now))


class Reception:
    """Admits people and answers their requests."""

    def __init__(self, context: Context, desk: AdviceDesk) -> None:
        self.context, self.desk = context, desk
        self._pilot_key = pilot_key_of(context)
        server = context.study.server
        self._arrivals = InProcess(Limit("arrivals", server.arrivals_per_minute, 60.0))
        self._requests = InProcess(Limit.pace("requests", server.requests_per_second))
        newcomers = Limit("new-people", server.new_people_per_hour, 3600.0, *TOO_MANY_NEW)
        self._newcomers = InDatabase(newcomers, context.store.secret)

    def caller(self, authorization: str) -> Caller:
        """The sender of a request, from its header."""
        kind, _, token = authorization.partition(" ")
        code = code_of(self.context.store.secret, token.strip()) if kind.lower() == "bearer" else None
        if code is None:
            raise no_token()
        self._requests.count(code, self.context.now())
        return Caller(self.context, code, self.desk)

    async def arrive(self, asked: Arriving, address: str, pilot_key: str, accepted: str = "") -> Arrived:
        """The token of the person who opened the page, and what it shows first."""
        study, store, now = self.context
        pilot = self._is_pilot(pilot_key)
        if wants_to_simulate(asked.query) and not pilot:
            raise Refused(403, "not-a-pilot", "Only a pilot's page may play by itself: this link needs the pilot key.")
        network, language = network_of(address), language_for(study, asked.query, accepted)
        if not pilot:
            self._arrivals.count(network, now())
        if is_preview(asked.query) and not pilot:
            return Arrived(token="", state=bare_state(study.speaking(language), Stage.PREVIEW))
        arrival = keyed(who(asked.query, asked.key, pilot), store.secret)._replace(language=language)

        def admit(connection: Connection, at: float) -> None:
            if not pilot:
                check_open(connection)
                self._newcomers.count(connection, network, at)

        code, state = await store.write(
            lambda connection: transactions.arrive(connection, study, arrival, asked.page, now, admit)
        )
        token = "" if state.stage == Stage.EXPIRED else token_for(store.secret, code)
        return Arrived(token=token, state=state, pilot=pilot)

    def _is_pilot(self, key: str) -> bool:
        if key and not hmac.compare_digest(key.encode(), self._pilot_key.encode()):
            raise Refused(401, "no-token", "The pilot key does not belong to this study.")
        return bool(key)


def pilot_key_of(context: Context) -> str:
    """The key that identifies robots."""
    with context.store.engine.begin() as connection:
        return remembered(connection, "pilot_key")
