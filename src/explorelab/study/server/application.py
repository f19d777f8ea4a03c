"""The application: pages, the participants' and the researcher's interface, and rules for every answer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from sqlalchemy.exc import DataError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorelab.study.admin.admin_routes import admin_router
from explorelab.study.admin.entry.entrance import Entrance
from explorelab.study.admin.entry.password_entrance import PasswordEntrance
from explorelab.study.admin.office import Office
from explorelab.study.advice import desk as advising
from explorelab.study.assessment import assessment_desk as assessing
from explorelab.study.config.design import Study
from explorelab.study.database.refusals import Refused, from_http, invalid, misshapen, refusal
from explorelab.study.database.store import Store
from explorelab.study.database.vitals import Vitals
from explorelab.study.export.live.program_desk import ProgramDesk
from explorelab.study.export.live.program_routes import program_router
from explorelab.study.export.live.request_counts import RequestCounts
from explorelab.study.server.built_pages import STATIC, check_built
from explorelab.study.server.context import ASKED_HEAD, Context
from explorelab.study.server.limits.request_limits import BodyLimit, FormLimit, Pace
from explorelab.study.server.participant_routes import participant_router
from explorelab.study.server.pulse import Pulse
from explorelab.study.server.reception import Reception
from explorelab.study.server.security_headers import OF_PICTURES, headers_of
from explorelab.study.server.steady_clock import told_clock
from explorelab.study.session.pages.picture_files import ADDRESS

log = logging.getLogger("explorelab.study")
failures = logging.getLogger("explorelab.study.failures")
"""For faults of the server itself, each kind once a minute: see `write_seldom`."""


def create_app(
    study: Study,
    store: Store,
    *,
    admin_password: str = "",
    public_origin: str = "",
    entrance: Entrance | None = None,
    closes_store: bool = True,
    now: Callable[[], float] | None = None,
    adviser: Sequence[str] = advising.PROGRAM,
    assessor: Sequence[str] = assessing.PROGRAM,
) -> FastAPI:
    """The application for a study on its database; closing the application closes the database, unless told otherwise.

    Researchers come in by the password or, in a laboratory, through its own `entrance`.
    `adviser` is the program that computes advice, `assessor` the one that assesses people for the researcher's page.
    """
    check_built()

    context = Context(study, store, now or told_clock())
    counts = RequestCounts(store.load)
    pulse, desk = Pulse(store, context.now, counts), advising.AdviceDesk(context, adviser)
    assessments = assessing.AssessmentDesk(context, assessor)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if study.design is not None:
            await asyncio.to_thread(study.design.make_ready)
        async with pulse.beating(), desk.open(), assessments.open():
            yield
        if closes_store:
            store.close()

    # Redirects to an address with or without a slash would repeat the Host header, which anyone can write.
    app = FastAPI(
        title=study.title, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json",
        redirect_slashes=False,
    )  # fmt: skip
    app.state.reception = Reception(context, desk)
    entrance = entrance or PasswordEntrance(context, admin_password, public_origin)
    app.state.office = Office(context, entrance, pulse.notices, assessments)
    app.state.programs = ProgramDesk(context, counts)
    app.include_router(program_router)
    app.include_router(participant_router)
    app.include_router(admin_router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get(f"/{ADDRESS}/{{name:path}}", include_in_schema=False)
    async def picture(name: str) -> Response:
        found = study.pictures.get(name)
        if found is None:
            raise HTTPException(404, "There is no such picture.")
        return Response(found.data, media_type=found.kind, headers=OF_PICTURES)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    answer_errors(app, store.vitals, counts)
    # The last one is asked first.
    app.add_middleware(BodyLimit)
    app.add_middleware(FormLimit)
    app.add_middleware(Pace, per_second=study.server.address_requests_per_second)
    app.add_middleware(Guard, counts=counts)
    return app


class Guard:
    """Adds headers to every answer, answers HEAD wherever there is GET, counts, and logs a line that does not say who asked.

    It is plain ASGI because Starlette's own middleware makes a task for each request and costs as much as a choice.
    """

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self._app, self._counts = app, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, head = time.perf_counter(), scope["method"] == "HEAD"

        async def guarded(message: Message) -> None:
            if head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in headers_of(scope["path"]).items():
                    headers.setdefault(name, value)
                took_s = time.perf_counter() - began
                self._counts.note(scope["path"], message["status"], took_s)
                if log.isEnabledFor(logging.DEBUG):
                    log.debug("%s %s %d %.1f ms", scope["method"], scope["path"], message["status"], 1e3 * took_s)
            await send(message)

        await self._app({**scope, "method": "GET", ASKED_HEAD: True} if head else scope, receive, guarded)


def answer_errors(app: FastAPI, vitals: Vitals, counts: RequestCounts) -> None:
    """Give every refusal the same form."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return refusal(error)

    @app.exception_handler(RequestValidationError)
    async def not_as_asked(_: Request, error: RequestValidationError) -> JSONResponse:
        return refusal(misshapen(error.errors()))

    @app.exception_handler(HTTPException)
    async def not_here(_: Request, error: HTTPException) -> JSONResponse:
        answer = refusal(from_http(error.status_code, error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> JSONResponse:
        counts.note(request.url.path, 500, 0.0)  # this answer does not pass the guard
        failures.error("%s %s failed: %s", request.method, request.url.path, type(error).__name__)
        answer = refusal(
            Refused(500, "broken", "The server failed to handle this request; everything acknowledged before is kept.")
        )
        answer.headers.update(headers_of(request.url.path))
        return answer

    @app.exception_handler(UnicodeError)
    @app.exception_handler(DataError)
    async def no_text(_: Request, error: Exception) -> JSONResponse:
        # Not the database's fault: half a character, a zero byte, a number beyond its bounds.
        log.debug("a value could not be stored: %s", type(error).__name__)
        return refusal(invalid("The request contains a value that cannot be stored."))

    @app.exception_handler(DBAPIError)
    @app.exception_handler(PoolTimeout)
    async def busy(request: Request, error: Exception) -> JSONResponse:
        # The statement's values may identify a person: only the kind of failure is reported, here and in the log.
        why = vitals.refused(error)
        return refusal(Refused(503, "busy", f"Nothing can be stored right now: {why}. Nothing was lost; try again.", 1))
