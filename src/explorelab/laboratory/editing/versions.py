"""Every version of a study's files: who saved it, when and why; of two who save at once, one is told."""

from __future__ import annotations

from difflib import unified_diff
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from explorelab.laboratory.database.lab_tables import contents, studies, version_files, versions
from explorelab.laboratory.editing.study_files import TEXTS, Files
from explorelab.study.database.refusals import Refused

AROUND = 3
"""Unchanged lines shown around a change."""


class Version(NamedTuple):
    """A version, without its files."""

    number: int
    at: float
    by: str
    why: str


class FileChange(NamedTuple):
    """What changed in a file: lines that begin with +, - or a blank, as `diff` writes them."""

    name: str
    lines: list[str]


def newest(connection: Connection, study: int) -> int:
    """The number of the last version; 0 if there is none."""
    return int(connection.execute(select(func.max(versions.c.number)).where(versions.c.study == study)).scalar() or 0)


def put_down(connection: Connection, study: int, base: int, files: Files, by: str, why: str, now: float) -> int:
    """Keep a version that was made from the version `base`, unless somebody has saved another one meanwhile."""
    # The row of the study is the lock: on PostgreSQL the second waits here, and then finds a newer version.
    connection.execute(select(studies.c.id).where(studies.c.id == study).with_for_update()).one()
    last = newest(connection, study)
    if last != base:
        found = version(connection, study, last)
        raise Refused(
            409, "changed-meanwhile",
            f"{found.by} has saved version {last} meanwhile. Nothing of yours is lost: compare, and save again.",
        )  # fmt: skip
    values = {"study": study, "number": base + 1, "at": now, "by": by, "why": why.strip()[:200]}
    row = int(connection.execute(insert(versions).values(values)).inserted_primary_key[0])  # type: ignore[index]
    for name, content in sorted(files.items()):
        digest = sha256(content).hexdigest()
        if connection.execute(select(contents.c.digest).where(contents.c.digest == digest)).first() is None:
            connection.execute(insert(contents).values(digest=digest, data=content))
        connection.execute(insert(version_files).values(version=row, name=name, digest=digest))
    return base + 1


def take_back(connection: Connection, study: int, number: int) -> None:
    """Forget a version that could not be put into the folder."""
    connection.execute(delete(versions).where(versions.c.study == study, versions.c.number == number))


def is_served(connection: Connection, study: int, number: int) -> None:
    """Note that a version is in the folder; all processes then read it."""
    changes = {"version": number, "generation": studies.c.generation + 1}
    connection.execute(update(studies).where(studies.c.id == study).values(changes))


def version(connection: Connection, study: int, number: int) -> Version:
    """The version with this number."""
    found = [each for each in all_versions(connection, study) if each.number == number]
    if not found:
        raise Refused(404, "unknown", f"There is no version {number}.")
    return found[0]


def all_versions(connection: Connection, study: int) -> list[Version]:
    """All versions of a study, the newest first."""
    query = select(versions.c.number, versions.c.at, versions.c.by, versions.c.why).where(versions.c.study == study)
    return [Version(*row) for row in connection.execute(query.order_by(versions.c.number.desc()))]


def files_of(connection: Connection, study: int, number: int) -> Files:
    """The files of a version; none of version 0, before all others."""
    joined = version_files.join(versions, versions.c.id == version_files.c.version)
    joined = joined.join(contents, contents.c.digest == version_files.c.digest)
    query = select(version_files.c.name, contents.c.data).select_from(joined)
    rows = connection.execute(query.where(versions.c.study == study, versions.c.number == number))
    return {row.name: bytes(row.data) for row in rows}


def changes(before: Files, after: Files) -> list[FileChange]:
    """What differs, file by file."""
    found = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if name.endswith(TEXTS):
            lines = unified_diff(_lines(old), _lines(new), n=AROUND, lineterm="")
            found.append(FileChange(name, list(lines)[2:]))
        else:
            found.append(FileChange(name, ["+ (new)" if old is None else "- (removed)" if new is None else "± (replaced)"]))
    return found


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode("utf-8", "replace").splitlines()
