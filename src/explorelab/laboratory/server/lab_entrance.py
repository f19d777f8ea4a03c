"""The entrance of a study in a laboratory: by the laboratory's accounts, with the rights of their role in this study."""

from __future__ import annotations

from fastapi import Request, Response

from explorelab.laboratory.hosting.study_list import unknown
from explorelab.laboratory.server.lab_desk import LabDesk, Visit
from explorelab.study.admin.answers import SessionInfo
from explorelab.study.admin.entry.entrance import Session
from explorelab.study.admin.entry.rights import OF_A_STUDY, Right


class LabEntrance:
    """Lets researchers of this one study in."""

    login_page = "../../lab/login"

    def __init__(self, desk: LabDesk, study: int) -> None:
        self._desk, self._study = desk, study

    async def session(self, request: Request, right: Right) -> Session:
        """The session of the request; refused if there is none, or if it lacks the right in this study."""
        visit = await self._desk.visit(request, right, self._study)
        request.state.visit = visit
        return Session(visit.session.digest, visit.session.ends_at)

    def check_change(self, request: Request, session: Session) -> None:
        """Refuse a change that does not come from the session's own page."""
        self._desk.check_change(request, _visit(request).session)

    async def session_info(self, request: Request, session: Session) -> SessionInfo:
        """What the page needs to know about its session."""
        visit = _visit(request)
        rights = [right for right in OF_A_STUDY if right in visit.rights]
        csrf = self._desk.csrf(visit.session)
        return SessionInfo(csrf=csrf, ends_at=session.ends_at, rights=rights, laboratory="../../lab")

    async def log_in(self, request: Request, response: Response) -> Response:
        """Nobody logs in to a single study."""
        raise unknown()

    async def log_out(self, request: Request, response: Response, session: Session) -> Response:
        """The response that removes the session's cookie; the session ends, even for anyone with a copy of it."""
        return await self._desk.log_out(request, response, _visit(request).session)


def _visit(request: Request) -> Visit:
    visit: Visit = request.state.visit
    return visit
