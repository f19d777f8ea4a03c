"""Export, lookup, payment and tokens for the command line; each returns what to print."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, select

from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import open_store
from explorelab.study.database.tables import people
from explorelab.study.export.cells import moment
from explorelab.study.export.live import access_tokens
from explorelab.study.export.write_export import Doubted, Excluded, Pilots, export_study
from explorelab.study.session.terms import keep_terms


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Study, Engine]]:
    """A study and its database, brought up to date."""
    study = load_study(folder)
    store = open_store(study.database, folder)
    try:
        with store.engine.connect().execution_options(immediate=True) as connection, connection.begin():
            keep_terms(connection, study)
        yield study, store.engine
    finally:
        store.close()


def export(folder: Path, out: Path, pilots: Pilots, doubted: Doubted = "without", excluded: Excluded = "without") -> str:
    """Write the export; returns a summary."""
    with opened(folder) as (study, engine):
        done = export_study(study, engine, out, pilots=pilots, doubted=doubted, excluded=excluded)
    following = [f"Next: explorelab check {done.choices}"] if done.n_task_choices else []
    return "\n".join([*done.lines(), f"Wrote {done.out}", *following])


def find(folder: Path, platform_id: str) -> str:
    """The code of the person with this platform ID."""
    with opened(folder) as (_, engine), engine.connect() as connection:
        row = connection.execute(select(people).where(people.c.platform_id == platform_id.strip())).first()
    if row is None:
        raise InputError(f"nobody with the platform ID {platform_id!r} has taken part, or their data have been deleted.")
    return f"{row.code}  ({row.source}, {row.stage})"


def pay(folder: Path, out: Path, again: bool, also: Collection[str] = ()) -> str:
    """Write the bonus files; returns a summary."""
    from explorelab.study.payment.payment import pay as write_payments

    with opened(folder) as (study, engine):
        return str(write_payments(study, engine, out, again=again, also=also))


def add_token(folder: Path, name: str, use: str) -> str:
    """Make a token for a program; returns it, this once."""
    with _writing(folder) as (connection, secret):
        token = access_tokens.make(connection, secret, name, use, time.time())
    return f"{token}\nThis token is not shown again, and whoever has it can read the {use}: keep it like a password."


def revoke_token(folder: Path, name: str) -> str:
    """Make a token useless, also for a server that is running."""
    with _writing(folder) as (connection, _):
        access_tokens.revoke(connection, name)
    return f"Revoked {name}: it opens nothing any more."


def list_tokens(folder: Path) -> str:
    """The tokens there are: a line each."""
    with _writing(folder) as (connection, _):
        known = access_tokens.known_tokens(connection)
    lines = [f"{each.name:<24}{each.use:<10}{moment(each.made_at)}" for each in known]
    return "\n".join(lines) or "There are no tokens: explorelab study token add FOLDER NAME --use results"


@contextmanager
def _writing(folder: Path) -> Iterator[tuple[Connection, bytes]]:
    """A transaction of a study's database, and its secret."""
    study = load_study(folder)
    store = open_store(study.database, folder)
    try:
        with store.engine.connect().execution_options(immediate=True) as connection, connection.begin():
            yield connection, store.secret
    finally:
        store.close()
