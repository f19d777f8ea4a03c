"""Every address of the laboratory, with the right that it needs: a route without a right cannot exist.

Routes with `{study}` in their address need the right in that study, all others in the laboratory.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from explorelab.laboratory.server import account_answers as account
from explorelab.laboratory.server import edit_answers as edit
from explorelab.laboratory.server import run_answers as run
from explorelab.laboratory.server import study_answers as study
from explorelab.laboratory.server.lab_answers import Done, Entering, Holding, Invited, Joining, NewPassword
from explorelab.laboratory.server.lab_office import enter, office_of
from explorelab.study.admin.entry.rights import Right
from explorelab.study.database.refusals import Refusal, Refused
from explorelab.study.server.built_pages import STATIC

type Settings = dict[str, Any]


async def page(request: Request) -> Response:
    """The laboratory's page; without a session, the way to log in."""
    try:
        await office_of(request).desk.visit(request, Right.ENTER)
    except Refused as refused:
        if refused.status == 401:
            return RedirectResponse("lab/login", 303)
    return _page("laboratory.html")


async def without_slash() -> Response:
    """The laboratory's page is at the address without a slash."""
    return RedirectResponse("../lab", 303)


async def front() -> Response:
    """Researchers' page; participants have the address of their study."""
    return RedirectResponse("lab", 303)


async def login_page() -> Response:
    """The form to log in."""
    return _page("enter.html")


async def join_page() -> Response:
    """The form to make an account; the invitation is in the part of the address that browsers send to nobody."""
    return _page("enter.html")


async def nothing(rest: str) -> Response:
    """Answer 404 for every other address."""
    raise Refused(404, "unknown", "There is nothing at this address.")


def _page(name: str) -> Response:
    return HTMLResponse((Path(STATIC) / name).read_text(encoding="utf-8"))


def _secret(body: type) -> Settings:
    """A body that the route reads by itself, so that no refusal repeats what is in it."""
    schema = body.model_json_schema()  # type: ignore[attr-defined]
    return {"openapi_extra": {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}}


HIDDEN: Settings = {"include_in_schema": False}
PAGE: Settings = {"response_class": HTMLResponse, **HIDDEN}
STUDY = "/api/studies/{study}"

ROUTES: tuple[tuple[str, str, Right, Callable[..., Any], Settings], ...] = (
    ("GET", "", Right.ANYONE, page, PAGE),  # it sees to it by itself, so that a browser is sent to the login
    ("GET", "/", Right.ANYONE, without_slash, PAGE),
    ("GET", "/login", Right.ANYONE, login_page, PAGE),
    ("GET", "/join", Right.ANYONE, join_page, PAGE),
    ("POST", "/login", Right.ANYONE, account.log_in, {"response_model": Done, **_secret(Entering)}),
    ("POST", "/join", Right.ANYONE, account.join, {"response_model": Done, **_secret(Joining)}),
    ("POST", "/api/invitation", Right.ANYONE, account.look_at_invitation, {"response_model": Invited, **_secret(Holding)}),
    ("POST", "/logout", Right.ENTER, account.log_out, {"status_code": 204}),
    ("GET", "/api/me", Right.ENTER, account.me, {}),
    ("POST", "/api/accept", Right.ENTER, account.accept, _secret(Holding)),
    ("POST", "/api/password", Right.ENTER, account.password, _secret(NewPassword)),
    ("GET", "/api/sessions", Right.ENTER, account.sessions, {}),
    ("POST", "/api/sessions/{number}/end", Right.ENTER, account.end_session, {}),
    ("GET", "/api/members", Right.LEAD, account.members, {}),
    ("POST", "/api/members/{number}/role", Right.LEAD, account.give_role, {}),
    ("POST", "/api/members/{number}/remove", Right.LEAD, account.remove, {}),
    ("POST", "/api/invitations", Right.LEAD, account.invite, {}),
    ("POST", "/api/invitations/{number}/revoke", Right.LEAD, account.revoke_invitation, {}),
    ("GET", "/api/deeds", Right.LEAD, account.deeds, {}),
    ("GET", "/api/studies", Right.ENTER, study.studies, {}),
    ("POST", "/api/studies", Right.LEAD, study.create, {}),
    ("GET", STUDY, Right.SEE, study.one_study, {}),
    ("POST", f"{STUDY}/open", Right.RUN, study.open_study, {}),
    ("POST", f"{STUDY}/close", Right.RUN, study.close_study, {}),
    ("POST", f"{STUDY}/again", Right.EDIT, study.try_again, {}),
    ("POST", f"{STUDY}/archive", Right.OWN, study.archive_study, {}),
    ("POST", f"{STUDY}/back", Right.OWN, study.bring_back, {}),
    ("GET", f"{STUDY}/files", Right.SEE, edit.files, {}),
    ("POST", f"{STUDY}/check", Right.EDIT, edit.check, {}),
    ("POST", f"{STUDY}/forget", Right.EDIT, edit.forget, {}),
    ("POST", f"{STUDY}/preview", Right.EDIT, edit.preview, {}),
    ("POST", f"{STUDY}/save", Right.EDIT, edit.save_files, {}),
    ("POST", f"{STUDY}/pictures", Right.EDIT, edit.picture, {}),
    ("GET", f"{STUDY}/versions", Right.SEE, edit.all_versions, {}),
    ("GET", f"{STUDY}/versions/{{number}}", Right.SEE, edit.differences, {}),
    ("POST", f"{STUDY}/versions/{{number}}/restore", Right.EDIT, edit.restore, {}),
    ("GET", f"{STUDY}/errands", Right.RUN, run.all_errands, {}),
    ("POST", f"{STUDY}/errands", Right.RUN, run.begin_errand, {}),
    ("GET", f"{STUDY}/errands/{{number}}/report", Right.RUN, run.report, {"response_class": Response}),
    ("GET", f"{STUDY}/pilot", Right.RUN, run.pilot_link, {}),
    ("POST", f"{STUDY}/pay", Right.NAMES, run.pay, {}),
    ("POST", f"{STUDY}/find", Right.NAMES, run.find, {}),
    ("GET", f"{STUDY}/deeds", Right.SEE, account.deeds, {}),
    ("GET", f"{STUDY}/members", Right.OWN, account.members, {}),
    ("POST", f"{STUDY}/members/{{number}}/role", Right.OWN, account.give_role, {}),
    ("POST", f"{STUDY}/invitations", Right.OWN, account.invite, {}),
    ("POST", f"{STUDY}/invitations/{{number}}/revoke", Right.OWN, account.revoke_invitation, {}),
    ("GET", "/{rest:path}", Right.ANYONE, nothing, HIDDEN),
)
"""Who may what: `scripts/rights.py` writes docs/laboratory-rights.md from it, and a test tries every role everywhere."""


def _needs(right: Right, changes: bool) -> Callable[[Request], Coroutine[Any, Any, None]]:
    async def let_in(request: Request) -> None:
        await enter(request, right, changes)

    return let_in


lab_router = APIRouter(
    prefix="/lab", tags=["laboratory"], responses={status: {"model": Refusal} for status in (401, 403, 404)}
)
"""For an application whose state has a `lab_office`."""
for _method, _path, _right, _answer, _settings in ROUTES:
    _checks = [] if _right == Right.ANYONE else [Depends(_needs(_right, _method != "GET"))]
    lab_router.add_api_route(_path, _answer, methods=[_method], dependencies=_checks, **_settings)
