"""Where researchers log in to the laboratory, and where it is said what each may do."""

from __future__ import annotations

import hmac
from typing import NamedTuple

from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from sqlalchemy import Connection

from explorelab.laboratory.accounts import lab_sessions
from explorelab.laboratory.accounts.accounts import Account, Hashed, add, change_password, hash_of, known
from explorelab.laboratory.accounts.invitations import Invitation, look_at, use
from explorelab.laboratory.accounts.lab_sessions import LASTS_S, LabSession, csrf_of
from explorelab.laboratory.accounts.roles import give, rights_of, role_of, strongest
from explorelab.laboratory.hosting.study_list import note, unknown
from explorelab.laboratory.server.laboratory import Laboratory
from explorelab.study.admin.entry.entrance import no_session
from explorelab.study.admin.entry.login import KNOWN_S, TOO_MANY, Attempts
from explorelab.study.admin.entry.own_site import CookieSettings, check_origin, cookie_settings
from explorelab.study.admin.entry.passwords import AT_ONCE
from explorelab.study.admin.entry.rights import Right
from explorelab.study.database.refusals import Refused
from explorelab.study.server.limits.rate_limits import InDatabase, Limit

COOKIE, KNOWN_COOKIE = "explorelab_lab", "explorelab_lab_known"
LOGIN = "/lab/login"
WRONG = ("wrong-password", "Wrong name or password.")
OF_NAME = Limit("login-name", 20, 600.0, *TOO_MANY)
"""For one name from unknown browsers, whether or not anybody has it."""


class Visit(NamedTuple):
    """Somebody who is logged in, and what they may do where they are."""

    session: LabSession
    rights: frozenset[Right]

    @property
    def account(self) -> Account:
        """Whose session it is."""
        return self.session.account


