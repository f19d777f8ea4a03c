"""The application of a laboratory: its own pages and interface, and all of its studies below /s/."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from explorelab.laboratory.hosting.hosted_studies import STUDY, HostedStudies
from explorelab.laboratory.server.lab_desk import LabDesk
from explorelab.laboratory.server.lab_entrance import LabEntrance
from explorelab.laboratory.server.lab_office import LabOffice
from explorelab.laboratory.server.lab_routes import HIDDEN, front, lab_router
from explorelab.laboratory.server.laboratory import Laboratory
from explorelab.study.database.waiting import Load
from explorelab.study.export.live.request_counts import RequestCounts
from explorelab.study.server.application import Guard, answer_errors
from explorelab.study.server.built_pages import STATIC, check_built
from explorelab.study.server.limits.request_limits import BodyLimit, FormLimit, Pace

PER_SECOND = 100.0
"""Requests of researchers from one address."""
EDITING = "/lab/api/studies/"
LARGEST_EDIT = 8 * 1024 * 1024
"""Bytes of a request about a study: its texts, or a picture."""


class LargerForEditors:
    """The usual limit of a request's size, and a larger one for requests about a study by somebody who is logged in."""

    def __init__(self, app: ASGIApp, desk: LabDesk) -> None:
        self._desk = desk
        self._usual, self._larger = BodyLimit(app), BodyLimit(app, LARGEST_EDIT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        edits = scope["type"] == "http" and scope["path"].startswith(EDITING) and await self._desk.is_here(Request(scope))
        await (self._larger if edits else self._usual)(scope, receive, send)


def create_laboratory(laboratory: Laboratory) -> ASGIApp:
    """The laboratory and its studies; closing the application closes all databases."""
    check_built()
    return below_studies(*applications(laboratory))


def applications(laboratory: Laboratory) -> tuple[FastAPI, HostedStudies]:
    """The laboratory's own application, and that of its studies."""
    desk = LabDesk(laboratory)
    folder, database = laboratory.folder, laboratory.database
    hosted = HostedStudies(folder, database, lambda study: LabEntrance(desk, study), laboratory.own)
    return lab_app(laboratory, desk, hosted), hosted


def lab_app(laboratory: Laboratory, desk: LabDesk, hosted: HostedStudies) -> FastAPI:
    """The laboratory's own application."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with hosted.open():
            yield
        laboratory.database.close()

    app = FastAPI(
        title=laboratory.folder.title, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url="/lab/api/openapi.json",
        redirect_slashes=False,
    )  # fmt: skip
    app.state.lab_office = LabOffice(laboratory, desk, hosted)
    app.include_router(lab_router)
    app.add_api_route("/", front, methods=["GET"], **HIDDEN)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    counts = RequestCounts(Load(laboratory.database.vitals))
    answer_errors(app, laboratory.database.vitals, counts)
    # The last one is asked first.
    app.add_middleware(LargerForEditors, desk=desk)
    app.add_middleware(FormLimit)
    app.add_middleware(Pace, per_second=PER_SECOND)
    app.add_middleware(Guard, counts=counts)
    return app


def below_studies(app: ASGIApp, hosted: HostedStudies) -> ASGIApp:
    """The laboratory, with every study at its own address; each study has limits of its own."""

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        of_study = scope["type"] == "http" and scope["path"].startswith(STUDY)
        await (hosted if of_study else app)(scope, receive, send)

    return either
