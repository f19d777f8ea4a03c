"""The application: pages, the participants' and the researcher's interface, and what holds for every answer."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from explorelab.errors import InputError
from explorelab.study.admin_api import admin_router
from explorelab.study.context import Context
from explorelab.study.design import Study
from explorelab.study.limits import BodyLimit
from explorelab.study.participant_api import participant_router, pilot_key_of
from explorelab.study.refusals import Refused
from explorelab.study.store import Store

STATIC = Path(__file__).parent / "static"
MTURK = "https://*.mturk.com"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    f"form-action 'self' {MTURK}; base-uri 'none'; frame-ancestors "
)
log = logging.getLogger("explorelab.study")


def create_app(study: Study, store: Store, *, admin_password: str, now: Callable[[], float] = time.time) -> FastAPI:
    """The application for a study on its database; closing the application closes the database."""
    if not (STATIC / "study.js").is_file():
        raise InputError("the participants' page has not been built: run `make page` (it needs Node 20) first.")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        store.close()

    context = Context(study, store, now)
    app = FastAPI(title=study.title, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    app.include_router(participant_router(context, pilot_key_of(context)))
    app.include_router(admin_router(context, admin_password))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    _answer_errors(app)
    app.add_middleware(BodyLimit)
    app.middleware("http")(_guarded)
    return app


async def _guarded(request: Request, following: Callable[[Request], Awaitable[Response]]) -> Response:
    """Every answer with its headers, and a line in the log without anything that tells who asked."""
    began = time.perf_counter()
    response = await following(request)
    path = request.url.path
    _guard(response, path)
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s %s %d %.1f ms", request.method, path, response.status_code, 1e3 * (time.perf_counter() - began))
    return response


def _guard(response: Response, path: str) -> None:
    admin = path.startswith("/admin")
    response.headers.setdefault("Content-Security-Policy", POLICY + ("'none'" if admin else f"'self' {MTURK}"))
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "no-referrer")
    response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
    # Pages and built files may be kept if the server is asked each time: an upgrade shows at once.
    response.headers.setdefault("Cache-Control", "no-store" if path.startswith(("/api", "/admin")) else "no-cache")


def _refusal(status: int, error: str, message: str, retry_after_s: int | None = None) -> JSONResponse:
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    return JSONResponse({"error": error, "message": message}, status, headers)


def _answer_errors(app: FastAPI) -> None:
    """Every refusal in one form."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return _refusal(error.status, error.error, error.message, error.retry_after_s)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        if first["type"] == "json_invalid":
            return _refusal(400, "malformed", "The body must be JSON, and is not.")
        return _refusal(422, "invalid", f"{where or 'the request'}: {first['msg']}.")

    @app.exception_handler(HTTPException)
    async def not_here(_: Request, error: HTTPException) -> JSONResponse:
        words = {400: "malformed", 404: "not-found", 405: "not-allowed", 413: "too-large"}
        answer = _refusal(error.status_code, words.get(error.status_code, "refused"), f"{error.detail}.")
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> JSONResponse:
        log.error("%s %s failed: %s", request.method, request.url.path, type(error).__name__)
        answer = _refusal(500, "broken", "The server has failed at this; what was acknowledged before is kept.")
        _guard(answer, request.url.path)
        return answer

    @app.exception_handler(DBAPIError)
    async def busy(_: Request, error: DBAPIError) -> JSONResponse:
        # The statement's values may name a person: only the kind of failure goes to the log.
        log.error("the database failed: %s", type(error.orig).__name__)
        return _refusal(503, "busy", "The study's database does not answer; nothing was lost, try again.", 1)
