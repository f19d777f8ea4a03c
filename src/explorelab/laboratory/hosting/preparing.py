"""Before a study is served: its database exists, is whole and is nobody else's, and people get lost time back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from explorelab.errors import InputError
from explorelab.laboratory.database.lab_database import LabDatabase
from explorelab.laboratory.hosting.laboratory_folder import LaboratoryFolder
from explorelab.laboratory.hosting.study_list import all_registered, register
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.failures import in_words
from explorelab.study.database.store import open_store
from explorelab.study.server.limits import newcomers
from explorelab.study.server.serve import check_alone, keep_word
from explorelab.study.server.steady_clock import last_alive, resume


def adopt(folder: LaboratoryFolder, connection: Connection, now: float) -> list[str]:
    """Register studies that were put into the folder by hand; returns their names."""
    known = {each.name for each in all_registered(connection)}
    found = [name for name in folder.found() if name not in known]
    for name in found:
        register(connection, name, now)
    return found


def alive_at(folder: Path) -> float | None:
    """When the study was last served; None also if that cannot be read now, which `prepare` will say."""
    try:
        store = open_store(load_study(folder).database, folder)
    except Exception:
        return None
    with closing(store), store.engine.connect() as connection:
        return last_alive(connection)


def prepare(folder: Path, now: float, *, closed: bool = False) -> None:
    """Make a study's database ready for a server that starts now; `closed` is for a new study."""
    study = load_study(folder)
    store = open_store(study.database, folder)
    try:
        check_alone(store)

        def begun(connection: Connection) -> float:
            resume(connection, 60 * study.server.return_within_minutes, now)
            if closed:
                newcomers.close(connection, now)
            return now

        keep_word(store, study, begun)
    finally:
        store.close()


def database_for(folder: LaboratoryFolder, database: LabDatabase, study: str) -> str:
    """The address of a new study's database: a file in its folder, or a new database beside the laboratory's."""
    if database.engine.dialect.name == "sqlite":
        return "sqlite:///study.db"
    url = make_url(folder.database)
    name = f"{url.database}_{study.replace('-', '_')}"
    try:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            quoted = connection.dialect.identifier_preparer.quote_identifier(name)
            connection.execute(text(f"CREATE DATABASE {quoted}"))
    except DBAPIError as error:
        raise InputError(f"the database {name} for the study cannot be made: {in_words(error)}.") from None
    return url.set(database=name).render_as_string(hide_password=False)