class LabDesk:
    """Knows who is logged in, and lets people in by password or invitation."""

    def __init__(self, laboratory: Laboratory) -> None:
        self.laboratory = laboratory
        secret = laboratory.database.secret
        self._attempts, self._of_name = Attempts(secret), InDatabase(OF_NAME, secret)
        self._few = CapacityLimiter(AT_ONCE)

    async def visit(self, request: Request, right: Right, study: int | None = None) -> Visit:
        """Who asks; refused without a session, or without the right in this study or, if None, the laboratory."""
        now, cookie = self.laboratory.now(), request.cookies.get(COOKIE, "")

        def look(connection: Connection) -> Visit | None:
            session = lab_sessions.found(connection, cookie, now) if cookie else None
            return None if session is None else Visit(session, rights_of(connection, session.account.id, study))

        visit = await self.laboratory.database.read(look)
        if visit is None:
            raise no_session(LOGIN)
        if not visit.rights:
            raise unknown()  # nobody learns here which studies others have
        if right not in visit.rights:
            raise Refused(403, "not-allowed", "Your role does not allow this: ask an owner of the study or the laboratory.")
        if now > visit.session.seen_at + lab_sessions.SEEN_EVERY_S:
            await self.laboratory.database.write(lambda connection: lab_sessions.seen(connection, visit.session.id, now))
        return visit

    async def is_here(self, request: Request) -> bool:
        """Whether somebody is logged in, whatever they may do."""
        now, cookie = self.laboratory.now(), request.cookies.get(COOKIE, "")
        found = lab_sessions.found
        return (
            bool(cookie)
            and await self.laboratory.database.read(lambda connection: found(connection, cookie, now)) is not None
        )

    def check_change(self, request: Request, session: LabSession) -> None:
        """Refuse a change that does not come from the session's own page."""
        check_origin(request, self.laboratory.own)
        token = request.headers.get("x-csrf-token", "")
        if not hmac.compare_digest(token.encode(), self.csrf(session).encode()):
            raise Refused(403, "csrf", "The request has no valid X-CSRF-Token: reload the page.")

    def csrf(self, session: LabSession) -> str:
        """The token that the session's pages send with every change."""
        return csrf_of(self.laboratory.database.secret, session)

    async def log_in(self, request: Request, response: Response, login: str, password: str) -> Response:
        """The response with the cookie of a new session, whatever session there was before."""
        check_origin(request, self.laboratory.own)
        account = await self._proven(request, login, password)
        return await self._let_in(request, response, account)

    async def confirm(self, request: Request, visit: Visit, password: str) -> None:
        """Refuse unless this is the password of whoever is logged in; counted like a login."""
        await self._proven(request, visit.account.login, password)

    async def join(
        self, request: Request, response: Response, secret: str, login: str, name: str, password: str
    ) -> Response:
        """The response with the first session of a new account, which the invitation allows."""
        check_origin(request, self.laboratory.own)
        now = self.laboratory.now()
        # Only whoever has an invitation has passwords hashed.
        await self.laboratory.database.read(lambda connection: look_at(connection, secret, now))
        kept: Hashed = await to_thread.run_sync(hash_of, password, limiter=self._few)

        def joined(connection: Connection) -> Account:
            invitation = use(connection, secret, now)
            account = add(connection, login, name, kept, now)
            self._grant(connection, account, invitation, now)
            return account

        return await self._let_in(request, response, await self.laboratory.database.write(joined))

    async def accept(self, visit: Visit, secret: str) -> None:
        """Use an invitation for an account that there is already; it never takes anything away."""
        now = self.laboratory.now()
        write = self.laboratory.database.write
        await write(lambda connection: self._grant(connection, visit.account, use(connection, secret, now), now))

    async def change_password(self, visit: Visit, password: str) -> None:
        """Give the account another password, and end its other sessions."""
        kept = await to_thread.run_sync(hash_of, password, limiter=self._few)

        def changed(connection: Connection) -> None:
            change_password(connection, visit.account.id, kept)
            lab_sessions.end(connection, visit.account.id, but=visit.session.id)

        await self.laboratory.database.write(changed)

    async def log_out(self, request: Request, response: Response, session: LabSession) -> Response:
        """The response that removes the cookie; the session ends, even for anyone with a copy of it."""
        end = lab_sessions.end
        await self.laboratory.database.write(lambda connection: end(connection, session.account.id, session.id))
        response.set_cookie(COOKIE, "", 0, expires=0, **self._kept(request))
        return response

    async def _proven(self, request: Request, login: str, password: str) -> Account:
        """The account with this name and password; every attempt counts as wrong until it is not."""
        database, now = self.laboratory.database, self.laboratory.now()
        address = request.client.host if request.client else ""
        browser = self._known_browser(request, login)

        def begun(connection: Connection) -> None:
            self._attempts.begin(connection, address, browser, now)
            if browser is None:
                self._of_name.count(connection, login.strip().lower(), now)

        await database.write(begun)
        found = await database.read(lambda connection: known(connection, login))
        right = await to_thread.run_sync(found.opens, password, limiter=self._few)
        if not right or found.account is None:
            raise Refused(401, *WRONG)
        await database.write(lambda connection: self._attempts.succeeded(connection, address, browser))
        return found.account

    async def _let_in(self, request: Request, response: Response, account: Account) -> Response:
        now, browser = self.laboratory.now(), request.headers.get("user-agent", "")
        before = request.cookies.get(COOKIE, "")

        def begun(connection: Connection) -> str:
            old = lab_sessions.found(connection, before, now) if before else None
            if old is not None:
                lab_sessions.end(connection, old.account.id, old.id)
            return lab_sessions.begin(connection, account.id, browser, now)

        cookie = await self.laboratory.database.write(begun)
        response.set_cookie(COOKIE, cookie, int(LASTS_S), **self._kept(request))
        response.set_cookie(KNOWN_COOKIE, self._known_cookie(account.login), KNOWN_S, **self._kept(request))
        return response

    def _grant(self, connection: Connection, account: Account, invitation: Invitation, now: float) -> None:
        held = role_of(connection, account.id, invitation.study)
        give(connection, account.id, invitation.study, strongest(held, invitation.role))
        note(
            connection, invitation.study, account.name, f"joined as {invitation.role}, invited by {invitation.made_by}", now
        )

    def _kept(self, request: Request) -> CookieSettings:
        """Cookies are for all of the laboratory, with its studies below it."""
        return cookie_settings(request, self.laboratory.own, self.laboratory.prefix or "/")

    def _known_cookie(self, login: str) -> str:
        """Marks a browser in which somebody has logged in before; it opens nothing by itself."""
        return hmac.new(self.laboratory.database.secret, f"known:{login}".encode(), "sha256").hexdigest()

    def _known_browser(self, request: Request, login: str) -> str | None:
        """The name of a browser in which the owner of this account has logged in before."""
        expected = self._known_cookie(login.strip().lower())
        return (
            expected[:16] if hmac.compare_digest(request.cookies.get(KNOWN_COOKIE, "").encode(), expected.encode()) else None
        )
