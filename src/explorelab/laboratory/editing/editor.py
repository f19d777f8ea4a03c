"""Reading, checking and saving a study's files, and what becomes of a server that was killed while it did."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from explorelab.errors import InputError
from explorelab.laboratory.database.lab_database import LabDatabase
from explorelab.laboratory.editing import drafts, versions
from explorelab.laboratory.editing.checking_edits import Looked, looked_at
from explorelab.laboratory.editing.kept_word import Begun, breaks
from explorelab.laboratory.editing.study_files import Edits, Files, put_files, read_files, with_edits
from explorelab.laboratory.hosting.study_list import Registered, note
from explorelab.study.config.checking.findings import Finding
from explorelab.study.database.refusals import Refused

IN_THE_FOLDER = "the study's folder"
"""Who has changed files without the browser."""


class Saving(NamedTuple):
    """A change to save: by whom, from which version, and why."""

    account: int
    by: str
    base: int
    why: str


def recorded(database: LabDatabase, folder: Path, study: Registered, now: float) -> int:
    """The version of the files that are in the folder; a new one if they were changed by hand.

    A version that was saved when the server was killed, before it was all in the folder, is put there first.
    """
    last = database.look(lambda connection: versions.newest(connection, study.id))
    if last > study.version:
        put_files(database.look(lambda connection: versions.files_of(connection, study.id, last)), folder)
        database.change(lambda connection: versions.is_served(connection, study.id, last))
        return last
    files = read_files(folder)
    if last and database.look(lambda connection: versions.files_of(connection, study.id, last)) == files:
        return last
    why = "changed by hand" if last else "as it was when the laboratory first saw it"

    def kept(connection: Connection) -> int:
        number = versions.put_down(connection, study.id, last, files, IN_THE_FOLDER, why, now)
        versions.is_served(connection, study.id, number)
        return number

    return database.change(kept)


def looked_through(before: Files, edits: Edits, study: Registered, begun: Begun) -> tuple[Files, Looked]:
    """The files after these changes, and everything that is wrong or doubtful in them. Takes a while."""
    files = with_edits(before, edits)
    return files, judged(files, before, study, begun)


def judged(files: Files, before: Files, study: Registered, begun: Begun) -> Looked:
    """Everything wrong or doubtful in these files, also with respect to those who have begun."""
    looked = looked_at(files, before, study.name)
    if looked.study is None:
        return looked
    return looked._replace(findings=[*breaks(looked.study, begun), *looked.findings])


def check_saves(findings: list[Finding]) -> None:
    """Refuse to save what could not be served."""
    wrong = [each for each in findings if each.level == "wrong"]
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise Refused(422, "wrong", f"This cannot be saved yet: {wrong[0]}{more}")


def save(database: LabDatabase, folder: Path, study: Registered, files: Files, saving: Saving, now: float) -> int:
    """Keep the files as a new version and put them into the folder; the number of the version."""

    def kept(connection: Connection) -> int:
        return versions.put_down(connection, study.id, saving.base, files, saving.by, saving.why, now)

    number = database.change(kept)
    try:
        put_files(files, folder)
    except OSError as error:
        database.change(lambda connection: versions.take_back(connection, study.id, number))
        put_files(database.look(lambda connection: versions.files_of(connection, study.id, saving.base)), folder)
        raise InputError(f"the files cannot be written: {error.strerror or error}; nothing was changed.") from None

    def served(connection: Connection) -> None:
        versions.is_served(connection, study.id, number)
        drafts.forget(connection, saving.account, study.id)
        note(connection, study.id, saving.by, f"saved version {number}" + (f": {saving.why}" if saving.why else ""), now)

    database.change(served)
    return number
