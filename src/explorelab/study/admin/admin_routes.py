"""The researcher's page and what it asks the server: log in, look, delete a person, download the data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
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
from explorelab.study.admin.login import (
    COOKIE,
    KNOWN_COOKIE,
    KNOWN_S,
    OF_ALL,
    SESSION_S,
    Keeper,
    Session,
    admin_headers,
    is_logged_out,
    log_out,
    no_session,
)
from explorelab.study.admin.overview import Overviews
from explorelab.study.admin.person import delete_person, person_detail
from explorelab.study.database.refusals import Refusal, Refused, from_http, misshapen, refusal
from explorelab.study.database.vitals import StoppedError
from explorelab.study.server.context import Context
from explorelab.study.server.pulse import Pulse
from explorelab.study.server.request_limits import Rate

STATIC = Path(__file__).parents[1] / "static"
LONGEST_LOGIN = 4096
REFUSALS: dict[int | str, dict[str, Any]] = {401: {"model": Refusal}, 403: {"model": Refusal}}


class Login(BaseModel):
    """The password."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    password: str


# The route reads this body itself, so that FastAPI does not describe it.
LOGIN_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": Login.model_json_schema()}}}}


class AdminRoute(APIRoute):
    """A route whose every answer, also a refusal, has the headers of the researcher's page."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with errors as answers."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                response = await handle(request)
            except StoppedError as stopped:
                response = refusal(Refused(503, "stopped", stopped.to_researcher, stopped.retry_after_s))
            except Refused as refused:
                response = refusal(refused)
            except RequestValidationError as error:
                response = refusal(misshapen(error.errors()))
            except HTTPException as error:
                response = refusal(from_http(error.status_code, error.detail))
            return admin_headers(response)

        return answer


def admin_router(
    context: Context, password: str, *, public_origin: str = "", notices: Callable[[], Awaitable[list[str]]] | None = None
) -> APIRouter:
    """The routes below /admin. `public_origin` is the server's address where a proxy before it changes the Host header."""
    study, store, now = context
    keeper = Keeper(password, store.secret, now, public_origin)
    overviews = Overviews(study)
    router = APIRouter(prefix="/admin", route_class=AdminRoute, tags=["researcher"])
    few = CapacityLimiter(2)  # each check of a password takes 16 MB

    here = Rate(OF_ALL.most / OF_ALL.fills_in_s, OF_ALL.most)

    async def counted(work: Callable[[Connection], None]) -> None:
        """Count in the database or, where nothing can be stored, in this process: that is when researchers must get in."""
        try:
            await store.write(work)
        except (DBAPIError, Refused) as error:
            if isinstance(error, Refused) and error.status != 503:
                raise
            here.count("", now())

    async def session_of(request: Request) -> Session:
        session = keeper.session(request.cookies.get(COOKIE))
        if await store.read(lambda connection: is_logged_out(connection, session)):
            raise no_session()
        return session

    async def looking(request: Request) -> None:
        request.state.session = await session_of(request)

    async def changing(request: Request) -> None:
        await looking(request)
        keeper.check_change(request, request.state.session)

    look: dict[str, Any] = {"dependencies": [Depends(looking)], "responses": REFUSALS}
    change: dict[str, Any] = {"dependencies": [Depends(changing)], "responses": REFUSALS}

    # Addresses are relative and the cookie has the path of the login: a proxy may put all of this below a path of its own.
    @router.get("/", include_in_schema=False)
    async def without_slash() -> Response:
        return RedirectResponse("../admin", 303)

    @router.get("", response_class=HTMLResponse)
    async def page(request: Request) -> Response:
        """The researcher's page; without a session, the way to log in."""
        try:
            await session_of(request)
        except Refused as refused:
            if refused.status == 401:
                return RedirectResponse("admin/login", 303)
            # The page says itself what is the matter: logging in would not help.
        return HTMLResponse(_static("admin.html"))

    @router.get("/login", response_class=HTMLResponse)
    async def login_page() -> Response:
        """The form to log in."""
        return HTMLResponse(_static("login.html"))

    @router.post(
        "/login", response_model=LoggedIn, openapi_extra=LOGIN_BODY, responses={**REFUSALS, 429: {"model": Refusal}}
    )
    async def login(request: Request) -> Response:
        """Log in with {"password": ...}; sets the cookie of the session."""
        keeper.check_origin(request)
        attempt, attempts = await _password(request), keeper.attempts
        address, known = request.client.host if request.client else "", keeper.known_browser(request)
        await counted(lambda connection: attempts.begin(connection, address, known, now()))
        if not await to_thread.run_sync(keeper.is_password, attempt, limiter=few):
            raise Refused(401, "wrong-password", "This is not the password.")
        await counted(lambda connection: attempts.succeeded(connection, address, known))
        response = JSONResponse({"ok": True})
        # Without a path of their own they belong to the folder of this address, also below a study's prefix.
        kept: dict[str, Any] = {"path": None, "httponly": True, "samesite": "strict", "secure": keeper.is_https(request)}
        response.set_cookie(COOKIE, keeper.new_cookie(), SESSION_S, **kept)
        response.set_cookie(KNOWN_COOKIE, keeper.new_known_cookie(), KNOWN_S, **kept)
        return response

    @router.post("/logout", status_code=204, **change)
    async def logout(request: Request) -> Response:
        """End the session, also for who has a copy of its cookie."""
        session = request.state.session
        await store.write(lambda connection: log_out(connection, session, now()))
        response = Response(status_code=204)
        secure = keeper.is_https(request)
        response.set_cookie(COOKIE, "", 0, expires=0, path=None, httponly=True, samesite="strict", secure=secure)
        return response

    @router.get("/api/session", **look)
    async def session_info(request: Request) -> SessionInfo:
        """The token that changes need, in the header X-CSRF-Token."""
        session = request.state.session
        return SessionInfo(csrf=keeper.csrf_token(session), ends_at=session.ends_at)

    @router.get("/api/overview", response_model=Overview, **look)
    async def overview(request: Request, pilots: bool = False) -> Response:
        """Numbers, curves, conditions and quality; 304 if they are those of If-None-Match."""
        body, tag = await store.read(lambda connection: overviews.overview(connection, pilots, now()))
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"ETag": tag})
        return Response(body, media_type="application/json", headers={"ETag": tag})

    @router.get("/api/notices", **look)
    async def told() -> Notices:
        """What is wrong with the server, if anything."""
        return Notices(notices=await (notices or Pulse(store, now).notices)())

    @router.get("/api/people", **look)
    async def people(since: Annotated[str, Query(max_length=64)] = "") -> People:
        """People one by one; with `since`, those who changed."""
        return await store.read(lambda connection: overviews.people(connection, since, now()))

    @router.get("/api/people/{code}", **look)
    async def person(code: str) -> PersonDetail:
        """One person: blocks with their regret, and the last events."""
        return await store.read(lambda connection: person_detail(connection, study, code, now()))

    @router.post("/api/people/{code}/delete", **change)
    async def delete(code: str, body: DeletePerson) -> Deleted:
        """Delete choices, events, blocks and consent of a person, and what the recruiting platform calls them."""
        return await store.write(lambda connection: delete_person(connection, code, body.code, now()))

    @router.post("/api/export", response_class=Response, **change)
    async def export(pilots: Pilots = "without") -> Response:
        """All data, as a zip file; without robots, with them, or only theirs."""
        return await to_thread.run_sync(zipped_export, study, store.engine, pilots, now())

    @router.get("/{rest:path}", include_in_schema=False)
    async def nothing(rest: str) -> Response:
        raise Refused(404, "unknown", "There is nothing at this address.")

    return router


async def _password(request: Request) -> str:
    """The password in the body of a request."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_LOGIN:
            raise Refused(413, "too-large", f"A login has at most {LONGEST_LOGIN} bytes.")
    try:
        return Login.model_validate_json(body or b"null").password
    except ValidationError as error:
        raise misshapen(error.errors(include_input=False)) from None


def _static(name: str) -> str:
    try:
        return (STATIC / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Refused(503, "not-built", "The researcher's page has not been built: run `npm run build` in page/.") from None
