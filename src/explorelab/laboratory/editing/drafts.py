"""What somebody has typed in a study and not saved: kept for each account, so that nothing is lost with a page."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from explorelab.laboratory.database.lab_tables import drafts
from explorelab.laboratory.editing.study_files import Edits


class Draft(NamedTuple):
    """Changes to a version, by one account."""

    base: int
    at: float
    files: dict[str, str | None]


def keep(connection: Connection, account: int, study: int, base: int, files: Edits, now: float) -> None:
    """Keep a draft in place of the one before; without changes there is none."""
    forget(connection, account, study)
    if files:
        values = {"account": account, "study": study, "base": base, "at": now, "files": json.dumps(dict(files))}
        connection.execute(insert(drafts).values(values))


def draft_of(connection: Connection, account: int, study: int) -> Draft | None:
    """What this account has not saved."""
    query = select(drafts).where(drafts.c.account == account, drafts.c.study == study)
    row = connection.execute(query).one_or_none()
    return None if row is None else Draft(row.base, row.at, json.loads(row.files))


def forget(connection: Connection, account: int, study: int) -> None:
    """Forget the draft."""
    connection.execute(delete(drafts).where(drafts.c.account == account, drafts.c.study == study))
