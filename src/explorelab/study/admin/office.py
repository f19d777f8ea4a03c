"""Where the researcher's requests come in: logging in, and what a session may see and change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypedDict

from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from explorelab.study.admin.answers import SessionInfo
from explorelab.study.admin.login import (
    COOKIE,
    KNOWN_COOKIE,
    KNOWN_S,
    OF_ALL,
    SESSION_S,
    Keeper,
    Session,
    is_logged_out,
    log_out,
    no_session,
)
from explorelab.study.admin.overview import Overviews
from explorelab.study.assessment.assessment_desk import AssessmentDesk
from explorelab.study.database.refusals import Refused, misshapen
from explorelab.study.server.context import Context
from explorelab.study.server.limits.rate_limits import InProcess

LONGEST_LOGIN = 4096
AT_ONCE = 2
"""Passwords checked at the same time: each takes 16 MB."""


class Login(BaseModel):
    """The password."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    password: str


class CookieSettings(TypedDict):
    """Who may read a cookie, and where it is sent."""

    path: None
    httponly: bool
    samesite: Literal["strict"]
    secure: bool


class Office:
    """Knows who is logged in. `public_origin` is the server's address if a proxy in front of it changes the Host header."""

    def __init__(
        self,
        context: Context,
        password: str,
        public_origin: str,
        notices: Callable[[], Awaitable[list[str]]],
        assessments: AssessmentDesk,
    ) -> None:
        self.study, self.store, self.now = context
        self._keeper = Keeper(password, self.store.secret, self.now, public_origin)
        self.overviews = Overviews(self.study)
        self.notices, self.assessments = notices, assessments
        self._few = CapacityLimiter(AT_ONCE)
        self._here = InProcess(OF_ALL)

    async def session(self, request: Request) -> Session:
        """The session of the request; refused if there is none."""
        session = self._keeper.session(request.cookies.get(COOKIE))
        if await self.store.read(lambda connection: is_logged_out(connection, session)):
            raise no_session()
        return session

    def check_change(self, request: Request, session: Session) -> None:
        """Refuse a change that does not come from the session's own page."""
        self._keeper.check_change(request, session)

    def session_info(self, session: Session) -> SessionInfo:
        """What the page needs to know about its session."""
        return SessionInfo(csrf=self._keeper.csrf_token(session), ends_at=session.ends_at)

    async def log_in(self, request: Request, response: Response) -> Response:
        """The response with the cookies of a new session, if the request has the password."""
        keeper = self._keeper
        keeper.check_origin(request)
        password, attempts = await _password(request), keeper.attempts
        address, known = request.client.host if request.client else "", keeper.known_browser(request)
        await self._counted(lambda connection: attempts.begin(connection, address, known, self.now()))
        if not await to_thread.run_sync(keeper.is_password, password, limiter=self._few):
            raise Refused(401, "wrong-password", "Wrong password.")
        await self._counted(lambda connection: attempts.succeeded(connection, address, known))
        response.set_cookie(COOKIE, keeper.new_cookie(), SESSION_S, **self._kept(request))
        response.set_cookie(KNOWN_COOKIE, keeper.new_known_cookie(), KNOWN_S, **self._kept(request))
        return response

    async def log_out(self, request: Request, response: Response, session: Session) -> Response:
        """The response that removes the session's cookie; the session ends, even for anyone with a copy of it."""
        await self.store.write(lambda connection: log_out(connection, session, self.now()))
        response.set_cookie(COOKIE, "", 0, expires=0, **self._kept(request))
        return response

    def _kept(self, request: Request) -> CookieSettings:
        """Cookie settings. Without a path, cookies belong to the login's folder, also under a study's prefix."""
        return {"path": None, "httponly": True, "samesite": "strict", "secure": self._keeper.is_https(request)}

    async def _counted(self, work: Callable[[Connection], None]) -> None:
        """Count in the database or, if nothing can be stored, in this process: that is when researchers must get in."""
        try:
            await self.store.write(work)
        except (DBAPIError, Refused) as error:
            if isinstance(error, Refused) and error.status != 503:
                raise
            self._here.count("", self.now())


async def _password(request: Request) -> str:
    """The password in the body of a request."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_LOGIN:
            raise Refused(413, "too-large", f"A login must have at most {LONGEST_LOGIN} bytes.")
    try:
        return Login.model_validate_json(body or b"null").password
    except ValidationError as error:
        raise misshapen(error.errors(include_input=False)) from None
