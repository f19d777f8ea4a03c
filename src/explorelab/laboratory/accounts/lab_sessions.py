"""Sessions of those who are logged in: a random cookie of which only a digest is kept, so that each can be ended."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, insert, select, update

from explorelab.laboratory.accounts.accounts import Account
from explorelab.laboratory.database.lab_tables import accounts, sessions

LASTS_S = 12 * 3600.0
SEEN_EVERY_S = 60.0
"""How exactly it is known when a session was last used."""


class LabSession(NamedTuple):
    """Somebody who is logged in with a browser."""

    id: int
    account: Account
    browser: str
    made_at: float
    seen_at: float
    ends_at: float
    digest: str


def begin(connection: Connection, account: int, browser: str, now: float) -> str:
    """The cookie of a new session; expired ones are forgotten."""
    connection.execute(delete(sessions).where(sessions.c.ends_at <= now))
    cookie = secrets.token_urlsafe(32)
    values = {
        "digest": _digest(cookie), "account": account, "browser": "".join(filter(str.isprintable, browser))[:100],
        "made_at": now, "seen_at": now, "ends_at": now + LASTS_S,
    }  # fmt: skip
    connection.execute(insert(sessions).values(values))
    return cookie


def found(connection: Connection, cookie: str, now: float) -> LabSession | None:
    """The session of this cookie, unless it has ended."""
    query = _SESSIONS.where(sessions.c.digest == _digest(cookie), sessions.c.ends_at > now)
    row = connection.execute(query).one_or_none()
    return None if row is None else _read(row)


def seen(connection: Connection, session: int, now: float) -> None:
    """Note that a session is used."""
    connection.execute(update(sessions).where(sessions.c.id == session).values(seen_at=now))


def end(connection: Connection, account: int, session: int | None = None, but: int | None = None) -> int:
    """End a session of an account or, without one, all of them (but one); how many there were."""
    which = sessions.c.account == account
    if session is not None:
        which &= sessions.c.id == session
    if but is not None:
        which &= sessions.c.id != but
    return int(connection.execute(delete(sessions).where(which)).rowcount)


def of_account(connection: Connection, account: int, now: float) -> list[LabSession]:
    """Where somebody is logged in, the last used first."""
    query = _SESSIONS.where(sessions.c.account == account, sessions.c.ends_at > now)
    return [_read(row) for row in connection.execute(query.order_by(sessions.c.seen_at.desc()))]


def csrf_of(secret: bytes, session: LabSession) -> str:
    """The token that this session's pages send with every change; other sites cannot read it."""
    return hmac.new(secret, f"csrf:{session.digest}".encode(), "sha256").hexdigest()


_SESSIONS = select(sessions, accounts.c.login, accounts.c.name).join(accounts, accounts.c.id == sessions.c.account)


def _read(row: Row[Any]) -> LabSession:
    account = Account(row.account, row.login, row.name)
    return LabSession(row.id, account, row.browser, row.made_at, row.seen_at, row.ends_at, row.digest)


def _digest(cookie: str) -> str:
    return sha256(f"session:{cookie}".encode()).hexdigest()
