"""Whether a study is open to newcomers. Whoever has begun goes on, whether it is open or not."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from explorelab.study.database.refusals import Refused
from explorelab.study.database.store import keep
from explorelab.study.database.tables import settings

CLOSED = "closed_at"
"""The setting that says since when the study has been closed; there is none while it is open."""


def close(connection: Connection, now: float) -> None:
    """Let no newcomers in from now on."""
    keep(connection, CLOSED, repr(now))


def open_up(connection: Connection) -> None:
    """Let newcomers in."""
    connection.execute(delete(settings).where(settings.c.name == CLOSED))


def is_closed(connection: Connection) -> bool:
    """Whether newcomers are turned away."""
    return connection.execute(select(settings.c.value).where(settings.c.name == CLOSED)).scalar() is not None


def check_open(connection: Connection) -> None:
    """Turn away a newcomer if the study is closed."""
    if is_closed(connection):
        raise Refused(403, "closed", "This study is not open at the moment.")
