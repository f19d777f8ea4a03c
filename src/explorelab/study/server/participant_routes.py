"""The routes for participants' pages. A choice is answered only once it is on disk.

A route's answer is of the type that its function returns.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from pydantic import BaseModel

from explorelab.study.config.languages import LANG, language_for
from explorelab.study.config.texts import own_name
from explorelab.study.database.refusals import Refusal
from explorelab.study.server import reception
from explorelab.study.server.reception import Reception
from explorelab.study.session import transactions
from explorelab.study.session.choice_fields import Choosing
from explorelab.study.session.questions import (
    Advising,
    Arriving,
    Beginning,
    Consenting,
    FromPage,
    Leaving,
    Telling,
    Withdrawing,
)
from explorelab.study.session.screens import Advised, Arrived, Chosen, Left, Shown, Texts, Told


class Healthy(BaseModel):
    """The server answers, and can store what people do."""

    ok: bool


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal} for status in (400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503)
}


def _reception(request: Request) -> Reception:
    desk: Reception = request.app.state.reception
    return desk


# Not a plain function: FastAPI would use a thread for a hash of a few microseconds.
async def _caller(request: Request, authorization: Annotated[str, Header(max_length=256)] = "") -> reception.Caller:
    return _reception(request).caller(authorization)


Caller = Annotated[reception.Caller, Depends(_caller)]
Accepted = Annotated[str, Header(max_length=8192)]
"""The languages that the browser prefers."""


async def health(request: Request) -> Healthy:
    """The server is ready for people: it can store what they do, and has room for more; 503 with the reason otherwise."""
    await _reception(request).context.store.check_ready()
    return Healthy(ok=True)


async def alive() -> Healthy:
    """The server's process answers, whatever its database does: restart it if it does not."""
    return Healthy(ok=True)


async def texts(request: Request, lang: Annotated[str, Query(max_length=64)] = "", accept_language: Accepted = "") -> Texts:
    """The short texts of the page, in the language asked for, one that the browser prefers, or the usual one."""
    study = _reception(request).context.study
    told = study.speaking(language_for(study, {LANG: lang}, accept_language))
    names = {language: own_name(language) for language in study.languages} if study.versions else {}
    return Texts(
        language=told.texts.language, direction=told.texts.direction, title=told.title, languages=names,
        labels=dict(told.texts.labels),
    )  # fmt: skip


async def arrive(
    asked: Arriving,
    request: Request,
    x_pilot_key: Annotated[str, Header(max_length=128)] = "",
    accept_language: Accepted = "",
) -> Arrived:
    """Open a page: returns its token and what to show first."""
    address = request.client.host if request.client else ""
    return await _reception(request).arrive(asked, address, x_pilot_key, accept_language)


async def state(asked: FromPage, caller: Caller) -> Shown:
    """What to show now; nothing changes."""
    return Shown(state=await caller.read(transactions.look, asked))


async def consent(asked: Consenting, caller: Caller) -> Shown:
    """Agree to take part, or decline."""
    return Shown(state=await caller.write(transactions.consent, asked))


async def begin(asked: Beginning, caller: Caller) -> Shown:
    """Begin the next block."""
    begun = Shown(state=await caller.write(transactions.begin, asked))
    caller.desk.prepare(caller.code)
    return begun


async def choice(asked: Choosing, caller: Caller) -> Chosen:
    """Store a choice and draw its reward; a repeated request gets the same answer."""
    caller.desk.check(caller.code, asked)
    chosen = await caller.write(transactions.choose, asked)
    # Begins once this answer has been sent: nobody waits for it.
    caller.desk.prepare(caller.code)
    return chosen


async def page(asked: Leaving, caller: Caller) -> Left:
    """Leave a page of the study's own, with the answers to its questions; a repeated request gets the same answer."""
    return await caller.write(transactions.leave, asked)


async def advice(asked: Advising, caller: Caller) -> Advised:
    """The suggestion for a choice, if it is ready in time; nothing changes."""
    await caller.read(transactions.attend, asked)
    return await caller.desk.ask(caller.code, asked.block, asked.trial)


async def tell(asked: Telling, caller: Caller) -> Told:
    """Store what happened to the page, even if another page has replaced it since."""
    return Told(stored=await caller.write(transactions.tell, asked))


async def finish(asked: FromPage, caller: Caller) -> Shown:
    """Finish, after the debriefing has been read."""
    return Shown(state=await caller.write(transactions.finish, asked))


async def withdraw(asked: Withdrawing, caller: Caller) -> Shown:
    """Withdraw, keeping or deleting the data."""
    return Shown(state=await caller.write(transactions.withdraw, asked))


ROUTES = (
    ("GET", "/health", health),
    ("GET", "/alive", alive),
    ("GET", "/texts", texts),
    ("POST", "/arrive", arrive),
    ("POST", "/state", state),
    ("POST", "/consent", consent),
    ("POST", "/begin", begin),
    ("POST", "/choice", choice),
    ("POST", "/page", page),
    ("POST", "/advice", advice),
    ("POST", "/events", tell),
    ("POST", "/finish", finish),
    ("POST", "/withdraw", withdraw),
)

participant_router = APIRouter(prefix="/api", responses=REFUSALS)
"""For an application whose state has a `reception`."""
for _method, _path, _answer in ROUTES:
    participant_router.add_api_route(_path, _answer, methods=[_method])
