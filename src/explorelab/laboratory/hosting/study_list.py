"""Which studies the laboratory has, and which of them are archived."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, insert, select, update

from explorelab.laboratory.database.lab_tables import deeds, studies
from explorelab.study.database.refusals import Refused


class Registered(NamedTuple):
    """A study of the laboratory."""

    id: int
    name: str
    made_at: float
    archived_at: float | None
    generation: int
    """Higher with every change that all processes of the server must follow."""
    version: int
    """The version of its files that is served."""


class Deed(NamedTuple):
    """Who did what, and when."""

    at: float
    by: str
    what: str


def register(connection: Connection, name: str, now: float) -> Registered:
    """Add a study."""
    values = {"name": name, "made_at": now, "generation": 1, "version": 0}
    connection.execute(insert(studies).values(values))
    return registered(connection, name)


def registered(connection: Connection, name: str) -> Registered:
    """The study of this name."""
    row = connection.execute(select(studies).where(studies.c.name == name)).one_or_none()
    if row is None:
        raise unknown()
    return _read(row)


def all_registered(connection: Connection) -> list[Registered]:
    """All studies, by name."""
    return [_read(row) for row in connection.execute(select(studies).order_by(studies.c.name))]


def archive(connection: Connection, study: int, now: float | None) -> None:
    """Put a study away or, with None, bring it back."""
    changes = {"archived_at": now, "generation": studies.c.generation + 1}
    connection.execute(update(studies).where(studies.c.id == study).values(changes))


def renewed(connection: Connection, study: int) -> None:
    """Have all processes read the study's files again."""
    connection.execute(update(studies).where(studies.c.id == study).values(generation=studies.c.generation + 1))


def note(connection: Connection, study: int | None, by: str, what: str, now: float) -> None:
    """Record what somebody did, as a sentence after their name."""
    connection.execute(insert(deeds).values(study=study, at=now, by=by, what=what))


def noted(connection: Connection, study: int | None, most: int = 200) -> list[Deed]:
    """What was done in a study, or in the laboratory at large; the latest first."""
    where = deeds.c.study.is_(None) if study is None else deeds.c.study == study
    query = select(deeds.c.at, deeds.c.by, deeds.c.what).where(where).order_by(deeds.c.id.desc()).limit(most)
    return [Deed(*row) for row in connection.execute(query)]


def unknown() -> Refused:
    """The refusal to anyone who may not know whether there is such a study."""
    return Refused(404, "unknown", "There is nothing at this address.")


def _read(row: Row[Any]) -> Registered:
    return Registered(row.id, row.name, row.made_at, row.archived_at, row.generation, row.version)
