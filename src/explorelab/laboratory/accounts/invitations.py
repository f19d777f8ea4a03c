"""Invitations: a link that works once and for a week, of which only a digest is kept."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select

from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.database.lab_tables import invitations
from explorelab.study.database.refusals import Refused

LASTS_S = 7 * 24 * 3600.0


class Invitation(NamedTuple):
    """Somebody is invited to this role, in a study or in the laboratory."""

    id: int
    study: int | None
    role: Role
    for_whom: str
    made_by: str
    ends_at: float


def invite(connection: Connection, study: int | None, role: Role, for_whom: str, by: str, now: float) -> str:
    """The secret of a new invitation, which cannot be shown again."""
    secret = secrets.token_urlsafe(32)
    values = {
        "digest": _digest(secret), "study": study, "role": role.value, "for_whom": for_whom.strip()[:100], "made_by": by,
        "made_at": now, "ends_at": now + LASTS_S,
    }  # fmt: skip
    connection.execute(insert(invitations).values(values))
    return secret


def look_at(connection: Connection, secret: str, now: float) -> Invitation:
    """The invitation with this secret, if it is still good."""
    query = select(invitations).where(invitations.c.digest == _digest(secret), invitations.c.ends_at > now)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise _gone()
    return _read(row)


def use(connection: Connection, secret: str, now: float) -> Invitation:
    """The invitation with this secret, which nobody can use again."""
    found = look_at(connection, secret, now)
    # Of two who use it at once, one finds it gone.
    if connection.execute(delete(invitations).where(invitations.c.id == found.id)).rowcount != 1:
        raise _gone()
    return found


def revoke(connection: Connection, invitation: int, where: ColumnElement[bool]) -> None:
    """Make an invitation useless, if it is one of those."""
    if connection.execute(delete(invitations).where(invitations.c.id == invitation, where)).rowcount != 1:
        raise Refused(404, "unknown", "There is no such invitation any more.")


def revoke_all(connection: Connection, by: str, study: int | None) -> None:
    """Make everything useless by which this person has invited to a study or, without one, anywhere."""
    where = invitations.c.made_by == by
    connection.execute(delete(invitations).where(where if study is None else where & of(study)))


def open_invitations(connection: Connection, where: ColumnElement[bool], now: float) -> list[Invitation]:
    """Those that can still be used, the newest first; forgets the others."""
    query = select(invitations).where(where, invitations.c.ends_at > now).order_by(invitations.c.id.desc())
    return [_read(row) for row in connection.execute(query)]


def of(study: int | None) -> ColumnElement[bool]:
    """The invitations to this study, or to the laboratory."""
    return invitations.c.study.is_(None) if study is None else invitations.c.study == study


def _read(row: Row[Any]) -> Invitation:
    return Invitation(row.id, row.study, Role(row.role), row.for_whom, row.made_by, row.ends_at)


def _digest(secret: str) -> str:
    """Secrets are random enough not to need a slow hash."""
    return sha256(f"invitation:{secret}".encode()).hexdigest()


def _gone() -> Refused:
    return Refused(410, "gone", "This invitation has been used, has expired, or has been taken back: ask for a new one.")
