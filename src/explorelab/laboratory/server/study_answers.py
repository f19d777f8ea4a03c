"""Answers about the laboratory's studies: the list, a new one, and opening, closing and archiving one."""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection

from explorelab._support.counted import counted
from explorelab.errors import InputError
from explorelab.laboratory.accounts.roles import Role, give, roles_by_study, strongest
from explorelab.laboratory.editing.editor import recorded
from explorelab.laboratory.hosting import new_study
from explorelab.laboratory.hosting.preparing import database_for, prepare
from explorelab.laboratory.hosting.study_list import Registered, all_registered, archive, register, registered, renewed
from explorelab.laboratory.server.lab_answers import Done, NewStudy, Opening, StudiesShown, StudyShown
from explorelab.laboratory.server.lab_office import At, Here
from explorelab.laboratory.server.study_numbers import all_shown, shown
from explorelab.study.config.checking.check_folder import look_through
from explorelab.study.database.refusals import Refused, invalid
from explorelab.study.database.store import Store
from explorelab.study.server.limits import newcomers


async def studies(at: At) -> StudiesShown:
    """The studies that whoever asks may see, with a few numbers each."""
    account, now = at.account.id, at.laboratory.now()

    def listed(connection: Connection) -> list[tuple[Registered, Role]]:
        roles = roles_by_study(connection, account)
        found = [(each, strongest(roles.get(each.id), roles.get(None))) for each in all_registered(connection)]
        return [(each, role) for each, role in found if role is not None]

    mine = await at.laboratory.database.read(listed)
    return StudiesShown(now=now, studies=await all_shown(at.office.hosted, mine, now))


async def one_study(at: At) -> StudyShown:
    """A study, with a few numbers."""
    account, study = at.account.id, at.in_study

    def role(connection: Connection) -> Role:
        roles = roles_by_study(connection, account)
        return strongest(roles.get(study.id), roles.get(None)) or Role.VIEWER

    held = await at.laboratory.database.read(role)
    return await shown(at.office.hosted, study, held, at.laboratory.now())


async def create(at: At, asked: NewStudy) -> StudyShown:
    """Create a study from a template, closed to newcomers; whoever creates it owns it."""
    folder, database, now = at.laboratory.folder, at.laboratory.database, at.laboratory.now()
    new_study.check_name(folder, asked.name)

    def make() -> None:
        url = database_for(folder, database, asked.name)
        made = new_study.make(folder, asked, url)
        prepare(made, now, closed=True)

    try:
        await asyncio.to_thread(make)
    except InputError as error:
        raise invalid(str(error)) from None

    def added(connection: Connection) -> Registered:
        made = register(connection, asked.name, now)
        give(connection, at.account.id, made.id, Role.OWNER)
        at._replace(study=made).note(connection, "created the study")
        return made

    made = await database.write(added)
    await asyncio.to_thread(recorded, database, folder.of(made.name), made, now)
    await at.office.hosted.refresh()
    return await shown(at.office.hosted, made, Role.OWNER, now)


async def open_study(at: At, asked: Opening) -> Done:
    """Let newcomers in, if everything is filled in, or whoever asks knows that it is not."""
    here = at.office.hosted.get(at.in_study.name)
    if here is not None and here.study is not None and not asked.anyway:
        found = await asyncio.to_thread(look_through, here.study, at.laboratory.folder.of(at.in_study.name))
        left = [each for each in found if each.level == "to fill in"]
        if left:
            n = counted(len(left), "thing is", "things are")
            raise Refused(409, "unfinished", f"{n} still to be filled in, the first: {left[0]}")
    await _store(at).write(newcomers.open_up)
    await at.laboratory.database.write(lambda connection: at.note(connection, "opened the study"))
    return Done(ok=True)


async def close_study(at: At) -> Done:
    """Let no newcomers in; whoever has begun goes on."""
    now = at.laboratory.now()
    await _store(at).write(lambda connection: newcomers.close(connection, now))
    await at.laboratory.database.write(lambda connection: at.note(connection, "closed the study"))
    return Done(ok=True)


async def archive_study(at: At) -> Done:
    """Put a study away: its address leads nowhere, its files and data stay as they are."""
    study, now = at.in_study, at.laboratory.now()

    def archived(connection: Connection) -> None:
        archive(connection, study.id, now)
        at.note(connection, "archived the study")

    await at.laboratory.database.write(archived)
    await at.office.hosted.refresh()
    return Done(ok=True)


async def bring_back(at: At) -> Done:
    """Serve a study again that was put away."""
    study, now = at.in_study, at.laboratory.now()
    if study.archived_at is None:
        raise Refused(409, "not-archived", "This study is not archived.")
    folder = at.laboratory.folder.of(study.name)
    try:
        await asyncio.to_thread(recorded, at.laboratory.database, folder, study, now)
        await asyncio.to_thread(prepare, folder, now)
    except InputError as error:
        raise invalid(str(error)) from None

    def back(connection: Connection) -> None:
        archive(connection, study.id, None)
        at.note(connection, "brought the study back from the archive")

    await at.laboratory.database.write(back)
    await at.office.hosted.refresh()
    return Done(ok=True)


async def try_again(at: At) -> StudyShown:
    """Read the study's folder again, after somebody has mended it by hand."""
    study = at.in_study
    await at.laboratory.database.write(lambda connection: renewed(connection, study.id))
    await at.office.hosted.refresh()
    fresh = await at.laboratory.database.read(lambda connection: registered(connection, study.name))
    return await one_study(at._replace(study=fresh))


def _store(at: Here) -> Store:
    """The open database of the study."""
    here = at.office.hosted.get(at.in_study.name)
    if here is None or here.store is None:
        raise Refused(409, "not-served", "This study is archived or cannot be served at the moment.")
    return here.store
