"""Answers about accounts: logging in, invitations, and who may do what."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import Connection, select

from explorelab.laboratory.accounts import accounts, invitations, lab_sessions
from explorelab.laboratory.accounts.roles import Role, give, rights_of, role_of, strongest
from explorelab.laboratory.database.lab_tables import studies
from explorelab.laboratory.hosting.study_list import noted
from explorelab.laboratory.server.lab_answers import (
    Deeds,
    DeedShown,
    Done,
    Entering,
    Holding,
    InvitationMade,
    InvitationShown,
    Invited,
    Inviting,
    Joining,
    Me,
    Member,
    Members,
    NewPassword,
    RoleAsked,
    SessionShown,
    SessionsShown,
)
from explorelab.laboratory.server.lab_office import At, Here, Office
from explorelab.study.admin.entry.entrance import read_secret
from explorelab.study.admin.entry.rights import Right
from explorelab.study.config.start_study import DESIGNS
from explorelab.study.config.texts import LANGUAGES
from explorelab.study.database.refusals import Refused


async def log_in(request: Request, office: Office) -> Response:
    """Log in; sets the cookie of a new session."""
    asked = await read_secret(request, Entering)
    return await office.desk.log_in(request, JSONResponse({"ok": True}), asked.login, asked.password)


async def join(request: Request, office: Office) -> Response:
    """Make an account with an invitation, and log in to it."""
    asked = await read_secret(request, Joining)
    answer = JSONResponse({"ok": True})
    return await office.desk.join(request, answer, asked.invitation, asked.login, asked.name, asked.password)


async def look_at_invitation(request: Request, office: Office) -> Invited:
    """What an invitation is for; it can still be used afterwards."""
    secret = (await read_secret(request, Holding)).invitation
    laboratory = office.laboratory

    def look(connection: Connection) -> Invited:
        found = invitations.look_at(connection, secret, laboratory.now())
        query = select(studies.c.name).where(studies.c.id == found.study)
        study = None if found.study is None else str(connection.execute(query).scalar_one())
        return Invited(laboratory=laboratory.folder.title, study=study, role=found.role, made_by=found.made_by)

    return await laboratory.database.read(look)


async def accept(request: Request, at: At) -> Done:
    """Use an invitation for the account that is logged in."""
    await at.office.desk.accept(at.visit, (await read_secret(request, Holding)).invitation)
    return Done(ok=True)


async def log_out(request: Request, at: At) -> Response:
    """End the session, even for anyone with a copy of its cookie."""
    return await at.office.desk.log_out(request, Response(status_code=204), at.visit.session)


async def me(at: At) -> Me:
    """Whoever is logged in, and the token that changes need."""
    account = at.account

    def look(connection: Connection) -> Me:
        rights = rights_of(connection, account.id, None)
        return Me(
            csrf=at.office.desk.csrf(at.visit.session), ends_at=at.visit.session.ends_at, number=account.id,
            login=account.login, name=account.name, laboratory=at.laboratory.folder.title,
            role=role_of(connection, account.id, None), rights=[right for right in Right if right in rights],
            languages=list(LANGUAGES), templates=list(DESIGNS),
        )  # fmt: skip

    return await at.laboratory.database.read(look)


async def password(request: Request, at: At) -> Done:
    """Change the password; every other session of the account ends."""
    asked = await read_secret(request, NewPassword)
    await at.office.desk.confirm(request, at.visit, asked.password)
    await at.office.desk.change_password(at.visit, asked.new)
    return Done(ok=True)


async def sessions(at: At) -> SessionsShown:
    """Where the account is logged in."""
    now, account, this = at.laboratory.now(), at.account.id, at.visit.session.id
    found = await at.laboratory.database.read(lambda connection: lab_sessions.of_account(connection, account, now))
    return SessionsShown(
        sessions=[
            SessionShown(
                number=each.id, browser=each.browser, made_at=each.made_at, seen_at=each.seen_at, is_this=each.id == this
            )
            for each in found
        ]
    )


async def end_session(at: At, number: int) -> Done:
    """End one of the account's own sessions."""
    ended = await at.laboratory.database.write(lambda connection: lab_sessions.end(connection, at.account.id, number))
    if not ended:
        raise Refused(404, "unknown", "This session has ended already.")
    return Done(ok=True)


async def members(at: At) -> Members:
    """Who may do what, here or in the laboratory, and who is invited."""
    return await at.laboratory.database.read(lambda connection: _members(connection, at))


async def give_role(at: At, number: int, asked: RoleAsked) -> Done:
    """Give somebody another role here, or none."""

    def given(connection: Connection) -> None:
        account = accounts.account_of(connection, number)
        if at.study is not None and not _works_here(connection, number, at.study.id):
            raise accounts.unknown()  # whoever owns a study learns nothing of the accounts of others: they are invited
        give(connection, number, _study(at), asked.role)
        if asked.role != Role.OWNER:
            invitations.revoke_all(connection, account.name, _study(at))  # who no longer owns it invites nobody any more
        at.note(connection, f"made {account.name} {asked.role or 'no member any more'}")

    await at.laboratory.database.write(given)
    return Done(ok=True)


async def remove(at: At, number: int) -> Done:
    """Remove an account with its sessions and roles."""

    def removed(connection: Connection) -> None:
        name = accounts.remove(connection, number).name
        invitations.revoke_all(connection, name, None)
        at.note(connection, f"removed the account of {name}")

    await at.laboratory.database.write(removed)
    return Done(ok=True)


async def invite(at: At, asked: Inviting) -> InvitationMade:
    """Invite somebody to a role here; the link is told this once."""
    now = at.laboratory.now()

    def invited(connection: Connection) -> str:
        at.note(connection, f"invited {asked.for_whom or 'somebody'} as {asked.role}")
        return invitations.invite(connection, _study(at), asked.role, asked.for_whom, at.account.name, now)

    secret = await at.laboratory.database.write(invited)
    return InvitationMade(invitation=secret, ends_at=now + invitations.LASTS_S)


async def revoke_invitation(at: At, number: int) -> Done:
    """Take an invitation back."""

    def revoked(connection: Connection) -> None:
        invitations.revoke(connection, number, invitations.of(_study(at)))
        at.note(connection, "took an invitation back")

    await at.laboratory.database.write(revoked)
    return Done(ok=True)


async def deeds(at: At) -> Deeds:
    """Who did what here, the latest first."""
    found = await at.laboratory.database.read(lambda connection: noted(connection, _study(at)))
    return Deeds(deeds=[DeedShown(**each._asdict()) for each in found])


def _study(at: Here) -> int | None:
    return None if at.study is None else at.study.id


def _works_here(connection: Connection, account: int, study: int) -> bool:
    return strongest(role_of(connection, account, study), role_of(connection, account, None)) is not None


def _members(connection: Connection, at: Here) -> Members:
    study, now = _study(at), at.laboratory.now()
    found = []
    for each in accounts.all_accounts(connection):
        everywhere = role_of(connection, each.id, None)
        role = everywhere if study is None else role_of(connection, each.id, study)
        if study is None or role is not None or everywhere is not None:
            found.append(_member(each, role, everywhere))
    waiting = invitations.open_invitations(connection, invitations.of(study), now)
    return Members(
        members=found,
        invitations=[
            InvitationShown(
                number=each.id, role=each.role, for_whom=each.for_whom, made_by=each.made_by, ends_at=each.ends_at
            )
            for each in waiting
        ],
    )


def _member(account: accounts.Account, role: Role | None, everywhere: Role | None) -> Member:
    return Member(number=account.id, login=account.login, name=account.name, role=role, in_laboratory=everywhere)
