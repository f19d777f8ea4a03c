"""The routes for a lab's own programs: results since they last asked, and metrics. Each needs a token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from explorelab.study.admin.download import Pilots
from explorelab.study.database.refusals import Refusal, Refused
from explorelab.study.export.live.access_tokens import Use
from explorelab.study.export.live.live_stream import accept, lines
from explorelab.study.export.live.metrics import FORMAT, in_text, measured
from explorelab.study.export.live.program_desk import ProgramDesk
from explorelab.study.server.context import ASKED_HEAD
from explorelab.study.server.limits.request_limits import network_of

JSON_LINES = "application/x-ndjson"
Token = Annotated[str, Header(alias="Authorization", max_length=256)]


def _desk(request: Request) -> ProgramDesk:
    desk: ProgramDesk = request.app.state.programs
    return desk


async def _admitted(request: Request, authorization: str, use: Use) -> ProgramDesk:
    desk = _desk(request)
    await desk.admit(authorization, network_of(request.client.host if request.client else ""), use)
    if request.scope.get(ASKED_HEAD):
        raise Refused(405, "not-allowed", "Ask with GET: what there is can only be said by reading it.")
    return desk


async def results(
    request: Request,
    authorization: Token = "",
    since: Annotated[str, Query(max_length=64)] = "",
    pilots: Pilots = "without",
) -> StreamingResponse:
    """Choices and people since a cursor or a moment, one JSON object a line; the last line has the next cursor."""
    desk = await _admitted(request, authorization, "results")
    asked = await accept(desk.context, since, pilots)
    return Seated(desk, lines(desk.context, asked))


async def metrics(request: Request, authorization: Token = "") -> Response:
    """People, requests and the database in numbers, as Prometheus reads them."""
    desk = await _admitted(request, authorization, "metrics")
    store, now = desk.context.store, desk.context.now()
    seen = await store.write(lambda connection: measured(connection, store, desk.counts, now))
    return Response(in_text(seen), media_type=FORMAT)


class Seated(StreamingResponse):
    """Lines of JSON for one of a few readers at once."""

    def __init__(self, desk: ProgramDesk, told: AsyncIterator[bytes]) -> None:
        super().__init__(told, media_type=JSON_LINES)
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it if there is a seat, which is free again whatever becomes of the connection."""
        with self._desk.seat():
            await super().__call__(scope, receive, send)


_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}, "description": "Prometheus' text format"}}
_REFUSED: dict[int | str, dict[str, Any]] = {status: {"model": Refusal} for status in (401, 405, 410, 422, 429, 503)}
_LINES: dict[int | str, dict[str, Any]] = {200: {"content": {JSON_LINES: {}}, "description": "Lines of JSON"}}

program_router = APIRouter(tags=["programs"])
"""For an application whose state has `programs`."""
program_router.add_api_route(
    "/api/results", results, methods=["GET"], response_class=StreamingResponse, responses=_REFUSED | _LINES
)
program_router.add_api_route("/metrics", metrics, methods=["GET"], response_class=Response, responses=_REFUSED | _TEXT)
