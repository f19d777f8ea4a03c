"""What a researcher's page must know of whoever asks: by one password, or by accounts of a laboratory."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from fastapi import Request, Response
from pydantic import BaseModel, ValidationError

from explorelab.study.admin.answers import SessionInfo
from explorelab.study.admin.entry.rights import Right
from explorelab.study.database.refusals import Refused, misshapen

LONGEST_LOGIN = 4096


class Session(NamedTuple):
    """A researcher who is logged in."""

    name: str
    ends_at: float


class Entrance(Protocol):
    """Lets researchers in, and knows what each may do."""

    login_page: str
    """Where to log in, relative to the study's address; empty for the page of the study itself."""

    async def session(self, request: Request, right: Right) -> Session:
        """The session of the request; refused if there is none, or if it lacks the right."""

    def check_change(self, request: Request, session: Session) -> None:
        """Refuse a change that does not come from the session's own page."""

    async def session_info(self, request: Request, session: Session) -> SessionInfo:
        """What the page needs to know about its session."""

    async def log_in(self, request: Request, response: Response) -> Response:
        """The response with the cookies of a new session, if the request may have one."""

    async def log_out(self, request: Request, response: Response, session: Session) -> Response:
        """The response that removes the session's cookie; the session ends, even for anyone with a copy of it."""


def no_session(login_page: str = "/admin/login") -> Refused:
    """The refusal of a request by someone who is not logged in."""
    return Refused(401, "no-session", f"You are not logged in, or your session has ended: log in at {login_page}.")


async def read_secret[Told: BaseModel](request: Request, what: type[Told]) -> Told:
    """The body of a request with a secret in it, which no answer repeats."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_LOGIN:
            raise Refused(413, "too-large", f"A login must have at most {LONGEST_LOGIN} bytes.")
    try:
        return what.model_validate_json(body or b"null")
    except ValidationError as error:
        raise misshapen(error.errors(include_input=False)) from None
