"""Accounts: made by an invitation, known by a name to log in and the slow hash of a password."""

from __future__ import annotations

import hmac
import re
import secrets
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from explorelab.laboratory.accounts.roles import check_not_last, role_of
from explorelab.laboratory.database.lab_tables import accounts
from explorelab.study.admin.entry.passwords import hashed
from explorelab.study.database.refusals import Refused, invalid

SHORTEST, LONGEST = 10, 200
"""Characters of a password."""
_LOGIN = re.compile(r"[a-z0-9][a-z0-9._@+-]{1,63}")
_NOBODY = bytes(16)
"""The salt that passwords for unknown names are hashed with, so that these take as long."""


class Account(NamedTuple):
    """Somebody who may log in."""

    id: int
    login: str
    name: str


class Hashed(NamedTuple):
    """What is kept of a password."""

    salt: str
    digest: str


def hash_of(password: str) -> Hashed:
    """What is kept of a new password; takes about 50 ms, so never call it in the event loop or in a transaction."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise invalid(f"The password must have {SHORTEST} to {LONGEST} characters, got {len(password)}.")
    salt = secrets.token_bytes(16)
    return Hashed(salt.hex(), hashed(password, salt).hex())


class Known(NamedTuple):
    """An account with what is kept of its password, or nobody's."""

    account: Account | None
    password: Hashed

    def opens(self, password: str) -> bool:
        """Whether this is the password; takes the same time whether or not there is such an account."""
        same = hmac.compare_digest(hashed(password, bytes.fromhex(self.password.salt)).hex(), self.password.digest)
        return same and self.account is not None


def known(connection: Connection, login: str) -> Known:
    """The account of this name to log in, or a stand-in that no password opens."""
    row = connection.execute(select(accounts).where(accounts.c.login == plain(login))).one_or_none()
    if row is None:
        return Known(None, Hashed(_NOBODY.hex(), ""))
    return Known(Account(row.id, row.login, row.name), Hashed(row.salt, row.digest))


def plain(login: str) -> str:
    """The name to log in as it is stored."""
    return login.strip().lower()


def check_names(login: str, name: str) -> None:
    """Refuse names that nobody could read or type."""
    if not _LOGIN.fullmatch(plain(login)):
        raise invalid(
            "The name to log in must have 2 to 64 of the letters a to z, digits and . _ @ + -, the first a letter or digit."
        )
    if not 1 <= len(name.strip()) <= 100 or not name.isprintable():
        raise invalid("Your name must be one line of at most 100 characters.")


def add(connection: Connection, login: str, name: str, password: Hashed, now: float) -> Account:
    """A new account, without any role."""
    check_names(login, name)
    if known(connection, login).account is not None:
        raise Refused(409, "taken", "This name to log in is taken: choose another.")
    values = {"login": plain(login), "name": name.strip(), "made_at": now, **password._asdict()}
    number = connection.execute(insert(accounts).values(values)).inserted_primary_key[0]  # type: ignore[index]
    return Account(int(number), values["login"], values["name"])


def change_password(connection: Connection, account: int, password: Hashed) -> None:
    """Give an account another password."""
    connection.execute(update(accounts).where(accounts.c.id == account).values(password._asdict()))


def remove(connection: Connection, account: int) -> Account:
    """Remove an account with its sessions, roles and drafts; what it did stays in the history under its name."""
    removed = account_of(connection, account)
    if role_of(connection, account, None) is not None:
        check_not_last(connection, account)
    connection.execute(delete(accounts).where(accounts.c.id == account))
    return removed


def account_of(connection: Connection, account: int) -> Account:
    """The account of this number."""
    row = connection.execute(select(accounts).where(accounts.c.id == account)).one_or_none()
    if row is None:
        raise unknown()
    return Account(row.id, row.login, row.name)


def unknown() -> Refused:
    """The refusal to anyone who asks for an account that is not there, or none of their business."""
    return Refused(404, "unknown", "There is no such account.")


def all_accounts(connection: Connection) -> list[Account]:
    """Everyone who may log in, by name."""
    rows = connection.execute(select(accounts).order_by(accounts.c.name, accounts.c.id))
    return [Account(row.id, row.login, row.name) for row in rows]
