"""What the laboratory's routes have at hand: who asks, which study it is about, and the studies that are served."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from fastapi import Depends, Request
from sqlalchemy import Connection

from explorelab.laboratory.accounts.accounts import Account
from explorelab.laboratory.hosting.hosted_studies import HostedStudies
from explorelab.laboratory.hosting.study_list import Registered, note, registered, unknown
from explorelab.laboratory.server.lab_desk import LabDesk, Visit
from explorelab.laboratory.server.laboratory import Laboratory
from explorelab.study.admin.entry.rights import OF_A_STUDY, Right
from explorelab.study.database.refusals import Refused


class LabOffice(NamedTuple):
    """The laboratory, its entrance, and its studies."""

    laboratory: Laboratory
    desk: LabDesk
    hosted: HostedStudies


class Here(NamedTuple):
    """Somebody with the right that the address needs, and where they are."""

    office: LabOffice
    visit: Visit
    study: Registered | None
    """The study in the address, if there is one."""

    @property
    def laboratory(self) -> Laboratory:
        """The laboratory."""
        return self.office.laboratory

    @property
    def account(self) -> Account:
        """Who asks."""
        return self.visit.account

    @property
    def in_study(self) -> Registered:
        """The study that the address names."""
        if self.study is None:
            raise unknown()
        return self.study

    def note(self, connection: Connection, what: str) -> None:
        """Record what was done here, and by whom."""
        study = None if self.study is None else self.study.id
        note(connection, study, self.account.name, what, self.laboratory.now())


def office_of(request: Request) -> LabOffice:
    """The office of the application."""
    office: LabOffice = request.app.state.lab_office
    return office


async def enter(request: Request, right: Right, changes: bool) -> None:
    """Let in whoever has the right in the study that the address names or, if it names none, in the laboratory."""
    office = office_of(request)
    study, name = None, request.path_params.get("study")
    if name is None:
        assert right not in OF_A_STUDY, "a right about a study needs an address with a study"
    else:
        study = await _study(office, str(name))
        if study is None:
            await office.desk.visit(request, Right.ENTER)
            raise unknown()  # like a study of others, and only to those who are logged in
    visit = await office.desk.visit(request, right, None if study is None else study.id)
    if changes:
        office.desk.check_change(request, visit.session)
    if study is not None and study.archived_at is None and office.hosted.get(study.name) is None:
        await office.hosted.refresh()  # another process has just added it
    request.state.here = Here(office, visit, study)


async def _study(office: LabOffice, name: str) -> Registered | None:
    try:
        return await office.laboratory.database.read(lambda connection: registered(connection, name))
    except Refused:
        return None


def _here(request: Request) -> Here:
    here: Here = request.state.here
    return here


At = Annotated[Here, Depends(_here)]
Office = Annotated[LabOffice, Depends(office_of)]
