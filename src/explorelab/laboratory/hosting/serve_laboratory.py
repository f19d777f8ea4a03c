"""Serves a laboratory: brings its databases up to date, prints the address, and runs the server until it is stopped."""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from explorelab.errors import InputError
from explorelab.laboratory.accounts import invitations
from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.database.lab_database import LabDatabase, open_lab_database
from explorelab.laboratory.database.lab_tables import grants
from explorelab.laboratory.editing.editor import recorded
from explorelab.laboratory.hosting.laboratory_folder import LaboratoryFolder, open_folder
from explorelab.laboratory.hosting.preparing import adopt, alive_at, prepare
from explorelab.laboratory.hosting.study_list import Registered, all_registered
from explorelab.study.database.claim import Claim, check_unserved, claimed
from explorelab.study.server.built_pages import check_built
from explorelab.study.server.public_address import below, parts_of
from explorelab.study.server.serve import bound, is_local, run_workers, settings_of_server, trusted
from explorelab.study.server.steady_clock import start, told_clock

log = logging.getLogger("explorelab.laboratory")


class LabLinks(NamedTuple):
    """Where the laboratory is, and what its owner should know."""

    researchers: str
    first_owner: str
    """The link by which the first owner makes an account; empty if there is an owner."""
    studies: list[str]
    """A line for each study: its address, or why it cannot be served."""
    proxy_unnamed: bool


def serve_laboratory(
    folder: Path, host: str = "127.0.0.1", port: int = 8000, workers: int = 1, public_url: str = "",
    trusted_proxies: str = "", announce: Callable[[LabLinks], None] = print,
) -> None:  # fmt: skip
    """Serve all studies of the laboratory in this folder until interrupted."""
    import uvicorn

    check_built()
    origin, prefix = parts_of(public_url)
    proxies = trusted(trusted_proxies)
    if not is_local(host) and not origin.startswith("https:"):
        log.warning(
            "Passwords are sent without encryption: put a proxy with TLS before the server and name it by --public-url."
        )
    bound(host, port).close()  # fails before the address is announced
    laboratory = open_folder(folder)
    base = f"{origin}{prefix}" or f"http://{f'[{host}]' if ':' in host else host}:{port}"
    dialect, first, lines = begun(laboratory, base)
    if workers > 1 and dialect == "sqlite":
        raise InputError(f"SQLite has one writer, so --workers must be 1, got {workers}; several workers need PostgreSQL.")
    announce(LabLinks(f"{base}/lab", first, lines, bool(public_url) and not proxies))
    served = partial(application, laboratory, origin, prefix)
    how: dict[str, Any] = {**settings_of_server(proxies), "host": host, "port": port, "workers": workers}
    if workers > 1:
        run_workers(uvicorn.Config(served, **how))
    else:
        uvicorn.run(served, **how)


def begun(laboratory: LaboratoryFolder, base: str) -> tuple[str, str, list[str]]:
    """The kind of database, the first owner's link if there is no owner, and a line for each study.

    A study that cannot be served is named; all others are.
    """
    database = open_lab_database(laboratory.database, laboratory.folder)
    try:
        claim_of(database, check=True).release()
        database.change(lambda connection: adopt(laboratory, connection, time.time()))
        studies = [each for each in database.look(all_registered) if each.archived_at is None]
        start(alive_at(laboratory.of(each.name)) for each in studies)
        lines = [_begun(laboratory, database, each, base) for each in studies]
        secret = database.change(first_owner)
        return database.engine.dialect.name, f"{base}/lab/join#{secret}" if secret else "", lines
    finally:
        database.close()


def invite_owner(folder: Path, base: str) -> str:
    """A new link by which an owner makes an account, for whoever can use the command line."""
    laboratory = open_folder(folder)
    database = open_lab_database(laboratory.database, laboratory.folder)
    try:
        secret = database.change(lambda connection: _invited(connection, time.time()))
    finally:
        database.close()
    return f"{base.rstrip('/')}/lab/join#{secret}"


def first_owner(connection: Connection) -> str:
    """The secret of an invitation if the laboratory has no owner; those that were printed before lead nowhere."""
    owners = select(grants.c.id).where(grants.c.study.is_(None), grants.c.role == Role.OWNER.value)
    if connection.execute(owners).first() is not None:
        return ""
    now = told_clock()()
    for old in invitations.open_invitations(connection, invitations.of(None), now):
        invitations.revoke(connection, old.id, invitations.of(None))
    return _invited(connection, now)


def _invited(connection: Connection, now: float) -> str:
    return invitations.invite(connection, None, Role.OWNER, "an owner", "the command line", now)


def _begun(laboratory: LaboratoryFolder, database: LabDatabase, study: Registered, base: str) -> str:
    """Where the study will be, or why it cannot be served."""
    try:
        recorded(database, laboratory.of(study.name), study, told_clock()())
        prepare(laboratory.of(study.name), told_clock()())
    except Exception as error:
        return f"{study.name}: cannot be served: {error}"
    return f"{base}/s/{study.name}/"


def claim_of(database: LabDatabase, check: bool = False) -> Claim:
    """Be a server of this laboratory; with `check`, wait for the remains of one that was killed, and refuse a second one."""
    engine = database.engine
    file = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
    if check:
        check_unserved(engine, file)
    return claimed(engine, file)


def application(laboratory: LaboratoryFolder, origin: str = "", prefix: str = "") -> object:
    """The application, in each worker process."""
    from explorelab.laboratory.server.lab_application import create_laboratory
    from explorelab.laboratory.server.laboratory import Laboratory
    from explorelab.study.server.limits.connections import write_seldom
    from explorelab.study.server.supervising import end_with_supervisor

    end_with_supervisor()
    write_seldom()
    try:
        database = open_lab_database(laboratory.database, laboratory.folder)
        database.claim = claim_of(database)
    except InputError as error:
        # In a replacement worker nothing would catch the error.
        log.error("%s", error)
        sys.exit(1)
    made = create_laboratory(Laboratory(laboratory, database, told_clock(), origin, prefix))
    gc.collect()
    gc.freeze()
    return below(prefix, made)


@contextmanager
def serving_laboratory(folder: Path) -> Iterator[tuple[str, str]]:
    """The address of a laboratory's server in this process on a free port, and the first owner's link."""
    import socket
    import threading

    import uvicorn

    laboratory = open_folder(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    _, first, _ = begun(laboratory, base)
    server = uvicorn.Server(uvicorn.Config(partial(application, laboratory), port=port, **settings_of_server([])))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise InputError(f"the laboratory in {folder} could not be served.")
        time.sleep(0.02)
    try:
        yield base, first
    finally:
        server.should_exit = True
        thread.join(20)
