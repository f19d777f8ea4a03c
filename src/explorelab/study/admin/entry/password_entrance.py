"""The entrance of a study that is served alone: one password, which opens everything."""

from __future__ import annotations

from collections.abc import Callable

from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from explorelab.study.admin.answers import SessionInfo
from explorelab.study.admin.entry.entrance import Session, no_session, read_secret
from explorelab.study.admin.entry.login import (
    COOKIE,
    KNOWN_COOKIE,
    KNOWN_S,
    OF_ALL,
    SESSION_S,
    Keeper,
    is_logged_out,
    log_out,
)
from explorelab.study.admin.entry.own_site import check_origin, cookie_settings
from explorelab.study.admin.entry.passwords import AT_ONCE
from explorelab.study.admin.entry.rights import OF_A_STUDY, Right
from explorelab.study.database.refusals import Refused
from explorelab.study.server.context import Context
from explorelab.study.server.limits.rate_limits import InProcess


class Login(BaseModel):
    """The password."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    password: str


class PasswordEntrance:
    """Knows who has the password. `own` is the server's address if a proxy in front of it changes the Host header."""

    login_page = ""

    def __init__(self, context: Context, password: str, own: str) -> None:
        _, self._store, self._now = context
        self._own = own.rstrip("/")
        self._keeper = Keeper(password, self._store.secret, self._now, own)
        self._few = CapacityLimiter(AT_ONCE)
        self._here = InProcess(OF_ALL)

    async def session(self, request: Request, right: Right) -> Session:
        """The session of the request; refused if there is none. Whoever has the password has every right."""
        session = self._keeper.session(request.cookies.get(COOKIE))
        if await self._store.read(lambda connection: is_logged_out(connection, session)):
            raise no_session()
        return session

    def check_change(self, request: Request, session: Session) -> None:
        """Refuse a change that does not come from the session's own page."""
        self._keeper.check_change(request, session)

    async def session_info(self, request: Request, session: Session) -> SessionInfo:
        """What the page needs to know about its session."""
        csrf = self._keeper.csrf_token(session)
        return SessionInfo(csrf=csrf, ends_at=session.ends_at, rights=list(OF_A_STUDY), laboratory="")

    async def log_in(self, request: Request, response: Response) -> Response:
        """The response with the cookies of a new session, if the request has the password."""
        keeper = self._keeper
        check_origin(request, self._own)
        password, attempts = (await read_secret(request, Login)).password, keeper.attempts
        address, known = request.client.host if request.client else "", keeper.known_browser(request)
        await self._counted(lambda connection: attempts.begin(connection, address, known, self._now()))
        if not await to_thread.run_sync(keeper.is_password, password, limiter=self._few):
            raise Refused(401, "wrong-password", "Wrong password.")
        await self._counted(lambda connection: attempts.succeeded(connection, address, known))
        kept = cookie_settings(request, self._own)
        response.set_cookie(COOKIE, keeper.new_cookie(), SESSION_S, **kept)
        response.set_cookie(KNOWN_COOKIE, keeper.new_known_cookie(), KNOWN_S, **kept)
        return response

    async def log_out(self, request: Request, response: Response, session: Session) -> Response:
        """The response that removes the session's cookie; the session ends, even for anyone with a copy of it."""
        await self._store.write(lambda connection: log_out(connection, session, self._now()))
        response.set_cookie(COOKIE, "", 0, expires=0, **cookie_settings(request, self._own))
        return response

    async def _counted(self, work: Callable[[Connection], None]) -> None:
        """Count in the database or, if nothing can be stored, in this process: that is when researchers must get in."""
        try:
            await self._store.write(work)
        except (DBAPIError, Refused) as error:
            if isinstance(error, Refused) and error.status != 503:
                raise
            self._here.count("", self._now())
