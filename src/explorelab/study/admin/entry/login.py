"""Who may see the researcher's page: one password, a signed cookie, and for every change a second token from the same site.

The cookie holds a random name, an expiry time, and a signature by a key made from the server's secret and the password. So
no list of sessions is kept, several processes agree without communicating, and a new password ends every session. Only
logged-out sessions are remembered, until they would have expired anyway.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
from collections.abc import Callable

from fastapi import Request
from sqlalchemy import Connection, delete, insert, select

from explorelab.errors import InputError
from explorelab.study.admin.entry.entrance import Session, no_session
from explorelab.study.admin.entry.own_site import check_origin
from explorelab.study.admin.entry.passwords import hashed
from explorelab.study.database.refusals import Refused
from explorelab.study.database.tables import settings
from explorelab.study.server.limits.rate_limits import InDatabase, Limit
from explorelab.study.server.limits.request_limits import network_of

COOKIE = "explorelab_admin"
SESSION_S = 12 * 3600
KNOWN_COOKIE = "explorelab_known"
KNOWN_S = 180 * 24 * 3600
TOO_MANY = ("Too many wrong passwords: wait {wait}.", "too-many")
OF_ADDRESS = Limit("login-address", 5, 60.0, *TOO_MANY)
OF_ALL = Limit("login-all", 50, 150.0, *TOO_MANY)
"""For all unknown browsers together, so that having many addresses does not help."""
OF_KNOWN_BROWSER = Limit("login-known", 100, 100.0, *TOO_MANY)
LOGGED_OUT = "logged-out:"
"""Prefix of the settings that record logged-out sessions; the value is when the session would have ended."""


class Keeper:
    """Checks passwords, cookies and tokens. `origin` is the server's own address where a proxy hides it, else empty."""

    def __init__(self, password: str, secret: bytes, now: Callable[[], float], origin: str = "") -> None:
        if not password:
            raise InputError("the researcher's page needs a password, got an empty one.")
        self._now = now
        self._origin = origin.rstrip("/")
        self._salt = secrets.token_bytes(16)
        self._hash = hashed(password, self._salt)
        self._key = hmac.digest(secret, b"admin:" + password.encode(), "sha256")
        self.attempts = Attempts(secret)

    def is_password(self, password: str) -> bool:
        """Whether this is the password; always takes the same time (about 50 ms, so not in the event loop)."""
        return hmac.compare_digest(hashed(password, self._salt), self._hash)

    def new_cookie(self) -> str:
        """The cookie of a new session."""
        text = f"{secrets.token_hex(16)}.{math.floor(self._now() + SESSION_S)}"
        return f"{text}.{self._signature('session', text)}"

    def session(self, cookie: str | None) -> Session:
        """The session of this cookie; refused if forged or expired. Logging out is checked separately."""
        name, _, rest = (cookie or "").partition(".")
        ends_at, _, signature = rest.partition(".")
        expected = self._signature("session", f"{name}.{ends_at}")
        if not hmac.compare_digest(signature.encode(), expected.encode()) or float(ends_at) <= self._now():
            raise no_session()
        return Session(name, float(ends_at))

    def new_known_cookie(self) -> str:
        """The cookie that identifies a browser that has logged in before; it grants no access by itself."""
        name = secrets.token_hex(16)
        return f"{name}.{self._signature('known', name)}"

    def known_browser(self, request: Request) -> str | None:
        """The name of the browser, if it has logged in before."""
        name, _, signature = request.cookies.get(KNOWN_COOKIE, "").partition(".")
        if hmac.compare_digest(signature.encode(), self._signature("known", name).encode()):
            return name
        try:
            return self.session(request.cookies.get(COOKIE)).name
        except Refused:
            return None

    def csrf_token(self, session: Session) -> str:
        """The token that this session's pages send with every change; other sites cannot read it."""
        return self._signature("csrf", session.name)

    def check_change(self, request: Request, session: Session) -> None:
        """Refuse a change that does not come from the session's own page."""
        check_origin(request, self._origin)
        token = request.headers.get("x-csrf-token", "")
        if not hmac.compare_digest(token.encode(), self.csrf_token(session).encode()):
            raise Refused(403, "csrf", "The request has no valid X-CSRF-Token: reload the page.")

    def _signature(self, use: str, text: str) -> str:
        return hmac.new(self._key, f"{use}:{text}".encode(), hashlib.sha256).hexdigest()


class Attempts:
    """Wrong passwords, counted for all processes together: of each address, of all of them, and of each known browser.

    A browser that has logged in before counts for itself: whatever others do, the right password gets in from there.
    """

    def __init__(self, secret: bytes) -> None:
        of = (InDatabase(limit, secret) for limit in (OF_ADDRESS, OF_ALL, OF_KNOWN_BROWSER))
        self._of_address, self._of_all, self._of_known_browser = of

    def begin(self, connection: Connection, address: str, known: str | None, now: float) -> None:
        """Count an attempt as failed until `succeeded` is called, so that many at once do not help; or refuse it."""
        for limit, caller in self._limits(address, known):
            limit.count(connection, caller, now)

    def succeeded(self, connection: Connection, address: str, known: str | None) -> None:
        """Forget the failures of an address or browser that sent the right password."""
        limit, caller = self._limits(address, known)[0]
        limit.give_back(connection, caller)

    def _limits(self, address: str, known: str | None) -> list[tuple[InDatabase, str]]:
        if known is not None:
            return [(self._of_known_browser, known)]
        return [(self._of_address, network_of(address)), (self._of_all, "")]


def log_out(connection: Connection, session: Session, now: float) -> None:
    """Record that the session is over, and forget those that have expired."""
    ended = connection.execute(select(settings).where(settings.c.name.startswith(LOGGED_OUT, autoescape=True))).all()
    over = [row.name for row in ended if float(row.value) <= now]
    if over:
        connection.execute(delete(settings).where(settings.c.name.in_(over)))
    name = LOGGED_OUT + session.name
    if name not in {row.name for row in ended}:
        connection.execute(insert(settings).values(name=name, value=str(session.ends_at)))


def is_logged_out(connection: Connection, session: Session) -> bool:
    """Whether someone logged out of this session."""
    query = select(settings.c.name).where(settings.c.name == LOGGED_OUT + session.name)
    return connection.execute(query).one_or_none() is not None
