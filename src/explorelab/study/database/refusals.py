"""Requests that are refused: with a status, one word for programs, and one sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel
from starlette.responses import JSONResponse

from explorelab.errors import ExplorelabError

if TYPE_CHECKING:
    from explorelab._support.checks import Unchecked

WORDS = {400: "malformed", 404: "not-found", 405: "not-allowed", 413: "too-large"}
NOT_JSON = "The body must be JSON."
NO_OBJECT = "The body must be a JSON object."


class Refusal(BaseModel):
    """Why something was refused, as sent: a word for programs and a sentence for people."""

    error: str
    message: str


class Refused(ExplorelabError):  # noqa: N818 - it is an answer, not a fault
    """A request that is refused; nothing has been changed."""

    def __init__(self, status: int, error: str, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status, self.error, self.message, self.retry_after_s = status, error, message, retry_after_s


def refusal(refused: Refused) -> JSONResponse:
    """The answer that carries a refusal."""
    headers = {} if refused.retry_after_s is None else {"Retry-After": str(refused.retry_after_s)}
    return JSONResponse({"error": refused.error, "message": refused.message}, refused.status, headers)


def invalid(message: str) -> Refused:
    """An impossible value."""
    return Refused(422, "invalid", message)


def misshapen(errors: Sequence[Mapping[str, Unchecked]]) -> Refused:
    """A request in the wrong form: Pydantic's first error as a sentence, without repeating what was sent."""
    kind, place, said = (errors[0][part] for part in ("type", "loc", "msg"))
    if kind == "json_invalid":
        return Refused(400, WORDS[400], NOT_JSON)
    where = ".".join(str(part) for part in (place[1:] if place[:1] == ("body",) else place))
    return invalid(f"{where}: {said}." if where else NO_OBJECT)


def from_http(status: int, detail: str) -> Refused:
    """Anything FastAPI itself refuses; with 400, a body that is not even text."""
    return Refused(status, WORDS.get(status, "refused"), NOT_JSON if status == 400 else f"{detail.rstrip('.')}.")


def out_of_order(message: str) -> Refused:
    """A request that is not the next step."""
    return Refused(409, "out-of-order", message)


def taken_over() -> Refused:
    """A page that is no longer the person's latest one."""
    return Refused(409, "taken-over", "This study has been opened in another tab or window, which is now in use.")


def elsewhere() -> Refused:
    """Someone who claims an ID and cannot prove it."""
    return Refused(403, "elsewhere", "This study was started under your ID in another browser or session: continue there.")


def no_token() -> Refused:
    """A request from someone unknown."""
    return Refused(401, "no-token", "The request has no valid token: open the study's link again.")


def not_now(message: str) -> Refused:
    """Something that is not possible at this stage."""
    return Refused(403, "not-now", message)
