"""The researcher's page and what it asks the server: log in, look, delete a person, download the data.

A route's answer is of the type that its function returns, unless the table says another.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from explorelab.study.admin.answers import (
    Deleted,
    DeletePerson,
    LoggedIn,
    Notices,
    Overview,
    People,
    PersonDetail,
    SessionInfo,
)
from explorelab.study.admin.download import Pilots, zipped_export
from explorelab.study.admin.entry.password_entrance import Login
from explorelab.study.admin.entry.rights import Right
from explorelab.study.admin.office import Office
from explorelab.study.admin.person import delete_person, person_detail
from explorelab.study.assessment.assessment_answer import Assessments
from explorelab.study.database.refusals import Refusal, Refused, from_http, misshapen, refusal
from explorelab.study.database.vitals import StoppedError

STATIC = Path(__file__).parents[1] / "static"


# The route reads this body itself, so that FastAPI does not describe it.
LOGIN_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": Login.model_json_schema()}}}}


class AdminRoute(APIRoute):
    """A route that words refusals for a researcher."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with errors as answers."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except StoppedError as stopped:
                return refusal(Refused(503, "stopped", stopped.to_researcher, stopped.retry_after_s))
            except Refused as refused:
                return refusal(refused)
            except RequestValidationError as error:
                return refusal(misshapen(error.errors()))
            except HTTPException as error:
                return refusal(from_http(error.status_code, error.detail))

        return answer


def _office(request: Request) -> Office:
    office: Office = request.app.state.office
    return office


def looking(right: Right) -> Callable[[Request], Coroutine[Any, Any, None]]:
    """Let researchers with this right look."""

    async def look(request: Request) -> None:
        request.state.session = await _office(request).entrance.session(request, right)

    return look


def changing(right: Right) -> Callable[[Request], Coroutine[Any, Any, None]]:
    """Let researchers with this right change something from their own page."""

    async def change(request: Request) -> None:
        entrance = _office(request).entrance
        request.state.session = await entrance.session(request, right)
        entrance.check_change(request, request.state.session)

    return change


# Addresses are relative and the cookie has the login's path, so a proxy may serve all of this under its own path.
async def without_slash() -> Response:
    """The researcher's page is at the address without a slash."""
    return RedirectResponse("../admin", 303)


async def page(request: Request) -> Response:
    """The researcher's page; without a session, the way to log in."""
    try:
        await _office(request).entrance.session(request, Right.SEE)
    except Refused as refused:
        if refused.status == 401:
            return RedirectResponse("admin/login", 303)
        if refused.status in (403, 404):
            raise
        # The page itself says what is wrong: logging in would not help.
    return HTMLResponse(_static("admin.html"))


async def login_page(request: Request) -> Response:
    """The form to log in, which a laboratory has for all of its studies."""
    elsewhere = _office(request).entrance.login_page
    return RedirectResponse(f"../{elsewhere}", 303) if elsewhere else HTMLResponse(_static("login.html"))


async def login(request: Request) -> Response:
    """Log in with {"password": ...}; sets the cookie of the session."""
    return await _office(request).entrance.log_in(request, JSONResponse({"ok": True}))


async def logout(request: Request) -> Response:
    """End the session, even for anyone with a copy of its cookie."""
    return await _office(request).entrance.log_out(request, Response(status_code=204), request.state.session)


async def session_info(request: Request) -> SessionInfo:
    """The token that changes need, in the header X-CSRF-Token."""
    return await _office(request).entrance.session_info(request, request.state.session)


async def overview(request: Request, pilots: bool = False) -> Response:
    """Numbers, curves, conditions and quality; 304 if they match If-None-Match."""
    office = _office(request)
    body, tag = await office.store.read(lambda connection: office.overviews.overview(connection, pilots, office.now()))
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(body, media_type="application/json", headers={"ETag": tag})


async def told(request: Request) -> Notices:
    """What is wrong with the server, if anything."""
    return Notices(notices=await _office(request).notices())


async def people(request: Request, since: Annotated[str, Query(max_length=64)] = "") -> People:
    """Everyone, one row each; with `since`, only those who changed."""
    office = _office(request)
    return await office.store.read(lambda connection: office.overviews.people(connection, since, office.now()))


async def assessments(request: Request, pilots: bool = False) -> Assessments:
    """What a companion finds of everyone who is playing: form of regret, regret to come, parameters, weakness."""
    return await _office(request).assessments.look(pilots)


async def person(request: Request, code: str) -> PersonDetail:
    """One person: blocks with their regret, and the last events."""
    office = _office(request)
    return await office.store.read(lambda connection: person_detail(connection, office.study, code, office.now()))


async def delete(request: Request, code: str, body: DeletePerson) -> Deleted:
    """Delete a person's choices, events, blocks, consent and platform ID."""
    office = _office(request)
    return await office.store.write(lambda connection: delete_person(connection, code, body.code, office.now()))


async def export(request: Request, pilots: Pilots = "without") -> Response:
    """All data as a zip file: without robots, with them, or only robots."""
    office = _office(request)
    return await to_thread.run_sync(zipped_export, office.study, office.store.engine, pilots, office.now())


async def nothing(rest: str) -> Response:
    """Answer 404 for every other address."""
    raise Refused(404, "unknown", "There is nothing at this address.")


def _static(name: str) -> str:
    try:
        return (STATIC / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Refused(503, "not-built", "The researcher's page has not been built: run `npm run build` in page/.") from None


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Refusal} for status in statuses}


type Settings = dict[str, Any]
HIDDEN: Settings = {"include_in_schema": False}
PAGE: Settings = {"response_class": HTMLResponse}
LOGIN: Settings = {"response_model": LoggedIn, "openapi_extra": LOGIN_BODY, "responses": _refusals(401, 403, 429)}
REFUSES: Settings = {"responses": _refusals(401, 403)}

ROUTES: tuple[tuple[str, str, Right, Callable[..., Any], Settings], ...] = (
    ("GET", "/", Right.ANYONE, without_slash, HIDDEN),
    ("GET", "", Right.ANYONE, page, PAGE),  # it sees to it by itself, so that a browser is sent to the login
    ("GET", "/login", Right.ANYONE, login_page, PAGE),
    ("POST", "/login", Right.ANYONE, login, LOGIN),
    ("POST", "/logout", Right.SEE, logout, {**REFUSES, "status_code": 204}),
    ("GET", "/api/session", Right.SEE, session_info, REFUSES),
    ("GET", "/api/overview", Right.SEE, overview, {**REFUSES, "response_model": Overview}),
    ("GET", "/api/notices", Right.SEE, told, REFUSES),
    ("GET", "/api/people", Right.SEE, people, REFUSES),
    ("GET", "/api/assessments", Right.SEE, assessments, REFUSES),
    ("GET", "/api/people/{code}", Right.SEE, person, REFUSES),
    ("POST", "/api/people/{code}/delete", Right.OWN, delete, REFUSES),
    ("POST", "/api/export", Right.RUN, export, {**REFUSES, "response_class": Response}),
    ("GET", "/{rest:path}", Right.ANYONE, nothing, HIDDEN),
)
"""Every address of the researcher's page, with the right that it needs."""

admin_router = APIRouter(prefix="/admin", route_class=AdminRoute, tags=["researcher"])
"""For an application whose state has an `office`."""
for _method, _path, _right, _answer, _settings in ROUTES:
    _check = looking if _method == "GET" else changing
    _needs = [] if _right == Right.ANYONE else [Depends(_check(_right))]
    admin_router.add_api_route(_path, _answer, methods=[_method], dependencies=_needs, **_settings)
