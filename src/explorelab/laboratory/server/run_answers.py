"""Answers about running a study: pilots, reports, backups, payments, and finding somebody by their platform ID."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from fastapi import Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from explorelab.errors import InputError
from explorelab.laboratory.running import errands
from explorelab.laboratory.server.lab_answers import Asking
from explorelab.laboratory.server.lab_office import At, Here
from explorelab.study.admin import offline
from explorelab.study.database.refusals import Refused, invalid
from explorelab.study.robots.pilot_runs import links


class ErrandAsked(Asking):
    """What to do."""

    kind: Literal["pilot", "report", "backup"]
    people: int = Field(10, ge=1, le=200)
    """Robots of a pilot."""


class ErrandShown(BaseModel):
    """Something that takes long, under way or over."""

    number: int
    kind: str
    by: str
    at: float
    state: Literal["running", "done", "failed"]
    words: str
    """The last lines that it printed."""
    has_report: bool


class ErrandsShown(BaseModel):
    """The latest first."""

    errands: list[ErrandShown]


class Paying(Asking):
    """Whom to pay: everyone who is due, or the last files again; `also` those in doubt."""

    again: bool = False
    also: list[str] = Field([], max_length=500)


class PaymentFile(BaseModel):
    """A file for Prolific or MTurk."""

    name: str
    text: str


class Paid(BaseModel):
    """Payment files, and what the command line would print."""

    said: str
    files: list[PaymentFile]


class Finding(Asking):
    """Somebody's ID at Prolific or MTurk."""

    platform_id: str = Field(min_length=1, max_length=128)


class Said(BaseModel):
    """A sentence."""

    said: str


async def all_errands(at: At) -> ErrandsShown:
    """What takes long, under way or over."""
    found = await asyncio.to_thread(errands.errands, _place(at))
    return ErrandsShown(errands=[ErrandShown(**each._asdict()) for each in found])


async def begin_errand(request: Request, at: At, asked: ErrandAsked) -> ErrandsShown:
    """Begin a pilot, a report or a backup."""
    study = at.laboratory.folder.of(_open(at))
    host, port = request.scope.get("server") or ("127.0.0.1", 80)
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/s/{at.in_study.name}"
    commands = errands.commands_for(asked.kind, study, "{place}", url, asked.people)
    now = at.laboratory.now()
    await asyncio.to_thread(errands.start, _place(at), asked.kind, at.account.name, commands, now)
    await at.laboratory.database.write(lambda connection: at.note(connection, f"began a {asked.kind}"))
    return await all_errands(at)


async def report(at: At, number: int) -> Response:
    """A report as a file to keep: it has scripts of its own, so no page of ours shows it."""
    file = await asyncio.to_thread(errands.report_of, _place(at), number)
    return FileResponse(file, media_type="text/html", filename=f"{at.in_study.name}-report-{number}.html")


async def pilot_link(request: Request, at: At) -> Said:
    """Links for taking part as a pilot, by hand or with a page that plays by itself."""
    base = at.laboratory.own or f"{request.url.scheme}://{request.headers.get('host', '')}"
    address = f"{base}{at.laboratory.prefix}/s/{_open(at)}"
    return Said(said=await _told(lambda: links(at.laboratory.folder.of(at.in_study.name), address)))


async def pay(at: At, asked: Paying) -> Paid:
    """Bonus files for everyone who has finished and is due; nobody appears in two files."""
    study = at.laboratory.folder.of(_open(at))

    def paid() -> Paid:
        with tempfile.TemporaryDirectory(prefix="explorelab-pay-") as place:
            said = offline.pay(study, Path(place) / "payments", asked.again, asked.also)
            written = sorted(file for file in Path(place).rglob("*") if file.is_file())
            files = [PaymentFile(name=file.name, text=file.read_text(encoding="utf-8")) for file in written]
            return Paid(said=said.replace(f"{place}/", ""), files=files)

    found = await _told(paid)

    def noted(connection: Connection) -> None:
        at.note(connection, "wrote the last payment files again" if asked.again else "wrote payment files")

    if found.files:
        await at.laboratory.database.write(noted)
    return found


async def find(at: At, asked: Finding) -> Said:
    """The code of somebody with this platform ID."""
    study = at.laboratory.folder.of(_open(at))
    return Said(said=await _told(lambda: offline.find(study, asked.platform_id)))


async def _told[T](work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except InputError as error:
        raise invalid(str(error)) from None


def _open(at: Here) -> str:
    """The name of the study, which must not be archived."""
    if at.in_study.archived_at is not None:
        raise Refused(409, "not-served", "This study is archived: bring it back first.")
    return at.in_study.name


def _place(at: Here) -> Path:
    return at.laboratory.folder.folder / "errands" / at.in_study.name
