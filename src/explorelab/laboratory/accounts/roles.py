"""The three roles, and the rights that each gives: in one study, or in the whole laboratory."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from explorelab.laboratory.database.lab_tables import accounts, grants
from explorelab.study.admin.entry.rights import OF_A_STUDY, Right
from explorelab.study.database.refusals import Refused


class Role(StrEnum):
    """What somebody is, in a study or in the laboratory, the least first."""

    VIEWER = "viewer"
    HELPER = "helper"
    OWNER = "owner"


RIGHTS: dict[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset({Right.SEE}),
    Role.HELPER: frozenset({Right.SEE, Right.RUN, Right.EDIT}),
    Role.OWNER: frozenset(OF_A_STUDY),
}
"""What a role allows in a study. A helper never handles names: no platform IDs, no payment files."""
ORDER = list(Role)


def rights_of(connection: Connection, account: int, study: int | None) -> frozenset[Right]:
    """What an account may do: in this study or, without one, in the laboratory at large."""
    if study is None:
        leads = role_of(connection, account, None) == Role.OWNER
        return frozenset({Right.ENTER, Right.LEAD}) if leads else frozenset({Right.ENTER})
    role = strongest(role_of(connection, account, study), role_of(connection, account, None))
    return frozenset() if role is None else RIGHTS[role]


def strongest(*roles: Role | None) -> Role | None:
    """The role that allows most, if there is any."""
    held = [role for role in roles if role is not None]
    return max(held, key=ORDER.index) if held else None


def role_of(connection: Connection, account: int, study: int | None) -> Role | None:
    """The role that was given for exactly this study, or for the laboratory."""
    query = select(grants.c.role).where(grants.c.account == account, _for(study))
    held = connection.execute(query).scalar()
    return None if held is None else Role(held)


def roles_by_study(connection: Connection, account: int) -> dict[int | None, Role]:
    """Every role of an account; None stands for the laboratory."""
    rows = connection.execute(select(grants.c.study, grants.c.role).where(grants.c.account == account))
    return {row.study: Role(row.role) for row in rows}


def give(connection: Connection, account: int, study: int | None, role: Role | None) -> None:
    """Give an account this role there in place of the one it had, or with None take it away."""
    before = role_of(connection, account, study)
    if study is None and before == Role.OWNER and role != Role.OWNER:
        check_not_last(connection, account)
    connection.execute(delete(grants).where(grants.c.account == account, _for(study)))
    if role is not None:
        connection.execute(insert(grants).values(account=account, study=study, role=role.value))


def check_not_last(connection: Connection, account: int) -> None:
    """Refuse what would leave the laboratory without an owner."""
    query = select(accounts.c.id).join(grants, grants.c.account == accounts.c.id)
    owners = set(connection.execute(query.where(grants.c.role == Role.OWNER.value, _for(None)).with_for_update()).scalars())
    if owners == {account}:
        raise Refused(409, "last-owner", "This is the laboratory's last owner: make somebody else an owner first.")


def _for(study: int | None) -> ColumnElement[bool]:
    return grants.c.study.is_(None) if study is None else grants.c.study == study
