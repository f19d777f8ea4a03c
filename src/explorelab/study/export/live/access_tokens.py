"""Tokens for programs: made and revoked by the researcher, known to the database only by a keyed hash."""

from __future__ import annotations

import hmac
import re
import secrets
from typing import Literal, NamedTuple

from sqlalchemy import Connection, delete, insert, select

from explorelab.errors import InputError, unknown_name
from explorelab.study.database.tables import access_tokens

type Use = Literal["results", "metrics"]

USES: tuple[Use, ...] = ("results", "metrics")
START = "xl_"
"""How tokens begin, so that one in a file or a log is recognised for what it is."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Known(NamedTuple):
    """A token, as far as it is remembered."""

    name: str
    use: str
    made_at: float


def make(connection: Connection, secret: bytes, name: str, use: str, now: float) -> str:
    """A new token; it cannot be shown again."""
    if use not in USES:
        raise unknown_name("use of a token", use, USES)
    if not _NAME.fullmatch(name):
        raise InputError(f"a token's name must be 1 to 64 letters, digits, '.', '-' and '_', got {name!r}.")
    if any(known.name == name for known in known_tokens(connection)):
        raise InputError(f"there is a token named {name!r} already: revoke it first, or choose another name.")
    token = START + secrets.token_urlsafe(32)
    row = {"name": name, "use": use, "digest": _digest(secret, token), "made_at": now}
    connection.execute(insert(access_tokens).values(row))
    return token


def revoke(connection: Connection, name: str) -> None:
    """Make a token useless from now on."""
    if not connection.execute(delete(access_tokens).where(access_tokens.c.name == name)).rowcount:
        raise unknown_name("token", name, [known.name for known in known_tokens(connection)])


def known_tokens(connection: Connection) -> list[Known]:
    """All tokens, the oldest first."""
    query = select(access_tokens.c.name, access_tokens.c.use, access_tokens.c.made_at).order_by(access_tokens.c.id)
    return [Known(*row) for row in connection.execute(query)]


def name_of(connection: Connection, secret: bytes, token: str, use: Use) -> str | None:
    """The name of the token, if it is one of this study's for that use."""
    if not token.startswith(START):
        return None
    query = select(access_tokens.c.name).where(access_tokens.c.digest == _digest(secret, token), access_tokens.c.use == use)
    return connection.execute(query).scalar_one_or_none()


def _digest(secret: bytes, token: str) -> str:
    """Tokens are random enough not to need a slow hash; the key makes a copy of the table useless elsewhere."""
    return hmac.new(secret, b"access:" + token.encode(), "sha256").hexdigest()
