"""Records which study a database belongs to, so that another study's file is noticed at the start."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from explorelab._support.counted import counted
from explorelab.errors import InputError
from explorelab.study.database.store import keep
from explorelab.study.database.tables import people, settings

STUDY = "study"


def origin(connection: Connection) -> str | None:
    """The name of the study this database was made for; None if not yet recorded."""
    return connection.execute(select(settings.c.value).where(settings.c.name == STUDY)).scalar()


def check_origin(connection: Connection, name: str) -> None:
    """Raise if the database holds people of another study; otherwise record which study it belongs to."""
    known = origin(connection)
    if known is not None and known != name:
        n = int(connection.execute(select(func.count()).select_from(people)).scalar_one())
        if n:
            raise InputError(
                other_study(known, name, f"the database holds {counted(n, 'person', 'people')} of the study {known!r}")
            )
    if known != name:
        keep(connection, STUDY, name)


def other_study(known: str, name: str, found: str) -> str:
    """What to say about data of another study."""
    return (
        f"study.toml calls the study {name!r}, but {found}: is it the file of another study? "
        f"(If you have renamed the study, set name = {known!r} under [study] again.)"
    )
