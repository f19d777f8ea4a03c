"""How a study of the laboratory is doing, in a few numbers from its own database."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from sqlalchemy import Connection, case, func, select

from explorelab.laboratory.accounts.roles import RIGHTS, Role
from explorelab.laboratory.hosting.hosted_studies import HostedStudies
from explorelab.laboratory.hosting.study_list import Registered
from explorelab.laboratory.server.lab_answers import StudyShown, StudyState
from explorelab.study.admin.entry.rights import OF_A_STUDY
from explorelab.study.database.failures import in_words
from explorelab.study.database.tables import people
from explorelab.study.server.limits.newcomers import is_closed
from explorelab.study.session.stages import PLAYED, UNDER_WAY


class Numbers(NamedTuple):
    """How many people and robots there are."""

    n_people: int = 0
    n_active: int = 0
    n_finished: int = 0
    n_pilots: int = 0
    seen_at: float | None = None


async def shown(hosted: HostedStudies, listed: Registered, role: Role, now: float) -> StudyShown:
    """The study as the list shows it to somebody with this role."""
    here = hosted.get(listed.name)
    if listed.archived_at is not None or here is None:
        return _shown(listed, role, listed.name, "archived")
    if here.study is None or here.store is None:
        return _shown(listed, role, listed.name, "stopped", here.problem)
    since = now - 60 * here.study.server.return_within_minutes
    try:
        numbers, closed = await here.store.read(lambda connection: _counted(connection, since))
    except Exception as error:  # the other studies are shown
        return _shown(listed, role, here.study.title, "stopped", in_words(error))
    return _shown(listed, role, here.study.title, "closed" if closed else "open", here.problem, numbers)


async def all_shown(hosted: HostedStudies, listed: list[tuple[Registered, Role]], now: float) -> list[StudyShown]:
    """All of these, asked at once."""
    return list(await asyncio.gather(*(shown(hosted, each, role, now) for each, role in listed)))


def _shown(
    listed: Registered, role: Role, title: str, state: StudyState, problem: str = "", numbers: Numbers | None = None
) -> StudyShown:
    return StudyShown(
        name=listed.name, title=title, state=state, problem=problem, role=role, version=listed.version,
        rights=[right for right in OF_A_STUDY if right in RIGHTS[role]], made_at=listed.made_at,
        **(numbers or Numbers())._asdict(),
    )  # fmt: skip


def _counted(connection: Connection, since: float) -> tuple[Numbers, bool]:
    human = people.c.pilot.is_(False)
    row = connection.execute(
        select(
            func.count(case((human, 1))),
            func.count(case((human & people.c.stage.in_(UNDER_WAY) & (people.c.seen_at >= since), 1))),
            func.count(case((human & people.c.stage.in_(PLAYED), 1))),
            func.count(case((people.c.pilot, 1))),
            func.max(case((human, people.c.seen_at))),
        )
    ).one()
    return Numbers(*row), is_closed(connection)
